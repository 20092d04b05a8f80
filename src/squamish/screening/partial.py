"""The partial test: whether a column tells anything in a linear model of all columns.

Hypothesis
    The coefficient of the column, given all others, is zero.
Statistic
    Student's t of ordinary least squares on normal scores, for every column of the target.
Null distribution
    Student's t with n - d - 1 degrees of freedom, the tail corrected for the skewness of the sum,
    and for the number of targets (Bonferroni). What would be found by it is corrected for the tail
    that shuffled residuals have (Freedman and Lane), by a saddlepoint approximation.
Validity
    Exchangeable rows, and errors of about the same variance. Abstains where rows are few beside
    the columns, and for columns that differ from their most common value in few rows.
Literature
    D. Freedman, D. Lane: "A nonstochastic interpretation of reported significance levels", Journal
    of Business & Economic Statistics 1 (1983).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from squamish.arrays import Array, Mask
from squamish.screening.validity import WORTH_CONFIRMING, differ_in_few_rows
from squamish.statistics.permutation import tail_inflation
from squamish.statistics.scores import atom_shares, skewness
from squamish.statistics.tails import with_skewed_tails

# The least degrees of freedom: twenty, and half as many as there are columns. With fewer, the
# variance inflates until nothing can be shown, and its estimate is a matter of chance.
LEAST_FREEDOM, FREEDOM_PER_COLUMN = 20, 0.5
# Directions with less than this share of the largest variance are rounding.
COLLINEAR = 1e-9


def partial_abstains(Z: Array, targets: Array) -> Mask:
    """Tell the columns for which the test does not hold: all, where rows are too few for it."""
    n, d = Z.shape
    if n - d - 1 < max(LEAST_FREEDOM, int(FREEDOM_PER_COLUMN * d)):
        return np.ones(d, dtype=bool)
    return differ_in_few_rows(atom_shares(Z), targets)


def partial_p_values(Z: Array, targets: Array, abstains: Mask | None = None) -> Array:
    """Test each column of a table in memory given all others; 1 where the test does not hold."""
    n, d = Z.shape
    abstains = partial_abstains(Z, targets) if abstains is None else abstains
    if abstains.all():
        return np.ones(d)
    skew = skewness(Z) * np.abs(skewness(targets)).max() / np.sqrt(n)
    totals = np.square(targets).sum(axis=0)
    solved = _Solved.of(Z.T @ Z)
    p = _single_p_values(solved, Z.T @ targets, totals, n, skew)
    p[abstains] = 1.0
    return _corrected(_confirmed(p, Z, targets, solved))


def p_values_from_sums(
    gram: Array, moments: Array, totals: Array, n_rows: int, skew: Array, abstains: Mask
) -> Array:
    """Test each column from products of columns, of columns and targets, and of targets.

    Parameters
    ----------
    gram : ndarray of shape (d, d)
        Sums of products of centred columns.
    moments : ndarray of shape (d, n_targets)
        Sums of their products with centred targets.
    totals : ndarray of shape (n_targets,)
        Sums of squares of the targets.
    n_rows : int
        Number of rows.
    skew : ndarray of shape (d,)
        Skewness of the sums, column by column.
    abstains : ndarray of bool of shape (d,)
        Columns for which the test does not hold.
    """
    p = _single_p_values(_Solved.of(gram), moments, totals, n_rows, skew)
    return np.where(abstains, 1.0, _corrected(p))


@dataclass(frozen=True, eq=False)
class _Solved:
    """The inverse of a matrix of products, as a basis: ``basis @ basis.T``."""

    basis: Array

    @classmethod
    def of(cls, gram: Array) -> _Solved:
        """Decompose it, without directions in which there is only rounding."""
        values, vectors = np.linalg.eigh(gram)
        kept = values > COLLINEAR * values[-1]
        return cls(vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def scale(self) -> Array:
        """Standard errors of coefficients, for errors of variance 1."""
        return np.asarray(np.sqrt(np.square(self.basis).sum(axis=1)))


def _single_p_values(
    solved: _Solved, moments: Array, totals: Array, n_rows: int, skew: Array
) -> Array:
    """Return a p-value for every column and target, by Student's t."""
    d = len(moments)
    freedom = n_rows - d - 1
    basis, scale = solved.basis, solved.scale
    out = np.ones(moments.shape)
    for t, (moment, total) in enumerate(zip(moments.T, totals, strict=True)):
        fitted = basis.T @ moment
        error = np.sqrt(max(total - np.square(fitted).sum(), 1e-12 * total) / freedom)
        # A column without variance has no scale, and proves nothing.
        ratio = np.divide(basis @ fitted, error * scale, out=np.zeros(d), where=scale > 0)
        out[:, t] = with_skewed_tails(2 * stats.t.sf(np.abs(ratio), freedom), skew)
    return out


def _confirmed(p: Array, Z: Array, targets: Array, solved: _Solved) -> Array:
    """Correct what would be found for the tail that shuffled residuals have (Freedman and Lane).

    Residuals are those of the model without the column, of which its own part is then a sum.
    """
    out = p.copy()
    inverse = solved.basis @ solved.basis.T
    for j, t in zip(*np.nonzero(p * p.shape[1] < WORTH_CONFIRMING), strict=True):
        own = Z @ inverse[:, j]
        beta = inverse @ (Z.T @ targets[:, t])
        residual = targets[:, t] - Z @ beta + own * beta[j] / max(inverse[j, j], 1e-300)
        out[j, t] *= tail_inflation(residual, own[:, np.newaxis])[0]
    return out


def _corrected(p: Array) -> Array:
    """Correct for the number of targets."""
    return np.minimum(1, p.min(axis=1) * p.shape[1])
