"""Stage "test strength": whether a relevant feature adds anything to all others.

Hypothesis
    Given all other features, the target does not depend on this one.
Statistic
    The mean over rows of a score: the error of the prediction without the feature, which is drawn
    anew given the others, times what it adds to the prediction; where the others tell much of it,
    with the error of the best model that does without it. Beside it the growth of the loss in a
    draw (conditional feature importance) or a refit (LOCO): it has to exceed a share of what the
    model gains over the constant, or of what it leaves unexplained, if that is less.
Null distribution
    A t-test of scores over rows or clusters of rows, one-sided; for features of few values the
    distribution of the growth by the probabilities of these. Corrected for features (Holm, or
    Benjamini and Hochberg).
Validity
    Draws from the right distribution, which is checked, or a refit that learns what the others
    say. Models are trained on other rows than they are tested on; folds share training rows.
Literature
    D. Watson, M. Wright: "Testing conditional independence in supervised learning algorithms",
    Machine Learning 110 (2021); A. Lundborg, I. Kim, R. Shah, R. Samworth: "The projected
    covariance measure for assumption-lean variable significance testing", Annals of Statistics 52
    (2024); J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman: "Distribution-free
    predictive inference for regression", JASA 113 (2018).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.execution.workers import OutOfTime
from squamish.importance.conditional import ConditionalImportance, conditional_importance
from squamish.importance.context import closest
from squamish.importance.refit import (
    R2_FOR_REFIT,
    FeatureResidual,
    Refits,
    dependent_on_others,
    refit_without,
)
from squamish.models.crossfit import CrossFit
from squamish.models.learners import Learner
from squamish.models.race import Race
from squamish.statistics.multiplicity import Level
from squamish.statistics.paired import PairedTest

STAGE = "test strength"
# Where the others tell less than half of a feature, a refit, being the weaker test, has a veto if
# it sees nothing at this level.
VETO = 0.2
# A refit that costs less than this share of what a draw costs says that the draw misled the model.
LEAST_OF_DRAW = 0.05


@dataclass(frozen=True, eq=False)
class Strength:
    """The tests of the relevant features, one entry for each.

    Attributes
    ----------
    strong : ndarray of bool
        Which features cost the model something that nothing else makes up for.
    undecided : ndarray of bool
        Which of them are not tested to the end.
    loss : ndarray of float
        Growth of the loss in the test that decided; NaN if not tested.
    removal : PairedTest
        Growth of the loss without the feature: that of a refit, or of the model averaged over draws
        of the feature where no refit was made. NaN if not tested.
    refitted : ndarray of bool
        Which features a refit was made without.
    p_values : ndarray of float
        Corrected for the number of features.
    r2 : ndarray of float
        R2 of the feature given the others.
    least : float
        The growth of the loss that a strong feature has to exceed.
    small : ndarray of bool
        Which features certainly add something, but less than that.
    n_fits : int
        Number of models fitted.
    """

    strong: Mask
    undecided: Mask
    loss: Array
    removal: PairedTest
    refitted: Mask
    p_values: Array
    r2: Array
    least: float
    small: Mask
    n_fits: int

    @classmethod
    def untested(cls, n: int) -> Strength:
        """Return what is known of features before any test."""
        nothing = np.full(n, np.nan)
        none, all_of_them = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
        removal = PairedTest(nothing, nothing, 1)
        return cls(
            none, all_of_them, nothing, removal, none, nothing, nothing, np.nan, none, n_fits=0
        )


@dataclass(frozen=True)
class Limits:
    """What the tests are compared with: a level, and the least growth of the loss.

    Attributes
    ----------
    level : Level
        How sure findings have to be.
    least : float
        The growth of the loss that a strong feature has to exceed.
    least_of_refit : float
        The same where a refit decides.
    """

    level: Level
    least: float
    least_of_refit: float

    @classmethod
    def of(
        cls, level: Level, min_effect: float, gain: float, loss: float, learner: Learner
    ) -> Limits:
        """Take a share of what the model gains, or of the loss it leaves, if that is less.

        Beside a model that explains nearly all, every cost is a small share of what it gains, and
        beside one that explains little, of what it leaves. Trees come close to jumps and slopes in
        steps: with and without a feature that others tell much of, they are off by a share of what
        there is to explain, however little noise there is. Nothing tells whether a learner of the
        user makes such steps, so that it is taken to.
        """
        least = min_effect * min(gain, loss)
        return cls(level, least, least if learner.is_smooth else min_effect * gain)

    @property
    def most_p_of_refit(self) -> float:
        """The largest p-value of a refit that agrees with draws."""
        return max(VETO, self.level.alpha)


def test_strength(
    fit: CrossFit,
    relevant: Indices,
    race: Race | None,
    level: Level,
    min_effect: float,
    rng: np.random.Generator,
) -> Strength:
    """Test every relevant feature given all others.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    relevant : ndarray of int
        The relevant features.
    race : Race or None
        How learners did on them; None if there is none.
    level : Level
        How sure findings have to be.
    min_effect : float
        The least growth of the loss that counts, as a share of what the model gains, or of what it
        leaves unexplained, if that is less.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    Strength
        What was found, as far as there was time.
    """
    fit.workers.reporter.begin(STAGE, 3 * len(fit.folds))
    untested = Strength.untested(len(relevant))
    if race is None:
        return untested
    try:
        found = _draw_all(fit, relevant, race.learner, rng)
    except OutOfTime:
        return untested
    gain = race.gain(fit)
    limits = Limits.of(level, min_effect, gain, fit.mean(race.losses), race.learner)
    draws = Draws.of(fit, found)
    outcome = _by_draws(draws, limits, gain > 0)
    if not (gain > 0 and len(relevant) > 1):
        return replace(outcome, undecided=np.zeros(len(relevant), dtype=bool))
    residuals = [
        FeatureResidual(int(feature), relevant, race.learner.view, values, states)
        for feature, values, states in zip(relevant, found.residuals, found.states, strict=True)
    ]
    try:
        return _confirmed(fit, race, outcome, draws, residuals, limits, gain, rng)
    except OutOfTime:
        # What could still be denied is not called strong.
        return replace(outcome, strong=np.zeros_like(outcome.strong))


@dataclass(frozen=True, eq=False)
class Draws:
    """What draws say of every relevant feature.

    Attributes
    ----------
    test : PairedTest
        Growth of the loss.
    averaged : PairedTest
        Growth of the loss of the prediction averaged over draws.
    p_values : ndarray of float
        Whether it tells anything that the others do not, one-sided.
    r2 : ndarray of float
        R2 given the others, in a line.
    few : ndarray of bool
        Whether it has few values, each of which counts by its probability.
    n_fits : int
        Number of models fitted.
    """

    test: PairedTest
    averaged: PairedTest
    p_values: Array
    r2: Array
    few: Mask
    n_fits: int

    @classmethod
    def of(cls, fit: CrossFit, found: ConditionalImportance) -> Draws:
        """Test what draws did to the rows."""
        few = np.array([states is not None for states in found.states], dtype=bool)
        tests = fit.test(found.redrawn.growth), fit.test(found.redrawn.averaged)
        return cls(*tests, found.p_values, found.r2, few, found.n_fits)

    @property
    def may_decide(self) -> Mask:
        """Whether draws may decide, unless others tell more of a feature than it seems.

        A model that is kept is asked for values that hardly occur where others tell much of a
        feature, unless each value counts by its probability.
        """
        return self.few | (self.r2 <= R2_FOR_REFIT)


def _draw_all(
    fit: CrossFit, relevant: Indices, learner: Learner, rng: np.random.Generator
) -> ConditionalImportance:
    """Draw each relevant feature anew, given all columns or the closest ones."""
    columns = fit.columns(relevant)
    context = closest(fit.matrix("ranked", 0), columns, np.arange(len(fit.feature)))
    context = np.union1d(context, fit.own_columns(fit.adjusted_features))
    units = [np.flatnonzero(fit.feature[columns] == f) for f in relevant]
    return conditional_importance(fit, learner, columns, context, units, rng)


def _by_draws(draws: Draws, limits: Limits, gains: bool) -> Strength:
    """Judge by draws alone; what seems strong is not decided yet."""
    p, test = limits.level.adjusted(draws.p_values), draws.test
    sure = gains & (p <= limits.level.alpha)
    strong = (test.mean > limits.least) & sure
    # Where the others tell much of a feature, only a refit could say so for certain.
    small = sure & ~strong & (test.mean > 0) & draws.may_decide
    refitted = np.zeros_like(strong)
    measured = (test.mean, draws.averaged, refitted, p, draws.r2)
    return Strength(strong, strong, *measured, limits.least, small, draws.n_fits)


def _confirmed(
    fit: CrossFit,
    race: Race,
    outcome: Strength,
    draws: Draws,
    residuals: list[FeatureResidual],
    limits: Limits,
    gain: float,
    rng: np.random.Generator,
) -> Strength:
    """Let refits have their say on what seems strong, where the others may tell much of it."""
    seem = np.flatnonzero(outcome.strong | outcome.small)
    asked = [i for i in seem if draws.may_decide[i]]
    answers, n_checks = dependent_on_others(fit, [residuals[i] for i in asked])
    independent = [i for i, depends in zip(asked, answers, strict=True) if not depends]
    doubtful = np.setdiff1d(np.flatnonzero(outcome.strong), independent)
    outcome = replace(
        outcome,
        undecided=np.zeros_like(outcome.strong),
        small=outcome.small & np.isin(np.arange(len(outcome.small)), independent),
        n_fits=outcome.n_fits + n_checks,
    )
    if len(doubtful) == 0:
        return outcome
    # Where the refit decides whatever it finds, it has to be sure and not only to agree.
    decides = draws.r2[doubtful] > R2_FOR_REFIT
    most_p = np.where(decides, limits.level.alpha, limits.most_p_of_refit)
    bounds = limits.least_of_refit, most_p
    refits = refit_without(fit, race, [residuals[i] for i in doubtful], gain, *bounds, rng)
    return overruled(outcome, doubtful, refits, draws.p_values, limits)


def overruled(
    outcome: Strength, doubtful: Indices, refits: Refits, p_drawn: Array, limits: Limits
) -> Strength:
    """Overrule draws by refits: where these decide, or see nothing."""
    r2 = outcome.r2.copy()
    r2[doubtful] = np.where(np.isnan(refits.r2), r2[doubtful], refits.r2)
    test = refits.test
    least = np.maximum(limits.least_of_refit, LEAST_OF_DRAW * outcome.loss[doubtful])
    agrees = (refits.p_values <= limits.most_p_of_refit) & (test.mean > least)
    decides = (refits.r2 > R2_FOR_REFIT) | ~agrees
    places, refitted = doubtful[decides], outcome.refitted.copy()
    single, loss = p_drawn.copy(), outcome.loss.copy()
    single[places] = np.maximum(refits.p_values[decides], single[places])
    loss[places] = test.mean[decides]
    refitted[doubtful] = True
    p = limits.level.adjusted(single)
    strong, small = outcome.strong & (p <= limits.level.alpha), outcome.small.copy()
    strong[doubtful] &= agrees
    costs = refits.test.mean
    # Between the two limits it could be the steps of trees.
    small[doubtful] = (costs > 0) & (costs <= limits.least_of_refit)
    small[doubtful] &= limits.least_of_refit == limits.least
    small &= p <= limits.level.alpha
    return replace(
        outcome,
        strong=strong,
        small=small,
        loss=loss,
        removal=outcome.removal.with_others(doubtful, test),
        refitted=refitted,
        p_values=p,
        r2=r2,
        n_fits=outcome.n_fits + refits.n_fits,
    )
