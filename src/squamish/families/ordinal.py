"""Ordered classes: labels from the least to the greatest, with a cumulative link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from squamish.arrays import Array, Indices
from squamish.families.classes import MOST_NAMED, MOST_NEWTON, Classes
from squamish.families.cumulative import (
    Likelihood,
    fit_cumulative,
    fit_thresholds,
    fit_wide_cumulative,
    probabilities,
)
from squamish.families.family import ProfiledFamily, Target, Task


class Ordinal(ProfiledFamily, Classes):
    """Two or more classes in an order, coded 0, 1, ..., with the log loss of their probabilities.

    One linear predictor moves all of them along the order (McCullagh's cumulative logit).

    Parameters
    ----------
    order : sequence
        The labels of a target that is read, from the least to the greatest. Codes need none.
    thresholds : ndarray of shape (n_classes - 1,) or None
        Where a class ends and the next one begins, of a fitted model.
    """

    task: ClassVar[Task] = "ordinal"
    has_order: ClassVar[bool] = True

    def __init__(self, order: Sequence[Any] = (), thresholds: Array | None = None) -> None:
        self.order, self.thresholds = tuple(order), thresholds

    def encode(self, values: Target) -> Target:
        """Return the place of every label in the order."""
        return super().encode(self._places(values))

    def labels(self, values: Target) -> tuple[str, ...]:
        """Name the classes, from the least to the greatest."""
        return tuple(str(label) for label in self.order)

    def summarise(self, values: Target) -> str:
        """Say how many rows each class has, from the least to the greatest.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.families.ordinal import Ordinal
        >>> Ordinal(["low", "high"]).summarise(np.array(["low", "high", "low"]))
        '2 ordered classes: low (2) < high (1)'
        """
        counts = np.bincount(self._places(values)).tolist()
        shown = [f"{label} ({n:,})" for label, n in zip(self.order, counts, strict=True)]
        left = len(shown) - MOST_NAMED
        more = [f"{left} more", shown[-1]] if left > 0 else shown[MOST_NAMED - 1 :]
        named = " < ".join([*shown[: MOST_NAMED - 1], *more])
        return f"{len(shown)} ordered classes: {named}"

    def _places(self, values: Target) -> Indices:
        place = {label: k for k, label in enumerate(self.order)}
        return np.array([place[value] for value in values.tolist()], dtype=np.intp)

    def scores(self, y: Target) -> Array:
        """Return the ridits: the share of lower classes minus that of higher ones.

        They are the score residuals where nothing is known, so that a linear test on them is the
        score test of the cumulative logit, and with one column the test of Wilcoxon.
        """
        constant = self.constant(y)
        return self.residuals(np.broadcast_to(constant, (len(y), len(constant))), y)

    def odds_targets(self, y: Target) -> Array:
        """Return whether the class is above each threshold, centred."""
        above = (y[:, np.newaxis] > np.unique(y)[:-1]).astype(float)
        return np.asarray(above - above.mean(axis=0))

    def residuals(self, prediction: Array, y: Target) -> Array:
        """Return the probability of a lower class minus that of a higher one.

        References
        ----------
        C. Li, B. Shepherd: "A new residual for ordinal outcomes", Biometrika 99 (2012).
        """
        through = np.cumsum(prediction, axis=1)
        rows = np.arange(len(y))
        own = prediction[rows, y]
        return np.asarray(2 * through[rows, y] - own - 1)[:, np.newaxis]

    def n_predictors(self, y: Target) -> int:
        """Return one."""
        return 1

    def without_order(self, y: Target) -> Classes | None:
        """Return classes with a predictor each; of two, one moves the other anyway."""
        return Classes() if y.max() > 1 else None

    def fit_linear(
        self, Z: Array, y: Target, strength: float, weights: Array | None
    ) -> tuple[Array, Array]:
        """Fit a penalised cumulative logit; the thresholds are for `profiled` to tell."""
        fit = fit_cumulative if Z.shape[1] <= MOST_NEWTON else fit_wide_cumulative
        return np.zeros(1), fit(Z, y, strength, weights).slopes[np.newaxis]

    def profiled(self, scores: Array, y: Target, weights: Array | None) -> Ordinal:
        """Return the family with its thresholds fitted to linear predictors."""
        fitted = fit_thresholds(y, scores[:, 0], weights, self.thresholds)
        return Ordinal(self.order, fitted)

    def derivatives(self, scores: Array, y: Target) -> tuple[Array, Array]:
        """Return first and second derivatives of the log loss by linear predictors."""
        found = Likelihood(y, np.ones(len(y)), self._fitted_thresholds(), scores[:, 0])
        return found.above - found.below, found.curvature

    def link(self, scores: Array) -> Array:
        """Return the probability of each class."""
        return probabilities(self._fitted_thresholds(), scores[..., 0])

    def _fitted_thresholds(self) -> Array:
        if self.thresholds is None:
            raise ValueError("thresholds are fitted to a model before it predicts")
        return self.thresholds
