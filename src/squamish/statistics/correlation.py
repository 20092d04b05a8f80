"""Tests of correlations, over all orders of a column.

References
----------
E. Pitman: "Significance tests which may be applied to samples from any populations. II. The
correlation coefficient test", Supplement to the JRSS 4 (1937).
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from squamish.arrays import Array
from squamish.statistics.scores import atom_shares, skewness
from squamish.statistics.tails import with_skewed_tails

# Of fewer observations, values that repeat have heavier tails than Student's t.
FEW_ROWS = 50
# A value with a larger share than this repeats so often that few orders differ.
REPEATED = 0.3


def correlation_p_values(scores: Array, targets: Array) -> Array:
    """Test the correlation of columns with targets, corrected for the number of targets.

    Over all orders of a column, the square of the correlation is distributed like that of
    normal variables (Pitman), up to its second moment, whatever the distributions are; the
    third moment is corrected for.
    """
    n = len(scores)
    centred, around = scores - scores.mean(axis=0), targets - targets.mean(axis=0)
    scale = np.outer(np.linalg.norm(around, axis=0), np.linalg.norm(centred, axis=0))
    r = np.divide(np.abs(around.T @ centred), scale, out=np.zeros_like(scale), where=scale > 1e-12)
    skew = np.outer(skewness(targets), skewness(scores)) / np.sqrt(n)
    repeated = np.zeros_like(r)
    if n < FEW_ROWS:
        # Of many rows it does not matter, and would take long.
        repeated = np.maximum.outer(atom_shares(targets), atom_shares(scores))
    return np.minimum(1, correlation_tails(r, n, skew, repeated).min(axis=0) * targets.shape[1])


def correlation_tails(r: Array, n: float, skew: Array, repeated: Array) -> Array:
    """Return how likely it is that columns in random order have such correlations, or larger.

    Sums of their products have this skewness, and the most common value has this share.
    """
    if n < 3:
        return np.ones_like(r)
    t = r * np.sqrt((n - 2) / np.maximum(1 - np.square(r), 1e-12))
    p = 2 * stats.t.sf(t, n - 2)
    if n < FEW_ROWS:
        # No order is less likely than one of all, and those of few values are few: Hoeffding's
        # bound holds for any.
        p = np.maximum(p, 2 * np.exp(-special.gammaln(n + 1)))
        bound = 2 * np.exp(-n * np.square(r) / 2)
        p = np.where(repeated > REPEATED, np.maximum(p, bound), p)
    return with_skewed_tails(p, skew)
