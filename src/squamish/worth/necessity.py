"""Necessity: the least and the most that models owe to a feature, as shares of what they gain.

The least is what a feature adds to all others: what its removal costs. The most is what it adds
where nothing is there that could stand in for it: to the other columns of a minimal set that it is
in, or to nothing at all, whichever is more. A strong feature has a least above zero, a weak one a
most above zero only, and an irrelevant one neither.

References
----------
C. Gopfert, L. Pfannschmidt, J. P. Gopfert and B. Hammer: "Interpretation of linear classifiers by
means of feature relevance bounds", Neurocomputing 298 (2018), for linear models. A. Fisher,
C. Rudin and F. Dominici: "All models are wrong, but many are useful", JMLR 20 (2019), for the
models of one class that are nearly as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from squamish.arrays import Indices
from squamish.evidence.worth import Formula, Necessity
from squamish.models.crossfit import CrossFit
from squamish.models.learners import ROUNDS, BuiltIn, Learner
from squamish.models.race import Race
from squamish.statistics.paired import PairedTest
from squamish.worth.contexts import growth, losses_of, until_told
from squamish.worth.exchange import Members
from squamish.worth.removal import Removals

# Each of the two bounds, with this confidence; both hold with the usual 95%.
CONFIDENCE = 0.975
# What features tell alone is told to a twentieth of the gain: as much as a picture shows.
ALONE = 0.05


@dataclass(frozen=True, eq=False)
class Necessities:
    """The necessity of features and of groups.

    Attributes
    ----------
    features : dict of int to Necessity
        Of every relevant feature.
    groups : tuple of Necessity
        Of every group.
    n_fits : int
        Number of models fitted.
    """

    features: dict[int, Necessity]
    groups: tuple[Necessity, ...]
    n_fits: int


def measure_necessity(
    fit: CrossFit,
    race: Race,
    minimal: Members,
    formula: Formula,
    relevant: Indices,
    strong: Indices,
    groups: Sequence[Sequence[int]],
    removals: Removals,
    margin: float,
) -> Necessities:
    """Measure what each feature and each group adds in different company.

    Raises OutOfTime if there is no time for it.
    """
    gain = race.gain(fit)
    members = minimal.features.tolist()
    # What a strong feature adds to a minimal set is hardly more than what it adds to all others.
    asked = [k for k, f in enumerate(members) if f not in strong]
    without, n_fits = losses_of(
        fit,
        minimal.learner,
        [np.delete(minimal.features, k) for k in asked],
        minimal.predictions,
        until_told(margin),
    )
    within = growth(fit, without, minimal.losses)
    several = [g for g, group in enumerate(groups) if len(group) > 1]
    sets = [np.array([f]) for f in relevant] + [np.array(groups[g]) for g in several]
    alone = _told_alone(fit, race, sets, ALONE * gain)
    company = _company([members[k] for k in asked], formula)
    bounds = _Bounds(gain, removals.features.freedom)
    features = {
        int(f): bounds.of(
            (removals.features, i),
            [
                *((gains, i) for gains in alone.gains),
                *((within, k) for k in company.get(int(f), ())),
            ],
        )
        for i, f in enumerate(relevant)
    }
    of_groups = []
    for g, group in enumerate(groups):
        if len(group) == 1:
            of_groups.append(features[group[0]])
            continue
        together = [(gains, len(relevant) + several.index(g)) for gains in alone.gains]
        inside = [(within, k) for f in group for k in company.get(f, ())]
        of_groups.append(bounds.of((removals.groups, g), [*together, *inside]))
    return Necessities(features, tuple(of_groups), n_fits + alone.n_fits)


def _company(members: Sequence[int], formula: Formula) -> dict[int, list[int]]:
    """Tell of every feature whose places in the minimal set it can take, by their numbers.

    What adds as much as a member without it adds what the member does.
    """
    company = {f: [k] for k, f in enumerate(members)}
    for slot in formula.slots:
        own = {*slot.alternatives[0].columns}
        for alternative in slot.alternatives[1:]:
            come, gone = {*alternative.columns} - own, own - {*alternative.columns}
            if len(come) == len(gone) == 1:
                company.setdefault(come.pop(), []).append(members.index(gone.pop()))
    return company


@dataclass(frozen=True, eq=False)
class _Alone:
    """What sets of features tell when there is nothing else.

    Attributes
    ----------
    gains : tuple of PairedTest
        What each learner gains over the constant, a column for each set.
    n_fits : int
        Number of models fitted.
    """

    gains: tuple[PairedTest, ...]
    n_fits: int


def _told_alone(fit: CrossFit, race: Race, sets: Sequence[Indices], margin: float) -> _Alone:
    """Measure what sets of features tell alone, to a margin."""
    gains, n_fits = [], 0
    for learner in _for_few(race.learner, fit):
        losses, n = losses_of(fit, learner, sets, race.predictions, until_told(margin))
        gains.append(fit.test_known(fit.constant_losses()[:, np.newaxis] - losses))
        n_fits += n
    return _Alone(tuple(gains), n_fits)


def _for_few(learner: Learner, fit: CrossFit) -> tuple[Learner, ...]:
    """Return what suits a single column: of trees the fewest rounds; beside a line, a curve.

    Where all columns together tell along a line, one of them may do so along a curve only, as one
    that is measured in logarithms.
    """
    if not isinstance(learner, BuiltIn):
        return (learner,)
    if not learner.is_smooth:
        return (replace(learner, strength=ROUNDS[0]),)
    has_one = fit.family.n_predictors(fit.table.y) == 1 and not learner.unordered
    bends = learner.kind == "linear" and has_one
    return (learner, replace(learner, kind="single-index")) if bends else (learner,)


@dataclass(frozen=True)
class _Bounds:
    """Turns growths of losses into shares of the gain."""

    gain: float
    freedom: int

    def of(
        self, removal: tuple[PairedTest, int], added: Sequence[tuple[PairedTest, int]]
    ) -> Necessity:
        """Return the least, by a removal, and the most, by what is added in some company."""
        t = float(stats.t.isf(1 - CONFIDENCE, max(self.freedom, 1)))
        test, k = removal
        least, low = float(test.mean[k]), float(test.mean[k] - t * test.error[k])
        sums = [(float(test.mean[k]), float(test.mean[k] + t * test.error[k])) for test, k in added]
        sums.append((least, float(test.mean[k] + t * test.error[k])))
        most, high = max(m for m, _ in sums), max(h for _, h in sums)
        return Necessity(*(self._share(x) for x in (least, most, low, high)))

    def _share(self, growth: float) -> float:
        """Return a share of the gain, which no cost exceeds and no use falls below zero."""
        return float(np.clip(growth / self.gain, 0.0, 1.0))
