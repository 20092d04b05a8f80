"""The partial test: whether a column tells anything in a linear model of all columns.

Hypothesis
    The coefficient of the column, given all others, is zero. Columns that are parts of one
    feature, such as the levels of a category, are tested given the other features alone: if the
    feature tells nothing, none of its parts does, and a level beside all other levels of the same
    category says little. They are tested one by one, which is sharper if one level differs from
    the rest, and jointly.
Statistic
    Student's t of ordinary least squares on normal scores, for every column of the target; F of
    all parts of a feature together.
Null distribution
    Student's t with n - d - 1 degrees of freedom, the tail corrected for the skewness of the sum,
    and for the number of targets (Bonferroni); Fisher's F. What would be found by it is corrected
    for the tail that shuffled residuals have (Freedman and Lane), by a saddlepoint approximation;
    of several parts together, for that of the sum of parts that tells most.
Validity
    Exchangeable rows, and errors of about the same variance. Abstains where rows are few beside
    the columns, and for columns that differ from their most common value in few rows.
Literature
    D. Freedman, D. Lane: "A nonstochastic interpretation of reported significance levels", Journal
    of Business & Economic Statistics 1 (1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import stats

from squamish.arrays import Array, Indices, Mask
from squamish.screening.validity import (
    NEARLY_CONSTANT,
    WORTH_CONFIRMING,
    differ_in_too_few_rows,
)
from squamish.statistics.pairs import in_groups
from squamish.statistics.permutation import tail_inflation
from squamish.statistics.scores import atom_shares, skewness
from squamish.statistics.tails import with_skewed_tails

# The least degrees of freedom: twenty, and half as many as there are columns. With fewer, the
# variance inflates until nothing can be shown, and its estimate is a matter of chance.
LEAST_FREEDOM, FREEDOM_PER_COLUMN = 20, 0.5
# Directions with less than this share of the largest variance are rounding.
COLLINEAR = 1e-9


class PartialTests(NamedTuple):
    """What came of tests given all other features.

    Attributes
    ----------
    single : ndarray of shape (d,)
        p-values of columns one by one; 1 where the test does not hold.
    jointly : ndarray of shape (d,)
        p-values of all parts of a feature together, the same for each of them; 1 if there is only
        one.
    """

    single: Array
    jointly: Array


@dataclass(frozen=True, eq=False)
class Design:
    """Columns, and what the tests have to know of them.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, d)
        Standardised columns.
    feature : ndarray of int of shape (d,)
        The feature of which each is a part; what differs in too few rows for any test is one of
        its own.
    abstains : ndarray of bool of shape (d,)
        Columns that are not tested by themselves.
    """

    Z: Array
    feature: Indices
    abstains: Mask

    @classmethod
    def of(cls, Z: Array, targets: Array, feature: Indices | None = None) -> Design:
        """Tell what can be tested, by how much columns and targets vary."""
        n, d = Z.shape
        numbers = np.arange(d)
        if n - d - 1 < max(LEAST_FREEDOM, int(FREEDOM_PER_COLUMN * d)):
            return cls(Z, numbers, np.ones(d, dtype=bool))
        atoms = atom_shares(Z)
        few = differ_in_too_few_rows(atoms, targets)
        owner = numbers if feature is None else np.where(few, feature.max() + 1 + numbers, feature)
        return cls(Z, owner, few | (atoms > NEARLY_CONSTANT))

    @cached_property
    def several(self) -> list[Indices]:
        """The parts of features that have several."""
        return [parts for parts in in_groups(self.feature) if len(parts) > 1]

    def n_free(self, parts: Indices) -> int:
        """Return how many of some columns are not sums of the others."""
        Z = self.Z[:, parts]
        return int(np.linalg.matrix_rank(Z.T @ Z, tol=COLLINEAR * len(Z), hermitian=True))


def partial_tests(design: Design, targets: Array) -> PartialTests:
    """Test each column of a table in memory, and each feature of several, given all others."""
    Z = design.Z
    n, d = Z.shape
    if design.abstains.all():
        return PartialTests(np.ones(d), np.ones(d))
    skew = skewness(Z) * np.abs(skewness(targets)).max() / np.sqrt(n)
    totals = np.square(targets).sum(axis=0)
    solved = _Solved.of(Z.T @ Z, design.feature)
    p = _single_p_values(solved, Z.T @ targets, totals, n, skew)
    p[design.abstains] = 1.0
    single = _corrected(_confirmed(p, Z, targets, solved))
    return PartialTests(single, _corrected(_joint_p_values(design, targets, solved)))


def p_values_from_sums(
    gram: Array,
    moments: Array,
    totals: Array,
    n_rows: int,
    skew: Array,
    feature: Indices,
    abstains: Mask,
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
    feature : ndarray of int of shape (d,)
        The feature of which each column is a part.
    abstains : ndarray of bool of shape (d,)
        Columns for which the test does not hold.
    """
    p = _single_p_values(_Solved.of(gram, feature), moments, totals, n_rows, skew)
    return np.where(abstains, 1.0, _corrected(p))


@dataclass(frozen=True, eq=False)
class _Solved:
    """What the columns of other features leave of each column, from products of all columns.

    Attributes
    ----------
    basis : ndarray of shape (d, rank)
        The inverse of the matrix of products: ``basis @ basis.T``.
    beyond : ndarray of shape (d, d)
        The weights of all columns in what is left of each.
    variance : ndarray of shape (d,)
        The sum of squares of what is left.
    feature : ndarray of int of shape (d,)
        The feature of which each column is a part.
    """

    basis: Array
    beyond: Array
    variance: Array
    feature: Indices

    @classmethod
    def of(cls, gram: Array, feature: Indices) -> _Solved:
        """Decompose it, without directions in which there is only rounding."""
        values, vectors = np.linalg.eigh(gram)
        kept = values > COLLINEAR * values[-1]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        beyond, variance = beyond_other_features(basis @ basis.T, feature)
        return cls(basis, beyond, variance, feature)

    @property
    def n_parts(self) -> Indices:
        """Of how many columns the feature of each one consists."""
        return np.asarray(np.bincount(self.feature)[self.feature])


def beyond_other_features(inverse: Array, feature: Indices) -> tuple[Array, Array]:
    """Return the weights of what other features leave of each column, and its sum of squares.

    Parameters
    ----------
    inverse : ndarray of shape (d, d)
        The (generalised) inverse of products of columns.
    feature : ndarray of int of shape (d,)
        The feature of which each column is a part.
    """
    variance = np.diag(inverse).copy()
    variance = np.divide(1.0, variance, out=np.zeros(len(variance)), where=variance > 0)
    beyond = inverse * variance
    for parts in in_groups(feature):
        if len(parts) > 1:
            # Levels of a category add up to a constant: there is a direction without variance.
            left = np.linalg.pinv(inverse[np.ix_(parts, parts)], rcond=COLLINEAR, hermitian=True)
            beyond[:, parts], variance[parts] = inverse[:, parts] @ left, np.diag(left)
    return beyond, variance


def _single_p_values(
    solved: _Solved, moments: Array, totals: Array, n_rows: int, skew: Array
) -> Array:
    """Return a p-value for every column and target, by Student's t."""
    d = len(moments)
    # In the model of a part, the other parts of its feature are missing.
    freedom = n_rows - d - 2 + solved.n_parts
    out = np.ones(moments.shape)
    for t, (moment, total) in enumerate(zip(moments.T, totals, strict=True)):
        fitted = solved.basis.T @ moment
        beta, score = solved.basis @ fitted, solved.beyond.T @ moment
        left = max(total - np.square(fitted).sum(), 1e-12 * total)
        # What all parts of a feature take off the squares, and what this one alone does.
        of_feature = np.bincount(solved.feature, beta * score)[solved.feature]
        alone = np.divide(score**2, solved.variance, out=np.zeros(d), where=solved.variance > 0)
        error = (left + np.maximum(of_feature - alone, 0.0)) / freedom
        ratio = np.sqrt(alone / error)
        out[:, t] = with_skewed_tails(2 * stats.t.sf(ratio, freedom), skew)
    return out


def _confirmed(p: Array, Z: Array, targets: Array, solved: _Solved) -> Array:
    """Correct what would be found for the tail that shuffled residuals have (Freedman and Lane).

    Residuals are those of the model without the feature, of which its own part is then a sum.
    """
    out = p.copy()
    beta = solved.basis @ (solved.basis.T @ (Z.T @ targets))
    for j, t in zip(*np.nonzero(p * p.shape[1] < WORTH_CONFIRMING), strict=True):
        parts = np.flatnonzero(solved.feature == solved.feature[j])
        without = beta[:, t] - solved.beyond[:, parts] @ beta[parts, t]
        residual = targets[:, t] - Z @ without
        out[j, t] *= tail_inflation(residual, Z @ solved.beyond[:, [j]])[0]
    return out


def _joint_p_values(design: Design, targets: Array, solved: _Solved) -> Array:
    """Test all parts of a feature together, by Fisher's F."""
    Z = design.Z
    out = np.ones((Z.shape[1], targets.shape[1]))
    beta = solved.basis @ (solved.basis.T @ (Z.T @ targets))
    residuals = targets - Z @ beta
    freedom = len(Z) - solved.basis.shape[1] - 1
    for parts in design.several:
        own = Z @ (solved.beyond[:, parts] @ beta[parts])
        explained, n_free = np.square(own).sum(axis=0), design.n_free(parts)
        left = np.maximum(np.square(residuals).sum(axis=0), 1e-12 * np.square(targets).sum(axis=0))
        p = stats.f.sf(explained / n_free / (left / freedom), n_free, freedom)
        for t in np.flatnonzero(p * len(p) < WORTH_CONFIRMING):
            p[t] *= tail_inflation(residuals[:, t] + own[:, t], own[:, [t]])[0]
        out[parts] = p
    return out


def _corrected(p: Array) -> Array:
    """Correct for the number of targets."""
    return np.minimum(1, p.min(axis=1) * p.shape[1])
