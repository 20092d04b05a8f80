"""Ranks and moments of columns: normal scores, atoms, skewness."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from squamish.statistics.pairs import ranges

# So many values are ranked at a time.
AT_ONCE = 100_000


def normal_scores(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace every value by the normal quantile of its rank, and standardise the columns.

    A column of a single value is 0 everywhere.
    """
    scores: NDArray[np.float64] = special.ndtri((_average_ranks(X) - 0.5) / len(X))
    scale = scores.std(axis=0)
    return (scores - scores.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def _average_ranks(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank the values of columns from 1; equal ones share the mean of their ranks.

    Contrary to scipy's, it sorts each column in one piece of memory, and few at a time, so that
    all that is made of them stays in a cache.
    """
    ranks = np.empty(X.shape[::-1])
    for start, stop in ranges(X.shape[1], size=AT_ONCE // len(X) + 1):
        lines = np.ascontiguousarray(X[:, start:stop].T)
        order = np.argsort(lines, axis=1)
        means = _means_of_ties(np.take_along_axis(lines, order, axis=1))
        np.put_along_axis(ranks[start:stop], order, means, axis=1)
    return ranks.T


def _means_of_ties(ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of lines that are in order."""
    place, new = np.arange(ordered.shape[1]), np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if new.all():
        return np.broadcast_to(place + 1.0, ordered.shape)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    # The last of equal values stands before the next new one.
    ends = np.where(np.roll(new, -1, axis=1), place, len(place) - 1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((first + last) / 2 + 1)


def atom_shares(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the most common value in every column.

    Sums over a column that is nearly constant are sums over few rows: they are not normal,
    and tests that take them for it do not hold their level.
    """
    longest = np.zeros(X.shape[1])
    for start, stop in ranges(X.shape[1]):
        ordered = np.sort(X[:, start:stop], axis=0)
        # The longest run of equal values, column by column.
        starts = np.vstack([np.ones(stop - start, dtype=bool), ordered[1:] != ordered[:-1]])
        place = np.where(starts, np.arange(len(X))[:, np.newaxis], 0)
        run = np.arange(len(X))[:, np.newaxis] - np.maximum.accumulate(place, axis=0) + 1
        longest[start:stop] = run.max(axis=0)
    return longest / len(X)


def skewness(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the third standardised moment of every column; 0 for a constant.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.scores import skewness
    >>> skewness(np.array([[0.0, 1.0, 5.0], [1.0, 2.0, 5.0], [2.0, 9.0, 5.0]])).round(2)
    array([0.  , 0.67, 0.  ])
    """
    out = np.zeros(X.shape[1])
    for start, stop in ranges(X.shape[1]):
        centred = X[:, start:stop] - X[:, start:stop].mean(axis=0)
        squares = np.square(centred)
        cubes, scale = (squares * centred).mean(axis=0), squares.mean(axis=0) ** 1.5
        np.divide(cubes, scale, out=out[start:stop], where=scale > 1e-100)
    return out


def skew_of_two(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the skewness, without its sign, of two values, one of this share; 0 if it is all.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.scores import skew_of_two
    >>> skew_of_two(np.array([0.5, 0.1, 0.9])).round(2)
    array([0.  , 2.67, 2.67])
    """
    scale = np.sqrt(share * (1 - share))
    return np.divide(np.abs(1 - 2 * share), scale, out=np.zeros_like(scale), where=scale > 0)
