"""Columns by their names and numbers: which there are, which are meant, which belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from squamish.arrays import Indices, Mask
from squamish.errors import InputError
from squamish.table.frames import as_frame

FeatureGroups = Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]]


def column_names(X: Any, n_columns: int) -> tuple[str, ...]:
    """Return the names of a frame's columns as text, or numbers if it has no names."""
    frame = as_frame(X)
    return tuple(map(str, range(n_columns) if frame is None else frame.columns))


def refuse_repeated_names(X: Any) -> None:
    """Refuse a frame in which columns share a name, or that has none."""
    given = X.column_names if hasattr(type(X), "column_names") else getattr(X, "columns", ())
    is_listed = hasattr(given, "__iter__") and not callable(given)
    listed = list(given) if is_listed else []
    names = Counter(map(str, listed))
    # As text, or as what they are: 1 and True are the same to a dict.
    counts = [*names.items(), *Counter(listed).items()]
    repeated = dict.fromkeys(str(name) for name, count in counts if count > 1)
    if repeated:
        raise InputError(
            f"column names must differ; more than one column is called {', '.join(repeated)}"
        )
    if hasattr(X, "columns") and is_listed and not names:
        raise InputError("X has no columns; it must have 1 or more (0 feature(s) found)")


def positions(columns: Iterable[str | int], names: Sequence[str], parameter: str) -> Indices:
    """Find columns by name or by number.

    Examples
    --------
    >>> from squamish.table.names import positions
    >>> positions(["b", 0], ["a", "b"], "feature_groups")
    array([1, 0])
    """
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError(f"{parameter} holds {columns!r}; it must hold lists of columns")
    found = []
    for column in columns:
        if str(column) in names:
            found.append(names.index(str(column)))
        elif isinstance(column, int | np.integer) and 0 <= column < len(names):
            found.append(int(column))
        else:
            raise InputError(
                f"{parameter} holds {column!r}, which is no column of X; the columns are "
                f"{', '.join(names[:20])}{', ...' if len(names) > 20 else ''}"
            )
    return np.array(found, dtype=np.intp)


def adjusted_columns(
    adjust_for: Sequence[str | int] | None, names: Sequence[str], feature: Indices
) -> Mask:
    """Tell which columns are adjusted for, given the feature of each.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.names import adjusted_columns
    >>> adjusted_columns(["age"], ["age", "dose"], np.arange(2))
    array([ True, False])
    """
    out = np.zeros(len(names), dtype=bool)
    if adjust_for is None:
        return out
    if isinstance(adjust_for, str) or not isinstance(adjust_for, Iterable):
        raise InputError(f"adjust_for is {adjust_for!r}; it must be a list of columns")
    out[positions(adjust_for, names, "adjust_for")] = True
    if out.all():
        raise InputError(
            f"adjust_for names all {len(names)} columns of X; one or more must be left to judge"
        )
    for f in np.unique(feature[out]):
        own = np.flatnonzero(feature == f)
        if not out[own].all():
            judged = names[own[~out[own]][0]]
            raise InputError(
                f"adjust_for holds {names[own[out[own]][0]]!r}, which feature_groups judges "
                f"together with {judged!r}; a group is adjusted for as a whole, or not at all"
            )
    return out


def features_of_columns(groups: FeatureGroups | None, names: Sequence[str]) -> Indices:
    """Enumerate the features: a group of columns is one, every other column is one of its own.

    Examples
    --------
    >>> from squamish.table.names import features_of_columns
    >>> features_of_columns({"level": ["a", "c"]}, ["a", "b", "c"])
    array([0, 1, 0])
    """
    feature = np.arange(len(names))
    if groups is None:
        return feature
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise InputError(f"feature_groups is {groups!r}; it must be a dict or a list of lists")
    taken: set[int] = set()
    for group in groups.values() if isinstance(groups, Mapping) else groups:
        columns = positions(group, names, "feature_groups")
        twice = taken.intersection(columns.tolist())
        if twice:
            raise InputError(
                f"feature_groups holds {names[min(twice)]!r} in two groups; groups must not overlap"
            )
        taken.update(columns.tolist())
        if len(columns):
            feature[columns] = columns[0]
    return feature
