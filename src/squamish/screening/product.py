"""The product test: whether a column depends on the target together with another column.

Hypothesis
    The column is independent of the target and of its partner, jointly.
Statistic
    The largest ratio, over all partners, of the sum of target times product to its standard
    deviation: that of independent terms, or that over all orders of the column, if it is larger.
Null distribution
    Normal, corrected for the number of partners and targets (Bonferroni).
Validity
    Exchangeable rows. Abstains for columns that are nearly constant.
Literature
    N. Simon, R. Tibshirani: "A permutation approach to testing interactions for binary response by
    comparing correlations between classes", JASA 110 (2015).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from squamish.arrays import Array
from squamish.screening.validity import NEARLY_CONSTANT
from squamish.statistics.pairs import ROUGH, Block, large_sums, ranges, sides, sums_of_products


def least_ratio(d: int, n_targets: int) -> float:
    """Return the ratio below which a product proves nothing, being the largest of so many."""
    return float(stats.norm.isf(0.5 / max((d - 1) * n_targets, 1)))


def product_p_values(largest: Array, n_targets: int, atoms: Array) -> Array:
    """Turn the largest ratio of every column into p-values."""
    n_tests = (len(largest) - 1) * n_targets
    p = np.minimum(1, 2 * stats.norm.sf(largest) * n_tests) if n_tests else np.ones(len(largest))
    return np.where(atoms > NEARLY_CONSTANT, 1.0, p)


def ratios(sums: Array, own: Array, ordered: Array) -> Array:
    """Divide sums of target times product by their standard deviations.

    ``own`` is the variance of independent terms, ``ordered`` that over all orders of a column.
    """
    return np.asarray(np.abs(sums) / np.sqrt(np.maximum(np.maximum(own, ordered), 1e-300)))


def ordered_variances(Z: Array, r: Array) -> Array:
    """Return the variance of the sum of ``r`` times a column, over all orders of the column."""
    out = np.zeros(Z.shape[1])
    for start, stop in ranges(Z.shape[1]):
        out[start:stop] = len(Z) * (Z[:, start:stop] * r[:, np.newaxis]).var(axis=0)
    return np.maximum(out, 1e-300)


def largest_ratios(
    Z: Array, r: Array, ordered: Sequence[Array], block: Block, least: float
) -> Array:
    """Return the largest ratio of every column with a partner in a block of pairs.

    Those on its left side come first; 0 if it is below ``least``. ``ordered`` holds the
    variances over all orders of the columns on both sides.
    """
    left, right = sides(Z, block)
    left = left * r[:, np.newaxis]
    i, j, rough = large_sums(left, right, least * np.sqrt(min(map(np.min, ordered))))
    smaller = np.sqrt(np.minimum(ordered[0][i], ordered[1][j]))
    kept = (rough >= least * (1 - ROUGH) * smaller) & (i + block[0] != j + block[2])
    i, j = i[kept], j[kept]
    sums = sums_of_products(left, right, i, j)
    own = sums_of_products(left, right, i, j, power=2)
    largest = [np.zeros(left.shape[1]), np.zeros(right.shape[1])]
    for side, column, partner in ((0, i, j), (1, j, i)):
        found = ratios(sums, own, ordered[1 - side][partner])
        np.maximum.at(largest[side], column, found)
    both = np.concatenate(largest)
    return np.where(both >= least, both, 0.0)


def merged(n_columns: int, cut: list[Block], found: list[Array]) -> Array:
    """Return the largest of what blocks found for every column."""
    out = np.zeros(n_columns)
    for block, values in zip(cut, found, strict=True):
        n_left = block[1] - block[0]
        for (start, stop), part in ((block[:2], values[:n_left]), (block[2:], values[n_left:])):
            out[start:stop] = np.maximum(out[start:stop], part)
    return out
