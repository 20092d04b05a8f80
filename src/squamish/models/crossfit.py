"""Cross-fitting: models of a table, and their losses on rows that they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from squamish.arrays import Array, Fold, Indices
from squamish.execution.workers import Workers
from squamish.families import Family
from squamish.models.beyond import Adjustment, Terms
from squamish.models.folds import split_rows
from squamish.models.learners import Learner, Model, View, fit_in_bins, fit_together, to_keep
from squamish.models.trees import BinnedRows, bin_for_portfolio
from squamish.statistics.paired import PairedTest, paired_test
from squamish.statistics.scores import atom_shares
from squamish.table.parts import Parts, encode, target_encodings
from squamish.table.table import Table


@dataclass(frozen=True, eq=False)
class Trial:
    """A learner on some parts, and on more columns, such as imputed ones.

    Attributes
    ----------
    learner : Learner
        What is fitted.
    columns : ndarray of int
        The parts it sees.
    more : ndarray of shape (n_samples, n_more) or None
        What else it sees.
    within : ndarray of int or None
        Parts, its own among them, whose bins boosted trees share with other trials.
    """

    learner: Learner
    columns: Indices
    more: Array | None = None
    within: Indices | None = None


@dataclass(frozen=True, eq=False)
class CrossFit:
    """A table, the parts of its features, and folds that stay the same for all comparisons.

    Losses and differences of losses have an entry for every row that is in the test part of
    a fold, in the order of ``tested``; usually these are all rows. A row that is tested more
    than once gets the mean.

    Attributes
    ----------
    table : Table
        Features and target.
    parts : Parts
        The parts of features that are the same in every fold; those of adjustments, and curves of
        them, come after those that are judged.
    folds : sequence of (train, test)
        Row numbers.
    tested : ndarray of int
        The rows that are tested in any fold.
    encoded : sequence of ndarray
        For every fold, the target encodings of categories of many levels; none if there are none.
    feature : ndarray of int
        The feature of every part, target encodings last. Adjustments, and what they tell of the
        target, are one feature more than are judged, and curves of them another one.
    workers : Workers
        Who fits the models.
    user_learners : tuple of Learner
        What races beside the portfolio.
    adjustment : Adjustment or None
        What is adjusted for (see `squamish.models.adjustment`).
    """

    table: Table
    parts: Parts
    folds: Sequence[Fold]
    tested: Indices
    encoded: Sequence[Array]
    feature: Indices
    workers: Workers = field(default_factory=Workers)
    user_learners: tuple[Learner, ...] = ()
    adjustment: Adjustment | None = None
    # What was made before, so that it need not be made again.
    _views: dict[tuple[View, int], Array] = field(default_factory=dict)
    _models: dict[tuple[Learner, bytes], dict[int, Model]] = field(default_factory=dict)
    _raced: dict[tuple[Learner, bytes], dict[int, Model]] = field(default_factory=dict)
    _binned: dict[tuple[View, bytes], dict[int, BinnedRows]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        # What goes to another process has nobody to work for it.
        again = ("tested_ranks", "terms", "tested_folds")
        kept = {name: value for name, value in self.__dict__.items() if name not in again}
        empty: dict[str, Any] = {"_views": {}, "_models": {}, "_raced": {}, "_binned": {}}
        return kept | empty | {"workers": Workers()}

    @classmethod
    def over(
        cls,
        table: Table,
        n_folds: int,
        rng: np.random.Generator,
        workers: Workers | None = None,
        user_learners: tuple[Learner, ...] = (),
    ) -> CrossFit:
        """Encode a table and split its rows into folds, unless it comes with some.

        Raises OutOfTime if there is no time for it.
        """
        workers = workers or Workers()
        folds = table.folds or split_rows(table, n_folds, rng)
        parts = encode(table, workers.check_time)
        scores = table.family.scores(table.y)
        encoded: list[Array] = []
        feature = parts.feature
        for fold in folds if parts.many_levels else ():
            block, owner = target_encodings(
                parts.many_levels, scores, fold, table.weights, table.clusters
            )
            encoded.append(block)
            feature = np.concatenate([parts.feature, owner])
        tested = np.unique(np.concatenate([test for _, test in folds]))
        return cls(table, parts, folds, tested, encoded, feature, workers, user_learners)

    @property
    def family(self) -> Family:
        """What kind of target there is."""
        return self.table.family

    @cached_property
    def scores(self) -> Array:
        """The target as centred columns."""
        return self.family.scores(self.table.y)

    @cached_property
    def score_variances(self) -> Array | None:
        """How much the scores of every row vary; None if all do alike."""
        return self.family.score_variances(self.table.y)

    @property
    def given(self) -> Parts:
        """The parts that are judged, as far as adjustments do not tell them."""
        return self.parts if self.adjustment is None else self.adjustment.beyond

    @property
    def adjusted_features(self) -> Indices:
        """The numbers of what is adjusted for, if anything is: the columns, then curves of them."""
        return self.table.n_features + np.arange(0 if self.adjustment is None else 2)

    @cached_property
    def terms(self) -> Terms:
        """What is adjusted for, in the tested rows."""
        if self.adjustment is None:
            raise ValueError("nothing is adjusted for")
        everywhere = len(self.tested) == len(self.table.y)
        return self.adjustment.terms if everywhere else self.adjustment.terms.some(self.tested)

    @cached_property
    def tested_folds(self) -> list[Fold]:
        """The folds by numbers of tested rows, without training rows that are never tested."""
        place = np.full(len(self.table.y), -1)
        place[self.tested] = np.arange(len(self.tested))
        folds = [(place[train], place[test]) for train, test in self.folds]
        return [(train[train >= 0], test) for train, test in folds if (train >= 0).any()]

    @property
    def weights(self) -> Array | None:
        """How much each tested row counts."""
        return None if self.table.weights is None else self.table.weights[self.tested]

    @property
    def clusters(self) -> Indices | None:
        """Which tested rows belong together."""
        return None if self.table.clusters is None else self.table.clusters[self.tested]

    @cached_property
    def tested_ranks(self) -> Array:
        """The ranked parts in the tested rows, standardised in these."""
        ranked = self.given.ranked
        if len(self.tested) == len(ranked):
            return ranked
        some = ranked[self.tested]
        some -= some.mean(axis=0)
        return some / np.maximum(some.std(axis=0), 1e-12)

    @cached_property
    def atom_shares(self) -> Array:
        """The share of the most common value in every part."""
        return atom_shares(self.parts.ranked[:, : len(self.given.feature)])

    def mean(self, losses: Array) -> float:
        """Average over the tested rows."""
        return float(np.average(losses, weights=self.weights))

    def test(self, differences: Array) -> PairedTest:
        """Test differences in the tested rows, one column or several."""
        return paired_test(differences, self.weights, self.clusters)

    def test_known(self, differences: Array) -> PairedTest:
        """Test differences that are known in some rows only, and are NaN in others."""
        found = self.test(np.nan_to_num(differences))
        mean, error = found.mean.copy(), found.error.copy()
        for k in np.flatnonzero(np.isnan(differences).any(axis=0)):
            known = ~np.isnan(differences[:, k])
            weights = None if self.weights is None else self.weights[known]
            clusters = None if self.clusters is None else self.clusters[known]
            some = paired_test(differences[known][:, [k]], weights, clusters)
            mean[k], error[k] = some.mean[0], some.error[0]
        return PairedTest(mean, error, found.freedom)

    def columns(self, features: Indices) -> Indices:
        """Return the parts of some features, and those that are in every model."""
        always = self.adjusted_features[:1]
        return np.flatnonzero(np.isin(self.feature, np.append(features, always)))

    def own_columns(self, features: Indices) -> Indices:
        """Return the parts of some features."""
        return np.flatnonzero(np.isin(self.feature, features))

    def always_with(self, columns: Indices) -> Indices:
        """Return some parts, and those that are in every model."""
        return np.union1d(columns, self.own_columns(self.adjusted_features[:1]))

    def fixed_columns(self, features: Indices) -> Indices:
        """Return the parts of some features that are the same in every fold."""
        return np.flatnonzero(np.isin(self.parts.feature, features))

    def matrix(self, view: View, fold: int) -> Array:
        """Return all parts as they are seen in one fold."""
        base = self.parts.ranked if view == "ranked" else self.parts.plain
        if not self.encoded:
            return base
        if (view, fold) not in self._views:
            self._views[view, fold] = np.hstack([base, self.encoded[fold]])
        return self._views[view, fold]

    def held_out(self, view: View, columns: Indices) -> Array:
        """Return parts with every row as it is seen in the fold that tests it."""
        out = np.array(self.matrix(view, 0)[:, columns])
        for fold, (_, test) in enumerate(self.folds):
            out[test] = self.matrix(view, fold)[test][:, columns]
        return out

    def widest(self, view: View, columns: Indices) -> Array:
        """Return parts as they are seen in the fold that knows most rows, in these rows.

        Without what is told of them by what is adjusted for.
        """
        if not self.encoded:
            return self.matrix(view, 0)[:, columns]
        # What is learned from the target is known in the rows of a fold only.
        fold = max(range(len(self.folds)), key=lambda k: sum(map(len, self.folds[k])))
        rows = np.sort(np.concatenate(self.folds[fold]))
        seen = self.matrix(view, fold)[np.ix_(rows, columns)]
        return seen if self.adjustment is None else self.adjustment.left(view, columns, seen, rows)

    def constant_losses(self) -> Array:
        """Return the loss of the best prediction that looks at no column that is judged."""
        if self.adjustment is not None:
            return self.adjustment.losses
        y, parts = self.table.y, []
        for (_, test), prediction in zip(self.folds, self._constants(), strict=True):
            parts.append(self.family.losses(prediction, y[test]))
        return self.gathered(parts)

    def constant_predictions(self) -> Array:
        """Return the best prediction that looks at no column at all."""
        return self.gathered(self._constants())

    def _constants(self) -> list[Array]:
        """Return the constant prediction of the test rows of every fold."""
        out = []
        for train, test in self.folds:
            constant = self.family.constant(self.table.y[train], self._train_weights(train))
            out.append(np.broadcast_to(constant, (len(test), *constant.shape)))
        return out

    def run(
        self,
        function: Callable[[CrossFit, Any, np.random.Generator], Any],
        jobs: Sequence[Any],
        cost: Callable[[Any], float] = lambda _: 0,
    ) -> list[Any]:
        """Hand out jobs that draw nothing at random, those first that cost most.

        What takes long and begins last is waited for by all.
        """
        order = sorted(range(len(jobs)), key=lambda i: -cost(jobs[i]))
        found = self.workers.run(function, self, [jobs[i] for i in order], np.random.default_rng(0))
        return [result for _, result in sorted(zip(order, found, strict=True), key=lambda x: x[0])]

    def fold_loss(self, job: tuple[Trial, int], rng: np.random.Generator) -> Array:
        """Return the loss of a trial in the test rows of a fold."""
        y = self.table.y[self.folds[job[1]][1]]
        return self.family.losses(self.fold_prediction(job, rng), y)

    def fold_prediction(self, job: tuple[Trial, int], _: np.random.Generator) -> Array:
        """Predict the test rows of a fold."""
        trial, fold = job
        train, test = self.folds[fold]
        X = self.matrix(trial.learner.view, fold)[:, trial.columns]
        if trial.within is not None:
            binned = self._in_bins(trial.learner.view, trial.within, fold)
            places = np.searchsorted(trial.within, trial.columns)
            return fit_in_bins(trial.learner, binned, self.family, places).predict(X[test])
        X = X if trial.more is None else np.column_stack([X, trial.more])
        return self._fit(trial.learner, X, train).predict(X[test])

    def fold_predictions(
        self, job: tuple[tuple[Learner, ...], Indices, int], _: np.random.Generator
    ) -> Array:
        """Predict the test rows of a fold by learners that one model serves."""
        learners, columns, fold = job
        train, test = self.folds[fold]
        X = self.matrix(learners[0].view, fold)[:, columns]
        weights = self._train_weights(train)
        rows = X[train], self.table.y[train]
        models = fit_together(learners, *rows, self.family, weights, kept=True)
        for learner, model in zip(learners, models, strict=True):
            if learner not in self.user_learners:
                # What users bring may be of any size.
                self._raced.setdefault((learner, columns.tobytes()), {})[fold] = model
        return np.stack([model.predict(X[test]) for model in models])

    def model(self, learner: Learner, columns: Indices, fold: int) -> Model:
        """Fit a model, or find it among those of the same columns that were fitted before."""
        key = (learner, columns.tobytes())
        raced = self._raced.get(key, {})
        if fold in raced:
            return raced[fold]
        models = self._models.get(key)
        if models is None:
            self._models.clear()
            models = self._models.setdefault(key, {})
        if fold not in models:
            X = self.matrix(learner.view, fold)[:, columns]
            models[fold] = to_keep(self._fit(learner, X, self.folds[fold][0]))
        return models[fold]

    def keep_raced(self, learner: Learner, columns: Indices) -> None:
        """Forget all models of races but those of a learner on some columns, the winner's."""
        key = (learner, columns.tobytes())
        for other in [known for known in self._raced if known != key]:
            del self._raced[other]

    def _in_bins(self, view: View, columns: Indices, fold: int) -> BinnedRows:
        """Put the training rows of a fold into bins, or find those of the same columns."""
        key = (view, columns.tobytes())
        binned = self._binned.get(key)
        if binned is None:
            self._binned.clear()
            binned = self._binned.setdefault(key, {})
        if fold not in binned:
            train = self.folds[fold][0]
            X, y = self.matrix(view, fold)[np.ix_(train, columns)], self.table.y[train]
            binned[fold] = bin_for_portfolio(X, y, self.family, self._train_weights(train))
        return binned[fold]

    def forget_models(self) -> None:
        """Free the memory of models that are not asked for any more."""
        self._models.clear()

    def gathered(self, parts: Sequence[Array]) -> Array:
        """Put what was found in the folds into the order of the tested rows.

        What is NaN in a fold was not tried there: a row that is tested in others gets their mean.
        """
        sums = np.zeros((len(self.table.y), *parts[0].shape[1:]))
        counts = np.zeros_like(sums)
        for (_, test), part in zip(self.folds, parts, strict=True):
            known = ~np.isnan(part)
            np.add.at(sums, test, np.where(known, part, 0.0))
            np.add.at(counts, test, known)
        sums, counts = sums[self.tested], counts[self.tested]
        return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)

    def test_weights(self, n_folds: int) -> Array | None:
        """Return how much the test rows of the first folds count, fold after fold."""
        if self.table.weights is None:
            return None
        return self.table.weights[np.concatenate([test for _, test in self.folds[:n_folds]])]

    def _train_weights(self, train: Indices) -> Array | None:
        return None if self.table.weights is None else self.table.weights[train]

    def _fit(self, learner: Learner, X: Array, train: Indices) -> Model:
        return learner.fit(X[train], self.table.y[train], self.family, self._train_weights(train))
