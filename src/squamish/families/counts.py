"""Counts: whole numbers of events, of rows that may have been exposed for different times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import special
from sklearn.model_selection import GroupKFold, KFold

from squamish.arrays import Array, Indices
from squamish.errors import InputError
from squamish.families.amounts import OUTER_FENCE, in_fifths
from squamish.families.family import Target, Task
from squamish.families.rates import TINY, Rates
from squamish.statistics.scores import normal_scores

# The interquartile range of roots of counts is at least that of Poisson's, whose standard deviation
# is a half.
LEAST_RANGE = 0.67


@dataclass(frozen=True, eq=False)
class Counts(Rates):
    """Counts, with Poisson's deviance: an array of numbers, or of counts and exposures."""

    task: ClassVar[Task] = "counts"
    loss_name: ClassVar[str] = "Poisson deviance"
    loss_unit: ClassVar[str] = "half the Poisson deviance in nats"
    loss_scale: ClassVar[str] = " (half of it, by row)"
    absolute_unit: ClassVar[str] = ""
    has_classes: ClassVar[bool] = False

    def encode(self, values: Target) -> Target:
        """Return counts as floats."""
        counts = _counts(values)
        try:
            numbers = counts.astype(np.float64)
        except ValueError:
            numbers = np.full(len(counts), np.nan)
        wrong = np.flatnonzero(~(numbers >= 0) | (numbers != np.rint(numbers)))
        if len(wrong):
            raise InputError(
                f"task is 'counts', but y holds {counts[wrong[0]]!s}; counts must be whole "
                "numbers, 0 or more"
            )
        return numbers if values.dtype.names is None else values

    def labels(self, values: Target) -> tuple[str, ...]:
        """Return none."""
        return ()

    def summarise(self, values: Target) -> str:
        """Say how large the counts are.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.families import family_of
        >>> family_of("counts").summarise(np.array([0, 3, 1, 0]))
        'counts from 0 to 3, mean 1'
        """
        counts = _counts(values).astype(np.float64)
        exposed = "" if values.dtype.names is None else ", with exposures"
        return f"counts from {counts.min():.4g} to {counts.max():.4g}, mean {counts.mean():.4g}" + (
            exposed
        )

    def check(self, y: Target, labels: tuple[str, ...]) -> None:
        """Refuse counts of which only one is not zero."""
        if int(np.sum(_counts(y) > 0)) < 2:
            raise InputError(
                f"y has one count above 0 in {len(y)} rows; there must be 2 or more, so that one "
                "can be predicted from the others"
            )

    def prepared(self, y: Target) -> Target:
        """Clip at the outer fences of roots, around that of what is expected of every row."""
        counts, exposures = _counts(y), _exposures(y)
        middle = np.sqrt(counts.sum() / exposures.sum() * exposures)
        away = np.sqrt(counts) - middle
        low, high = np.quantile(away, [0.25, 0.75])
        fence = high + OUTER_FENCE * max(high - low, LEAST_RANGE)
        clipped = np.minimum(counts, np.square(middle + fence))
        if y.dtype.names is None:
            return clipped
        out = y.copy()
        out["count"] = clipped
        return out

    def events(self, y: Target) -> Array:
        """Return the counts."""
        return _counts(y)

    def exposures(self, y: Target) -> Array:
        """Return the exposures, in a single piece."""
        return _exposures(y)[:, np.newaxis]

    def dispersion(self, y: Target) -> float:
        """Return the mean square of Pearson's residuals, or 1."""
        return max(1.0, float(np.square(_pearson(y)).mean()))

    def scores(self, y: Target) -> Array:
        """Return normal scores of counts, or Pearson's residuals if exposures differ."""
        if y.dtype.names is None:
            return normal_scores(y[:, np.newaxis])
        residuals = _pearson(y)[:, np.newaxis]
        return np.asarray(residuals - residuals.mean(axis=0))

    def strata(self, y: Target) -> Indices:
        """Cut counts, by their exposures, into fifths."""
        return in_fifths(_counts(y) / _exposures(y))

    def most_folds(self, y: Target) -> int:
        """Return the number of rows with any event."""
        return int(np.sum(_counts(y) > 0))

    def splitter(self, n_folds: int, seed: int, *, grouped: bool) -> Any:
        """Return a splitter that shuffles rows, or keeps groups of rows whole."""
        return (GroupKFold if grouped else KFold)(n_folds, shuffle=True, random_state=seed)

    def losses(self, prediction: Array, y: Target) -> Array:
        """Return half of Poisson's deviance."""
        expected = np.maximum(self.expected(prediction, y), TINY)
        counts = _counts(y)
        return np.asarray(expected - counts + special.xlogy(counts, counts / expected))

    def of_estimator(self, predicted: Array) -> Array:
        """Take amounts for means of counts, which are not negative."""
        return np.maximum(predicted, 0.0)[:, np.newaxis]

    def score_variance(self, loss: float) -> float:
        """Return the loss, or a half.

        Half the deviance of events that come one by one is about a half. Scores of events that
        come in clusters vary as much more as the deviance is larger.
        """
        return max(loss, 0.5)


def _counts(y: Target) -> Array:
    return np.asarray(y if y.dtype.names is None else y["count"])


def _exposures(y: Target) -> Array:
    return np.ones(len(y)) if y.dtype.names is None else np.asarray(y["exposure"])


def _pearson(y: Target) -> Array:
    """Return counts less what is expected of every row, over the root of that."""
    exposures = _exposures(y)
    expected = np.maximum(_counts(y).sum() / exposures.sum() * exposures, TINY)
    return np.asarray((_counts(y) - expected) / np.sqrt(expected))
