"""Paired t-tests over rows, or over clusters of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats


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

    def with_others(self, places: NDArray[np.intp], other: PairedTest) -> PairedTest:
        """Return the same with other tests in some places."""
        mean, error = self.mean.copy(), self.error.copy()
        mean[places], error[places] = other.mean, other.error
        return replace(self, mean=mean, error=error)

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
    >>> from squamish.statistics.paired import paired_test
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
