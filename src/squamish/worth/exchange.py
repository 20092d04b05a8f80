"""What can stand in for members of a set: the model stays, and others say what they would.

A model of the set, with what other columns tell of a member in place of the member, is a model of
these columns. If it loses no more than a margin they are as good, and it takes no refit to show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy import linalg

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit
from squamish.models.learners import Learner

# Ridge penalty of columns of unit variance: enough to solve what copies make singular.
RIDGE = 1e-6


@dataclass(frozen=True)
class Exchange:
    """Members of a set that go, and features that come in their place."""

    gone: tuple[int, ...]
    come: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Exchanges:
    """Exchanges of a set, and the fold to judge them in."""

    learner: Learner
    members: tuple[int, ...]
    exchanges: tuple[Exchange, ...]
    fold: int


@dataclass(frozen=True, eq=False)
class Members:
    """A set of features, and what a model of it predicts.

    Attributes
    ----------
    features : ndarray of int
        The set, ascending.
    learner : Learner
        What is fitted to it.
    predictions : ndarray of shape (n_tested, ...)
        Its out-of-sample predictions.
    losses : ndarray of float
        Their losses.
    """

    features: Indices
    learner: Learner
    predictions: Array
    losses: Array

    @classmethod
    def of(cls, fit: CrossFit, features: Indices, learner: Learner) -> Members:
        """Fit the set in every fold. Models are kept until others are asked for."""
        jobs = [(learner, fit.columns(features), fold) for fold in range(len(fit.folds))]
        fit.workers.reporter.expect(len(jobs))
        predictions = fit.gathered(fit.run(_predictions_in_fold, jobs))
        losses = fit.family.losses(predictions, fit.table.y[fit.tested])
        return cls(features, learner, predictions, losses)


def _predictions_in_fold(
    fit: CrossFit, job: tuple[Learner, Indices, int], _: np.random.Generator
) -> Array:
    learner, columns, fold = job
    test = fit.folds[fold][1]
    X = fit.matrix(learner.view, fold)[:, columns]
    return fit.model(learner, columns, fold).predict(X[test])


def losses_with(
    fit: CrossFit, learner: Learner, members: Sequence[int], exchanges: Sequence[Exchange]
) -> Array:
    """Return the out-of-sample losses of a set as it is, and with each exchange, a column each."""
    n = len(fit.folds)
    jobs = [_Exchanges(learner, tuple(members), tuple(exchanges), fold) for fold in range(n)]
    fit.workers.reporter.expect(n)
    return fit.gathered(fit.run(_losses_in_fold, jobs))


def _losses_in_fold(fit: CrossFit, job: _Exchanges, _: np.random.Generator) -> Array:
    test = fit.folds[job.fold][1]
    columns = fit.columns(np.array(job.members))
    model = fit.model(job.learner, columns, job.fold)
    seen, y = fit.matrix(job.learner.view, job.fold)[:, columns][test], fit.table.y[test]
    others = sorted({*job.members, *chain.from_iterable(e.come for e in job.exchanges)})
    stand_in = _StandIn(fit, job.learner, np.array(others), job.fold)
    out = [fit.family.losses(model.predict(seen), y)]
    for exchange in job.exchanges:
        left = [f for f in job.members if f not in exchange.gone]
        places = np.flatnonzero(np.isin(fit.feature[columns], exchange.gone))
        values = stand_in.values(exchange.gone, [*left, *exchange.come])
        replaced = model.predict_replaced(seen, places, values[np.newaxis])[0]
        out.append(fit.family.losses(replaced, y))
    return np.column_stack(out)


class _StandIn:
    """Says in the test rows of a fold what features tell of others, by regressions.

    A feature is a line of the others, in their plain values and in their ranks; or its rank is, and
    its value is the one that has this rank, so that a monotone copy tells all.
    """

    def __init__(self, fit: CrossFit, learner: Learner, features: Indices, fold: int) -> None:
        self.fit, self.view = fit, learner.view
        self.train, self.test = fit.folds[fold]
        self.columns = fit.columns(features)
        plain = fit.matrix("plain", fold)[:, self.columns]
        ranked = fit.matrix("ranked", fold)[:, self.columns]
        self.own = ranked if self.view == "ranked" else plain
        self.ranked = ranked
        both = np.hstack([plain, ranked])
        self.both = both - both[self.train].mean(axis=0)
        known = self.both[self.train]
        self.gram = known.T @ known
        self.gram[np.diag_indices_from(self.gram)] += RIDGE * len(known)

    def values(self, gone: Sequence[int], by: Sequence[int]) -> Array:
        """Return what some features say of the parts of others, as the learner sees these."""
        owner = self.fit.feature[self.columns]
        targets = np.flatnonzero(np.isin(owner, gone))
        d = len(owner)
        known = np.append(by, self.fit.adjusted_features)
        seen = np.flatnonzero(np.isin(np.tile(owner, 2), known))
        shift = d if self.view == "ranked" else 0
        wanted = targets + shift
        if self.view == "plain":
            wanted = np.concatenate([wanted, targets + d])
        if len(seen) == 0:
            said = np.zeros((len(self.both), len(wanted)))
        else:
            inner = self.gram[np.ix_(seen, seen)]
            slopes = linalg.solve(inner, self.gram[np.ix_(seen, wanted)], assume_a="pos")
            said = self.both[:, seen] @ slopes
        out = said[:, : len(targets)] + self.own[self.train][:, targets].mean(axis=0)
        if self.view == "plain":
            for k, part in enumerate(targets.tolist()):
                out[:, k] = self._better(part, out[:, k], said[:, len(targets) + k])
        return out[self.test]

    def _better(self, part: int, line: Array, ranks: Array) -> Array:
        """Return the values of predicted ranks, if these are closer than a line of values."""
        values, scores = self.own[self.train, part], self.ranked[self.train, part]
        order = np.argsort(scores, kind="stable")
        by_rank = np.interp(ranks + scores.mean(), scores[order], values[order])
        # The values themselves were looked up in training rows: others tell which is closer.
        truth = self.own[self.test, part]
        errors = [np.square(truth - said[self.test]).mean() for said in (line, by_rank)]
        return by_rank if errors[1] < errors[0] else line
