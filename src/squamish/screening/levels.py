"""The levels test: whether the levels of a category, however many, differ in their targets.

Hypothesis
    Level and target are independent.
Statistic
    The sum of squares between levels, as in an analysis of variance.
Null distribution
    Targets, with their weights, in random order; the tail is Pearson's third type with the first
    three moments of a sample of orders. If each row has a level of its own, all orders are equal.
Validity
    Exchangeable rows. Rows of one cluster cannot change places: samples of one row from each are
    tested instead, and combined by Cauchy.
Literature
    L. Minas, G. Montana: "Distance-based analysis of variance: approximate inference", Statistical
    Analysis and Data Mining 7 (2014).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from squamish.arrays import Array, Indices
from squamish.statistics.multiplicity import combined_p_values

# Random orders of the target: the mean of sums is known to 7% of their standard deviation, and that
# to 5%.
N_ORDERS = 200
# Samples of one row from each cluster.
N_SAMPLES = 10


def level_p_value(
    levels: Indices,
    targets: Array,
    rng: np.random.Generator,
    weights: Array | None = None,
    clusters: Indices | None = None,
    variances: Array | None = None,
) -> float:
    """Test the levels of one category.

    Where targets vary more in some rows than in others, squares of sums are divided by what that
    makes of a level, as in a log-rank test.
    """
    w = np.ones(len(levels)) if weights is None else weights
    spread = np.square(w) if variances is None else np.square(w) * variances
    if clusters is None:
        return _permutation_p_value(levels, targets, rng, w, spread)
    samples = [_one_of_each(clusters, rng) for _ in range(N_SAMPLES)]
    p_values = [_permutation_p_value(levels[s], targets[s], rng, w[s], spread[s]) for s in samples]
    return float(combined_p_values(np.array(p_values)[:, np.newaxis])[0])


def _permutation_p_value(
    levels: Indices, targets: Array, rng: np.random.Generator, w: Array, spread: Array
) -> float:
    scores = targets / np.maximum(targets.std(axis=0), 1e-12)
    scores = w[:, np.newaxis] * (scores - w @ scores / w.sum())

    def between(order: Indices) -> float:
        counts = np.maximum(np.bincount(levels, weights=spread[order]), 1e-12)
        sums = np.stack([np.bincount(levels, weights=s[order]) for s in scores.T])
        return float((np.square(sums) / counts).sum())

    rows = np.arange(len(levels))
    null = np.array([between(rng.permutation(rows)) for _ in range(N_ORDERS)])
    if null.std() < 1e-9 * max(null.mean(), 1e-12):
        return 1.0
    standard = (null - null.mean()) / null.std()
    value = (between(rows) - null.mean()) / null.std()
    # A sum of squares is skewed to the right; a sample of orders may look otherwise by chance.
    return float(stats.pearson3.sf(value, max(stats.skew(standard), 0.0)))


def _one_of_each(clusters: Indices, rng: np.random.Generator) -> Indices:
    """Draw one row of every cluster."""
    order = rng.permutation(len(clusters))
    return np.asarray(order[np.unique(clusters[order], return_index=True)[1]])
