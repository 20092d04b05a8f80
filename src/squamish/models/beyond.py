"""What adjustments tell of other columns, and what they leave of these.

The mean of a column given the adjustments is a ridge regression, out of sample, on these themselves
and on smooth functions of them: the leading directions of the kernel ``|x| + |z| - |x - z|``, whose
ridge regression is a linear smoothing spline in one dimension. It has no width to choose, and comes
close to every continuous function in any number of dimensions. What is left is made orthogonal, in
the rows themselves, to the adjustments and to the levels of their categories. Where adjustments are
categories with enough rows in every cell of levels, there is nothing to smooth: means of cells say
all.

References
----------
P. Robinson: "Root-n-consistent semiparametric regression", Econometrica 56 (1988). G. Szekely and
M. Rizzo: "Energy statistics", Journal of Statistical Planning and Inference 143 (2013), for the
kernel. A. Colin Cameron and D. Miller: "A practitioner's guide to cluster-robust inference",
Journal of Human Resources 50 (2015), for variances by residuals and leverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from squamish.arrays import Array, Fold, Indices
from squamish.models.folds import covering
from squamish.statistics.pairs import ranges
from squamish.table.parts import INNER_FOLDS, LEAST_ROWS, MOST_LEVELS, Parts

# Curves bend around so many rows, from everywhere; their leading directions count, a fifth of the
# rows at most. In one dimension, forty directions are waves of an eighth of a normal variable's
# range of five standard deviations, and less than is left out of any that a regression finds in a
# thousand rows: ridge regression with an error of a tenth keeps about ten.
MOST_LANDMARKS, MOST_CURVES, ROWS_PER_CURVE = 100, 40, 5
# Ridge penalties, as shares of the number of rows and of the variance of the leading direction:
# from next to none to one that leaves half of it.
PENALTIES = np.array([1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0])
# So many values are smoothed at a time.
AT_ONCE = 2_000_000
# Of several categories of many levels, means are taken off in turn so often.
TURNS = 10
# Linear terms are taken off in the rows themselves if there are so many rows for each.
ROWS_PER_TERM = 10
# A column of which the adjustments leave less than this share is one of them in other words: what
# is left is rounding, and the error of the curve.
LEAST_LEFT = 0.01


@dataclass(frozen=True, eq=False)
class Terms:
    """What columns are regressed on: adjustments, curves of them, and categories among them.

    Attributes
    ----------
    parts : Parts
        The parts of the adjustments.
    curves : ndarray of shape (n_samples, n_curves)
        Smooth functions of them, the largest of variance 1; or indicators of cells.
    cells : ndarray of int of shape (n_samples,) or None
        The combination of levels of every row, if adjustments are categories and every combination
        has enough rows.
    """

    parts: Parts
    curves: Array
    cells: Indices | None

    @classmethod
    def of(cls, parts: Parts) -> Terms:
        """Bend the adjustments, or put their levels into cells."""
        cells = cells_of(parts)
        return cls(parts, _curves(parts.ranked) if cells is None else _indicators(cells), cells)

    @cached_property
    def smooth(self) -> Array:
        """The adjustments as they are, by rank, and along curves."""
        return np.hstack([self.parts.plain, self.parts.ranked, self.curves])

    def means(self, X: Array, folds: Sequence[Fold]) -> Array:
        """Return what the adjustments tell of columns, out of sample."""
        if self.cells is not None:
            return level_means(X, self.cells)
        out = np.empty_like(X)
        for start, stop in ranges(X.shape[1], size=AT_ONCE // len(X) + 1):
            out[:, start:stop] = _smoothed(self.smooth, X[:, start:stop], folds)
        return out

    def some(self, rows: Indices) -> Terms:
        """Return the same for some rows."""
        parts = replace(
            self.parts,
            plain=self.parts.plain[rows],
            ranked=self.parts.ranked[rows],
            many_levels=tuple((f, levels[rows]) for f, levels in self.parts.many_levels),
        )
        return Terms(parts, self.curves[rows], None if self.cells is None else self.cells[rows])

    def without_lines(self, X: Array) -> Array:
        """Take levels of categories, and lines of the adjustments, off columns in all rows."""
        X = self._without_levels(X)
        basis = self._basis
        return np.asarray(X - basis @ (basis.T @ X))

    @cached_property
    def spare(self) -> Array:
        """What `without_lines` leaves of the variance of a row that is noise: 1 - leverage."""
        n = len(self.curves)
        left = np.full(n, 1 - 1 / n)
        for levels in self._categories:
            counts = np.bincount(levels)[levels]
            left = left - 1 / counts + 1 / n
        return np.maximum(left - np.square(self._basis).sum(axis=1), 1 / n)

    @property
    def _categories(self) -> list[Indices]:
        """The levels of categories whose means are taken off."""
        if self.cells is not None:
            return [self.cells]
        return [levels for _, levels in self.parts.many_levels]

    def _without_levels(self, X: Array) -> Array:
        X = X - X.mean(axis=0)
        for _ in range(TURNS if len(self._categories) > 1 else 1):
            for levels in self._categories:
                X = X - level_means(X, levels)
        return X

    @cached_property
    def _basis(self) -> Array:
        """An orthonormal basis of the lines, beyond levels."""
        lines = self._without_levels(np.hstack([self.parts.plain, self.parts.ranked]))
        if self.cells is not None or lines.shape[1] == 0:
            return np.zeros((len(lines), 0))
        basis, singular, _ = np.linalg.svd(lines, full_matrices=False)
        kept = singular > 1e-6 * np.sqrt(len(lines))
        kept[len(lines) // ROWS_PER_TERM :] = False
        return np.asarray(basis[:, kept])


@dataclass(frozen=True, eq=False)
class Adjustment:
    """What the columns that are adjusted for tell, and what they leave.

    Attributes
    ----------
    beyond : Parts
        What they leave of the parts that are judged, not standardised; 0 if that is next to none.
    terms : Terms
        The columns themselves, and curves of them.
    learner : str
        What predicts the target best by them; the constant, if nothing is better.
    predictions, losses : ndarray of shape (n_tested, ...)
        Its out-of-sample predictions, and their losses.
    n_fits : int
        Number of models fitted.
    """

    beyond: Parts
    terms: Terms
    learner: str
    predictions: Array
    losses: Array
    n_fits: int

    def left(
        self, view: Literal["plain", "ranked"], columns: Indices, seen: Array, rows: Indices
    ) -> Array:
        """Return what adjustments leave of parts that are judged, standardised, in some rows.

        Parameters
        ----------
        view : {"plain", "ranked"}
            How parts are seen.
        columns : ndarray of int
            The parts, target encodings after all others.
        seen : ndarray of shape (len(rows), len(columns))
            What they are in these rows.
        rows : ndarray of int
            The rows.
        """
        known = self.beyond.ranked if view == "ranked" else self.beyond.plain
        is_known = columns < known.shape[1]
        out = np.empty_like(seen)
        out[:, is_known] = known[np.ix_(rows, columns[is_known])]
        encoded = seen[:, ~is_known]
        if encoded.shape[1]:
            terms, numbers = self.terms.some(rows), np.arange(len(rows))
            # Rows are sorted by the target, so that every fifth one gives stratified folds.
            parts = [
                (numbers[numbers % INNER_FOLDS != k], numbers[k::INNER_FOLDS])
                for k in range(INNER_FOLDS)
            ]
            out[:, ~is_known] = terms.without_lines(encoded - terms.means(encoded, parts))
        out -= out.mean(axis=0)
        scale = out.std(axis=0)
        return np.asarray(out / np.where(scale > 1e-9, scale, 1.0))


def cells_of(parts: Parts) -> Indices | None:
    """Return the combination of levels of every row; None unless all have enough rows.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.models.beyond import cells_of
    >>> from squamish.table.parts import encode
    >>> from squamish.table.table import Table
    >>> sex, smokes = np.arange(40.0) % 2, np.arange(40.0) % 4 // 2
    >>> both = Table(np.column_stack([sex, smokes]), np.arange(40.0), "regression")
    >>> cells_of(encode(both))[:6]
    array([0, 2, 1, 3, 0, 2])
    """
    if parts.many_levels or parts.plain.shape[1] == 0:
        return None
    cells = np.zeros(len(parts.plain), dtype=np.intp)
    for x in parts.plain.T:
        levels = np.unique(x, return_inverse=True)[1]
        if levels.max() >= MOST_LEVELS:
            return None
        cells = np.unique(cells * (levels.max() + 1) + levels, return_inverse=True)[1]
    return cells if np.bincount(cells).min() >= LEAST_ROWS else None


def _indicators(cells: Indices) -> Array:
    out = (cells[:, np.newaxis] == np.arange(cells.max() + 1)).astype(float)
    return np.asarray(out - out.mean(axis=0))


def _curves(Z: Array) -> Array:
    """Return the leading smooth functions of some columns, uncorrelated around landmarks."""
    n = len(Z)
    n_curves = min(MOST_CURVES, n // ROWS_PER_CURVE)
    if Z.shape[1] == 0 or n_curves == 0:
        return np.zeros((n, 0))
    order = np.random.default_rng(0).permutation(n)
    landmarks = np.unique(Z[order[:MOST_LANDMARKS]], axis=0)
    values, vectors = np.linalg.eigh(_kernel(landmarks, landmarks))
    first = np.argsort(-values)[:n_curves]
    first = first[values[first] > 1e-9 * values.max()]
    curves = _kernel(Z, landmarks) @ vectors[:, first] / np.sqrt(values[first])
    curves -= curves.mean(axis=0)
    return np.asarray(curves / max(curves.std(axis=0).max(initial=0.0), 1e-12))


def _kernel(X: Array, Z: Array) -> Array:
    """Return half of ``|x| + |z| - |x - z|``, the covariance of Levy's Brownian motion."""
    squares = np.square(X).sum(axis=1)[:, np.newaxis] + np.square(Z).sum(axis=1)
    distances = np.sqrt(np.maximum(squares - 2 * X @ Z.T, 0))
    sizes = np.linalg.norm(X, axis=1)[:, np.newaxis] + np.linalg.norm(Z, axis=1)
    return np.asarray((sizes - distances) / 2)


def _smoothed(terms: Array, X: Array, folds: Sequence[Fold]) -> Array:
    """Predict columns out of sample, each with the penalty that is best for it over the folds."""
    n = len(X)
    tested = np.zeros(n, dtype=bool)
    tested[np.concatenate([test for _, test in folds])] = True
    found = np.empty((len(PENALTIES) + 1, *X.shape))
    for train, test in covering(folds, n):
        mean, level = terms[train].mean(axis=0), X[train].mean(axis=0)
        seen, asked = terms[train] - mean, terms[test] - mean
        values, vectors = np.linalg.eigh(seen.T @ seen / len(train))
        values = np.maximum(values, 0)
        moments = vectors.T @ (seen.T @ (X[train] - level)) / len(train)
        turned = asked @ vectors
        for k, penalty in enumerate(PENALTIES):
            found[k][test] = level + (turned / (values + penalty)) @ moments
        found[-1][test] = level
    best = np.square(found[:, tested] - X[tested]).sum(axis=1).argmin(axis=0)
    return np.asarray(np.take_along_axis(found, best[np.newaxis, np.newaxis], axis=0)[0])


def level_means(X: Array, levels: Indices) -> Array:
    """Return the means of columns in the rows of the same level."""
    order = np.argsort(levels, kind="stable")
    starts = np.flatnonzero(np.diff(levels[order], prepend=-1))
    sums = np.add.reduceat(X[order], starts, axis=0)
    counts = np.diff(np.append(starts, len(order)))
    place = np.unique(levels, return_inverse=True)[1]
    return np.asarray((sums / counts[:, np.newaxis])[place])
