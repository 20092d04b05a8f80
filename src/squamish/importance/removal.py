"""What each relevant feature adds to all others: redraws, and refits that have to agree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from squamish.importance.redraw import SMOOTH_FITS, best_guess, depends_on_others
from squamish.methods.case import MOST_CONTEXT, Case, closest, closest_to
from squamish.models.crossfit import CrossFit, Race, Trial
from squamish.models.learners import Array, Rows, View
from squamish.statistics.multiplicity import holm
from squamish.statistics.paired import PairedTest

# Beyond this share of a feature the refit decides; below, it only has a veto at this level,
# since it is the weaker test.
TOLD, VETO = 0.5, 0.2


@dataclass(eq=False)
class Removals:
    """The tests of the relevant features, one entry for each.

    Attributes
    ----------
    case : Case
        The table, and the learners on its relevant features.
    alpha, min_effect : float
        What the tests are compared with.
    strong : ndarray of bool
        Which features cost the model something that nothing else makes up for.
    undecided : ndarray of bool
        Which of them are not tested to the end.
    loss, low, high, p : ndarray of float
        Cost, its 95% interval and its p-value, by the test that decided; p-values are
        corrected for the number of features.
    explained : ndarray of float
        Share of the feature that the others tell.
    """

    case: Case
    alpha: float
    min_effect: float
    strong: NDArray[np.bool_] = field(init=False)
    undecided: NDArray[np.bool_] = field(init=False)
    loss: Array = field(init=False)
    low: Array = field(init=False)
    high: Array = field(init=False)
    p: Array = field(init=False)
    explained: Array = field(init=False)
    _single: Array = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.case.relevant)
        self.strong = np.zeros(n, dtype=bool)
        self.undecided = np.ones(n, dtype=bool)
        self.loss, self.low, self.high, self.p, self.explained = np.full((5, n), np.nan)
        self._single = np.ones(n)

    def run(self, rng: np.random.Generator) -> Removals:
        """Test all features by redraws, and those that seem strong by what the others tell."""
        case, race = self.case, self.case.best
        case.report.begin("what each column adds", 3 * len(case.fit.folds))
        if race is None:
            return self
        columns = case.fit.columns(case.relevant)
        everything = np.arange(len(case.fit.feature))
        context = closest(case.fit.matrix("ranked", 0), columns, everything)
        units = [np.flatnonzero(case.fit.feature[columns] == f) for f in case.relevant]
        D, leftover, self.explained = case.redraws(race.learner, columns, context, units, rng)
        found = case.fit.test(D)
        gain = case.gain(race)
        self.strong = (found.mean > self.min_effect * gain) & (gain > 0)
        self._note(np.arange(len(units)), found, found.p_values)
        self.undecided = self.strong.copy()
        if gain > 0 and len(units) > 1:
            self._refit(race, leftover, gain)
        self.undecided[:] = False
        return self

    def _refit(self, race: Race, leftover: list[Array], gain: float) -> None:
        """Let the best model without a feature have its say where the others tell much of it."""
        case = self.case
        doubtful = self._told_by_others(race, leftover)
        if not doubtful:
            return
        guesses = self._guesses(race, doubtful, leftover)
        trials: list[Trial] = []
        for i, guess in zip(doubtful, guesses, strict=True):
            trials += self._without(race, i, guess, gain)
        losses = case.losses(trials)
        each = len(trials) // len(doubtful)
        best = [min(losses[k : k + each], key=case.fit.mean) for k in range(0, len(losses), each)]
        found = case.fit.test(np.column_stack(best) - race.losses[:, np.newaxis])
        self._judge(np.array(doubtful), found, gain)

    def _told_by_others(self, race: Race, leftover: list[Array]) -> list[int]:
        """Find the features that seem strong, but of which the others may tell much."""
        case = self.case
        seem = np.flatnonzero(self.strong).tolist()
        asked = [i for i in seem if self.explained[i] <= TOLD]
        jobs = [self._left(race, i, leftover) for i in asked]
        case.report.expect(len(asked))
        answers = case.fit.workers.run(_depends, case.fit, jobs, np.random.default_rng(0))
        case.n_fits += sum(leftover[i].shape[1] for i in asked)
        independent = {i for i, answer in zip(asked, answers, strict=True) if not answer}
        return [i for i in seem if i not in independent]

    def _left(self, race: Race, i: int, leftover: list[Array]) -> _Left:
        relevant = self.case.relevant
        return _Left(int(relevant[i]), relevant, race.learner.view, leftover[i])

    def _guesses(self, race: Race, doubtful: list[int], leftover: list[Array]) -> list[Array]:
        """Predict features from the others as well as possible, and note how well that is."""
        case, fit = self.case, self.case.fit
        jobs = [self._left(race, i, leftover) for i in doubtful]
        case.report.expect(len(doubtful))
        guesses = fit.workers.run(_guess, fit, jobs, np.random.default_rng(0))
        for i, job, found in zip(doubtful, jobs, guesses, strict=True):
            x = job.column(fit)
            unexplained = np.square(x - found)[fit.tested].mean()
            self.explained[i] = 1 - unexplained / x[fit.tested].var(axis=0).mean()
            case.n_fits += x.shape[1] * (SMOOTH_FITS + 2 * len(fit.folds))
        return guesses

    def _without(self, race: Race, i: int, guess: Array, gain: float) -> list[Trial]:
        """List the models that do without a feature.

        Any learner that was not far behind may be the best of them, and it may also use what
        the other columns say about the missing one.
        """
        case = self.case
        rest = case.fit.columns(np.setdiff1d(case.relevant, [case.relevant[i]]))
        trials = [Trial(learner, rest) for learner in race.contenders(0.1 * gain)]
        return [*trials, Trial(race.learner, rest, guess)]

    def _judge(self, places: Rows, found: PairedTest, gain: float) -> None:
        """Decide on features by refits, which may overrule the redraws."""
        least = np.maximum(self.min_effect * gain, 0.05 * self.loss[places])
        agrees = (found.p_values <= max(VETO, self.alpha)) & (found.mean > least)
        self.strong[places] &= agrees
        noted = (self.explained[places] > TOLD) | ~agrees
        places, found = places[noted], found.of(noted)
        self._note(places, found, np.maximum(found.p_values, self._single[places]))

    def _note(self, places: Rows, found: PairedTest, p: Array) -> None:
        """Note what a test says of some features, and correct for the number of all of them."""
        self.loss[places] = found.mean
        self.low[places] = found.mean - found.reach()
        self.high[places] = found.mean + found.reach()
        self._single[places] = p
        self.p[:] = holm(self._single)
        self.strong &= self.p <= self.alpha


@dataclass(frozen=True, eq=False)
class _Left:
    """What the others leave unexplained of a feature, and how the learner sees columns."""

    feature: int
    relevant: Rows
    view: View
    values: Array

    def column(self, fit: CrossFit) -> Array:
        """Return the feature itself, every row as it is seen in the fold that tests it."""
        return fit.held_out(self.view, self._own(fit))

    def others(self, fit: CrossFit) -> Array:
        """Return what the feature is guessed from: what is relevant first, then what is close."""
        parts, values = fit.parts, fit.held_out("ranked", self._own(fit))
        # What is learned from the target of other rows cannot describe another feature.
        is_known = np.isin(parts.feature, self.relevant)
        others = parts.feature != self.feature
        known = closest_to(values, parts.ranked, np.flatnonzero(is_known & others))
        n_left = MOST_CONTEXT - len(known)
        near = closest_to(values, parts.ranked, np.flatnonzero(~is_known & others), n_left)
        view = parts.ranked if self.view == "ranked" else parts.plain
        return view[:, np.sort(np.concatenate([known, near]))]

    def _own(self, fit: CrossFit) -> Rows:
        return fit.columns(np.array([self.feature]))


def _depends(fit: CrossFit, left: _Left, _: np.random.Generator) -> bool:
    """Tell whether what is left of a feature depends on the others in any way."""
    others = left.others(fit)
    return any(depends_on_others(part, others, fit.folds) for part in left.values.T)


def _guess(fit: CrossFit, left: _Left, _: np.random.Generator) -> Array:
    """Predict a feature from the others as well as possible."""
    others = left.others(fit)
    parts = zip(left.column(fit).T, left.values.T, strict=True)
    return np.column_stack([best_guess(others, x, x - part, fit.folds) for x, part in parts])
