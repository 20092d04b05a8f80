"""Many tests: corrections for their number, and combinations of those of one hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

# What alpha bounds: the probability of any false finding, or the expected share of false ones.
ErrorRate = Literal["fwer", "fdr"]

# In a Cauchy combination, a p-value near 1 would count without bound against the other tests, but
# it is no evidence against them, only none for its own: larger ones count as this.
NO_EVIDENCE = 0.9


@dataclass(frozen=True)
class Level:
    """How sure findings have to be, over all hypotheses of a family.

    Attributes
    ----------
    alpha : float
        The bound of the error rate.
    error_rate : {"fwer", "fdr"}
        Family-wise: the probability of any false finding (Holm), however the tests depend on each
        other. False discovery rate: the expected share of false findings (Benjamini and Hochberg),
        if the tests are independent or depend on each other positively (PRDS).

    References
    ----------
    Y. Benjamini and D. Yekutieli: "The control of the false discovery rate in multiple testing
    under dependency", Annals of Statistics 29 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.multiplicity import Level
    >>> p = np.array([0.01, 0.02, 0.03, 0.5])
    >>> Level(0.05).adjusted(p).round(2)
    array([0.04, 0.06, 0.06, 0.5 ])
    >>> Level(0.05, "fdr").adjusted(p).round(2)
    array([0.04, 0.04, 0.04, 0.5 ])
    """

    alpha: float
    error_rate: ErrorRate = "fwer"

    def adjusted(self, p_values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Correct p-values for their number: those that are at most alpha are findings."""
        if self.error_rate == "fwer" or len(p_values) == 0:
            return holm(p_values)
        return np.asarray(stats.false_discovery_control(p_values, method="bh"))


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
    >>> from squamish.statistics.multiplicity import holm
    >>> holm([0.02, 0.001, 0.04]).round(3)
    array([0.04 , 0.003, 0.04 ])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    corrected = np.empty(len(p))
    steps = p[order] * np.arange(len(p), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def combined_p_values(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Combine the p-values of several tests of the same hypotheses (Cauchy combination).

    The tests may depend on each other in any way, and count the same. One small p-value is
    enough, at the price of the number of tests; several that agree count for more.

    Parameters
    ----------
    p_values : ndarray of shape (n_tests, n_hypotheses)
        A row for each test.

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
    >>> from squamish.statistics.multiplicity import combined_p_values
    >>> combined_p_values(np.array([[0.001, 0.5], [0.7, 0.5]])).round(4)
    array([0.002, 0.5  ])
    """
    p = np.clip(p_values, 1e-300, NO_EVIDENCE)
    # For small p the tangent is 1 / (pi p), which does not lose digits.
    scores = np.where(p < 1e-8, 1 / (np.pi * p), np.tan((0.5 - p) * np.pi))
    return np.asarray(stats.cauchy.sf(scores.mean(axis=0)))
