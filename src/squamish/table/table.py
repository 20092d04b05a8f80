"""The table that methods judge."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Fold, Indices, Mask
from squamish.families import Family, Task, family_of
from squamish.table.ignored_gaps import without_gaps


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
        Which columns are categories; none if it is not given.
    feature : ndarray of int of shape (n_columns,)
        Which feature each column belongs to: columns that are judged as one share it. Each has
        its own if it is not given.
    is_id : ndarray of bool of shape (n_columns,)
        Which columns look like numbers or names of the rows; none if it is not given.
    is_adjusted : ndarray of bool of shape (n_columns,)
        Which columns are adjusted for: in every model, and not judged. None if it is not given.
    weights : ndarray of shape (n_samples,) or None
        How much each row counts, 1 on average; None if all count the same.
    clusters : ndarray of int of shape (n_samples,) or None
        Which rows belong together, such as those of one patient.
    folds : sequence of (train, test) or None
        Row numbers of folds that were asked for.
    n_folds : int or None
        Number of folds that was asked for.
    gap_seed : int or None
        Draws what gaps are filled with, if they mean nothing; None if they stay.
    """

    X: Any
    y: NDArray[Any]
    task: Task
    labels: tuple[str, ...] = ()
    is_category: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))
    feature: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    is_id: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))
    is_adjusted: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))
    weights: Array | None = None
    clusters: Indices | None = None
    folds: Sequence[Fold] | None = None
    n_folds: int | None = None
    gap_seed: int | None = None

    def __post_init__(self) -> None:
        n_columns = self.X.shape[1]
        for name in ("is_category", "is_id"):
            if len(getattr(self, name)) == 0:
                object.__setattr__(self, name, np.zeros(n_columns, dtype=bool))
        if len(self.feature) == 0:
            object.__setattr__(self, "feature", np.arange(n_columns))
        if len(self.is_adjusted) == 0:
            object.__setattr__(self, "is_adjusted", np.zeros(n_columns, dtype=bool))

    @property
    def family(self) -> Family:
        """All that depends on what kind of target it is."""
        return family_of(self.task)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features, each of one column or more."""
        return len(np.unique(self.feature))

    @property
    def id_features(self) -> frozenset[int]:
        """The features that are nothing but identifiers of the rows."""
        return frozenset(self.feature[self.is_id].tolist()) - {*self.feature[~self.is_id].tolist()}

    @property
    def rows_are_alike(self) -> bool:
        """Whether every row counts the same, was exposed as long, and stands for itself."""
        return self.weights is None and self.clusters is None and self.y.dtype.names is None

    @property
    def judged(self) -> Table:
        """The columns that are judged."""
        return self.take(np.flatnonzero(~self.is_adjusted)) if self.is_adjusted.any() else self

    @property
    def adjustments(self) -> Table:
        """The columns that are adjusted for, as a table of their own."""
        own = self.take(np.flatnonzero(self.is_adjusted))
        return replace(own, is_adjusted=np.zeros_like(own.is_adjusted))

    def rows(self, rows: Indices) -> Table:
        """Return the table with these rows only."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
        )

    def take(self, columns: NDArray[Any]) -> Table:
        """Return the table with these columns only; those that were one feature still are."""
        return replace(
            self,
            X=self.X[:, columns],
            is_category=self.is_category[columns],
            is_id=self.is_id[columns],
            feature=np.unique(self.feature[columns], return_inverse=True)[1],
            is_adjusted=self.is_adjusted[columns],
        )

    def without_gaps(self) -> Table:
        """Return the table with its gaps filled, if they mean nothing."""
        if self.gap_seed is None:
            return self
        return replace(self, X=without_gaps(self.X, np.random.default_rng(self.gap_seed)))

    def with_column(self, column: Array) -> Table:
        """Return the table with one column more, at its end, a feature of its own."""
        return replace(
            self,
            X=np.column_stack([self.X, column]),
            is_category=np.append(self.is_category, False),
            is_id=np.append(self.is_id, False),
            feature=np.append(self.feature, self.feature.max(initial=-1) + 1),
            is_adjusted=np.append(self.is_adjusted, False),
        )

    def fingerprint(self, *beside: Array) -> str:
        """Return a hash of everything that a verdict depends on: the table, and what is beside it.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.table.table import Table
        >>> table = Table(np.eye(4), np.arange(4) % 2, "classification")
        >>> table.fingerprint() == table.fingerprint(np.ones(4))
        False
        """
        digest = hashlib.sha256(f"{self.task} {self.n_folds} {self.X.shape}".encode())
        folds = [rows for fold in self.folds or () for rows in fold]
        flags = (self.is_category, self.is_adjusted)
        for array in (self.X, self.y, *flags, self.feature, *folds, *beside):
            digest.update(np.ascontiguousarray(array).data)
        for rows in (self.weights, self.clusters):
            digest.update(b"none" if rows is None else np.ascontiguousarray(rows).data)
        return digest.hexdigest()
