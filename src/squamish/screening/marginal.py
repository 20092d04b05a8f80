"""The marginal test: whether a column depends on the target by itself.

Hypothesis
    Column and target are independent.
Statistic
    Ranks (Kruskal and Wallis for classes, Spearman for amounts and ordered classes, of which it
    asks for a shift along the order), and a chi-square of binned values against classes or fifths
    of the amounts, for what is not monotone; combined by Cauchy.
Null distribution
    All orders of the column: chi-square or Student's t by its first two moments, the tail
    corrected for the third. Where one value is common and few rows of a class differ from it,
    Fisher's exact test, of classes, and for a shift of all above each threshold.
Validity
    Exchangeable rows. Rows with weights or clusters have the score test.
Literature
    W. Kruskal, W. Wallis: "Use of ranks in one-criterion variance analysis", JASA 47 (1952);
    W. Cochran: "Some methods for strengthening the common chi-square tests", Biometrics 10 (1954).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from squamish.arrays import Array, Indices, Mask
from squamish.families import Family
from squamish.screening.validity import (
    FEW,
    FEW_OF_TWO,
    MOSTLY_ONE_VALUE,
    differ_in_too_few_rows,
)
from squamish.statistics.correlation import FEW_ROWS, correlation_tails
from squamish.statistics.counts import (
    chi_square_p_values,
    exact_p_values,
    exact_shift_p_values,
)
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.scores import atom_shares, skew_of_two, skewness
from squamish.statistics.tails import with_skewed_tails

# Bins of a column: as many as expect five rows of the rarest class each, and no more than six, as
# more cost degrees of freedom and hardly tell a smooth dependence better.
MOST_BINS, LEAST_IN_BIN = 6, 5


@dataclass(frozen=True, eq=False)
class MarginalSums:
    """Sums over rows that the test needs, of columns as scores and in bins.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    squares : ndarray of shape (q,)
        Sums of the squares of centred scores.
    moments : ndarray of shape (q, k)
        Sums of centred scores over the rows of every class; for targets with an order, of their
        products with the centred scores of the target.
    total : float
        Sum of the squares of the target's scores, if it has an order.
    skew : ndarray of shape (q,)
        Skewness of the scores.
    target_skew : float
        That of the target: of its scores, or the largest of the classes.
    repeated : ndarray of shape (q,)
        Share of the most common value, in the column or in the target, if rows are few.
    counts : ndarray of shape (q, n_bins, n_strata)
        Rows in every bin and stratum of the target.
    sizes : ndarray of int of shape (n_strata,)
        Rows in every stratum.
    """

    n_rows: int
    squares: Array
    moments: Array
    total: float
    skew: Array
    target_skew: float
    repeated: Array
    counts: Array
    sizes: Indices


def p_values_from_sums(sums: MarginalSums, has_order: bool) -> Array:
    """Test columns by their ranks and in bins."""
    by_rank = _spearman(sums) if has_order else _kruskal_wallis(sums)
    in_bins = chi_square_p_values(sums.counts, sums.sizes)
    return combined_p_values(np.stack([by_rank, in_bins]))


def _kruskal_wallis(sums: MarginalSums) -> Array:
    variance = np.maximum(sums.squares / (sums.n_rows - 1), 1e-300)
    statistic = (np.square(sums.moments) / sums.sizes).sum(axis=1) / variance
    p = stats.chi2.sf(statistic, len(sums.sizes) - 1)
    return with_skewed_tails(p, sums.skew * sums.target_skew / np.sqrt(sums.n_rows))


def _spearman(sums: MarginalSums) -> Array:
    scale = np.sqrt(sums.total * sums.squares)
    moment = np.abs(sums.moments[:, 0])
    r = np.divide(moment, scale, out=np.zeros_like(scale), where=scale > 1e-12)
    skew = sums.skew * sums.target_skew / np.sqrt(sums.n_rows)
    return np.minimum(1, correlation_tails(r, sums.n_rows, skew, sums.repeated))


def marginal_p_values(X: Array, y: NDArray[Any], family: Family) -> Array:
    """Test each column of a table in memory."""
    sums = _sums_of(X, y, family)
    p = p_values_from_sums(sums, family.has_order)
    if family.has_classes:
        few, drawn = _differing_in_few_rows(X, y)
        sizes = np.bincount(y)
        exact = exact_p_values(drawn, sizes)
        if family.has_order:
            # How few are enough for ranks depends on all rows, and not on the rarest class.
            rare = differ_in_too_few_rows(atom_shares(X[:, few]), family.scores(y))
            by_rank = np.where(rare, exact_shift_p_values(drawn, sizes), _spearman(sums)[few])
            exact = combined_p_values(np.stack([by_rank, exact]))
        p[few] = exact
    return p


def _differing_in_few_rows(X: Array, y: Indices) -> tuple[Indices, Indices]:
    """Find columns of which few rows of a class differ from the most common value.

    Returns them, and how many rows of each class differ: an array of shape (n_found, n_classes).
    """
    sizes, atoms = np.bincount(y), atom_shares(X)
    n_differ = (1 - atoms) * sizes.min()
    few = np.flatnonzero((atoms > MOSTLY_ONE_VALUE) & (n_differ < FEW_OF_TWO))
    # Of two values nothing is lost; of more, what the others say among themselves would be.
    two = ((X[:, few].min(axis=0) == X[:, few]) | (X[:, few].max(axis=0) == X[:, few])).all(axis=0)
    few = few[needs_exact_test(n_differ[few], two)]
    # A value of most rows is their median.
    differs = X[:, few] != np.median(X[:, few], axis=0)
    drawn = np.stack([differs[y == c].sum(axis=0) for c in range(len(sizes))], axis=-1)
    return few, drawn


def needs_exact_test(n_differ: Array, two_values: Mask) -> Mask:
    """Tell whether too few rows of the rarest class are expected to differ from the most common.

    ``n_differ`` is that number, column by column.
    """
    return (n_differ < FEW) | (two_values & (n_differ < FEW_OF_TWO))


def n_bins_for(sizes: Indices) -> int:
    """Return how many bins a column is cut into, given the sizes of the target's strata."""
    return int(np.clip(sizes.min() // LEAST_IN_BIN, 2, MOST_BINS))


def bin_cuts(X: Array, n_bins: int) -> Array:
    """Return the cuts between bins of equal size, a row for each cut."""
    return np.asarray(np.quantile(X, np.linspace(0, 1, n_bins + 1)[1:-1], axis=0))


def _sums_of(X: Array, y: NDArray[Any], family: Family) -> MarginalSums:
    """Add up a table in memory, by the ranks of its columns."""
    ranks = stats.rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    classes, strata = np.unique(family.strata(y), return_inverse=True)
    sizes = np.bincount(strata)
    repeated, total = np.zeros(X.shape[1]), 0.0
    if not family.has_order:
        moments = np.stack([ranks[strata == c].sum(axis=0) for c in range(len(classes))], axis=1)
        target_skew = float(skew_of_two(sizes / len(y)).max())
    else:
        target = stats.rankdata(y)
        target -= target.mean()
        moments, total = (ranks.T @ target)[:, np.newaxis], float(np.square(target).sum())
        target_skew = float(skewness(target[:, np.newaxis])[0])
        if len(y) < FEW_ROWS:
            repeated = np.maximum(atom_shares(ranks), atom_shares(target[:, np.newaxis]))
    counts = _counts(X, strata, n_bins_for(sizes), len(classes))
    squares = np.square(ranks).sum(axis=0)
    skew = skewness(ranks)
    return MarginalSums(len(y), squares, moments, total, skew, target_skew, repeated, counts, sizes)


def _counts(X: Array, strata: Indices, n_bins: int, n_strata: int) -> Array:
    """Count the rows of every stratum in the bins of every column."""
    bins = sum((cut < X).astype(np.int8) for cut in bin_cuts(X, n_bins))
    indicators = (strata[:, np.newaxis] == np.arange(n_strata)).astype(float)
    return np.stack([(bins == b).astype(float).T @ indicators for b in range(n_bins)], axis=1)
