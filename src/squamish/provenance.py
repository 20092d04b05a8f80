"""Where a verdict comes from: the columns, the target, the seed and the versions."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import sparse

from squamish.intake import as_frame, is_missing
from squamish.tables import Table


@dataclass(frozen=True)
class Columns:
    """What the columns of the table were like.

    Attributes
    ----------
    names : tuple of str
        Their names, in the order of the table; numbers if they had none.
    dtypes : tuple of str
        Their types, as the table's library calls them.
    missing : tuple of float
        Share of missing values.
    """

    names: tuple[str, ...]
    dtypes: tuple[str, ...]
    missing: tuple[float, ...]


@dataclass(frozen=True)
class Provenance:
    """Where a verdict comes from.

    Attributes
    ----------
    data, target : str
        Name of the table and of the target; empty if unknown.
    target_summary : str
        The classes and how many rows each has, or the range of the amounts.
    command : str
        The call or the command line that gives the same verdict.
    seed : int or None
        The seed, if one was given.
    created : str
        When the fit ended, in UTC.
    versions : dict of str to str
        Versions of squamish and of what it computes with.
    """

    data: str = ""
    target: str = ""
    target_summary: str = ""
    command: str = ""
    seed: int | None = None
    created: str = ""
    versions: dict[str, str] = field(default_factory=dict)


def describe_columns(X: Any, names: Sequence[str], table: Table) -> Columns:
    """Describe the columns of what was passed; gaps are those of the rows that count."""
    frame = as_frame(X)
    if frame is None:
        kind = str(getattr(X, "dtype", type(X).__name__))
        dtypes = [kind] * len(names)
    else:
        dtypes = [_dtype(series) for series in frame.iter_columns()]
    missing = _gaps(table)
    for j in np.flatnonzero(table.is_category):
        values = frame[:, int(j)].to_list() if frame is not None else [row[j] for row in X]
        missing[j] = np.mean([is_missing(value) for value in values])
    return Columns(tuple(names), tuple(dtypes), tuple(float(share) for share in missing))


def _dtype(series: Any) -> str:
    native = series.to_native()
    return str(getattr(native, "dtype", getattr(native, "type", series.dtype)))


def _gaps(table: Table) -> Any:
    """Return the share of missing values in every column of numbers."""
    if sparse.issparse(table.X):
        gaps = sparse.csc_array(table.X)
        gaps.data = np.isnan(gaps.data).astype(float)
        return np.asarray(gaps.mean(axis=0)).ravel()
    return np.isnan(table.X).mean(axis=0)


def versions() -> dict[str, str]:
    """Return the versions of squamish and of what it computes with."""
    from squamish import __version__

    names = ("numpy", "scipy", "scikit-learn", "lightgbm", "boruta")
    own = {"squamish": __version__, "python": platform.python_version()}
    return own | {name: version(name) for name in names}
