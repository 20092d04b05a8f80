"""Leaks: features that alone predict the target almost perfectly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.execution.workers import OutOfTime
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import DEFAULT_TREES
from squamish.models.race import FAR_ABOVE, Race, trials_below
from squamish.statistics.survival import concordance

# A loss below this share of the constant's is almost perfect: an R2 of 0.98, or one of fifty bits.
ALMOST_PERFECT = 0.02
# So many features are asked: a leak is among those that depend most on the target.
MOST_LEAKS = 5


@dataclass(frozen=True)
class Leaks:
    """Features that alone predict the target almost perfectly, and how many models that took."""

    features: tuple[int, ...] = ()
    n_fits: int = 0


def find_leaks(fit: CrossFit, relevant: Indices, race: Race | None, p_marginal: Array) -> Leaks:
    """Find leaks among the features that tell most on their own; none if there is no time.

    ``race`` is that of learners on all relevant features.
    """
    if race is None:
        return Leaks()
    if fit.family.is_censored:
        return Leaks(tuple(f for f in _likeliest(relevant, p_marginal) if _orders_times(fit, f)))
    try:
        return _leaks(fit, relevant, race, p_marginal)
    except OutOfTime:
        return Leaks()


def _leaks(fit: CrossFit, relevant: Indices, race: Race, p_marginal: Array) -> Leaks:
    least = ALMOST_PERFECT * fit.mean(fit.constant_losses())
    likeliest = _likeliest(relevant, p_marginal)
    found: set[int] = set()
    n_fits = 0
    for learner in dict.fromkeys([race.learner, race.best_of("boosted") or DEFAULT_TREES]):
        # Whom all features do not make almost perfect, one of them does not either.
        if fit.mean(race.losses) + race.lags.get(learner, 0.0) > FAR_ABOVE * least:
            continue
        asked = [feature for feature in likeliest if feature not in found]
        trials = [Trial(learner, fit.columns(np.array([feature]))) for feature in asked]
        perfect, n_more = trials_below(fit, trials, least)
        n_fits += n_more
        found |= {asked[k] for k in perfect}
    return Leaks(tuple(sorted(found)), n_fits)


def _likeliest(relevant: Indices, p_marginal: Array) -> list[int]:
    return sorted(relevant.tolist(), key=lambda f: (p_marginal[f], f))[:MOST_LEAKS]


def _orders_times(fit: CrossFit, feature: int) -> bool:
    """Tell whether a part of a feature puts times in order, but for a share of what chance errs.

    A model of rates errs where they change with time, however well a column tells this.
    """
    y = fit.table.y
    parts = fit.parts.plain[:, fit.fixed_columns(np.array([feature]))]
    found = (concordance(y, part).value for part in parts.T)
    return any(min(c, 1 - c) <= ALMOST_PERFECT / 2 for c in found)
