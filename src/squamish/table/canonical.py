"""An order of rows and columns that depends on what they hold, and on nothing else.

Forests break ties by position and draw rows and columns by number, so a verdict would
otherwise change with the order in which a table happens to be stored.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        For every column of the old table, its feature in the new one; -1 if it has none,
        because it is constant.
    """

    table: Table
    rows: Indices
    columns: Indices
    feature: Indices


def in_canonical_order(table: Table) -> Canonical:
    """Drop constant columns, scale the others, sort columns and rows by what they hold.

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
    varying = np.flatnonzero(_varies(table.X))
    raw = table.X[:, varying]
    raw = raw.toarray() if sparse.issparse(raw) else raw
    is_category = table.is_category[varying]
    X = _standardised(raw, is_category)
    ties = [key for key in (table.clusters, table.weights) if key is not None]
    columns, rows, signs = _order(X, raw, table.y, is_category, ties)
    # The table may be large, and two copies of it are enough.
    del raw
    X = X[np.ix_(rows, columns)]
    X *= signs[columns]
    feature, numbers = _numbered_as_they_come(table.feature[varying[columns]])
    clusters = None if table.clusters is None else table.clusters[rows]
    ordered = replace(
        table,
        X=X,
        y=table.y[rows],
        is_category=is_category[columns],
        feature=feature,
        weights=None if table.weights is None else table.weights[rows],
        clusters=None if clusters is None else _numbered_as_they_come(clusters)[0],
        folds=None if table.folds is None else _moved(table.folds, rows),
    )
    places = [numbers.get(f, -1) for f in table.feature.tolist()]
    return Canonical(ordered, rows, varying[columns], np.array(places, dtype=np.intp))


def _standardised(raw: Array, is_category: Mask) -> Array:
    """Scale the columns that are no categories, some at a time."""
    X = np.empty(raw.shape)
    for start, stop in ranges(raw.shape[1]):
        some = raw[:, start:stop]
        X[:, start:stop] = np.where(is_category[start:stop], some, standardise(some))
    return X


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


def _varies(X: Any) -> Mask:
    """Tell which columns hold more than one value, a missing value being one of them."""
    if sparse.issparse(X):
        columns = (X[:, [j]] for j in range(X.shape[1]))
        return np.array([c.nnz > 0 and bool(_varies(c.toarray())[0]) for c in columns], dtype=bool)
    constant: Mask = ((X[0] == X) | (np.isnan(X) & np.isnan(X[0]))).all(axis=0)
    return ~constant


def _order(
    X: Array,
    raw: Array,
    y: NDArray[Any],
    is_category: Mask,
    ties: Sequence[NDArray[Any]],
) -> tuple[Indices, Indices, Array]:
    """Order columns and rows, and turn columns, by hashes that do not depend on any of these.

    A column's hash adds up over its rows, and each row contributes the rank of its value
    together with the rank of its target: any order of the rows gives the same sum. Sums
    over uint64 wrap around and are exact, unlike sums of floats. Of a column and its
    negative, the one with the smaller hash is taken; a category has no negative.
    """
    n, d = X.shape
    target = _ranks(y)
    ranks = np.empty((n, d), dtype=np.uint32)
    hashes, signs = np.empty((3, d), dtype=np.uint64), np.ones(d)
    for start, stop in ranges(d):
        some = slice(start, stop)
        upright, reverse = _ranks_both_ways(X[:, some])
        up, turned = (_column_hash(r, target) for r in (upright, reverse))
        flip = (turned < up) & ~is_category[some]
        ranks[:, some] = np.where(flip, reverse, upright)
        signs[some] = np.where(flip, -1.0, 1.0)
        # Copies through a monotone function have the same ranks: their values decide, and the
        # units they came in if nothing else differs.
        values = np.round(X[:, some] * signs[some], 9)
        hashes[:, some] = [_bits(raw[:, some]), _bits(values), np.where(flip, turned, up)]
    columns = np.lexsort(hashes)
    row_hash = np.zeros(n, dtype=np.uint64)
    for start, stop in ranges(d):
        position = np.arange(start, stop, dtype=np.uint64)
        ranked = ranks[:, columns[start:stop]].astype(np.uint64)
        row_hash += _mix(ranked * np.uint64(2**32) + position).sum(axis=1)
    return columns, np.lexsort([*ties, row_hash, target]), signs


def _ranks_both_ways(X: Array) -> tuple[Hashes, Hashes]:
    """Rank the values of columns, and of their negatives; what is missing comes last in both."""
    ranks, reverse = np.empty(X.shape, dtype=np.uint64), np.empty(X.shape, dtype=np.uint64)
    for j, column in enumerate(X.T):
        missing = np.isnan(column)
        known = _ranks(column[~missing])
        ranks[:, j] = reverse[:, j] = len(column)
        ranks[~missing, j], reverse[~missing, j] = known, known.max(initial=0) - known
    return ranks, reverse


def _bits(values: Array) -> Hashes:
    """Hash columns by the values in them, in any order."""
    hashes: Hashes = _mix((values + 0.0).view(np.uint64)).sum(axis=0)
    return hashes


def _column_hash(ranks: Hashes, target: Hashes) -> Hashes:
    hashes: Hashes = _mix(ranks * np.uint64(2**32) + target[:, np.newaxis]).sum(axis=0)
    return hashes


def _ranks(values: NDArray[Any]) -> Hashes:
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)


def _mix(x: Hashes) -> Hashes:
    """Scatter 64-bit integers (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
