"""Tails of null distributions: of skewed sums, and beyond a sample of the null."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

# The tail of a sample of the null, whose rate of decay is estimated: its largest tenth, as is usual
# for peaks over a threshold, or so many values if that is fewer, which tell a rate to 22%.
TAIL_SHARE, LEAST_TAIL = 1 / 10, 20


def with_skewed_tails(p_values: NDArray[np.float64], skew: ArrayLike) -> NDArray[np.float64]:
    """Correct two-sided p-values that take a sum for normal, although it is skewed.

    The longer tail of a sum with this skewness is that of Pearson's third type, a gamma
    distribution with the same three moments. Over all orders of a column, the skewness of its
    products with another, added up, is that of one times that of the other, divided by the
    root of the number of rows: rows that differ from the rest matter if both have few of them.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.tails import with_skewed_tails
    >>> with_skewed_tails(np.array([1e-6, 1e-6, 0.5]), np.array([0.0, 0.5, 0.5])).round(6)
    array([1.00e-06, 1.69e-04, 5.00e-01])
    """
    p = np.clip(p_values, 1e-300, 1)
    longer = 2 * stats.pearson3.sf(stats.norm.isf(p / 2), np.abs(skew))
    return np.clip(longer, p_values, 1)


def exponential_tail_p_values(
    values: NDArray[np.float64], null: NDArray[np.float64]
) -> NDArray[np.float64]:
    """p-values against a sample of the null, beyond its range too.

    Below its tail the p-value is the rank in the null sample. Beyond, the tail is taken to
    fall off exponentially at a rate that is estimated from the values in it, which is
    cautious for any null whose tail is no heavier than that. The fewer they are, the less
    the rate is trusted: the excess of a further value over the sum of m others is beyond t
    with probability ``(1 + t) ** -m``.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.tails import exponential_tail_p_values
    >>> null = np.random.default_rng(0).exponential(size=1000)
    >>> exponential_tail_p_values(np.array([0.0, np.log(2), 7.0]), null).round(4)
    array([1.   , 0.524, 0.001])
    >>> exponential_tail_p_values(np.array([7.0]), null[:10]).round(4)
    array([0.0682])
    """
    ordered, n_tail, total = _upper_tail(null)
    start = ordered[-n_tail]
    rank = 1 - np.searchsorted(ordered, values, side="left") / len(ordered)
    beyond = np.maximum(values - start, 0) / total
    tail = n_tail / len(ordered) * (1 + beyond) ** -float(n_tail - 1)
    if ordered[-1] == start:
        # Values that are all the same say nothing of how they fall off.
        tail = np.full(len(tail), 1 / (len(ordered) + 1))
    return np.asarray(np.where(values > start, tail, rank))


def exponential_tail_quantile(null: NDArray[np.float64], p: float) -> float:
    """Return the value that has this p-value against a sample of the null, if it is small.

    NaN if no value has it, since those in the tail are all the same.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.tails import exponential_tail_p_values, exponential_tail_quantile
    >>> null = np.random.default_rng(0).exponential(size=1000)
    >>> bound = exponential_tail_quantile(null, 1e-4)
    >>> exponential_tail_p_values(np.array([bound]), null).round(6)
    array([0.0001])
    """
    ordered, n_tail, total = _upper_tail(null)
    if ordered[-1] == ordered[-n_tail]:
        return np.nan
    ratio = max(n_tail / len(ordered) / p, 1.0)
    return float(ordered[-n_tail] + total * (ratio ** (1 / (n_tail - 1)) - 1))


def _upper_tail(null: NDArray[np.float64]) -> tuple[NDArray[np.float64], int, float]:
    """Sort a sample of the null; return it, the size of its tail and the tail's total excess.

    The tail is a tenth of the sample, or 20 values if that is too few to tell a rate, but
    at most half of it, and at most half of the values above the least: where most are the
    same, such as 0, they say nothing of how the others fall off.
    """
    ordered = np.sort(null)
    n_tail = max(int(np.ceil(len(ordered) * TAIL_SHARE)), min(LEAST_TAIL, len(ordered) // 2))
    n_tail = max(min(n_tail, int(np.sum(ordered > ordered[0])) // 2), 2)
    return ordered, n_tail, max(float(np.sum(ordered[-n_tail:] - ordered[-n_tail])), 1e-12)
