"""Stage "find substitutes": what replaces each weak feature, and a set that covers all."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.execution.workers import OutOfTime
from squamish.models.crossfit import CrossFit
from squamish.models.learners import TREES, Learner
from squamish.models.race import CONTENDING, Race, affordable, race
from squamish.redundancy.groups import Substitutes, minimal_set, replaceable_groups
from squamish.redundancy.substitutes import find_all_substitutes

STAGE = "find substitutes"
# A model of more columns takes as long as everything else, and is asked for one number.
MOST_COLUMNS = 5000


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
    minimal : ndarray of int
        Features that replace all other relevant ones.
    minimal_loss : float
        Loss of the best learner on them; NaN if there was no time for it.
    all_loss : float
        Loss of the best learner on all features; NaN if nothing is relevant, if they are too many,
        or if there was no time for it.
    n_fits : int
        Number of models fitted.
    """

    substitutes: Substitutes
    groups: tuple[tuple[int, ...], ...]
    representatives: tuple[tuple[int, ...], ...]
    minimal: Indices
    minimal_loss: float
    all_loss: float
    n_fits: int


def find_substitutes(
    fit: CrossFit, strong: Indices, weak: Indices, winner: Race | None, p_marginal: Array
) -> Redundancy:
    """Find what replaces each weak feature, as far as there is time.

    ``winner`` is the race of learners on all relevant features, and ``p_marginal`` says how
    much every feature tells on its own.
    """
    fit.workers.reporter.begin(STAGE, len(weak))
    relevant = np.union1d(strong, weak)
    replaced_by: Substitutes = dict.fromkeys(weak.tolist(), ())
    with suppress(OutOfTime):
        replaced_by = find_all_substitutes(fit, relevant, weak.tolist())
    groups = replaceable_groups(weak.tolist(), replaced_by)
    representatives = tuple((min(group, key=lambda j: (p_marginal[j], j)),) for group in groups)
    kept = minimal_set(strong.tolist(), groups, representatives, replaced_by, p_marginal)
    minimal = np.array(kept, dtype=np.intp)
    loss, n_fits = _loss_on(fit, minimal, len(relevant), winner)
    all_loss, n_more = _loss_on_all(fit, len(relevant), winner)
    return Redundancy(
        replaced_by, groups, representatives, minimal, loss, all_loss, n_fits + n_more
    )


def _loss_on(
    fit: CrossFit, features: Indices, n_relevant: int, winner: Race | None
) -> tuple[float, int]:
    """Return the loss of the best learner on some of the relevant features, and its models."""
    if winner is None:
        return fit.mean(fit.constant_losses()), 0
    if len(features) == n_relevant:
        return fit.mean(winner.losses), 0
    return _least_loss(fit, _contenders(fit, winner), features)


def _loss_on_all(fit: CrossFit, n_relevant: int, winner: Race | None) -> tuple[float, int]:
    """Return the loss of the best learner on all features, and its models.

    Trees are among them in any case, which mind columns of noise least.
    """
    features = np.arange(fit.table.n_features)
    columns = fit.columns(features)
    if winner is None or len(columns) > MOST_COLUMNS:
        return np.nan, 0
    if n_relevant == len(features):
        return fit.mean(winner.losses), 0
    known = affordable(fit, _contenders(fit, winner), columns)
    return _least_loss(fit, list(dict.fromkeys([*known, *TREES])), features)


def _contenders(fit: CrossFit, winner: Race) -> list[Learner]:
    return winner.contenders(CONTENDING * winner.gain(fit)) or [winner.learner]


def _least_loss(fit: CrossFit, learners: list[Learner], features: Indices) -> tuple[float, int]:
    """Return the loss of the best of some learners, and how many models that took."""
    try:
        found = race(fit, learners, fit.columns(features))
    except OutOfTime:
        return np.nan, 0
    return fit.mean(found.losses), found.n_fits
