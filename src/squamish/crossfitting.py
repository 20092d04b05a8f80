"""Out-of-sample losses of learners, row by row, over fixed folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from squamish.execution import run_tasks
from squamish.learners import Array, Fold, Learner, Rows, row_losses
from squamish.redraw import Residuals, redraw
from squamish.tables import Task

# Trees are slow to predict and smooth out little of a redraw: fewer draws will do.
DRAWS = {"linear": 16, "quadratic": 16, "boosted": 4}


@dataclass(frozen=True, eq=False)
class Race:
    """How the learners of a portfolio did on some columns.

    Attributes
    ----------
    learner : Learner
        The winner.
    losses : ndarray of shape (n_samples,)
        Its out-of-sample loss in every row.
    lags : dict of Learner to float
        How much larger the mean loss of each other learner is, on the rows it was tried on.
    n_fits : int
        Number of models fitted.
    """

    learner: Learner
    losses: Array
    lags: dict[Learner, float]
    n_fits: int

    def contenders(self, lag: float) -> list[Learner]:
        """Return the best learner of every kind that lags behind by less than this."""
        best: dict[str, Learner] = {}
        for learner in sorted(self.lags, key=self.lags.__getitem__):
            if self.lags[learner] < lag:
                best.setdefault(learner.kind, learner)
        return list(best.values())


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Columns in two views, a target, and folds that stay the same for all comparisons."""

    plain: Array
    ranked: Array
    y: NDArray[Any]
    task: Task
    folds: Sequence[Fold]
    n_jobs: int | None = None

    @classmethod
    def over(
        cls,
        plain: Array,
        ranked: Array,
        y: NDArray[Any],
        task: Task,
        n_folds: int,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> CrossFit:
        """Split the rows into folds, with the classes in equal shares."""
        splitter = StratifiedKFold if task == "classification" else KFold
        split = splitter(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
        return cls(plain, ranked, y, task, list(split.split(plain, y)), n_jobs)

    def view(self, learner: Learner) -> Array:
        """Return the columns as the learner sees them."""
        return self.ranked if learner.view == "ranked" else self.plain

    def constant_losses(self) -> Array:
        """Return the loss of the best prediction that looks at no column."""
        out = np.zeros(len(self.y))
        for train, test in self.folds:
            prediction = _constant(self.y[train], self.task, len(test))
            out[test] = row_losses(prediction, self.y[test])
        return out

    def predictions(self, learner: Learner, X: Array) -> Array:
        """Return the out-of-sample predictions of a learner."""

        def one(fold: Fold, _: np.random.Generator) -> Array:
            train, test = fold
            return learner.fit(X[train], self.y[train], self.task).predict(X[test])

        parts = run_tasks(one, self.folds, np.random.default_rng(0), self.n_jobs)
        out = np.zeros((len(self.y), *parts[0].shape[1:]))
        for (_, test), part in zip(self.folds, parts, strict=True):
            out[test] = part
        return out

    def losses(self, learner: Learner, X: Array) -> Array:
        """Return the out-of-sample loss of a learner in every row."""
        return row_losses(self.predictions(learner, X), self.y)

    def race(self, learners: Sequence[Learner], columns: Rows) -> Race:
        """Find the learner with the least loss, and drop on the way what is clearly worse.

        Among learners of the winner's kind that are as good within a standard error the
        most regularised wins: it gives the sharper test.
        """
        losses = {learner: np.full(len(self.y), np.nan) for learner in learners}
        alive, n_fits = list(learners), 0
        for train, test in self.folds:

            def one(
                learner: Learner,
                _: np.random.Generator,
                train: Rows = train,
                test: Rows = test,
            ) -> Array:
                X = self.view(learner)[:, columns]
                model = learner.fit(X[train], self.y[train], self.task)
                return row_losses(model.predict(X[test]), self.y[test])

            results = run_tasks(one, alive, np.random.default_rng(0), self.n_jobs)
            n_fits += len(alive)
            for learner, result in zip(alive, results, strict=True):
                losses[learner][test] = result
            best = min(alive, key=lambda learner: float(np.nanmean(losses[learner])))
            alive = [a for a in alive if _lag(losses[a], losses[best], errors=2) <= 0]
        winner = next(
            a
            for a in alive
            if (a.kind, a.view) == (best.kind, best.view)
            and _lag(losses[a], losses[best], errors=1) <= 0
        )
        lags = {a: _lag(losses[a], losses[winner], errors=0) for a in learners}
        return Race(winner, losses[winner], lags, n_fits)

    def redraw_losses(
        self,
        learner: Learner,
        columns: Rows,
        units: Sequence[Rows],
        residuals: Sequence[Residuals],
        rng: np.random.Generator,
    ) -> Array:
        """Return how much the loss of every row grows when each unit is redrawn.

        The model stays the same; a unit is a set of places in ``columns``. The result has
        a row for each row of the table and a column for each unit.
        """
        X, n_draws = self.view(learner)[:, columns], DRAWS[learner.kind]

        def one(fold: Fold, rng: np.random.Generator) -> Array:
            train, test = fold
            model = learner.fit(X[train], self.y[train], self.task)
            out = np.zeros((len(test), len(units)))
            for u, (unit, residual) in enumerate(zip(units, residuals, strict=True)):
                drawn = redraw(X[test][:, unit], residual.values[test], n_draws, rng)
                prediction = model.predict_redrawn(X[test], unit, drawn)
                out[:, u] = row_losses(prediction, self.y[test]).mean(axis=0)
            base = row_losses(model.predict(X[test]), self.y[test])
            return out - base[:, np.newaxis]

        parts = run_tasks(one, self.folds, rng, self.n_jobs)
        out = np.zeros((len(self.y), len(units)))
        for (_, test), part in zip(self.folds, parts, strict=True):
            out[test] = part
        return out


def _lag(losses: Array, best: Array, errors: float) -> float:
    """Mean difference, less so many standard errors, over the rows where both are known."""
    difference = (losses - best)[~np.isnan(losses) & ~np.isnan(best)]
    error = difference.std() / np.sqrt(max(len(difference), 1))
    return float(difference.mean() - errors * error)


def _constant(y: NDArray[Any], task: Task, n_rows: int) -> Array:
    if task == "regression":
        return np.full(n_rows, y.mean())
    return np.tile(np.bincount(y) / len(y), (n_rows, 1))
