"""How well predicted risks order times, and how thirds of the rows by their risk survive."""

from __future__ import annotations

import numpy as np

from squamish.arrays import Array
from squamish.evidence.survival import Prognosis, SurvivalCurve
from squamish.models.crossfit import CrossFit
from squamish.models.race import Race
from squamish.statistics.survival import concordance, kaplan_meier, thirds

# A curve of more steps looks the same, and takes more room.
MOST_STEPS = 200


def measure_prognosis(fit: CrossFit, times: Array, race: Race | None) -> Prognosis | None:
    """Compare out-of-sample risks with times; None if nothing is predicted, or no times are.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    times : ndarray of shape (n,)
        The target as it was read: positive for events, negative for rows that were lost.
    race : Race or None
        What the best learner on the relevant features predicts.
    """
    if race is None or not fit.family.is_censored:
        return None
    risk, y = fit.family.predictors(race.predictions)[:, 0], times[fit.tested]
    found = concordance(y, risk)
    curves = tuple(_curve(y[rows]) for rows in thirds(risk))
    return Prognosis(found.value, found.error, curves)


def _curve(y: Array) -> SurvivalCurve:
    steps = kaplan_meier(y)
    some = np.unique(np.linspace(0, len(steps.times) - 1, MOST_STEPS).round().astype(np.intp))
    return SurvivalCurve(len(y), int(np.sum(y > 0)), steps.times[some], steps.surviving[some])
