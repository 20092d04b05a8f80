"""Ridge regression with the penalty of the least leave-one-out error.

scikit-learn's RidgeCV does the same. It multiplies the whole table for every penalty, which takes
most of the time of a race of learners; here all penalties share one decomposition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from squamish.arrays import Array

# Directions with less than this share of the largest variance are rounding.
ROUNDING = 1e-12
# A row that the model follows wherever it goes: of its error nothing is known.
LEAST_LEFT = 1e-15
# A decomposition takes the cube of rows or columns, of which there are less: a second for 1,500. Of
# more than this, penalties are compared on so many rows. They say how large slopes are, which does
# not change with the number of rows, and steps of ten are told apart by fewer.
MOST_DECOMPOSED = 1000


@dataclass(frozen=True, eq=False)
class Ridge:
    """A fitted line.

    Attributes
    ----------
    intercept : float
        The prediction where all columns are zero.
    coef : ndarray of shape (d,)
        Slopes.
    error : float
        The mean squared leave-one-out error.
    penalty : float
        The penalty that it is the least of.
    """

    intercept: float
    coef: Array
    error: float
    penalty: float

    def predict(self, X: Array) -> Array:
        """Return the prediction of every row."""
        return np.asarray(X @ self.coef + self.intercept)


def fit_ridge(X: Array, y: Array, penalties: ArrayLike, weights: Array | None = None) -> Ridge:
    """Fit a line with the best of some penalties.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Columns.
    y : ndarray of shape (n,)
        What is predicted.
    penalties : array-like of float
        Of squared slopes, beside the sum of squared errors. Of very many rows and columns, they are
        compared on some of the rows.
    weights : ndarray of shape (n,), optional
        How much rows count.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.ridge import fit_ridge
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> fit_ridge(X, X @ [1.0, 2.0, 0.0] + 5, [1e-6, 1.0]).coef.round(3)
    array([1., 2., 0.])
    """
    share = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
    if min(X.shape) > MOST_DECOMPOSED:
        # Some from everywhere, as tables are sorted by the target.
        some = slice(None, None, math.ceil(len(y) / MOST_DECOMPOSED))
        found = fit_ridge(X[some], y[some], penalties, share[some])
        intercept, coef = _solved(X, y, share, found.penalty)
        return replace(found, intercept=intercept, coef=coef)
    mean, level = share @ X, float(share @ y)
    # A weight of 1 on average, so that penalties mean the same with weights and without.
    root = np.sqrt(share * len(y))
    Z, target = (X - mean) * root[:, np.newaxis], (y - level) * root
    components, values, directions = _components(Z)
    moments = components.T @ target
    tried = np.asarray(penalties, dtype=np.float64)
    # What all components leave, and what the penalty takes back of each: where next to nothing is
    # left of a row, a difference to what is fitted would be rounding.
    units = components / np.sqrt(values)
    unshrunk = tried / (values[:, np.newaxis] + tried)
    outside = target - units @ (units.T @ target)
    residuals = outside[:, np.newaxis] + units @ ((units.T @ target)[:, np.newaxis] * unshrunk)
    beyond = np.maximum(1 - share - np.square(units).sum(axis=1), 0.0)
    left = beyond[:, np.newaxis] + np.square(units) @ unshrunk
    errors = np.square(residuals / np.maximum(left, LEAST_LEFT)).mean(axis=0)
    best = int(errors.argmin())
    coef = directions @ (moments / (values + tried[best]))
    return Ridge(level - float(mean @ coef), coef, float(errors[best]), float(tried[best]))


def _solved(X: Array, y: Array, share: Array, penalty: float) -> tuple[float, Array]:
    """Return intercept and slopes with one penalty."""
    mean, level = share @ X, float(share @ y)
    root = np.sqrt(share * len(y))
    Z = (X - mean) * root[:, np.newaxis]
    gram = Z.T @ Z
    gram[np.diag_indices_from(gram)] += penalty + ROUNDING * np.trace(gram)
    factor = np.linalg.cholesky(gram)
    coef = linalg.cho_solve((factor, True), Z.T @ ((y - level) * root), check_finite=False)
    return level - float(mean @ coef), coef


def _components(Z: Array) -> tuple[Array, Array, Array]:
    """Return principal components, their sums of squares, and their directions."""
    n, d = Z.shape
    if d <= n:
        values, vectors = np.linalg.eigh(Z.T @ Z)
    else:
        values, vectors = np.linalg.eigh(Z @ Z.T)
    kept = values > ROUNDING * values.max(initial=0.0)
    values, vectors = values[kept], vectors[:, kept]
    if d <= n:
        return Z @ vectors, values, vectors
    root = np.sqrt(values)
    return vectors * root, values, Z.T @ (vectors / root)
