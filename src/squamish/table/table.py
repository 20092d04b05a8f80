"""The table that methods judge, in an order of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from squamish.statistics.pairs import ranges

Task = Literal["classification", "regression"]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

# A value is absurdly far out if it is so many times as far as is usual for its column.
FAR = 1e6


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table: floats, NaN where a value is missing, and a target fit for LightGBM.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_columns)
        The columns; level numbers 0, 1, ... for categories.
    y : ndarray of shape (n_samples,)
        Class codes 0, 1, ... for classification, amounts scaled to [-1, 1] for regression.
    task : {"classification", "regression"}
        What kind of target ``y`` is.
    labels : tuple of str
        The name of every class, for messages.
    is_category : ndarray of bool of shape (n_columns,)
        Which columns are categories.
    feature : ndarray of int of shape (n_columns,)
        Which feature each column belongs to: columns that are judged as one share it.
    weights : ndarray of shape (n_samples,) or None
        How much each row counts, 1 on average; None if all count the same.
    clusters : ndarray of int of shape (n_samples,) or None
        Which rows belong together, such as those of one patient.
    folds : sequence of (train, test) or None
        Row numbers of folds that were asked for.
    n_folds : int or None
        Number of folds that was asked for.
    screened : mapping of str to ndarray of shape (n_columns,)
        p-values of proofs, by their names, that come from more rows than these.
    """

    X: Any
    y: NDArray[Any]
    task: Task
    labels: tuple[str, ...] = ()
    is_category: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    feature: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    weights: NDArray[np.float64] | None = None
    clusters: NDArray[np.intp] | None = None
    folds: Sequence[Fold] | None = None
    n_folds: int | None = None
    screened: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_columns = self.X.shape[1]
        if len(self.is_category) != n_columns:
            object.__setattr__(self, "is_category", np.zeros(n_columns, dtype=bool))
        if len(self.feature) != n_columns:
            object.__setattr__(self, "feature", np.arange(n_columns))

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features, each of one column or more."""
        return len(np.unique(self.feature))

    @property
    def rows_are_alike(self) -> bool:
        """Whether every row counts the same, and stands for itself."""
        return self.weights is None and self.clusters is None

    def rows(self, rows: NDArray[np.intp]) -> Table:
        """Return the table with these rows only."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
        )

    def take(self, columns: NDArray[Any]) -> Table:
        """Return the table with these columns only, each a feature."""
        return replace(
            self,
            X=self.X[:, columns],
            is_category=self.is_category[columns],
            feature=np.zeros(0, dtype=np.intp),
        )

    def with_column(self, column: NDArray[np.float64]) -> Table:
        """Return the table with one column more, at its end, each a feature."""
        return replace(
            self,
            X=np.column_stack([self.X, column]),
            is_category=np.append(self.is_category, False),
            feature=np.zeros(0, dtype=np.intp),
        )

    def fingerprint(self) -> str:
        """Return a hash of everything in the table that a verdict depends on."""
        digest = hashlib.sha256(f"{self.task} {self.n_folds} {self.X.shape}".encode())
        folds = [rows for fold in self.folds or () for rows in fold]
        screened = [self.screened[name] for name in sorted(self.screened)]
        for array in (self.X, self.y, self.is_category, self.feature, *folds, *screened):
            digest.update(np.ascontiguousarray(array).data)
        for rows in (self.weights, self.clusters):
            digest.update(b"none" if rows is None else np.ascontiguousarray(rows).data)
        return digest.hexdigest()

    def in_canonical_order(self) -> tuple[Table, NDArray[np.intp]]:
        """Drop constant columns, scale the others, sort columns and rows by what they hold.

        Forests break ties by position and draw rows and columns by number, so a verdict
        would otherwise change with the order in which the table happens to be stored.

        Returns
        -------
        table : Table
            The same data, rearranged and dense, features numbered as their columns come.
        feature : ndarray of int
            For every column of this table, its feature in the new one; -1 if it has none,
            because it is constant.
        """
        varying = np.flatnonzero(_varies(self.X))
        raw = self.X[:, varying]
        raw = raw.toarray() if sparse.issparse(raw) else raw
        is_category = self.is_category[varying]
        X = np.empty(raw.shape)
        for start, stop in ranges(raw.shape[1]):
            some = raw[:, start:stop]
            X[:, start:stop] = np.where(is_category[start:stop], some, standardise(some))
        ties = [key for key in (self.clusters, self.weights) if key is not None]
        columns, rows, signs = _canonical_order(X, raw, self.y, is_category, ties)
        del raw
        X = X[np.ix_(rows, columns)]
        X *= signs[columns]
        feature, renumbered = _numbered_as_they_come(self.feature[varying[columns]])
        return (
            replace(
                self,
                X=X,
                y=self.y[rows],
                is_category=is_category[columns],
                feature=feature,
                weights=None if self.weights is None else self.weights[rows],
                clusters=(
                    None
                    if self.clusters is None
                    else _numbered_as_they_come(self.clusters[rows])[0]
                ),
                folds=None if self.folds is None else _moved(self.folds, rows),
                screened={name: p[varying[columns]] for name, p in self.screened.items()},
            ),
            np.array([renumbered.get(f, -1) for f in self.feature.tolist()], dtype=np.intp),
        )


def _numbered_as_they_come(labels: NDArray[np.intp]) -> tuple[NDArray[np.intp], dict[int, int]]:
    """Enumerate labels from 0 in the order in which they appear."""
    numbers: dict[int, int] = {}
    for label in labels.tolist():
        numbers.setdefault(label, len(numbers))
    return np.array([numbers[label] for label in labels.tolist()], dtype=np.intp), numbers


def _moved(folds: Sequence[Fold], rows: NDArray[np.intp]) -> list[Fold]:
    """Return the same folds for rows in another order."""
    place = np.argsort(rows)
    return [(np.sort(place[train]), np.sort(place[test])) for train, test in folds]


def standardise(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre columns and scale them to [-1, 1], so that units have no influence.

    LightGBM rounds to float32 and takes what is below 1e-35 for zero. The last digits go,
    because they depend on the units that the column came in. Values that are absurdly far
    out, such as 1e20 for "unknown", would take all others' digits: they are moved closer.
    """
    largest = np.nanmax(np.abs(X), axis=0)
    X = np.divide(X, np.where(largest > 0, largest, 1.0))
    centre = np.nanmedian(X, axis=0)
    away = np.abs(X - centre)
    away[away == 0] = np.nan
    away[0, np.isnan(away).all(axis=0)] = 1.0
    reach = FAR * np.nanmedian(away, axis=0)
    X = np.clip(X, centre - reach, centre + reach)
    X -= (np.nanmax(X, axis=0) + np.nanmin(X, axis=0)) / 2
    X /= np.maximum(np.nanmax(np.abs(X), axis=0), 1e-300)
    return np.round(X, 12) + 0.0


def _varies(X: Any) -> NDArray[np.bool_]:
    """Tell which columns hold more than one value, a missing value being one of them."""
    if sparse.issparse(X):
        columns = (X[:, [j]] for j in range(X.shape[1]))
        return np.array([c.nnz > 0 and bool(_varies(c.toarray())[0]) for c in columns], dtype=bool)
    constant: NDArray[np.bool_] = ((X[0] == X) | (np.isnan(X) & np.isnan(X[0]))).all(axis=0)
    return ~constant


def _canonical_order(
    X: NDArray[np.float64],
    raw: NDArray[np.float64],
    y: NDArray[Any],
    is_category: NDArray[np.bool_],
    ties: Sequence[NDArray[Any]],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
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


def _ranks_both_ways(X: NDArray[np.float64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Rank the values of columns, and of their negatives; what is missing comes last in both."""
    ranks, reverse = np.empty(X.shape, dtype=np.uint64), np.empty(X.shape, dtype=np.uint64)
    for j, column in enumerate(X.T):
        missing = np.isnan(column)
        known = _ranks(column[~missing])
        ranks[:, j] = reverse[:, j] = len(column)
        ranks[~missing, j], reverse[~missing, j] = known, known.max(initial=0) - known
    return ranks, reverse


def _bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Hash columns by the values in them, in any order."""
    hashes: NDArray[np.uint64] = _mix((values + 0.0).view(np.uint64)).sum(axis=0)
    return hashes


def _column_hash(ranks: NDArray[np.uint64], target: NDArray[np.uint64]) -> NDArray[np.uint64]:
    hashes: NDArray[np.uint64] = _mix(ranks * np.uint64(2**32) + target[:, np.newaxis]).sum(axis=0)
    return hashes


def _ranks(values: NDArray[Any]) -> NDArray[np.uint64]:
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit integers (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
