"""Statistics named as statisticians name them, apart from the methods that use them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from squamish.errors import InputError, check_range
from squamish.pairs import ranges


@dataclass(frozen=True, eq=False)
class PredictionInterval:
    """Where the next value of a normal population is expected, and the sample that says so."""

    lower: float
    upper: float
    samples: NDArray[np.float64]
    p: float

    def p_values(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how likely a further draw is above each value."""
        n = len(self.samples)
        error = self.samples.std(ddof=1) * np.sqrt(1 + 1 / n)
        distance = np.asarray(values) - self.samples.mean()
        # Samples that are all equal leave no doubt.
        certain = np.select([distance > 0, distance < 0], [np.inf, -np.inf], distance)
        statistic = distance / error if error > 0 else certain
        return np.asarray(stats.t.sf(statistic, n - 1))

    def __repr__(self) -> str:
        return (
            f"PredictionInterval({self.lower:.4g} to {self.upper:.4g}, "
            f"p={self.p:g}, {len(self.samples)} samples)"
        )


def prediction_interval(samples: ArrayLike, p: float) -> PredictionInterval:
    """Student's t prediction interval for one further draw, after N draws.

    The bounds are ``mean -+ T(p) * sd * sqrt(1 + 1/N)`` with N - 1 degrees of freedom.
    A further draw of the same normal population falls below the lower bound with
    probability ``p``, and above the upper one with probability ``p``.

    Parameters
    ----------
    samples : array-like of shape (n,)
        The draws, two or more.
    p : float
        Probability in each tail, between 0 and 0.5.

    Returns
    -------
    PredictionInterval
        The bounds, with the samples they come from.

    Examples
    --------
    >>> from squamish.statistics import prediction_interval
    >>> prediction_interval([1.0, 2.0, 3.0], p=0.025)
    PredictionInterval(-2.968 to 6.968, p=0.025, 3 samples)
    """
    draws = np.asarray(samples, dtype=np.float64)
    if len(draws) < 2:
        raise InputError(f"a prediction interval needs 2 or more samples, not {len(draws)}")
    check_range("p", p, above=0, below=0.5)
    n = len(draws)
    margin = stats.t.isf(p, n - 1) * draws.std(ddof=1) * np.sqrt(1 + 1 / n)
    return PredictionInterval(float(draws.mean() - margin), float(draws.mean() + margin), draws, p)


def normal_scores(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace every value by the normal quantile of its rank, and standardise the columns.

    A column of a single value is 0 everywhere.
    """
    ranks = stats.rankdata(X, axis=0)
    scores: NDArray[np.float64] = special.ndtri((ranks - 0.5) / len(X))
    scale = scores.std(axis=0)
    return (scores - scores.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


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
    >>> from squamish.statistics import skewness
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
    >>> from squamish.statistics import skew_of_two
    >>> skew_of_two(np.array([0.5, 0.1, 0.9])).round(2)
    array([0.  , 2.67, 2.67])
    """
    scale = np.sqrt(share * (1 - share))
    return np.divide(np.abs(1 - 2 * share), scale, out=np.zeros_like(scale), where=scale > 0)


def with_skewed_tails(p_values: NDArray[np.float64], skew: ArrayLike) -> NDArray[np.float64]:
    """Correct two-sided p-values that take a sum for normal, although it is skewed.

    The longer tail of a sum with this skewness is that of Pearson's third type, a gamma
    distribution with the same three moments. Over all orders of a column, the skewness of its
    products with another, added up, is that of one times that of the other, divided by the
    root of the number of rows: rows that differ from the rest matter if both have few of them.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics import with_skewed_tails
    >>> with_skewed_tails(np.array([1e-6, 1e-6, 0.5]), np.array([0.0, 0.5, 0.5])).round(6)
    array([1.00e-06, 1.69e-04, 5.00e-01])
    """
    p = np.clip(p_values, 1e-300, 1)
    longer = 2 * stats.pearson3.sf(stats.norm.isf(p / 2), np.abs(skew))
    return np.clip(longer, p_values, 1)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct p-values for their number, so that the family-wise error is kept (Holm).

    Parameters
    ----------
    p_values : array-like of shape (n,)
        One for each hypothesis.

    Returns
    -------
    ndarray of float of shape (n,)
        Those that are at most alpha reject their hypotheses, with a probability of at most
        alpha that even one of them is true.

    Examples
    --------
    >>> from squamish.statistics import holm
    >>> holm([0.02, 0.001, 0.04]).round(3)
    array([0.04 , 0.003, 0.04 ])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    corrected = np.empty(len(p))
    steps = p[order] * np.arange(len(p), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


@dataclass(frozen=True, eq=False)
class PairedTest:
    """Mean differences, one for each column, and how sure they are.

    Attributes
    ----------
    mean, error : ndarray of float
        The mean difference and its standard error.
    freedom : int
        Degrees of freedom: independent rows less one.
    """

    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    freedom: int

    @property
    def p_values(self) -> NDArray[np.float64]:
        """One-sided p-values for a mean above zero."""
        # Differences that are all equal are rounding, or no difference at all.
        statistic = np.divide(
            self.mean, self.error, out=np.zeros_like(self.mean), where=self.error > 1e-12
        )
        return np.asarray(stats.t.sf(statistic, self.freedom))

    def of(self, which: NDArray[np.bool_]) -> PairedTest:
        """Return the tests of some columns."""
        return replace(self, mean=self.mean[which], error=self.error[which])

    def reach(self, level: float = 0.95) -> NDArray[np.float64]:
        """Half the width of the confidence interval."""
        return np.asarray(stats.t.isf((1 - level) / 2, self.freedom) * self.error)


def paired_test(
    differences: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
    clusters: NDArray[np.intp] | None = None,
) -> PairedTest:
    """Estimate the mean of every column by a t-test.

    Rows may count more or less, and rows of one cluster count as one observation.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics import paired_test
    >>> differences = np.array([[1.0, -1.0], [2.0, 1.0], [3.0, 0.0]])
    >>> paired_test(differences).p_values.round(3)
    array([0.037, 0.5  ])
    >>> repeated = np.repeat(differences, 10, axis=0)
    >>> paired_test(repeated, clusters=np.repeat([0, 1, 2], 10)).p_values.round(3)
    array([0.037, 0.5  ])
    """
    weights = np.ones(len(differences)) if weights is None else weights
    mean = weights @ differences / weights.sum()
    scores = cluster_sums(weights[:, np.newaxis] * (differences - mean), clusters)
    shares = cluster_sums(weights, clusters) / weights.sum()
    n = len(scores)
    if n < 2:
        # A single observation says nothing of how far it may be off.
        return PairedTest(mean, np.zeros_like(mean), 1)
    # An observation draws the mean to itself, a large one much: as if it had been left out.
    scores = scores / np.maximum(1 - shares, 1e-12)[:, np.newaxis]
    error = np.sqrt(np.square(scores).sum(axis=0) * (n - 1) / n) / weights.sum()
    return PairedTest(mean, error, n - 1)


def cluster_sums(
    values: NDArray[np.float64], clusters: NDArray[np.intp] | None
) -> NDArray[np.float64]:
    """Add up the rows of every cluster; without clusters every row is one."""
    if clusters is None:
        return values
    _, codes = np.unique(clusters, return_inverse=True)
    out = np.zeros((int(codes.max()) + 1, *values.shape[1:]))
    np.add.at(out, codes, values)
    return out


def combined_p_values(p_values: NDArray[np.float64], weights: ArrayLike) -> NDArray[np.float64]:
    """Combine the p-values of several tests of the same hypotheses (Cauchy combination).

    The tests may depend on each other in any way. One small p-value is enough, at the
    price of its weight; several that agree count for more.

    Parameters
    ----------
    p_values : ndarray of shape (n_tests, n_hypotheses)
        A row for each test.
    weights : array-like of shape (n_tests,)
        What each test is worth; they sum to 1.

    Returns
    -------
    ndarray of shape (n_hypotheses,)
        One p-value for each hypothesis.

    References
    ----------
    Y. Liu and J. Xie: "Cauchy combination test", Journal of the American Statistical
    Association 115 (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics import combined_p_values
    >>> combined_p_values(np.array([[0.001, 0.5], [0.7, 0.5]]), [0.5, 0.5]).round(4)
    array([0.002, 0.5  ])
    """
    # A p-value near 1 is no evidence against the other tests, only none for its own.
    p = np.clip(p_values, 1e-300, 0.9)
    # For small p the tangent is 1 / (pi p), which does not lose digits.
    scores = np.where(p < 1e-8, 1 / (np.pi * p), np.tan((0.5 - p) * np.pi))
    return np.asarray(stats.cauchy.sf(np.asarray(weights) @ scores))


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
    >>> from squamish.statistics import exponential_tail_p_values
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
    >>> from squamish.statistics import exponential_tail_p_values, exponential_tail_quantile
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
    n_tail = max(int(np.ceil(len(ordered) / 10)), min(20, len(ordered) // 2))
    n_tail = max(min(n_tail, int(np.sum(ordered > ordered[0])) // 2), 2)
    return ordered, n_tail, max(float(np.sum(ordered[-n_tail:] - ordered[-n_tail])), 1e-12)
