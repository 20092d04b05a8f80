"""The evidence of the default method, put together from the outcomes of its stages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.evidence import CrossfitEvidence
from squamish.evidence.survival import Prognosis
from squamish.importance.leaks import Leaks
from squamish.importance.strength import Strength
from squamish.models.crossfit import CrossFit
from squamish.models.sample_size import rows_needed
from squamish.redundancy.find import Redundancy
from squamish.screening.gaps import told_by_gaps
from squamish.screening.screen import Screening
from squamish.screening.selection import Selection
from squamish.statistics.multiplicity import Level
from squamish.worth.measure import Measured

# The power at which the least detectable cost is stated, if a higher one was asked for.
USUAL_POWER = 0.95


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What every stage found."""

    screening: Screening
    selected: Selection
    strength: Strength
    redundancy: Redundancy
    leaks: Leaks
    measured: Measured
    prognosis: Prognosis | None = None

    @property
    def n_fits(self) -> int:
        """Number of models fitted in all."""
        before = (self.screening, self.selected, self.strength, self.redundancy, self.leaks)
        return sum(stage.n_fits for stage in before) + self.measured.n_fits

    def undecided(self, n_features: int) -> Mask:
        """Tell which features were not tested to the end."""
        if not self.selected.complete:
            return np.ones(n_features, dtype=bool)
        out = np.zeros(n_features, dtype=bool)
        out[self.selected.relevance.relevant] = self.strength.undecided
        return out


def assemble_evidence(
    fit: CrossFit, found: Outcomes, level: Level, min_effect: float, power: float
) -> CrossfitEvidence:
    """Put together what the stages found."""
    d, gains, race = fit.table.n_features, found.screening.gains, found.selected.race
    relevance, strength, redundancy = found.selected.relevance, found.strength, found.redundancy
    measured, removal = found.measured, found.measured.removals.features
    constant = fit.mean(fit.constant_losses())
    loss = constant if race is None else fit.mean(race.losses)
    gain = constant - loss

    def wide(values: Array) -> Array:
        out = np.full(d, np.nan)
        out[relevance.relevant] = values
        return out

    def among(features: Indices) -> Mask:
        return np.isin(np.arange(d), features)

    # No model has to lose more than one that looks at nothing, however wrong a refit is.
    costs, lows, highs = (
        np.minimum(removal.mean + sign * removal.reach(), max(gain, 0.0)) for sign in (0, -1, 1)
    )
    return CrossfitEvidence(
        proof=relevance.proofs,
        proof_p_values=dict(relevance.p_values),
        p_relevant=level.adjusted(relevance.combined),
        removal_loss=wide(costs),
        removal_interval=np.stack([wide(lows), wide(highs)]),
        p_removal=wide(strength.p_values),
        effect=wide(costs / (gain if gain > 0 else np.nan)),
        explained=wide(strength.r2),
        substitutes=dict(redundancy.substitutes),
        groups=redundancy.groups,
        representatives=redundancy.representatives,
        minimal=among(measured.minimal),
        leaks=found.leaks.features,
        learner=_without_relevant(fit) if race is None else str(race.learner),
        loss=loss,
        minimal_loss=measured.minimal_loss,
        constant_loss=constant,
        n_fits=found.n_fits + (0 if fit.adjustment is None else fit.adjustment.n_fits),
        importance_rounds=(
            np.zeros((0, d)) if gains is None else gains.features_in_rounds(fit.given.feature, d)
        ),
        shadow_rounds=np.zeros((0, 0)) if gains is None else gains.shadows_in_rounds,
        importance_threshold=np.nan if gains is None else gains.threshold(level.alpha / d),
        alpha=level.alpha,
        min_effect=min_effect,
        undecided=found.undecided(d),
        n_tested=len(fit.tested),
        detectable=_detectable(fit, len(relevance.relevant), loss, gain, level.alpha, power),
        error_rate=level.error_rate,
        associations=dict(relevance.associations),
        least_effect=strength.least / gain if gain > 0 else np.nan,
        small=tuple(relevance.relevant[strength.small].tolist()),
        all_loss=redundancy.all_loss,
        tested_loss=wide(strength.loss),
        cover=among(redundancy.cover),
        worth=measured.worth,
        prognosis=found.prognosis,
        gaps=told_by_gaps(fit, relevance),
    )


def _without_relevant(fit: CrossFit) -> str:
    """Name what predicts the target if no column is relevant."""
    return "constant" if fit.adjustment is None else fit.adjustment.learner


def _detectable(
    fit: CrossFit, n_relevant: int, loss: float, gain: float, alpha: float, power: float
) -> float:
    """Return the least cost, as a share of the gain, that is found with the wanted power."""
    if gain <= 0:
        return np.nan
    power = min(power, USUAL_POWER)
    needed = rows_needed(loss, gain, fit.family, max(n_relevant, 1), alpha, 1.0, power)
    return needed / len(fit.tested)
