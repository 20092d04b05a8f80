"""Where a verdict comes from: the columns, the target, the seed and the versions."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

# Looking up the version of a library takes as long as a small model.
_installed = cache(version)


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


def versions() -> dict[str, str]:
    """Return the versions of squamish and of what it computes with."""
    from squamish import __version__

    names = ("numpy", "scipy", "scikit-learn", "lightgbm", "boruta")
    own = {"squamish": __version__, "python": platform.python_version()}
    return own | {name: _installed(name) for name in names}


def in_one_row(estimator: Any) -> str:
    """Write the call that makes an estimator, as far as text can tell.

    Examples
    --------
    >>> from squamish import CrossfitMethod
    >>> from squamish.evidence.provenance import in_one_row
    >>> in_one_row(CrossfitMethod(alpha=0.05))
    'CrossfitMethod(alpha=0.05)'
    """
    text = re.sub(r"\n\s*", " ", estimator.__repr__(N_CHAR_MAX=2000))
    # Where an object is in the memory tells nothing.
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
