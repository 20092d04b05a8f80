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

from squamish.arrays import Array, Indices
from squamish.importance.conditional_sampling import Support, draw, support_of
from squamish.importance.regression import Residuals, best_residuals, fold_residuals
from squamish.models.crossfit import CrossFit
from squamish.models.folds import covering
from squamish.models.learners import Learner, View

# Draws of every row. With m draws the variance of a mean loss is 1 + 1 / m of what any number
# would leave at the most. Trees are slow to predict and smooth out little of a draw. A learner of
# the user predicts every draw of every row anew, as trees do, and may be slower still.
DRAWS = {"linear": 16, "quadratic": 16, "boosted": 4}


@dataclass(frozen=True, eq=False)
class ConditionalImportance:
    """How much losses grow when features are drawn anew given all others.

    Attributes
    ----------
    growth : ndarray of shape (n_tested, n_units)
        Growth of the loss of every tested row, by unit.
    score : ndarray of shape (n_tested, n_units)
        Error without the unit times what it adds to the prediction.
    residuals : list of ndarray of shape (n_samples, n_columns)
        What the others leave unexplained of each unit, in a line.
    r2 : ndarray of shape (n_units,)
        R2 of each unit given the others, in a line.
    n_fits : int
        Number of models fitted.
    """

    growth: Array
    score: Array
    residuals: list[Array]
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
    """

    places: Indices
    residuals: Array
    errors: Array | None = None


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
    drawn = [Unit(*both) for both in zip(units, values, strict=True)]
    growth, score = redraw(fit, learner, columns, drawn, rng)
    r2 = np.array([r.r2.mean() for r in residuals])
    return ConditionalImportance(growth, score, values, r2, len(fit.folds))


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
) -> tuple[Array, Array]:
    """Draw each unit anew; return the growth of the loss, and the score, of every tested row."""
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
    growth, score = np.concatenate(both, axis=2).transpose(1, 0, 2)
    return growth, score


def _fold_redrawn(fit: CrossFit, job: _Draws, rng: np.random.Generator) -> Array:
    """Return the growth of losses, and scores, in the test rows of a fold: (n_test, 2, n_units)."""
    n_draws, family = DRAWS.get(job.learner.kind, DRAWS["boosted"]), fit.family
    _, test = fit.folds[job.fold]
    model = fit.model(job.learner, job.columns, job.fold)
    X = fit.matrix(job.learner.view, job.fold)[:, job.columns][test]
    y = fit.table.y[test]
    prediction = model.predict(X)
    out = np.zeros((len(test), 2, len(job.units)))
    for u, (unit, support) in enumerate(zip(job.units, job.supports, strict=True)):
        predicted, pool = X[:, unit.places] - unit.residuals[test], unit.residuals[fit.tested]
        drawn = draw(predicted, pool, n_draws, rng, support)
        replaced = model.predict_replaced(X, unit.places, drawn)
        out[:, 0, u] = family.losses(replaced, y).mean(axis=0) - family.losses(prediction, y)
        added = family.predictors(prediction) - family.predictors(replaced)
        errors = None if unit.errors is None else unit.errors[test]
        out[:, 1, u] = _scores(family.errors(replaced, y), added, errors)
    return out


def _scores(drawn_errors: Array, added: Array, errors: Array | None) -> Array:
    """Multiply errors without a unit by what it adds to the prediction.

    Parameters
    ----------
    drawn_errors : ndarray of shape (n_draws, n, n_components)
        Errors with the unit drawn anew.
    added : ndarray of shape (n_draws, n, n_components)
        How much the prediction differs from that with the unit drawn anew.
    errors : ndarray of shape (n, n_components) or None
        Errors of another prediction without the unit, in place of those of draws.
    """
    if errors is not None:
        return np.asarray((errors * added.mean(axis=0)).sum(axis=-1))
    # The mean over pairs of different draws: the chance in a draw must not meet itself.
    m = len(added)
    pairs = drawn_errors.sum(axis=0) * added.sum(axis=0) - (drawn_errors * added).sum(axis=0)
    return np.asarray(pairs.sum(axis=-1) / (m * (m - 1)))
