"""Conditional feature importance: the model stays, a feature is drawn anew given all others.

References
----------
D. Watson and M. Wright: "Testing conditional independence in supervised learning algorithms",
Machine Learning 110 (2021). A. Chamma, D. Engemann and B. Thirion: "Statistically valid variable
importance assessment through conditional permutations", NeurIPS 2023.
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
# would leave at the most. Trees are slow to predict and smooth out little of a draw.
DRAWS = {"linear": 16, "quadratic": 16, "boosted": 4}


@dataclass(frozen=True, eq=False)
class ConditionalImportance:
    """How much losses grow when features are drawn anew given all others.

    Attributes
    ----------
    growth : ndarray of shape (n_tested, n_units)
        Growth of the loss of every tested row, by unit.
    residuals : list of ndarray of shape (n_samples, n_columns)
        What the others leave unexplained of each unit, in a line.
    r2 : ndarray of shape (n_units,)
        R2 of each unit given the others, in a line.
    n_fits : int
        Number of models fitted.
    """

    growth: Array
    residuals: list[Array]
    r2: Array
    n_fits: int


@dataclass(frozen=True, eq=False)
class _Draws:
    """Units of some columns, their residuals given the others, and the fold to test on."""

    learner: Learner
    columns: Indices
    units: Sequence[Indices]
    supports: Sequence[Support]
    residuals: Sequence[Array]
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
    growth = _growth(fit, learner, columns, units, [r.values for r in residuals], rng)
    r2 = np.array([r.r2.mean() for r in residuals])
    return ConditionalImportance(growth, [r.values for r in residuals], r2, len(fit.folds))


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


def _growth(
    fit: CrossFit,
    learner: Learner,
    columns: Indices,
    units: Sequence[Indices],
    residuals: Sequence[Array],
    rng: np.random.Generator,
) -> Array:
    """Return how much the loss of every tested row grows when each unit is drawn anew."""
    supports = [support_of(fit, learner.view, columns[unit]) for unit in units]
    n, half = len(fit.folds), (len(units) + 1) // 2
    # In halves, so that nobody waits long for the last one; the second finds the models.
    jobs = [
        _Draws(learner, columns, units[some], supports[some], residuals[some], fold)
        for some in (slice(half), slice(half, None))
        for fold in range(n)
        if units[some]
    ]
    found = fit.workers.run(_fold_growth, fit, jobs, rng)
    fit.forget_models()
    return np.hstack([fit.gathered(found[k : k + n]) for k in range(0, len(jobs), n)])


def _fold_growth(fit: CrossFit, job: _Draws, rng: np.random.Generator) -> Array:
    """Return how much the losses in the test rows of a fold grow."""
    n_draws = DRAWS[job.learner.kind]
    _, test = fit.folds[job.fold]
    model = fit.model(job.learner, job.columns, job.fold)
    X = fit.matrix(job.learner.view, job.fold)[:, job.columns][test]
    y = fit.table.y[test]
    out = np.zeros((len(test), len(job.units)))
    for u, (unit, residual) in enumerate(zip(job.units, job.residuals, strict=True)):
        predicted, pool = X[:, unit] - residual[test], residual[fit.tested]
        drawn = draw(predicted, pool, n_draws, rng, job.supports[u])
        out[:, u] = fit.family.losses(model.predict_replaced(X, unit, drawn), y).mean(axis=0)
    return out - fit.family.losses(model.predict(X), y)[:, np.newaxis]
