"""Stage "find substitutes": what replaces each weak feature, and a set that covers all."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.execution.workers import OutOfTime
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import DEFAULT_TREES
from squamish.models.race import CONTENDING, DROPS_OUT, Race, affordable, predictions_while
from squamish.redundancy.groups import Substitutes, covering_set, replaceable_groups
from squamish.redundancy.substitutes import find_all_substitutes, n_tasks

STAGE = "find substitutes"
# A model of more columns takes as long as everything else, and is asked for one number.
MOST_COLUMNS = 5000
# Less than this share of what the model gains is not worth a second look: one column that adds as
# much may be called small.
TELLS_MORE = 0.01


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Who replaces whom.

    Attributes
    ----------
    substitutes : mapping of int to tuple of tuples of int
        For every weak feature, the features or sets of features that replace it.
    groups : tuple of tuples of int
        Weak features that replace each other.
    representatives : tuple of tuples of int
        The feature of each group that tells most on its own.
    cover : ndarray of int
        Features that replace all other relevant ones.
    all_loss : float
        Loss of the best learner on all features; NaN if nothing is relevant, if they are too many,
        or if there was no time for it.
    n_fits : int
        Number of models fitted.
    """

    substitutes: Substitutes
    groups: tuple[tuple[int, ...], ...]
    representatives: tuple[tuple[int, ...], ...]
    cover: Indices
    all_loss: float
    n_fits: int


def find_substitutes(
    fit: CrossFit, strong: Indices, weak: Indices, winner: Race | None, p_marginal: Array
) -> Redundancy:
    """Find what replaces each weak feature, as far as there is time.

    ``winner`` is the race of learners on all relevant features, and ``p_marginal`` says how
    much every feature tells on its own.
    """
    fit.workers.reporter.begin(STAGE, n_tasks(len(weak)))
    relevant = np.union1d(strong, weak)
    replaced_by: Substitutes = dict.fromkeys(weak.tolist(), ())
    with suppress(OutOfTime):
        replaced_by = find_all_substitutes(fit, relevant, weak.tolist())
    groups = replaceable_groups(weak.tolist(), replaced_by)
    ids = fit.table.id_features
    representatives = tuple(
        (min(group, key=lambda j: (j in ids, p_marginal[j], j)),) for group in groups
    )
    kept = covering_set(strong.tolist(), groups, representatives, replaced_by, p_marginal, ids)
    cover = np.array(kept, dtype=np.intp)
    all_loss, n_fits = _loss_on_all(fit, len(relevant), winner)
    return Redundancy(replaced_by, groups, representatives, cover, all_loss, n_fits)


def _loss_on_all(fit: CrossFit, n_relevant: int, winner: Race | None) -> tuple[float, int]:
    """Return the loss of the best learner on all features, and its models.

    Trees are among them in any case, which mind columns of noise least. Two folds tell how much
    larger or smaller it is than that on the relevant ones, unless it may be smaller by much.
    """
    features = np.arange(fit.table.n_features)
    columns = fit.columns(features)
    if winner is None or len(columns) > MOST_COLUMNS:
        return np.nan, 0
    loss, gain = fit.mean(winner.losses), winner.gain(fit)
    if n_relevant == len(features):
        return loss, 0
    trees = winner.best_of("boosted") or DEFAULT_TREES
    # Where trees win without noise, they do with it.
    near = [] if winner.learner == trees else winner.contenders(CONTENDING * gain)
    learners = list(dict.fromkeys([*affordable(fit, near, columns), trees]))
    enough = TELLS_MORE * max(gain, 0.0)
    try:
        found, n_fits = predictions_while(
            fit,
            [Trial(learner, columns) for learner in learners],
            [winner.predictions] * len(learners),
            lambda growth, error: growth - DROPS_OUT * error < -enough,
        )
    except OutOfTime:
        return np.nan, 0
    y = fit.table.y[fit.tested]
    grown = [fit.family.losses(x, y) - winner.losses for x in found]
    return loss + float(fit.test_known(np.column_stack(grown)).mean.min()), n_fits
