"""Prediction intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from squamish.errors import InputError, check_range


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
    >>> from squamish.statistics.prediction import prediction_interval
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
