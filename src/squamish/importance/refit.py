"""Leave-one-covariate-out (LOCO): the best model that does without a feature, out of sample.

How much the loss grows is what the removal costs. Whether it costs anything is asked of a score:
the errors of that model times what the feature adds to a prediction beyond what the others tell of
it, which is sound if either the model without the feature or the draws of the feature are right.

References
----------
J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani and L. Wasserman: "Distribution-free predictive
inference for regression", JASA 113 (2018), section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from squamish.arrays import Array, Indices
from squamish.importance.conditional import Unit, redraw
from squamish.importance.context import MOST_CONTEXT, closest_to
from squamish.importance.imputation import (
    MUCH,
    SMOOTH_FITS,
    depends_on_others,
    explained_by_levels,
    impute,
    impute_by_values,
    level_means,
)
from squamish.importance.states import States, trees_tell_more
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import View
from squamish.models.race import CONTENDING, DROPS_OUT, Race, predictions_while
from squamish.statistics.paired import PairedTest

# If the others tell more than this share of a feature, the refit decides: a model that is kept is
# asked for values that hardly occur then.
R2_FOR_REFIT = 0.5


@dataclass(frozen=True, eq=False)
class Refits:
    """What refits without features say.

    Attributes
    ----------
    test : PairedTest
        Growth of the loss without each feature.
    p_values : ndarray of float
        One-sided p-values of the scores.
    r2 : ndarray of float
        R2 of each feature given the others, by the best imputer; NaN if it was not asked.
    n_fits : int
        Number of models fitted.
    """

    test: PairedTest
    p_values: Array
    r2: Array
    n_fits: int


@dataclass(frozen=True, eq=False)
class FeatureResidual:
    """A feature, what the others leave unexplained of it in a line, and how a learner sees it.

    ``states`` are those of a feature of few values, with what the others tell of them.
    """

    feature: int
    relevant: Indices
    view: View
    values: Array
    states: States | None = None

    def column(self, fit: CrossFit) -> Array:
        """Return the feature itself, every row as it is seen in the fold that tests it."""
        return fit.held_out(self.view, self._own(fit))

    def levels(self, fit: CrossFit) -> list[Indices]:
        """Return the levels of other relevant categories of many."""
        return [
            levels
            for feature, levels in fit.parts.many_levels
            if feature != self.feature and feature in self._always(fit)
        ]

    def others(self, fit: CrossFit, view: View | None = None) -> Array:
        """Return what imputers look at: what is relevant first, then what is close."""
        parts, values = fit.parts, fit.held_out("ranked", self._own(fit))
        # What is learned from the target of other rows cannot describe another feature.
        is_relevant = np.isin(parts.feature, self._always(fit))
        others = parts.feature != self.feature
        first = closest_to(values, parts.ranked, np.flatnonzero(is_relevant & others))
        n_left = MOST_CONTEXT - len(first)
        near = closest_to(values, parts.ranked, np.flatnonzero(~is_relevant & others), n_left)
        seen = parts.ranked if (view or self.view) == "ranked" else parts.plain
        return seen[:, np.sort(np.concatenate([first, near]))]

    def _own(self, fit: CrossFit) -> Indices:
        return fit.own_columns(np.array([self.feature]))

    def _always(self, fit: CrossFit) -> Indices:
        """Return what imputers look at in any case: what is relevant, and what is adjusted for."""
        return np.append(self.relevant, fit.adjusted_features)


def dependent_on_others(
    fit: CrossFit, residuals: Sequence[FeatureResidual]
) -> tuple[list[bool], int]:
    """Tell of which features the others tell more than a line does, and count the models."""
    fit.workers.reporter.expect(len(residuals))
    n_fits = sum(residual.values.shape[1] for residual in residuals)
    return fit.run(_depends, residuals, lambda residual: residual.values.shape[1]), n_fits


def refit_without(
    fit: CrossFit,
    race: Race,
    residuals: Sequence[FeatureResidual],
    gain: float,
    least: float,
    most_p: Array,
    rng: np.random.Generator,
) -> Refits:
    """Refit without each of some features, and test whether anything is lost.

    The winner of the race is refitted first. Where it loses nothing without a feature, the best
    model without it loses no more: that is said of it, and nothing else is tried. Nor is it where
    the loss has to grow, of trees, and does not by more than ``least`` at its p-value of
    ``most_p``.
    """
    rest = [fit.columns(np.setdiff1d(r.relevant, [r.feature])) for r in residuals]
    has_to_grow = not race.learner.is_smooth
    enough = least if has_to_grow else 0.0
    trials = [Trial(race.learner, columns) for columns in rest]
    # What clearly costs less is not tried on: the folds that were say how much it costs.
    best, n_fits = predictions_while(
        fit,
        trials,
        [race.predictions] * len(trials),
        lambda growth, error: growth + DROPS_OUT * error > enough,
    )
    first = _growth(fit, race, best)
    is_open = first.mean > enough
    if has_to_grow:
        is_open &= first.p_values <= most_p
    is_open &= ~np.array([np.isnan(x).any() for x in best])
    p, r2 = np.ones(len(residuals)), np.full(len(residuals), np.nan)
    asked = np.flatnonzero(is_open).tolist()
    if asked:
        some = [_Asked(residuals[i], rest[i], best[i]) for i in asked]
        found = _ask_further(fit, race, some, gain, rng)
        p[asked], r2[asked], n_fits = found.p_values, found.r2, n_fits + found.n_fits
        for i, prediction in zip(asked, found.predictions, strict=True):
            best[i] = prediction
    growth = _growth(fit, race, best)
    if has_to_grow:
        # Trees that predict the target, and trees that impute, are wrong in the same rows. A
        # learner of the user may be made of trees, or be like the smooth curves that impute.
        p = np.maximum(p, growth.p_values)
    return Refits(growth, p, r2, n_fits)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A feature that may be strong, the other columns, and what the winner predicts by these."""

    residual: FeatureResidual
    rest: Indices
    prediction: Array


@dataclass(frozen=True, eq=False)
class _Found:
    """The best predictions without features, and what their scores say."""

    predictions: Sequence[Array]
    p_values: Array
    r2: Array
    n_fits: int


def _ask_further(
    fit: CrossFit, race: Race, asked: Sequence[_Asked], gain: float, rng: np.random.Generator
) -> _Found:
    """Impute features, predict without them as well as possible, and test what is lost."""
    residuals = [one.residual for one in asked]
    imputed = fit.run(_impute, residuals, lambda residual: residual.values.shape[1])
    left = [r.column(fit) - x for r, x in zip(residuals, imputed, strict=True)]
    r2 = np.array([_r2(fit, r.column(fit), x) for r, x in zip(residuals, left, strict=True)])
    best, n_tried = _best_predictions(fit, race, asked, imputed, gain)
    p = _score_p_values(fit, race, residuals, left, best, rng)
    n_folds, n_columns = len(fit.folds), sum(r.values.shape[1] for r in residuals)
    return _Found(best, p, r2, n_tried + n_folds + n_columns * (SMOOTH_FITS + 3 * n_folds))


def _growth(fit: CrossFit, race: Race, predictions: Sequence[Array]) -> PairedTest:
    """Test whether losses are larger than those of the winner with all features, where known."""
    y = fit.table.y[fit.tested]
    losses = np.column_stack([fit.family.losses(found, y) for found in predictions])
    return fit.test_known(losses - race.losses[:, np.newaxis])


def _score_p_values(
    fit: CrossFit,
    race: Race,
    residuals: Sequence[FeatureResidual],
    left: Sequence[Array],
    predictions: Sequence[Array],
    rng: np.random.Generator,
) -> Array:
    """Test errors without each feature against what it adds beyond what the others tell of it."""
    columns = fit.columns(residuals[0].relevant)
    units = [
        Unit(np.flatnonzero(fit.feature[columns] == r.feature), x, _errors(fit, prediction))
        for r, x, prediction in zip(residuals, left, predictions, strict=True)
    ]
    return fit.test(redraw(fit, race.learner, columns, units, rng).score).p_values


def _best_predictions(
    fit: CrossFit, race: Race, asked: Sequence[_Asked], imputed: Sequence[Array], gain: float
) -> tuple[list[Array], int]:
    """Predict without each feature as well as possible, and count the models.

    Any learner that was not far behind may be better than the winner, whose predictions are known,
    unless it lags behind by more with all features than the winner does without this one. And the
    winner may also use what the other columns say about the missing one.
    """
    others = [a for a in race.contenders(CONTENDING * gain) if a != race.learner]
    trials, owner = list[Trial](), list[int]()
    for i, (one, found) in enumerate(zip(asked, imputed, strict=True)):
        growth = float(_growth(fit, race, [one.prediction]).mean[0])
        some = [Trial(learner, one.rest) for learner in others if race.lags[learner] < growth]
        trials += [*some, Trial(race.learner, one.rest, found)]
        owner += [i] * (len(some) + 1)
    best = [one.prediction for one in asked]
    least = [fit.mean(fit.family.losses(x, fit.table.y[fit.tested])) for x in best]
    tried, n_fits = predictions_while(
        fit,
        trials,
        [best[i] for i in owner],
        lambda growth, error: growth <= DROPS_OUT * error,
    )
    for i, prediction in zip(owner, tried, strict=True):
        # Not a number if it dropped out, which is not less.
        loss = fit.mean(fit.family.losses(prediction, fit.table.y[fit.tested]))
        if loss < least[i]:
            best[i], least[i] = prediction, loss
    return best, n_fits


def _errors(fit: CrossFit, prediction: Array) -> Array:
    """Return target minus prediction; 0 in rows that are not tested."""
    errors = fit.family.errors(prediction, fit.table.y[fit.tested])
    out = np.zeros((len(fit.table.y), *errors.shape[1:]))
    out[fit.tested] = errors
    return out


def _r2(fit: CrossFit, x: Array, left: Array) -> float:
    unexplained = np.square(left)[fit.tested].mean()
    return float(1 - unexplained / x[fit.tested].var(axis=0).mean())


def _depends(fit: CrossFit, residual: FeatureResidual, _: np.random.Generator) -> bool:
    """Tell whether the residual of a feature depends on the others in any way.

    Much of the residual may be explained, or so much that a line and this explain most of the
    feature; by other parts, or by the levels of a category of many.
    """
    others, folds = residual.others(fit), fit.folds
    if residual.states is not None and trees_tell_more(residual.states, others, folds):
        return True
    for x, part in zip(residual.column(fit).T, residual.values.T, strict=True):
        left = float(part[fit.tested].var() / max(float(x[fit.tested].var()), 1e-300))
        share = min(MUCH, 1 - (1 - R2_FOR_REFIT) / max(left, 1e-300))
        by_levels = (explained_by_levels(levels, part, folds) for levels in residual.levels(fit))
        if any(s > share for s in by_levels):
            return True
        if residual.states is None and depends_on_others(part, others, folds, share):
            return True
    return False


def _impute(fit: CrossFit, residual: FeatureResidual, _: np.random.Generator) -> Array:
    """Predict a feature from the others as well as possible."""
    others = residual.others(fit)
    parts = zip(residual.column(fit).T, residual.values.T, strict=True)
    found = [_imputed(fit, residual, others, x, x - part) for x, part in parts]
    if residual.view == "ranked" and others.shape[1]:
        found = [_better_by_values(fit, residual, k, known) for k, known in enumerate(found)]
    return np.column_stack(found)


def _better_by_values(fit: CrossFit, residual: FeatureResidual, k: int, known: Array) -> Array:
    """Replace predicted ranks of a part by those of a line of plain values, if these are better."""
    seen = residual.column(fit)[:, k]
    values = replace(residual, view="plain").column(fit)[:, k]
    found = impute_by_values(values, seen, residual.others(fit, "plain"), fit.folds)
    return min(known, found, key=lambda x: float(np.square(seen - x)[fit.tested].mean()))


def _imputed(
    fit: CrossFit, residual: FeatureResidual, others: Array, x: Array, linear: Array
) -> Array:
    """Predict a part of a feature by other parts, or by the levels of a category of many."""
    candidates = [impute(others, x, linear, fit.folds)]
    candidates += [level_means(levels, x, fit.folds) for levels in residual.levels(fit)]
    return min(candidates, key=lambda found: float(np.square(x - found)[fit.tested].mean()))
