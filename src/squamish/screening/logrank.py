"""The marginal test of censored times: whether events come earlier by a column.

Hypothesis
    The rate of events at any time does not depend on the column. When rows are lost may.
Statistic
    The log-rank statistic of the column's ranks, and of at most six bins of its values, for what is
    not monotone; combined by Cauchy.
Null distribution
    Normal, and chi-square, with the variance of rows at risk at every event, or that over all
    orders of the column, if this is larger: where few rows differ, who leaves early takes the
    variance along. What would be found by it is corrected for the tail that the statistic has if
    scores are shuffled, by a saddlepoint approximation.
Validity
    Independent rows, lost for reasons that the column, but no event to come, may tell. Rows with
    weights or clusters have the score test.
Literature
    P. O'Brien: "A nonparametric test for association with censored data", Biometrics 34 (1978);
    N. Mantel: "Evaluation of survival data and two new rank order statistics arising in its
    consideration", Cancer Chemotherapy Reports 50 (1966).
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from squamish.arrays import Array
from squamish.screening.marginal import LEAST_IN_BIN, MOST_BINS, bin_cuts
from squamish.screening.validity import WORTH_CONFIRMING
from squamish.statistics.logrank import RiskSets
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.permutation import tail_inflation


def logrank_p_values(X: Array, y: Array, scores: Array) -> Array:
    """Test each column.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Columns.
    y : ndarray of shape (n,)
        Times, positive for events and negative for rows that were lost.
    scores : ndarray of shape (n,)
        Events minus the risk that had passed.
    """
    at_risk = RiskSets.of(y)
    n_bins = int(np.clip(np.sum(y > 0) // LEAST_IN_BIN, 2, MOST_BINS))
    cuts = bin_cuts(X, n_bins)
    in_bins = [
        _joint_p_value(_indicators(x, cut), at_risk, scores)
        for x, cut in zip(X.T, cuts.T, strict=True)
    ]
    return combined_p_values(np.stack([_by_rank(X, at_risk, scores), np.array(in_bins)]))


def _by_rank(X: Array, at_risk: RiskSets, scores: Array) -> Array:
    ranks = stats.rankdata(X, axis=0)
    ranks = (ranks - ranks.mean(axis=0)) / len(X)
    variance = np.maximum(at_risk.variances(ranks), _over_orders(scores) * _squares(ranks))
    error, moment = np.sqrt(variance), np.abs(scores @ ranks)
    ratio = np.divide(moment, error, out=np.zeros_like(error), where=error > 1e-9)
    p = 2 * stats.norm.sf(ratio)
    some = np.flatnonzero(p < WORTH_CONFIRMING)
    p[some] *= tail_inflation(scores, ranks[:, some], ratio[some])
    return np.minimum(p, 1.0)


def _squares(centred: Array) -> Array:
    return np.asarray(np.square(centred).sum(axis=0))


def _over_orders(scores: Array) -> float:
    """Return the variance of a sum over all orders, by the sum of squares of the other side."""
    return float(np.square(scores).sum() / max(len(scores) - 1, 1))


def _indicators(x: Array, cuts: Array) -> Array:
    """Return the bins of a column, without the last of those that are used, which others tell."""
    bins = np.unique(np.searchsorted(cuts, x), return_inverse=True)[1]
    return (bins[:, np.newaxis] == np.arange(bins.max())).astype(np.float64)


def _joint_p_value(Z: Array, at_risk: RiskSets, scores: Array) -> float:
    """Test whether events differ between bins."""
    if Z.shape[1] == 0:
        return 1.0
    sums, centred = scores @ Z, Z - Z.mean(axis=0)
    weights, n_free = _solved(at_risk.covariance(Z), sums)
    by_orders, _ = _solved(_over_orders(scores) * centred.T @ centred, sums)
    weights = min(weights, by_orders, key=lambda w: float(sums @ w))
    statistic = max(float(sums @ weights), 0.0)
    p = float(stats.chi2.sf(statistic, max(n_free, 1)))
    if p < WORTH_CONFIRMING:
        own = (Z @ weights)[:, np.newaxis]
        p *= float(tail_inflation(scores, own, np.array([np.sqrt(statistic)]))[0])
    return min(p, 1.0)


def _solved(covariance: Array, sums: Array) -> tuple[Array, int]:
    """Return sums divided by their covariance, and how many of them are free."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * max(float(values[-1]), 1e-300)
    return vectors[:, kept] / values[kept] @ (vectors[:, kept].T @ sums), int(kept.sum())
