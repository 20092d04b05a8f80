"""An order of rows and columns that depends on what they hold, and on nothing else.

Forests break ties by position and draw rows and columns by number, so a verdict would
otherwise change with the order in which a table happens to be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from squamish.arrays import Array, Fold, Indices, Mask
from squamish.statistics.pairs import ranges
from squamish.statistics.scaling import standardise
from squamish.table.table import Table

Hashes = NDArray[np.uint64]

# So many values are ranked and hashed at a time: with what is made of them they stay in a cache.
AT_ONCE = 100_000


def no_hurry() -> None:
    """Let work take as long as it takes."""


@dataclass(frozen=True, eq=False)
class _Lines:
    """Columns as lines, each in one piece of memory, scaled and turned, and their ranks."""

    values: Array
    ranks: NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Canonical:
    """A table in canonical order, and where its columns come from.

    Attributes
    ----------
    table : Table
        The same data, rearranged and dense, features numbered as their columns come.
    rows : ndarray of int of shape (n_samples,)
        For every row of the new table, its number in the old one.
    columns : ndarray of int of shape (n_columns,)
        For every column of the new table, its number in the old one.
    feature : ndarray of int
        For every column of the old table, its feature among those that are judged in the new one;
        -1 if it has none, because it is constant, or adjusted for.
    """

    table: Table
    rows: Indices
    columns: Indices
    feature: Indices


def in_canonical_order(table: Table, check_time: Callable[[], None] = no_hurry) -> Canonical:
    """Drop constant columns, scale the others, sort columns and rows by what they hold.

    Parameters
    ----------
    table : Table
        The table as it was read.
    check_time : callable
        Called between steps that take a moment each; what it raises ends the work.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.canonical import in_canonical_order
    >>> from squamish.table.table import Table
    >>> X = np.column_stack([np.ones(4), [1.0, 2.0, 4.0, 3.0]])
    >>> order = in_canonical_order(Table(X, np.array([0, 1, 1, 0]), "classification"))
    >>> order.columns, order.feature
    (array([1]), array([-1,  0]))
    """
    varying = np.flatnonzero(_varies(table.X, check_time))
    columns, lines = _ordered_columns(table, varying, check_time)
    rows = _ordered_rows(table, columns, lines.ranks, check_time)
    X = _rearranged(lines, rows, columns, check_time)
    is_adjusted = table.is_adjusted[varying][columns]
    # What is judged is numbered first.
    first = np.argsort(is_adjusted, kind="stable")
    named, numbers = _numbered_as_they_come(table.feature[varying[columns]][first])
    feature = np.empty_like(named)
    feature[first] = named
    clusters = None if table.clusters is None else table.clusters[rows]
    ordered = replace(
        table,
        X=X,
        y=table.y[rows],
        is_category=table.is_category[varying][columns],
        is_id=table.is_id[varying][columns],
        feature=feature,
        is_adjusted=is_adjusted,
        weights=None if table.weights is None else table.weights[rows],
        clusters=None if clusters is None else _numbered_as_they_come(clusters)[0],
        folds=None if table.folds is None else _moved(table.folds, rows),
    ).without_gaps()
    places = np.array([numbers.get(f, -1) for f in table.feature.tolist()], dtype=np.intp)
    places[table.is_adjusted] = -1
    return Canonical(ordered, rows, varying[columns], places)


def _numbered_as_they_come(labels: Indices) -> tuple[Indices, dict[int, int]]:
    """Enumerate labels from 0 in the order in which they appear."""
    numbers: dict[int, int] = {}
    for label in labels.tolist():
        numbers.setdefault(label, len(numbers))
    return np.array([numbers[label] for label in labels.tolist()], dtype=np.intp), numbers


def _moved(folds: Sequence[Fold], rows: Indices) -> list[Fold]:
    """Return the same folds for rows in another order."""
    place = np.argsort(rows)
    return [(np.sort(place[train]), np.sort(place[test])) for train, test in folds]


def _blocks(n_rows: int, n_columns: int, check_time: Callable[[], None]) -> Iterator[slice]:
    """Cut columns into slices of few values, as long as there is time."""
    for start, stop in ranges(n_columns, size=AT_ONCE // n_rows + 1):
        check_time()
        yield slice(start, stop)


def _lines(X: Any, columns: Indices | slice) -> Array:
    """Return columns of a dense or sparse matrix as lines, each in one piece of memory."""
    some = X[:, columns]
    return np.ascontiguousarray(some.toarray().T if sparse.issparse(some) else some.T)


def _varies(X: Any, check_time: Callable[[], None]) -> Mask:
    """Tell which columns hold more than one value, a missing value being one of them."""
    varies = np.zeros(X.shape[1], dtype=bool)
    for some in _blocks(X.shape[0], X.shape[1], check_time):
        lines = _lines(X, some)
        first = lines[:, :1]
        varies[some] = ~((first == lines) | (np.isnan(first) & np.isnan(lines))).all(axis=1)
    return varies


def _ordered_columns(
    table: Table, varying: Indices, check_time: Callable[[], None]
) -> tuple[Indices, _Lines]:
    """Scale columns, turn them, and order them by hashes that do not depend on any of these.

    A column's hash adds up over its rows, and each row contributes the rank of its value
    together with the rank of its target: any order of the rows gives the same sum. Sums
    over uint64 wrap around and are exact, unlike sums of floats. Of a column and its
    negative, the one with the smaller hash is taken; a category has no negative.
    """
    n, d = len(table.y), len(varying)
    lines = _Lines(np.empty((d, n)), np.empty((d, n), dtype=np.uint32))
    target, hashes = _ranks(table.y), np.empty((3, d), dtype=np.uint64)
    for some in _blocks(n, d, check_time):
        raw, is_category = _lines(table.X, varying[some]), table.is_category[varying[some]]
        values = np.where(is_category[:, np.newaxis], raw, standardise(raw.T).T)
        upright, reverse = _ranks_both_ways(values)
        up, turned = (_rank_hash(ranks, target) for ranks in (upright, reverse))
        flip = (turned < up) & ~is_category
        lines.ranks[some] = np.where(flip[:, np.newaxis], reverse, upright)
        values *= np.where(flip, -1.0, 1.0)[:, np.newaxis]
        lines.values[some] = values
        # Copies through a monotone function have the same ranks: their values decide, and the
        # units they came in if nothing else differs.
        hashes[:, some] = _bits(raw), _bits(values.round(9)), np.where(flip, turned, up)
    return np.lexsort(hashes), lines


def _ordered_rows(
    table: Table, columns: Indices, ranks: NDArray[np.uint32], check_time: Callable[[], None]
) -> Indices:
    """Order rows by their target, and by hashes of the ranks in their columns."""
    row_hash = np.zeros(len(table.y), dtype=np.uint64)
    for some in _blocks(len(table.y), len(columns), check_time):
        position = np.arange(some.start, some.stop, dtype=np.uint64)[:, np.newaxis]
        ranked = ranks[columns[some]].astype(np.uint64)
        row_hash += _mix(ranked * np.uint64(2**32) + position).sum(axis=0)
    ties = [key for key in (table.clusters, table.weights) if key is not None]
    return np.lexsort([*ties, row_hash, _ranks(table.y)])


def _rearranged(
    lines: _Lines, rows: Indices, columns: Indices, check_time: Callable[[], None]
) -> Array:
    """Return rows and columns in their order, row by row in memory as models want them."""
    X = np.empty((len(rows), len(columns)))
    for some in _blocks(len(rows), len(columns), check_time):
        X[:, some] = lines.values[columns[some]][:, rows].T
    return X


def _ranks_both_ways(lines: Array) -> tuple[Hashes, Hashes]:
    """Rank the values of columns, and of their negatives; what is missing comes last in both."""
    order = np.argsort(lines, axis=1)
    ordered = np.take_along_axis(lines, order, axis=1)
    # Equal values share a rank. Missing ones are at the end, where ranks mean nothing.
    steps = np.zeros(lines.shape, dtype=np.uint64)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, dtype=np.uint64, out=steps[:, 1:])
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=1)
    missing = np.isnan(lines)
    last = np.where(missing, 0, ranks).max(axis=1, keepdims=True)
    reverse = last - ranks
    ranks[missing] = reverse[missing] = lines.shape[1]
    return ranks, reverse


def _bits(lines: Array) -> Hashes:
    """Hash columns by the values in them, in any order."""
    hashes: Hashes = _mix((lines + 0.0).view(np.uint64)).sum(axis=1)
    return hashes


def _rank_hash(ranks: Hashes, target: Hashes) -> Hashes:
    hashes: Hashes = _mix(ranks * np.uint64(2**32) + target).sum(axis=1)
    return hashes


def _ranks(values: NDArray[Any]) -> Hashes:
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)


def _mix(x: Hashes) -> Hashes:
    """Scatter 64-bit integers (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
