"""The association test: whether a column is clearly correlated with a relevant one.

Hypothesis
    The column is independent of all parts of columns that make these relevant. What depends on a
    relevant column is relevant if the distribution is faithful to a graph: it tells about the
    target through that column, or, if the column is a common effect of both, once that is known.
Statistic
    The largest absolute correlation of normal scores; those below 0.3 do not count.
Null distribution
    All orders of the column (Pitman), the tail corrected for skewness, and for the number of
    relevant columns (Bonferroni). It says nothing of the target: it is no part of the p-value of a
    column, but told beside it.
Validity
    Exchangeable rows; rows of one cluster are averaged first. Abstains for nearly constant columns.
Literature
    J. Pearl: Causality (2009), section 1.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit
from squamish.screening.validity import NEARLY_CONSTANT
from squamish.statistics.correlation import correlation_tails
from squamish.statistics.paired import cluster_sums
from squamish.statistics.pairs import ranges
from squamish.statistics.scores import atom_shares, skewness

# A correlation below this explains less than a tenth of a column, however sure it is.
CLEAR = 0.3


@dataclass(frozen=True, eq=False)
class Partners:
    """The relevant part that every part is correlated with most.

    Attributes
    ----------
    p_values : ndarray of shape (n_parts,)
        Of the correlation, corrected for the number of relevant parts; 1 for these themselves, and
        if it is not clear.
    partner : ndarray of int of shape (n_parts,)
        The relevant part.
    correlation : ndarray of shape (n_parts,)
        Of normal scores, without its sign: columns are judged upright or turned.
    """

    p_values: Array
    partner: Indices
    correlation: Array


def partners_of(fit: CrossFit, relevant: Indices) -> Partners:
    """Test every part for association with relevant parts, of which there is at least one."""
    Z, weights, clusters = fit.given.ranked, fit.table.weights, fit.table.clusters
    if clusters is not None:
        # One observation for each cluster: its mean.
        rows = np.ones(len(Z)) if weights is None else weights
        weights = cluster_sums(rows, clusters)
        Z = cluster_sums(Z * rows[:, np.newaxis], clusters) / weights[:, np.newaxis]
    return associated(Z, relevant, weights)


def associated(Z: Array, relevant: Indices, weights: Array | None = None) -> Partners:
    """Test the correlation of each column with columns that are known to be relevant."""
    w = np.ones(len(Z)) if weights is None else weights
    n = float(np.square(w.sum()) / np.square(w).sum())

    def scaled(X: Array) -> Array:
        centred = X - w @ X / w.sum()
        return centred / np.maximum(np.sqrt(w @ np.square(centred) / w.sum()), 1e-12)

    known = scaled(Z[:, relevant])
    largest, place = np.zeros(Z.shape[1]), np.zeros(Z.shape[1], dtype=np.intp)
    for start, stop in ranges(Z.shape[1]):
        weighted = scaled(Z[:, start:stop]) * w[:, np.newaxis]
        r = np.clip(weighted.T @ known / w.sum(), -1.0, 1.0)
        place[start:stop] = np.abs(r).argmax(axis=1)
        largest[start:stop] = np.take_along_axis(r, place[start:stop, np.newaxis], axis=1)[:, 0]
    atoms, size = atom_shares(Z), np.abs(largest)
    skew = skewness(Z) * np.abs(skewness(known)).max() / np.sqrt(n)
    p = np.minimum(1, correlation_tails(size, n, skew, atoms) * len(relevant))
    p[(size < CLEAR) | (atoms > NEARLY_CONSTANT)] = 1.0
    p[relevant] = 1.0
    return Partners(np.asarray(p), relevant[place], size)
