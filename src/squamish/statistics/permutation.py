"""Tails of sums over random orders: of products of which one side is shuffled.

A normal tail is wrong by orders of magnitude where both sides are heavy-tailed, as a rare class
times a product of skewed columns is. The saddlepoint approximation keeps its relative error small
however far out, and needs no random orders: it is the same for everybody.

References
----------
R. Lugannani and S. Rice: "Saddle point approximation for the distribution of the sum of independent
random variables", Advances in Applied Probability 12 (1980). J. Robinson: "Saddlepoint
approximations for permutation tests and confidence intervals", JRSS B 44 (1982).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from squamish.arrays import Array

# Distinct values of the shuffled side; of more, a quarter at each end stays, and the others are
# joined in groups of equal size, by their means.
MOST_VALUES = 48
# Newton's method has converged after a few steps; near the largest possible sum it needs more.
MOST_STEPS = 60
# A saddlepoint closer to zero than this, in standard errors, is the middle of the distribution.
MIDDLE = 1e-3


def least_p_value(values: NDArray[Any]) -> float:
    """Return the least p-value that any test can have over all orders of some values.

    One of all orders that differ.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.permutation import least_p_value
    >>> round(1 / least_p_value(np.array([0, 0, 1, 1, 1])))
    10
    """
    _, counts = np.unique(values, return_counts=True)
    return float(np.exp(special.gammaln(counts + 1).sum() - special.gammaln(counts.sum() + 1)))


def tail_inflation(weights: Array, values: Array, ratios: Array | None = None) -> Array:
    """Return how many times as likely as by a normal tail sums are if one side is shuffled.

    Sums of weights times values that are so many standard deviations from zero, or more. At
    least 1: a lighter tail buys nothing. A p-value that takes such a ratio for normal, multiplied
    by this, holds for shuffled weights.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        The side that is shuffled.
    values : ndarray of shape (n, c)
        The other side, a column for each sum.
    ratios : ndarray of shape (c,), optional
        How many. By default, as many as the sums that there are.

    Returns
    -------
    ndarray of shape (c,)
        A factor for each two-sided p-value.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.permutation import tail_inflation
    >>> rng = np.random.default_rng(0)
    >>> rare_class, heavy = np.repeat([1.0, 0.0], [4, 396]), np.zeros((400, 1))
    >>> heavy[:2] = 1.0
    >>> bool(tail_inflation(rare_class, heavy, np.array([7.0]))[0] > 1e6)
    True
    >>> normal = rng.standard_normal((400, 1))
    >>> tail_inflation(rng.standard_normal(400), normal, np.array([3.0])).round(1)
    array([1.])
    """
    centred = values - values.mean(axis=0)
    scale = weights.std() * np.linalg.norm(centred, axis=0)
    if ratios is None:
        sums = np.abs((weights - weights.mean()) @ centred)
        ratios = np.divide(sums, scale, out=np.zeros_like(sums), where=scale > 0)
    tails = shuffled_tails(weights, values, scale * ratios)
    return np.asarray(np.maximum(tails / np.maximum(2 * stats.norm.sf(ratios), 1e-300), 1.0))


def shuffled_tails(weights: Array, values: Array, sums: Array | None = None) -> Array:
    """Return how likely sums of weights times values are so far from zero if one is shuffled.

    Shuffled weights are taken for independent draws of their distribution, which leaves out that
    each occurs once: of n rows, a matter of 1 / n.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        The side that is shuffled.
    values : ndarray of shape (n, c)
        The other side, a column for each sum.
    sums : ndarray of shape (c,), optional
        How far, both sides being centred. By default, as far as those that there are.

    Returns
    -------
    ndarray of shape (c,)
        Two-sided p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.permutation import shuffled_tails
    >>> weights = np.repeat([1.0, 0.0], [4, 396])
    >>> values = np.zeros((400, 2))
    >>> values[:2, 0], values[:40, 1] = 1.0, 1.0
    >>> shuffled_tails(weights, values).round(5)
    array([0.00031, 0.00042])
    """
    support, shares = _distribution(weights - weights.mean())
    centred = values - values.mean(axis=0)
    if sums is None:
        sums = (weights - weights.mean()) @ centred
    out = np.ones(values.shape[1])
    for c, total in enumerate(sums):
        column = centred[:, c]
        if not column.any():
            continue
        # Of few values on both sides sums go in steps, and so much as the last one counts.
        reached = abs(total) - _least_gap(support) * _least_gap(column) / 2
        tails = [_tail(support, shares, sign * column, reached) for sign in (1.0, -1.0)]
        out[c] = min(1.0, sum(tails))
    return out


def _least_gap(values: Array) -> float:
    """Return the least difference between values; 0 if they are too many for that to matter."""
    distinct = np.unique(values)
    return float(np.diff(distinct).min()) if 1 < len(distinct) < MOST_VALUES else 0.0


def _distribution(weights: Array) -> tuple[Array, Array]:
    """Return the distinct values of weights and their shares, few enough to add up over."""
    support, counts = np.unique(weights, return_counts=True)
    if len(support) > MOST_VALUES:
        # The extremes one by one, since these make a tail, and the others in groups.
        ordered, ends = np.sort(weights), MOST_VALUES // 4
        middle = np.array_split(ordered[ends:-ends], MOST_VALUES - 2 * ends)
        parts = [*np.split(ordered[:ends], ends), *middle, *np.split(ordered[-ends:], ends)]
        support = np.array([part.mean() for part in parts])
        counts = np.array([len(part) for part in parts])
        # Means of groups vary less than what they stand for.
        support *= weights.std() / np.sqrt(counts @ np.square(support) / counts.sum())
    return support, counts / counts.sum()


def _tail(support: Array, shares: Array, values: Array, total: float) -> float:
    """Return the probability that the sum of independent weights times values is so large."""
    largest = np.maximum(values * support.max(), values * support.min()).sum()
    if total >= largest:
        # Nothing is beyond, and all rows have to fall into place.
        return float(np.exp(np.sum(np.log(shares[_best(support, values)]))))
    point = _saddlepoint(support, shares, values, total)
    value, _, curvature = _cumulants(support, shares, values, point)
    u = point * np.sqrt(curvature)
    if u < MIDDLE:
        return 0.5
    w = np.sign(point) * np.sqrt(max(2 * (point * total - value), 1e-300))
    return float(np.clip(stats.norm.sf(w) + stats.norm.pdf(w) * (1 / u - 1 / w), 0, 1))


def _best(support: Array, values: Array) -> Array:
    """Return which of the values of weights makes each product largest."""
    return np.asarray(np.argmax(np.outer(values, support), axis=1))


def _saddlepoint(support: Array, shares: Array, values: Array, total: float) -> float:
    """Find where the derivative of the cumulant generating function is the total."""
    scale = float(np.sqrt(np.square(values).sum() * (shares @ np.square(support))))
    low, high, point = 0.0, np.inf, total / max(scale**2, 1e-300)
    for _ in range(MOST_STEPS):
        _, slope, curvature = _cumulants(support, shares, values, point)
        if abs(slope - total) <= 1e-9 * scale:
            break
        low, high = (point, high) if slope < total else (low, point)
        step = point + (total - slope) / max(curvature, 1e-300)
        # Newton's step, or half the way to the bounds where it would leave them.
        inside = low < step < high
        point = step if inside else (2 * point if np.isinf(high) else (low + high) / 2)
    return point


def _cumulants(
    support: Array, shares: Array, values: Array, point: float
) -> tuple[float, float, float]:
    """Return the cumulant generating function of the sum and its first two derivatives."""
    exponent = point * np.outer(values, support)
    shift = exponent.max(axis=1, keepdims=True)
    density = shares * np.exp(exponent - shift)
    total = density.sum(axis=1)
    mean = density @ support / total
    square = density @ np.square(support) / total
    value = float(np.sum(np.log(total) + shift[:, 0]))
    curvature = np.square(values) * np.maximum(square - np.square(mean), 0)
    return value, float(values @ mean), float(curvature.sum())
