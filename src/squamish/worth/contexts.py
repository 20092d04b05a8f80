"""Losses of sets of features, as far as it is open what they tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import Learner
from squamish.models.race import DROPS_OUT, GoesOn, predictions_while
from squamish.statistics.paired import PairedTest

# A growth is told well enough with a standard error of a fifth of itself: its 95% interval reaches
# less than half as far as it is large.
WELL_ENOUGH = 0.2
# So many sets are predicted at the same time: of 50,000 rows and ten classes, 250 MB.
AT_ONCE = 64


def until_told(margin: float) -> GoesOn:
    """Go on until a growth is known to a fifth of itself, or to the margin."""

    def goes_on(grown: float, error: float) -> bool:
        return error > max(margin, WELL_ENOUGH * abs(grown))

    return goes_on


def unless_next_to_nothing(margin: float) -> GoesOn:
    """Go on until a growth is told, unless it is below the margin after two folds."""
    told = until_told(margin)

    def goes_on(grown: float, error: float) -> bool:
        return grown > margin and told(grown, error)

    return goes_on


def until_clear(margin: float) -> GoesOn:
    """Go on until it is clear on which side of the margin a growth is."""

    def goes_on(grown: float, error: float) -> bool:
        return abs(grown - margin) < DROPS_OUT * error

    return goes_on


def losses_of(
    fit: CrossFit,
    learner: Learner,
    sets: Sequence[Indices],
    beside: Array,
    goes_on: GoesOn,
) -> tuple[Array, int]:
    """Return the out-of-sample losses of sets of features, and the number of models fitted.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    learner : Learner
        What is fitted.
    sets : sequence of ndarray of int
        The features of each set.
    beside : ndarray of shape (n_tested, ...)
        Predictions that they are compared with.
    goes_on : callable
        Tells by the mean growth of the loss in two folds, and its standard error, whether the
        other folds are needed.

    Returns
    -------
    losses : ndarray of shape (n_tested, n_sets)
        NaN in the rows of folds that were not needed.
    n_fits : int
        Number of models fitted.
    """
    # Without a feature there is the constant prediction.
    losses = np.repeat(fit.constant_losses()[:, np.newaxis], len(sets), axis=1)
    asked, n_fits = [k for k, features in enumerate(sets) if len(features)], 0
    for begin in range(0, len(asked), AT_ONCE):
        some = asked[begin : begin + AT_ONCE]
        trials = [Trial(learner, fit.columns(sets[k])) for k in some]
        found, n = predictions_while(fit, trials, [beside] * len(some), goes_on)
        for k, prediction in zip(some, found, strict=True):
            losses[:, k] = fit.family.losses(prediction, fit.table.y[fit.tested])
        n_fits += n
    return losses, n_fits


def growth(fit: CrossFit, losses: Array, beside: Array) -> PairedTest:
    """Test how much larger losses are than others, a column each, where they are known."""
    return fit.test_known(losses - beside[:, np.newaxis])
