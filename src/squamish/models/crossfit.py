"""Out-of-sample losses of learners, row by row, over fixed folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from squamish.errors import InputError
from squamish.execution.workers import Workers
from squamish.importance.redraw import (
    Form,
    Residuals,
    best_residuals,
    covering,
    fold_residuals,
    redraw,
)
from squamish.models.learners import Array, Learner, Model, Rows, View, row_losses
from squamish.statistics.paired import PairedTest, paired_test
from squamish.statistics.scores import atom_shares
from squamish.table.parts import Parts, encode, target_encodings
from squamish.table.table import Fold, Table

# Trees are slow to predict and smooth out little of a redraw: fewer draws will do.
DRAWS = {"linear": 16, "quadratic": 16, "boosted": 4}


@dataclass(frozen=True, eq=False)
class Race:
    """How the learners of a portfolio did on some columns.

    Attributes
    ----------
    learner : Learner
        The winner.
    predictions, losses : ndarray of shape (n_tested, ...)
        Its out-of-sample prediction and loss in every row that was tested.
    lags : dict of Learner to float
        How much larger the mean loss of each other learner is, on the rows it was tried on.
    n_fits : int
        Number of models fitted.
    """

    learner: Learner
    predictions: Array
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
class Trial:
    """A learner on some parts, and more columns, such as guesses; and which feature it is about."""

    learner: Learner
    columns: Rows
    more: Array | None = None
    feature: int = -1


@dataclass(frozen=True, eq=False)
class _Redraws:
    """Units of some columns, what is left of them given the others, and the fold to test on."""

    learner: Learner
    columns: Rows
    units: Sequence[Rows]
    forms: Sequence[Form]
    residuals: Sequence[Array]
    fold: int


@dataclass(frozen=True, eq=False)
class CrossFit:
    """A table, the parts of its features, and folds that stay the same for all comparisons.

    Losses and differences of losses have an entry for every row that is in the test part of
    a fold, in the order of ``tested``; usually these are all rows. A row that is tested more
    than once gets the mean.
    """

    table: Table
    parts: Parts
    folds: Sequence[Fold]
    tested: Rows
    encoded: Sequence[Array]
    feature: Rows
    workers: Workers = field(default_factory=Workers)
    _views: dict[tuple[View, int], Array] = field(default_factory=dict)
    _models: dict[tuple[Learner, bytes], dict[int, Model]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        # What goes to another process has nobody to work for it.
        kept = {name: value for name, value in self.__dict__.items() if name != "tested_ranks"}
        return kept | {"workers": Workers(), "_views": {}, "_models": {}}

    @classmethod
    def over(
        cls,
        table: Table,
        scores: Array,
        n_folds: int,
        rng: np.random.Generator,
        workers: Workers,
    ) -> CrossFit:
        """Encode a table and split its rows into folds.

        ``scores`` is the target as centred columns, by which categories of many levels are
        told.
        """
        folds = table.folds or _split(table, n_folds, rng)
        parts = encode(table)
        encoded: list[Array] = []
        feature = parts.feature
        for fold in folds if parts.many_levels else ():
            block, owner = target_encodings(
                parts.many_levels, scores, fold, table.weights, table.clusters
            )
            encoded.append(block)
            feature = np.concatenate([parts.feature, owner])
        tested = np.unique(np.concatenate([test for _, test in folds]))
        return cls(table, parts, folds, tested, encoded, feature, workers)

    @property
    def weights(self) -> Array | None:
        """How much each tested row counts."""
        return None if self.table.weights is None else self.table.weights[self.tested]

    @property
    def clusters(self) -> Rows | None:
        """Which tested rows belong together."""
        return None if self.table.clusters is None else self.table.clusters[self.tested]

    @cached_property
    def tested_ranks(self) -> Array:
        """The ranked parts in the tested rows."""
        ranked = self.parts.ranked
        return ranked if len(self.tested) == len(ranked) else ranked[self.tested]

    @cached_property
    def atom_shares(self) -> Array:
        """The share of the most common value in every part."""
        return atom_shares(self.parts.ranked)

    def mean(self, losses: Array) -> float:
        """Average over the tested rows."""
        return float(np.average(losses, weights=self.weights))

    def test(self, differences: Array) -> PairedTest:
        """Test differences in the tested rows, one column or several."""
        return paired_test(differences, self.weights, self.clusters)

    def columns(self, features: Rows) -> Rows:
        """Return the parts of some features."""
        return np.flatnonzero(np.isin(self.feature, features))

    def matrix(self, view: View, fold: int) -> Array:
        """Return all parts as they are seen in one fold."""
        base = self.parts.ranked if view == "ranked" else self.parts.plain
        if not self.encoded:
            return base
        if (view, fold) not in self._views:
            self._views[view, fold] = np.hstack([base, self.encoded[fold]])
        return self._views[view, fold]

    def held_out(self, view: View, columns: Rows) -> Array:
        """Return parts with every row as it is seen in the fold that tests it."""
        out = np.array(self.matrix(view, 0)[:, columns])
        for fold, (_, test) in enumerate(self.folds):
            out[test] = self.matrix(view, fold)[test][:, columns]
        return out

    def widest(self, view: View, columns: Rows) -> Array:
        """Return parts as they are seen in the fold that knows most rows, in these rows."""
        if not self.encoded:
            return self.matrix(view, 0)[:, columns]
        # What is learned from the target is known in the rows of a fold only.
        fold = max(range(len(self.folds)), key=lambda k: sum(map(len, self.folds[k])))
        rows = np.sort(np.concatenate(self.folds[fold]))
        return self.matrix(view, fold)[np.ix_(rows, columns)]

    def form(self, view: View, unit: Rows) -> Form:
        """Return what values the parts of a unit can take."""
        X = self.matrix(view, 0)[:, unit]
        low, high = X.min(axis=0), X.max(axis=0)
        two = ((low == X) | (high == X)).all(axis=0) & (unit < len(self.parts.feature))
        unknown = np.full(len(self.feature) - len(self.parts.feature), -1)
        gap = np.append(self.parts.gap, unknown)[unit]
        return Form(
            np.where(two, low, np.nan),
            np.where(two, high, np.nan),
            np.where(np.isin(gap, unit), np.searchsorted(unit, gap), -1),
            np.append(self.parts.exclusive, unknown)[unit],
        )

    def constant_losses(self) -> Array:
        """Return the loss of the best prediction that looks at no column."""
        parts = []
        for train, test in self.folds:
            weights = None if self.table.weights is None else self.table.weights[train]
            prediction = _constant(self.table, train, weights, len(test))
            parts.append(row_losses(prediction, self.table.y[test]))
        return self._gathered(parts)

    def losses(self, trials: Sequence[Trial]) -> list[Array]:
        """Return the out-of-sample loss of every trial in every tested row.

        All folds of all trials are handed out at once, so that nobody waits.
        """
        n = len(self.folds)
        jobs = [(trial, fold) for trial in trials for fold in range(n)]
        found = self._run(CrossFit._loss, jobs)
        return [self._gathered(found[k : k + n]) for k in range(0, len(jobs), n)]

    def losing_less(self, trials: Sequence[Trial], limit: float) -> tuple[list[Trial], int]:
        """Return the trials whose mean loss is below a limit, and how many models that took.

        A trial ends with the fold that puts it far above, or where it cannot get below any more.
        """
        found: list[list[Array]] = [[] for _ in trials]
        alive, n_fits = list(range(len(trials))), 0
        for fold in range(len(self.folds)):
            results = self._run(CrossFit._loss, [(trials[k], fold) for k in alive])
            n_fits += len(alive)
            for k, losses in zip(alive, results, strict=True):
                found[k].append(losses)
            # No loss is negative: the folds that are left can lower a mean so far, and no further.
            bound = min(2.0, len(self.folds) / (fold + 1)) * limit
            alive = [k for k in alive if self._mean_of(found[k]) < bound]
        return [trials[k] for k in alive], n_fits

    def race(self, learners: Sequence[Learner], columns: Rows) -> Race:
        """Find the learner with the least loss, and drop on the way what is clearly worse.

        Among learners of the winner's kind that are as good within a standard error the
        most regularised wins: it gives the sharper test.
        """
        predicted: dict[Learner, list[Array]] = {learner: [] for learner in learners}
        found: dict[Learner, list[Array]] = {learner: [] for learner in learners}
        alive, n_fits = list(learners), 0
        for fold in range(len(self.folds)):
            # Trees take longest, and begin first.
            order = sorted(alive, key=lambda learner: learner.kind != "boosted")
            jobs = [(Trial(learner, columns), fold) for learner in order]
            results = self._run(CrossFit._prediction, jobs)
            n_fits += len(alive)
            y = self.table.y[self.folds[fold][1]]
            for learner, result in zip(order, results, strict=True):
                predicted[learner].append(result)
                found[learner].append(row_losses(result, y))
            best = min(alive, key=lambda learner: self._mean_of(found[learner]))
            alive = [a for a in alive if self._lag(found[a], found[best], errors=2) <= 0]
        winner = next(
            a
            for a in alive
            if (a.kind, a.view) == (best.kind, best.view)
            and self._lag(found[a], found[best], errors=1) <= 0
        )
        lags = {a: self._lag(found[a], found[winner], errors=0) for a in learners}
        predictions, losses = (self._gathered(parts[winner]) for parts in (predicted, found))
        return Race(winner, predictions, losses, lags, n_fits)

    def redraw_losses(
        self,
        learner: Learner,
        columns: Rows,
        units: Sequence[Rows],
        residuals: Sequence[Residuals],
        rng: np.random.Generator,
    ) -> Array:
        """Return how much the loss of every tested row grows when each unit is redrawn.

        The model stays the same; a unit is a set of places in ``columns``. The result has
        a row for each tested row and a column for each unit.
        """
        forms = [self.form(learner.view, columns[unit]) for unit in units]
        values = [r.values for r in residuals]
        n, half = len(self.folds), (len(units) + 1) // 2
        # In halves, so that nobody waits long for the last one; the second finds the models.
        jobs = [
            _Redraws(learner, columns, units[some], forms[some], values[some], fold)
            for some in (slice(half), slice(half, None))
            for fold in range(n)
            if units[some]
        ]
        found = self.workers.run(CrossFit._redraw_loss, self, jobs, rng)
        self._models.clear()
        return np.hstack([self._gathered(found[k : k + n]) for k in range(0, len(jobs), n)])

    def residuals(self, view: View, context: Rows, units: Sequence[Rows]) -> list[Residuals]:
        """Predict units of parts from all others in a context, and return what is left."""
        jobs = [(view, context, units, fold) for fold in range(len(self.folds))]
        found = self._run(CrossFit._fold_residuals, jobs)
        return best_residuals(found, units, self.folds, len(self.table.y))

    def _fold_residuals(
        self, job: tuple[View, Rows, Sequence[Rows], int], _: np.random.Generator
    ) -> Array:
        view, context, units, fold = job
        views = get_args(View)
        seen = np.empty((len(self.table.y), len(views), len(context)))
        for k, v in enumerate(views):
            seen[:, k] = self.matrix(v, fold)[:, context]
        folds = covering(self.folds, len(self.table.y))
        return fold_residuals(seen, views.index(view), units, folds[fold])

    def _redraw_loss(self, job: _Redraws, rng: np.random.Generator) -> Array:
        """Return how much the loss in the test rows of a fold grows by redraws."""
        n_draws = DRAWS[job.learner.kind]
        _, test = self.folds[job.fold]
        X = self.matrix(job.learner.view, job.fold)[:, job.columns]
        model = self._known_model(job.learner, job.columns, X, job.fold)
        X, y = X[test], self.table.y[test]
        out = np.zeros((len(test), len(job.units)))
        for u, (unit, residual) in enumerate(zip(job.units, job.residuals, strict=True)):
            guess, pool = X[:, unit] - residual[test], residual[self.tested]
            drawn = redraw(guess, pool, n_draws, rng, job.forms[u])
            prediction = model.predict_redrawn(X, unit, drawn)
            out[:, u] = row_losses(prediction, y).mean(axis=0)
        return out - row_losses(model.predict(X), y)[:, np.newaxis]

    def _run(
        self, function: Callable[[CrossFit, Any, np.random.Generator], Array], jobs: Sequence[Any]
    ) -> list[Array]:
        """Hand out jobs that need no luck."""
        return self.workers.run(function, self, jobs, np.random.default_rng(0))

    def _loss(self, job: tuple[Trial, int], rng: np.random.Generator) -> Array:
        """Return the loss of a trial in the test rows of a fold."""
        return row_losses(self._prediction(job, rng), self.table.y[self.folds[job[1]][1]])

    def _prediction(self, job: tuple[Trial, int], _: np.random.Generator) -> Array:
        """Predict the test rows of a fold."""
        trial, fold = job
        train, test = self.folds[fold]
        X = self.matrix(trial.learner.view, fold)[:, trial.columns]
        X = X if trial.more is None else np.column_stack([X, trial.more])
        return self._fit(trial.learner, X, train).predict(X[test])

    def _known_model(self, learner: Learner, columns: Rows, X: Array, fold: int) -> Model:
        """Fit a model, or find it among those of the same columns that were fitted before."""
        key = (learner, columns.tobytes())
        models = self._models.get(key)
        if models is None:
            self._models.clear()
            models = self._models.setdefault(key, {})
        if fold not in models:
            models[fold] = self._fit(learner, X, self.folds[fold][0])
        return models[fold]

    def _fit(self, learner: Learner, X: Array, train: Rows) -> Model:
        weights = None if self.table.weights is None else self.table.weights[train]
        return learner.fit(X[train], self.table.y[train], self.table.task, weights)

    def _gathered(self, parts: Sequence[Array]) -> Array:
        """Put what was found in the folds into the order of the tested rows."""
        sums = np.zeros((len(self.table.y), *parts[0].shape[1:]))
        counts = np.zeros(len(self.table.y))
        for (_, test), part in zip(self.folds, parts, strict=True):
            np.add.at(sums, test, part)
            np.add.at(counts, test, 1)
        counts = counts[self.tested].reshape(-1, *[1] * (sums.ndim - 1))
        return np.asarray(sums[self.tested] / counts)

    def _mean_of(self, parts: Sequence[Array]) -> float:
        """Average over the folds that there are."""
        return float(np.average(np.concatenate(parts), weights=self._test_weights(len(parts))))

    def _lag(self, losses: Sequence[Array], best: Sequence[Array], errors: float) -> float:
        """Mean difference, less so many standard errors, over the folds where both are known."""
        n = min(len(losses), len(best))
        difference = np.concatenate(losses[:n]) - np.concatenate(best[:n])
        found = paired_test(difference[:, np.newaxis], self._test_weights(n))
        return float(found.mean[0] - errors * found.error[0])

    def _test_weights(self, n_folds: int) -> Array | None:
        if self.table.weights is None:
            return None
        return self.table.weights[np.concatenate([test for _, test in self.folds[:n_folds]])]


def _split(table: Table, n_folds: int, rng: np.random.Generator) -> list[Fold]:
    """Split rows into folds: classes in equal shares, clusters whole."""
    seed = int(rng.integers(2**31))
    classes = table.task == "classification"
    if table.clusters is None:
        splitter = StratifiedKFold if classes else KFold
        split = splitter(n_folds, shuffle=True, random_state=seed)
        return list(split.split(table.X, table.y))
    n_clusters = len(np.unique(table.clusters))
    if n_clusters < 2:
        raise InputError("groups holds one group only; it must hold 2 or more, to test on others")
    splitter = StratifiedGroupKFold if classes else GroupKFold
    split = splitter(min(n_folds, n_clusters), shuffle=True, random_state=seed)
    n_classes = len(np.unique(table.y)) if classes else 0
    folds = [
        (train, test)
        for train, test in split.split(table.X, table.y, table.clusters)
        if len(test) and (not classes or len(np.unique(table.y[train])) == n_classes)
    ]
    if not folds:
        raise InputError(
            "groups leave no way to train on every class and test on other groups; every class "
            "must occur in 2 or more groups"
        )
    return folds


def _constant(table: Table, train: Rows, weights: Array | None, n_rows: int) -> Array:
    y = table.y[train]
    if table.task == "regression":
        return np.full(n_rows, np.average(y, weights=weights))
    counts = np.bincount(y, weights=weights)
    return np.tile(counts / counts.sum(), (n_rows, 1))
