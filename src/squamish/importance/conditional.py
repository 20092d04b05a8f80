"""Conditional feature importance: the model stays, a feature is drawn anew given all others.

Two things are measured in every row. How much the loss grows is what the feature is worth. Whether
it is worth anything is asked of a score: the error of the prediction without the feature times what
the feature adds to the prediction. If draws are right, its mean is zero unless the feature tells
something about the target that the others do not, whatever the model. Its t-value is about twice
that of the growth of the loss: this is 2 R g - g^2, and the score is R g.

References
----------
D. Watson and M. Wright: "Testing conditional independence in supervised learning algorithms",
Machine Learning 110 (2021). A. Chamma, D. Engemann and B. Thirion: "Statistically valid variable
importance assessment through conditional permutations", NeurIPS 2023. A. Lundborg, I. Kim, R. Shah
and R. Samworth: "The projected covariance measure for assumption-lean variable significance
testing", Annals of Statistics 52 (2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from scipy import stats

from squamish.arrays import Array, Indices
from squamish.families import Family
from squamish.families.family import Target
from squamish.importance.conditional_sampling import Support, draw, support_of
from squamish.importance.regression import Residuals, best_residuals, fold_residuals
from squamish.importance.states import States, states_given_others
from squamish.models.crossfit import CrossFit
from squamish.models.folds import covering
from squamish.models.learners import Learner, View

# Draws of every row. With m draws the variance of a mean loss is 1 + 1 / m of what any number
# would leave at the most. Trees are slow to predict and smooth out little of a draw. A learner of
# the user predicts every draw of every row anew, as trees do, and may be slower still.
DRAWS, DRAWS_OF_TREES = 16, 4
# A t-test that is below this agrees with one that knows the distribution of a unit.
AGREES = 0.05


@dataclass(frozen=True, eq=False)
class Redrawn:
    """What drawing units anew does to every tested row; arrays of shape (n_tested, n_units).

    Attributes
    ----------
    growth : ndarray
        Growth of the loss.
    score : ndarray
        Error without the unit times what it adds to the prediction.
    averaged : ndarray
        Growth of the loss if the prediction is averaged over draws: it is one that does without
        the unit. NaN if that was not asked.
    variance, cube : ndarray
        Second and third central moment of the growth if the unit was drawn by chance, given its
        probabilities; NaN for units of many values.
    """

    growth: Array
    score: Array
    averaged: Array
    variance: Array
    cube: Array

    def p_values(self, fit: CrossFit) -> Array:
        """Return one-sided p-values, of scores or of what the probabilities say of the growth.

        Where a unit matters in few rows, these rows make the error of a mean large: by the
        probabilities of its values, it would hardly fall into place there by chance (conditional
        randomisation). That takes these to be right, so t-tests of score and growth have to agree.
        """
        p = fit.test(self.score).p_values
        few = np.flatnonzero(~np.isnan(self.variance[:1]).any(axis=0))
        if fit.clusters is not None or len(few) == 0:
            # The values of rows that belong together are not drawn one by one.
            return p
        by_t = np.maximum(p[few], fit.test(self.growth[:, few]).p_values)
        by_chance = self._by_chance(fit, few)
        p[few] = np.where(by_t <= AGREES, by_chance, np.maximum(by_chance, by_t))
        return p

    def _by_chance(self, fit: CrossFit, units: Indices) -> Array:
        """Compare the growth of losses with what the probabilities of values say of it.

        Its sum over rows is taken for a gamma variable of the same three moments (Pearson's third
        type), or for a normal one where its other tail is the longer one.
        """
        weights = np.ones(len(self.growth)) if fit.weights is None else fit.weights
        variance = np.square(weights) @ self.variance[:, units]
        # A model that does not look at a unit has no variance, and no growth of losses either.
        scale = np.where(variance > 1e-200, np.sqrt(variance), 1.0)
        ratio = weights @ self.growth[:, units] / scale
        skew = weights**3 @ self.cube[:, units] / scale**3
        return np.asarray(stats.pearson3.sf(ratio, np.maximum(skew, 0.0)))


@dataclass(frozen=True, eq=False)
class ConditionalImportance:
    """How much losses grow when features are drawn anew given all others.

    Attributes
    ----------
    redrawn : Redrawn
        What draws did to every tested row.
    p_values : ndarray of shape (n_units,)
        Whether each unit tells anything that the others do not, one-sided.
    residuals : list of ndarray of shape (n_samples, n_columns)
        What the others leave unexplained of each unit, in a line.
    states : list of (States or None)
        How likely each value of each unit is, if these are few.
    r2 : ndarray of shape (n_units,)
        R2 of each unit given the others, in a line.
    n_fits : int
        Number of models fitted.
    """

    redrawn: Redrawn
    p_values: Array
    residuals: list[Array]
    states: list[States | None]
    r2: Array
    n_fits: int


@dataclass(frozen=True, eq=False)
class Unit:
    """Columns that are drawn together: the parts of a feature.

    Attributes
    ----------
    places : ndarray of int
        Where they are among the columns that a learner sees.
    residuals : ndarray of shape (n_samples, n_columns)
        What the other columns leave unexplained of them.
    errors : ndarray of shape (n_samples, n_components) or None
        Target minus a prediction without the unit; that with the unit drawn anew if None.
    states : States or None
        How likely each of few values is, which are then all gone through.
    """

    places: Indices
    residuals: Array
    errors: Array | None = None
    states: States | None = None


@dataclass(frozen=True, eq=False)
class _Draws:
    """Units of some columns with what values they can take, and the fold to test on."""

    learner: Learner
    columns: Indices
    units: Sequence[Unit]
    supports: Sequence[Support]
    fold: int


def conditional_importance(
    fit: CrossFit,
    learner: Learner,
    columns: Indices,
    context: Indices,
    units: Sequence[Indices],
    rng: np.random.Generator,
) -> ConditionalImportance:
    """Measure the conditional feature importance of units of columns.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    learner : Learner
        What predicts the target.
    columns : ndarray of int
        The parts it sees.
    context : ndarray of int
        The parts that units are regressed on, in ascending order; the units are among them.
    units : sequence of ndarray of int
        Places in ``columns`` that are drawn together: the parts of a feature.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    ConditionalImportance
        Growth of the losses, and what the others tell of each unit.
    """
    places = [np.searchsorted(context, columns[unit]) for unit in units]
    residuals = _residuals_given_others(fit, learner.view, context, places)
    values = [r.values for r in residuals]
    states = states_given_others(fit, learner.view, context, [columns[unit] for unit in units])
    drawn = [
        Unit(unit, own, states=few) for unit, own, few in zip(units, values, states, strict=True)
    ]
    redrawn = redraw(fit, learner, columns, drawn, rng)
    r2 = np.array([r.r2.mean() for r in residuals])
    p_values = redrawn.p_values(fit)
    return ConditionalImportance(redrawn, p_values, values, states, r2, len(fit.folds))


def _residuals_given_others(
    fit: CrossFit, view: View, context: Indices, units: Sequence[Indices]
) -> list[Residuals]:
    """Regress units of parts on all others in a context."""
    jobs = [(view, context, units, fold) for fold in range(len(fit.folds))]
    found = fit.run(_fold_residuals, jobs)
    return best_residuals(found, units, fit.folds, len(fit.table.y))


def _fold_residuals(
    fit: CrossFit, job: tuple[View, Indices, Sequence[Indices], int], _: np.random.Generator
) -> Array:
    view, context, units, fold = job
    views = get_args(View)
    seen = np.empty((len(fit.table.y), len(views), len(context)))
    for k, v in enumerate(views):
        seen[:, k] = fit.matrix(v, fold)[:, context]
    folds = covering(fit.folds, len(fit.table.y))
    return fold_residuals(seen, views.index(view), units, folds[fold])


def redraw(
    fit: CrossFit,
    learner: Learner,
    columns: Indices,
    units: Sequence[Unit],
    rng: np.random.Generator,
) -> Redrawn:
    """Draw each unit anew, and measure what that does to every tested row."""
    supports = [support_of(fit, learner.view, columns[unit.places]) for unit in units]
    n, half = len(fit.folds), (len(units) + 1) // 2
    # In halves, so that nobody waits long for the last one; the second finds the models.
    jobs = [
        _Draws(learner, columns, units[some], supports[some], fold)
        for some in (slice(half), slice(half, None))
        for fold in range(n)
        if units[some]
    ]
    found = fit.workers.run(_fold_redrawn, fit, jobs, rng)
    fit.forget_models()
    both = [fit.gathered(found[k : k + n]) for k in range(0, len(jobs), n)]
    return Redrawn(*np.concatenate(both, axis=2).transpose(1, 0, 2))


def _fold_redrawn(fit: CrossFit, job: _Draws, rng: np.random.Generator) -> Array:
    """Return what `Redrawn` holds of the test rows of a fold: (n_test, 5, n_units)."""
    n_draws = DRAWS if job.learner.is_smooth else DRAWS_OF_TREES
    _, test = fit.folds[job.fold]
    model = fit.model(job.learner, job.columns, job.fold)
    X = fit.matrix(job.learner.view, job.fold)[:, job.columns][test]
    y, prediction = fit.table.y[test], model.predict(X)
    out = np.full((len(test), 5, len(job.units)), np.nan)
    for u, (unit, support) in enumerate(zip(job.units, job.supports, strict=True)):
        if unit.states is None:
            predicted, pool = X[:, unit.places] - unit.residuals[test], unit.residuals[fit.tested]
            values = draw(predicted, pool, n_draws, rng, support)
            replaced = model.predict_replaced(X, unit.places, values)
            errors = None if unit.errors is None else unit.errors[test]
            out[:, :3, u] = _over_draws(fit.family, y, prediction, replaced, errors)
        else:
            values = np.repeat(unit.states.values[:, np.newaxis], len(test), axis=1)
            replaced = model.predict_replaced(X, unit.places, values)
            shares = unit.states.probabilities[test].T
            out[:, :, u] = _over_states(fit.family, y, prediction, replaced, shares)
    return out


def _over_draws(
    family: Family, y: Target, prediction: Array, replaced: Array, errors: Array | None
) -> Array:
    """Return growth of losses, scores, and growth of averages, of rows with a unit drawn anew.

    Parameters
    ----------
    family : Family
        What kind of target there is.
    y : ndarray of shape (n,)
        The target.
    prediction : ndarray of shape (n, ...)
        Predictions with the unit as it is.
    replaced : ndarray of shape (n_draws, n, ...)
        Predictions with the unit drawn anew.
    errors : ndarray of shape (n, n_components) or None
        Errors of another prediction without the unit, in place of those of draws.
    """
    growth = family.losses(replaced, y).mean(axis=0) - family.losses(prediction, y)
    added = family.predictors(prediction) - family.predictors(replaced)
    if errors is not None:
        unasked = np.full_like(growth, np.nan)
        return np.column_stack([growth, (errors * added.mean(axis=0)).sum(axis=-1), unasked])
    # The mean over pairs of different draws: the chance in a draw must not meet itself.
    drawn, m = family.calibrated_errors(replaced, y), len(added)
    pairs = drawn.sum(axis=0) * added.sum(axis=0) - (drawn * added).sum(axis=0)
    averaged = _loss_of_mean(family, y, replaced) - family.losses(prediction, y)
    return np.column_stack([growth, pairs.sum(axis=-1) / (m * (m - 1)), averaged])


def _loss_of_mean(family: Family, y: Target, replaced: Array) -> Array:
    """Return the loss of the mean prediction over draws, as if these were very many.

    The mean of m draws varies by chance, which costs about 1 / m; without one of them it costs
    1 / (m - 1), so that both tell what it would be without (the jackknife).
    """
    m = len(replaced)
    mean = replaced.mean(axis=0)
    others = mean + (mean - replaced) / (m - 1)
    return m * family.losses(mean, y) - (m - 1) * family.losses(others, y).mean(axis=0)


def _over_states(
    family: Family, y: Target, prediction: Array, replaced: Array, shares: Array
) -> Array:
    """Return what `Redrawn` holds of rows with a unit in each of its states.

    As `_over_draws`, but for ``shares``, the probability of each state: (n_states, n).
    """
    losses = family.losses(replaced, y)
    expected = (shares * losses).sum(axis=0)
    growth, beyond = expected - family.losses(prediction, y), expected - losses
    variance, cube = (shares * beyond**2).sum(axis=0), (shares * beyond**3).sum(axis=0)
    weights = shares[..., np.newaxis]
    errors = family.calibrated_errors(replaced, y, shares)
    added = family.predictors(prediction) - (weights * family.predictors(replaced)).sum(axis=0)
    mean = np.einsum("sn,sn...->n...", shares, replaced)
    averaged = family.losses(mean, y) - family.losses(prediction, y)
    return np.column_stack([growth, (errors * added).sum(axis=-1), averaged, variance, cube])
