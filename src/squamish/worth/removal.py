"""What the removal of a feature costs, or that of a whole group: how much more a refit loses.

Refits that the test of strength made are not made again. Without a feature that draws tell to cost
next to nothing no refit is made: the model averaged over its draws does without it, too, so that
the best model without it costs no more. Where there is a refit, it counts: the lesser of two noisy
costs would be too low on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Indices
from squamish.execution.workers import OutOfTime
from squamish.importance.strength import Strength
from squamish.models.crossfit import CrossFit
from squamish.models.race import Race
from squamish.statistics.paired import PairedTest
from squamish.worth.contexts import growth, losses_of, unless_next_to_nothing


@dataclass(frozen=True, eq=False)
class Removals:
    """What removals cost, as growth of the loss.

    Attributes
    ----------
    features : PairedTest
        Of every relevant feature.
    groups : PairedTest
        Of every group as a whole; NaN if there was no time for it.
    n_fits : int
        Number of models fitted.
    """

    features: PairedTest
    groups: PairedTest
    n_fits: int


def cost_removals(
    fit: CrossFit,
    race: Race | None,
    relevant: Indices,
    strength: Strength,
    groups: Sequence[Sequence[int]],
    margin: float,
) -> Removals:
    """Refit without each feature that costs something, and without each group of several.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    race : Race or None
        How learners did on all relevant features; None if there is none.
    relevant : ndarray of int
        The relevant features.
    strength : Strength
        What is known of their removals.
    groups : sequence of tuple of int
        Features that replace each other.
    margin : float
        The growth of the loss up to which a removal costs next to nothing.
    """
    nothing = np.full(len(groups), np.nan)
    features, of_groups = strength.removal, PairedTest(nothing, nothing, 1)
    if race is None or np.isnan(strength.removal.mean).all():
        return Removals(features, of_groups, 0)
    open_ones = np.flatnonzero(~strength.refitted & (features.mean > margin))
    # A group of one is its member.
    several = [g for g, group in enumerate(groups) if len(group) > 1]
    sets = [np.delete(relevant, i) for i in open_ones]
    sets += [np.setdiff1d(relevant, groups[g]) for g in several]
    try:
        losses, n_fits = losses_of(
            fit,
            race.learner,
            sets,
            race.predictions,
            unless_next_to_nothing(margin),
        )
    except OutOfTime:
        return Removals(features, of_groups, 0)
    test = growth(fit, losses, race.losses)
    n = len(open_ones)
    refitted = np.arange(len(sets)) < n
    features = features.with_others(open_ones, test.of(refitted))
    mean, error = nothing.copy(), nothing.copy()
    mean[several], error[several] = test.mean[n:], test.error[n:]
    for g, group in enumerate(groups):
        if len(group) == 1:
            place = int(np.searchsorted(relevant, group[0]))
            mean[g], error[g] = features.mean[place], features.error[place]
    return Removals(features, PairedTest(mean, error, features.freedom), n_fits)
