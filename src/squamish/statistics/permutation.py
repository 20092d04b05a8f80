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

from squamish.arrays import Array, Indices

# Distinct values of the shuffled side; of more, a quarter at each end stays, and the others are
# joined in groups of equal size, by their means.
MOST_VALUES = 48
# Newton's method has converged after a few steps; near the largest possible sum it needs more.
MOST_STEPS = 60
# Between places where exponents differ by this, a curve through six numbers is off by some 1e-11:
# the sixth derivative is at most 16 times the sixth power of half their range.
SPACING = 0.1
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
        # Rows of the same value are gone through once.
        distinct, counts = np.unique(column, return_counts=True)
        # Of few values on both sides sums go in steps, and so much as the last one counts.
        reached = abs(total) - _least_gap(support) * _least_gap(distinct) / 2
        tails = [_tail(support, shares, sign * distinct, counts, reached) for sign in (1.0, -1.0)]
        out[c] = min(1.0, sum(tails))
    return out


def _least_gap(distinct: Array) -> float:
    """Return the least difference between values; 0 if they are too many for that to matter."""
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


def _tail(support: Array, shares: Array, values: Array, counts: Indices, total: float) -> float:
    """Return the probability that the sum of independent weights times values is so large."""
    largest = np.maximum(values * support.max(), values * support.min())
    if total >= counts @ largest:
        # Nothing is beyond, and all rows have to fall into place.
        return float(np.exp(counts @ np.log(shares[_best(support, values)])))
    point, value, curvature = _saddlepoint(support, shares, values, counts, total)
    u = point * np.sqrt(curvature)
    if u < MIDDLE:
        return 0.5
    w = np.sign(point) * np.sqrt(max(2 * (point * total - value), 1e-300))
    return float(np.clip(stats.norm.sf(w) + stats.norm.pdf(w) * (1 / u - 1 / w), 0, 1))


def _best(support: Array, values: Array) -> Array:
    """Return which of the values of weights makes each product largest."""
    return np.asarray(np.argmax(np.outer(values, support), axis=1))


def _saddlepoint(
    support: Array, shares: Array, values: Array, counts: Indices, total: float
) -> tuple[float, float, float]:
    """Find where the derivative of the cumulant generating function is the total.

    Returns the place, the function and its second derivative there.
    """
    scale = float(np.sqrt(counts @ np.square(values) * (shares @ np.square(support))))
    low, high, point = 0.0, np.inf, total / max(scale**2, 1e-300)
    for _ in range(MOST_STEPS):
        value, slope, curvature = _cumulants(support, shares, values, counts, point)
        if abs(slope - total) <= 1e-9 * scale:
            return point, value, curvature
        low, high = (point, high) if slope < total else (low, point)
        step = point + (total - slope) / max(curvature, 1e-300)
        # Newton's step, or half the way to the bounds where it would leave them.
        inside = low < step < high
        point = step if inside else (2 * point if np.isinf(high) else (low + high) / 2)
    value, _, curvature = _cumulants(support, shares, values, counts, point)
    return point, value, curvature


def _cumulants(
    support: Array, shares: Array, values: Array, counts: Indices, point: float
) -> tuple[float, float, float]:
    """Return the cumulant generating function of the sum and its first two derivatives."""
    value, mean, variance = _of_weight(support, shares, point * values)
    weighted = counts * values
    return float(counts @ value), float(weighted @ mean), float(weighted * values @ variance)


def _of_weight(support: Array, shares: Array, places: Array) -> tuple[Array, Array, Array]:
    """Return the cumulant generating function of a weight and two derivatives at some places.

    Of many places, it is a curve through fewer (quintic Hermite interpolation).
    """
    low, high = places.min(), places.max()
    n_nodes = int((high - low) * np.ptp(support) / SPACING) + 2
    if n_nodes > len(places) / 2 or low == high:
        return _of_weight_exactly(support, shares, places)
    nodes, step = np.linspace(low, high, n_nodes, retstep=True)
    value, mean, variance = _of_weight_exactly(support, shares, nodes)
    slope, bend = step * mean, step**2 * variance
    a = np.diff(value) - slope[:-1] - bend[:-1] / 2
    b, c = np.diff(slope) - bend[:-1], np.diff(bend)
    terms = [value[:-1], slope[:-1], bend[:-1] / 2]
    terms += [10 * a - 4 * b + c / 2, -15 * a + 7 * b - c, 6 * a - 3 * b + c / 2]
    place = (places - low) / step
    k = np.minimum(place.astype(np.intp), n_nodes - 2)
    t, (c0, c1, c2, c3, c4, c5) = place - k, np.stack(terms)[:, k]
    curve = c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5))))
    first = c1 + t * (2 * c2 + t * (3 * c3 + t * (4 * c4 + t * 5 * c5)))
    second = 2 * c2 + t * (6 * c3 + t * (12 * c4 + t * 20 * c5))
    return curve, first / step, np.maximum(second, 0) / step**2


def _of_weight_exactly(support: Array, shares: Array, places: Array) -> tuple[Array, Array, Array]:
    # The largest exponent is at one of the ends.
    shift = np.maximum(places * support.max(), places * support.min())
    density = np.outer(places, support)
    density -= shift[:, np.newaxis]
    np.exp(density, out=density)
    moments = shares[:, np.newaxis] * np.vander(support, 3, increasing=True)
    total, mean, square = (density @ moments).T
    mean, square = mean / total, square / total
    return np.log(total) + shift, mean, np.maximum(square - np.square(mean), 0)
