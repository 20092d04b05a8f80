"""Stage "measure worth": removals, small sets, what stands in for what, what columns are worth.

Four parts, each in a module of its own: `squamish.worth.removal`, `path`, `signatures` and
`necessity`. No part changes the class of a feature.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from squamish.arrays import Array, Indices
from squamish.evidence.worth import Worth
from squamish.execution.workers import OutOfTime
from squamish.importance.strength import Strength
from squamish.models.crossfit import CrossFit
from squamish.models.race import Race
from squamish.redundancy.find import Redundancy
from squamish.worth.exchange import Members
from squamish.worth.necessity import measure_necessity
from squamish.worth.path import search_small_sets
from squamish.worth.removal import Removals, cost_removals
from squamish.worth.signatures import find_signatures

STAGE = "measure worth"


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured.

    Attributes
    ----------
    removals : Removals
        What removals cost.
    minimal : ndarray of int
        The minimal set; what covers all relevant features, if there was no time for a search.
    minimal_loss : float
        The loss of minimal sets that were searched and chosen in other rows; NaN if none were.
    worth : Worth
        The path, the formula and the shares, as far as there was time.
    n_fits : int
        Number of models fitted.
    """

    removals: Removals
    minimal: Indices
    minimal_loss: float
    worth: Worth
    n_fits: int


def measure_worth(
    fit: CrossFit,
    race: Race | None,
    relevant: Indices,
    strength: Strength,
    redundancy: Redundancy,
    p_marginal: Array,
    min_effect: float,
    rng: np.random.Generator,
) -> Measured:
    """Measure what features are worth, alone and together, as far as there is time.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    race : Race or None
        How learners did on the relevant features; None if there is none.
    relevant : ndarray of int
        The relevant features.
    strength : Strength
        Which of them are strong, and what is known of their removals.
    redundancy : Redundancy
        What replaces what.
    p_marginal : ndarray of float
        How much every feature tells on its own.
    min_effect : float
        The share of the gain that sets which are as good may lose.
    rng : numpy.random.Generator
        Draws the signatures that are fitted anew.
    """
    # The search in all rows; the others are expected as they come.
    fit.workers.reporter.begin(STAGE, 1)
    gain = 0.0 if race is None else race.gain(fit)
    margin = min_effect * max(gain, 0.0)
    removals = cost_removals(fit, race, relevant, strength, redundancy.groups, margin)
    found = Measured(removals, redundancy.cover, np.nan, Worth(), removals.n_fits)
    if race is None or gain <= 0:
        return found
    strong = relevant[strength.strong]
    with suppress(OutOfTime):
        sets = search_small_sets(fit, race, relevant, strong, redundancy.cover, p_marginal, margin)
        found = replace(
            found,
            minimal=sets.minimal,
            minimal_loss=fit.mean(race.losses) + sets.growth,
            worth=Worth(sets.steps),
            n_fits=found.n_fits + sets.n_fits,
        )
        members = Members.of(fit, sets.minimal, sets.learner)
        same = find_signatures(fit, members, relevant, strong, redundancy.substitutes, margin, rng)
        n_fits = found.n_fits + len(fit.folds) + same.n_fits
        found = replace(found, worth=Worth(sets.steps, same.formula), n_fits=n_fits)
        shares = measure_necessity(
            fit,
            race,
            members,
            same.formula,
            relevant,
            strong,
            redundancy.groups,
            removals,
            margin,
        )
        worth = Worth(sets.steps, same.formula, shares.features, shares.groups)
        found = replace(found, worth=worth, n_fits=n_fits + shares.n_fits)
    fit.forget_models()
    return found
