"""The score test, for rows that count unequally or belong together.

Hypothesis
    The column, its square, or its product with a partner is uncorrelated with the target.
Statistic
    The sum of target times column over its cluster-robust standard error, which is estimated from
    its own terms, those of a cluster taken together.
Null distribution
    Student's t with as many degrees of freedom as clusters less one, and a bound by Hoeffding
    where these are few; corrected for the number of targets and partners (Bonferroni).
Validity
    Independent clusters. Abstains for columns that are nearly constant.
Literature
    K.-Y. Liang, S. Zeger: "Longitudinal data analysis using generalized linear models", Biometrika
    73 (1986).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from squamish.arrays import Array, Indices
from squamish.screening.validity import NEARLY_CONSTANT
from squamish.statistics.correlation import FEW_ROWS
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.paired import cluster_sums
from squamish.statistics.scores import atom_shares


def score_p_values(
    columns: Array, targets: Array, weights: Array | None, clusters: Indices | None
) -> Array:
    """Test columns against targets, corrected for the number of targets."""
    w = np.ones(len(columns)) if weights is None else weights
    centred = columns - w @ columns / w.sum()
    largest, n = np.zeros(columns.shape[1]), len(columns)
    for r in targets.T:
        terms = cluster_sums((w * (r - w @ r / w.sum()))[:, np.newaxis] * centred, clusters)
        n = len(terms)
        error = np.sqrt(np.square(terms).sum(axis=0))
        total = np.abs(terms.sum(axis=0))
        ratio = np.divide(total, error, out=np.zeros_like(error), where=error > 1e-12)
        largest = np.maximum(largest, ratio)
    # Student's t of the terms.
    t = largest * np.sqrt((n - 1) / np.maximum(n - np.square(largest), 1e-12))
    p = 2 * stats.t.sf(t, max(n - 1, 1))
    if n < FEW_ROWS:
        # Terms may all be equal by chance: a bound for any that are as likely above as below zero.
        p = np.maximum(p, 2 * np.exp(-np.square(largest) / 2))
    p = p * targets.shape[1]
    return np.where(atom_shares(columns) > NEARLY_CONSTANT, 1.0, np.minimum(1, p))


def single_p_values(
    Z: Array, targets: Array, weights: Array | None, clusters: Indices | None
) -> Array:
    """Test columns on their own, and by their squares."""
    tests = [score_p_values(f, targets, weights, clusters) for f in (Z, np.square(Z))]
    return combined_p_values(np.stack(tests))


def product_p_values(
    Z: Array,
    targets: Array,
    weights: Array | None,
    clusters: Indices | None,
    partners: Indices,
) -> Array:
    """Test columns in products with partners."""
    product = np.ones(Z.shape[1])
    for k in partners:
        p = score_p_values(Z * Z[:, [k]], targets, weights, clusters)
        p[k] = 1.0
        product = np.minimum(product, p)
    return np.minimum(1, product * max(len(partners), 1))
