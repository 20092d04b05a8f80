"""Adjusting: columns that are in every model, and what they tell of the target and of the others.

Learners race on the adjustments alone, also on curves of them. What the best one predicts, on rows
that it was not trained on, takes the place of the constant prediction; and it is a column of all
models, learned from other rows as target encodings are, so that a straight line of what is judged
can stand beside any curve of the adjustments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from squamish.arrays import Array, Fold, Indices
from squamish.models.beyond import LEAST_LEFT, Adjustment, Terms
from squamish.models.crossfit import CrossFit
from squamish.models.learners import Learner, fit_together, portfolio
from squamish.models.race import Race, race, race_portfolio
from squamish.table.parts import INNER_FOLDS, Parts
from squamish.table.table import Table

STAGE = "adjust"
# What the stage takes of the time of a fit, for the display of progress.
STAGES = {STAGE: 0.1}
# So many of the leading curves race at a time.
N_CURVES = (5, 10, 20, 40)


@dataclass(frozen=True, eq=False)
class _Baseline:
    """The best that the adjustments say of the target.

    Attributes
    ----------
    race : Race
        Its learner, predictions and losses.
    columns : ndarray of int
        What it sees of the adjustments and curves.
    """

    race: Race
    columns: Indices


def adjusted(fit: CrossFit, adjustments: Table) -> CrossFit:
    """Put adjustments into all models of a table, and take what they tell off its columns.

    Parameters
    ----------
    fit : CrossFit
        The columns that are judged.
    adjustments : Table
        The columns that are adjusted for, in the same rows.

    Raises OutOfTime if there is no time for it.
    """
    own = CrossFit.over(
        replace(adjustments, y=fit.table.y, folds=fit.folds),
        len(fit.folds),
        # The folds are known: nothing is drawn.
        np.random.default_rng(0),
        fit.workers,
        fit.user_learners,
    )
    terms = Terms.of(own.parts)
    own = _with_curves(own, terms.curves)
    fit.workers.reporter.begin(STAGE, len(portfolio(fit.family, len(fit.table.y), 1)))
    baseline = _baseline(own, terms)
    if fit.mean(baseline.race.losses) < fit.mean(fit.constant_losses()):
        learner, predictions = str(baseline.race.learner), baseline.race.predictions
        told = fit.run(_told, [(own, baseline, fold) for fold in range(len(fit.folds))])
    else:
        learner, predictions = "constant", fit.constant_predictions()
        told = [np.zeros((len(fit.table.y), 0))] * len(fit.folds)
    fit.workers.check_time()
    adjustment = Adjustment(
        beyond=_beyond(fit, terms),
        terms=terms,
        learner=learner,
        predictions=predictions,
        losses=fit.family.losses(predictions, fit.table.y[fit.tested]),
        n_fits=baseline.race.n_fits + len(fit.folds) * (INNER_FOLDS + 1),
    )
    return _joined(fit, own, told, adjustment)


def _with_curves(own: CrossFit, curves: Array) -> CrossFit:
    """Put curves beside the parts of the adjustments, as a feature of their own."""
    n_features = own.table.n_features
    parts = _side_by_side(own.parts, curves, n_features)
    encoded = own.feature[len(own.parts.feature) :]
    return replace(own, parts=parts, feature=np.concatenate([parts.feature, encoded]))


def _side_by_side(parts: Parts, more: Array, feature: int) -> Parts:
    unknown = np.full(more.shape[1], -1)
    return replace(
        parts,
        plain=np.hstack([parts.plain, more]),
        ranked=np.hstack([parts.ranked, more]),
        feature=np.append(parts.feature, np.full(more.shape[1], feature)),
        gap=np.append(parts.gap, unknown),
        is_gap=np.append(parts.is_gap, unknown > 0),
        exclusive=np.append(parts.exclusive, unknown),
    )


def _baseline(own: CrossFit, terms: Terms) -> _Baseline:
    """Race on the adjustments, and on lines of more and more curves."""
    features = np.arange(own.table.n_features)
    plain = own.columns(features)
    found = [_Baseline(race_portfolio(own, features), plain)]
    lines = [a for a in portfolio(own.family, len(own.table.y), 1) if a.kind == "linear"]
    lines = [a for a in lines if a.view == "plain"]
    first = len(terms.parts.feature)
    n_curves = terms.curves.shape[1]
    sizes = sorted({min(size, n_curves) for size in N_CURVES} - {0})
    # Indicators of cells belong together.
    for size in sizes if terms.cells is None else sizes[-1:]:
        columns = np.union1d(plain, first + np.arange(size))
        found.append(_Baseline(race(own, lines, columns), columns))
    n_fits = sum(one.race.n_fits for one in found)
    best = min(found, key=lambda one: own.mean(one.race.losses))
    return replace(best, race=replace(best.race, n_fits=n_fits))


def _told(fit: CrossFit, job: tuple[CrossFit, _Baseline, int], _: np.random.Generator) -> Array:
    """Return what the adjustments say of all rows of a fold, by models of other rows.

    A training row is told by models of other inner folds, so that its own target is not in it.
    """
    own, baseline, fold = job
    train, test = fit.folds[fold]
    learner = baseline.race.learner
    X = own.matrix(learner.view, fold)[:, baseline.columns]
    first = _predictors(own, learner, X, train, test)
    out = np.zeros((len(X), first.shape[1]))
    out[test] = first
    # Rows are sorted by the target, so that every fifth one gives stratified folds.
    inner = np.arange(len(train))
    if fit.table.clusters is not None:
        inner = np.unique(fit.table.clusters[train], return_inverse=True)[1]
    inner = inner % INNER_FOLDS
    for k in np.unique(inner):
        others, rows = train[inner != k], train[inner == k]
        if len(others) and fit.family.is_trainable(fit.table.y, others):
            out[rows] = _predictors(own, learner, X, others, rows)
    scale = out[train].std(axis=0)
    known = np.concatenate([train, test])
    out[known] -= out[train].mean(axis=0)
    return np.asarray(out / np.where(scale > 1e-9, scale, 1.0))


def _predictors(own: CrossFit, learner: Learner, X: Array, train: Indices, test: Indices) -> Array:
    weights = None if own.table.weights is None else own.table.weights[train]
    model = fit_together([learner], X[train], own.table.y[train], own.family, weights)[0]
    return own.family.predictors(model.predict(X[test])).reshape(len(test), -1)


def _beyond(fit: CrossFit, terms: Terms) -> Parts:
    """Return what the adjustments leave of the parts that are judged; 0 if that is next to none."""
    parts = fit.parts
    plain, ranked = (_left(X, terms, fit.folds) for X in (parts.plain, parts.ranked))
    return replace(parts, plain=plain, ranked=ranked)


def _left(X: Array, terms: Terms, folds: Sequence[Fold]) -> Array:
    left = terms.without_lines(X - terms.means(X, folds))
    left[:, left.var(axis=0) < LEAST_LEFT * X.var(axis=0)] = 0.0
    return left


def _joined(
    fit: CrossFit, own: CrossFit, told: Sequence[Array], adjustment: Adjustment
) -> CrossFit:
    """Put adjustments beside what is judged, and what they tell of the target beside encodings."""
    d, n_judged = fit.table.n_features, len(fit.parts.feature)
    is_curve = own.parts.feature == own.table.n_features
    numbers = np.where(is_curve, d + 1, d)
    exclusive = own.parts.exclusive + fit.parts.exclusive.max(initial=-1) + 1
    parts = Parts(
        np.hstack([fit.parts.plain, own.parts.plain]),
        np.hstack([fit.parts.ranked, own.parts.ranked]),
        np.concatenate([fit.parts.feature, numbers]),
        np.concatenate([fit.parts.gap, np.where(own.parts.gap < 0, -1, own.parts.gap + n_judged)]),
        np.concatenate([fit.parts.is_gap, own.parts.is_gap]),
        np.concatenate([fit.parts.exclusive, np.where(own.parts.exclusive < 0, -1, exclusive)]),
        (*fit.parts.many_levels, *((d, levels) for _, levels in own.parts.many_levels)),
    )
    encoded, owner = [], parts.feature
    for fold, of_target in enumerate(told):
        blocks = [
            *(fit.encoded[fold : fold + 1] if fit.encoded else ()),
            *(own.encoded[fold : fold + 1] if own.encoded else ()),
            of_target,
        ]
        encoded.append(np.hstack(blocks))
    judged = fit.feature[n_judged:]
    n_more = encoded[0].shape[1] - len(judged)
    owner = np.concatenate([parts.feature, judged, np.full(n_more, d)])
    return replace(fit, parts=parts, encoded=encoded, feature=owner, adjustment=adjustment)
