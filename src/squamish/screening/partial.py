"""The partial test: whether a column tells anything in a linear model of all columns.

Hypothesis
    The coefficient of the column, given all others, is zero.
Statistic
    Student's t of ordinary least squares on normal scores, for every column of the target.
Null distribution
    Student's t with n - d - 1 degrees of freedom, the tail corrected for the skewness of the sum,
    and for the number of targets (Bonferroni).
Validity
    Exchangeable rows, and errors of about the same variance. Abstains where rows are few beside
    the columns, and for columns that differ from their most common value in few rows.
Literature
    D. Freedman, D. Lane: "A nonstochastic interpretation of reported significance levels", Journal
    of Business & Economic Statistics 1 (1983).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from squamish.arrays import Array, Mask
from squamish.screening.validity import differ_in_few_rows
from squamish.statistics.scores import atom_shares, skewness
from squamish.statistics.tails import with_skewed_tails

# The least degrees of freedom: twenty, and half as many as there are columns. With fewer, the
# variance inflates until nothing can be shown, and its estimate is a matter of chance.
LEAST_FREEDOM, FREEDOM_PER_COLUMN = 20, 0.5
# Directions with less than this share of the largest variance are rounding.
COLLINEAR = 1e-9


def partial_p_values(Z: Array, targets: Array) -> Array:
    """Test each column of a table in memory given all others; 1 where rows are too few for it."""
    n, d = Z.shape
    if n - d - 1 < max(LEAST_FREEDOM, int(FREEDOM_PER_COLUMN * d)):
        return np.ones(d)
    skew = skewness(Z) * np.abs(skewness(targets)).max() / np.sqrt(n)
    few = differ_in_few_rows(atom_shares(Z), targets)
    totals = np.square(targets).sum(axis=0)
    return p_values_from_sums(Z.T @ Z, Z.T @ targets, totals, n, skew, few)


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
    d, n_targets = moments.shape
    freedom = n_rows - d - 1
    values, vectors = np.linalg.eigh(gram)
    kept = values > COLLINEAR * values[-1]
    basis = vectors[:, kept] / np.sqrt(values[kept])
    scale = np.sqrt(np.square(basis).sum(axis=1))
    p = np.ones(d)
    for moment, total in zip(moments.T, totals, strict=True):
        fitted = basis.T @ moment
        error = np.sqrt(max(total - np.square(fitted).sum(), 1e-12 * total) / freedom)
        # A column without variance has no scale, and proves nothing.
        t = np.divide(basis @ fitted, error * scale, out=np.zeros(d), where=scale > 0)
        p = np.minimum(p, 2 * stats.t.sf(np.abs(t), freedom))
    p = with_skewed_tails(np.minimum(1, p * n_targets), skew)
    return np.where(abstains, 1.0, p)
