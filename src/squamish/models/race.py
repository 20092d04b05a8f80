"""Races of learners over the folds: who is clearly worse drops out on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from squamish.arrays import Array, Indices
from squamish.execution.workers import OutOfTime
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import (
    MOST_ROUNDS,
    BuiltIn,
    Learner,
    has_few_columns,
    portfolio,
    rounds_of,
    trained_together,
)
from squamish.models.trees import may_share_bins
from squamish.statistics.paired import paired_test

# A learner drops out if it is worse by more than two standard errors of the paired difference
# (5% in a normal test, less over correlated folds), and within one the most regularised of the
# winner's kind wins (the rule of one standard error: Breiman and others, 1984).
DROPS_OUT, AS_GOOD = 2.0, 1.0
# On other columns, a few more or fewer, learners are tried again that lag behind by less than this
# share of what the winner gains over the constant.
CONTENDING = 0.1
# What wins where columns interact.
CROOKED = ("quadratic", "boosted")
# Twice the rounds of boosting pay if the loss falls by a tenth: t-values of tests go with the
# inverse of its root, so that it is worth as much as a tenth more rows.
PAYS = 0.1
# A trial ends once its mean loss is this many times the limit: the rest cannot make up for it
# unless losses of folds differ wildly.
FAR_ABOVE = 2.0
# Tells by a mean difference of losses, and its standard error, whether to go on.
GoesOn = Callable[[float, float], bool]


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

    def gain(self, fit: CrossFit) -> float:
        """Return what the winner gains over the constant prediction, in mean loss."""
        return fit.mean(fit.constant_losses() - self.losses)

    def best_of(self, kind: str) -> Learner | None:
        """Return the learner of a kind that lags behind least."""
        of_kind = [learner for learner in self.lags if learner.kind == kind]
        return min(of_kind, key=self.lags.__getitem__, default=None)

    def contenders(self, lag: float) -> list[Learner]:
        """Return the best learner of every kind that lags behind by less than this.

        A learner of a user is a kind of its own: what one of them is good at says nothing of
        another. The winner stands for its kind: others are compared with its predictions.
        """
        best: dict[str, Learner] = {self.learner.kind: self.learner}
        for learner in sorted(self.lags, key=self.lags.__getitem__):
            if self.lags[learner] < lag:
                best.setdefault(learner.kind, learner)
        return list(best.values())


def contestants(fit: CrossFit, columns: Indices) -> list[Learner]:
    """Return the learners that race on some columns: the portfolio, then those of the user."""
    return [*portfolio(fit.family, len(fit.table.y), len(columns)), *fit.user_learners]


def affordable(fit: CrossFit, learners: Sequence[Learner], columns: Indices) -> list[Learner]:
    """Leave out squares and products where these are too many, and kernels of so many columns."""
    few = has_few_columns(len(fit.table.y), len(columns))
    return [a for a in learners if few or a.kind not in ("quadratic", "kernel")]


def race_portfolio(fit: CrossFit, features: Indices, before: Race | None = None) -> Race:
    """Race all learners on some features, or only what was near the winner on others before."""
    columns = fit.columns(features)
    if before is not None:
        lag = CONTENDING * max(before.gain(fit), 0.0)
        near = [a for a in before.lags if before.lags[a] <= lag]
        known = affordable(fit, near, columns)
        if known:
            return race(fit, known, columns)
    heats = _Heats(fit, columns)
    heats.run(contestants(fit, columns))
    # Who won so far is known, also if there is no time for more.
    with suppress(OutOfTime):
        heats.refine()
    return heats.result()


def race(fit: CrossFit, learners: Sequence[Learner], columns: Indices) -> Race:
    """Find the learner with the least loss, and drop on the way what is clearly worse.

    Among learners that are as good, the one that gives the sharper test wins.
    """
    heats = _Heats(fit, columns)
    heats.run(learners)
    return heats.result()


class _Heats:
    """A race as it goes: what learners predicted on some columns, fold by fold, and who leads."""

    def __init__(self, fit: CrossFit, columns: Indices) -> None:
        self.fit, self.columns = fit, columns
        self.predicted: dict[Learner, list[Array]] = {}
        self.losses: dict[Learner, list[Array]] = {}
        self.n_fits = 0
        self.winner: Learner

    def run(self, learners: Sequence[Learner]) -> None:
        """Let learners race, all in a fold before the next; what is clearly worse drops out."""
        alive = list(learners)
        for fold in range(len(self.fit.folds)):
            self._try(alive, [fold])
            best = self._best(alive)
            alive = [a for a in alive if self._lag(a, best, DROPS_OUT) <= 0]
        self.winner = self._first_as_good(alive)

    def refine(self) -> None:
        """Try what may be better still, now that it is known who leads.

        A curve of the best line, kernels where columns interact or a learner of the user wins, and
        what knows no order of classes have to be better than the winner by one standard error, and
        trees of twice as many rounds by so much that they are worth the time. Kernels have the
        weakest penalty: where there is so much noise that they need another one, they tell no more
        than plainer learners.
        """
        linear = self._linear()
        if isinstance(linear, BuiltIn) and self._may_bend(linear):
            self._challenge([BuiltIn("single-index", linear.view, linear.strength)])
        is_known = isinstance(self.winner, BuiltIn)
        if (not is_known or self.winner.kind in CROOKED) and has_few_columns(*self._shape):
            weakest = self.fit.family.strengths("linear")[-1]
            self._challenge([BuiltIn("kernel", strength=weakest)])
        if unordered := self._unordered():
            self._challenge(unordered)
        while self._pays(self.winner):
            longer = replace(self.winner, strength=2 * self.winner.strength)
            self._challenge([longer], least=PAYS)

    def _unordered(self) -> list[Learner]:
        """Return learners of the winner's kind that take ordered classes without their order.

        No shift along the order tells rows that go to both ends from those in the middle.
        """
        y, winner = self.fit.table.y, self.winner
        if self.fit.family.without_order(y) is None or not isinstance(winner, BuiltIn):
            return []
        if winner.kind == "kernel":
            return [replace(winner, unordered=True)]
        # A curve is one of a single predictor.
        kind = "linear" if winner.kind == "single-index" else winner.kind
        return [
            replace(a, unordered=True)
            for a in portfolio(self.fit.family, *self._shape)
            if isinstance(a, BuiltIn) and (a.kind, a.view) == (kind, winner.view)
        ]

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.fit.table.y), len(self.columns)

    def _may_bend(self, linear: BuiltIn) -> bool:
        """Tell whether a curve of a linear predictor may be better than the line.

        There has to be one predictor. Where the weakest of several penalties is best, classes lie
        apart, and it is the penalty that keeps the line from being steeper.
        """
        family = self.fit.family
        strengths = family.strengths("linear")
        lie_apart = len(strengths) > 1 and linear.strength == strengths[-1]
        return family.n_predictors(self.fit.table.y) == 1 and not lie_apart

    def _pays(self, winner: Learner) -> TypeGuard[BuiltIn]:
        """Tell whether trees lead that gained much by the last doubling of their rounds."""
        if not isinstance(winner, BuiltIn) or winner.is_smooth:
            return False
        shorter, longer = (replace(winner, strength=f * winner.strength) for f in (0.5, 2.0))
        if longer.strength > MOST_ROUNDS or longer in self.losses or shorter not in self.losses:
            return False
        return self._lag(shorter, winner, 0) > PAYS * _mean(self.fit, self.losses[shorter])

    def result(self) -> Race:
        """Return how everybody did."""
        self.fit.keep_raced(self.winner, self.columns)
        lags = {a: self._lag(a, self.winner, 0) for a in self.losses}
        predictions = self.fit.gathered(self.predicted[self.winner])
        losses = self.fit.gathered(self.losses[self.winner])
        return Race(self.winner, predictions, losses, lags, self.n_fits)

    def _challenge(self, learners: Sequence[Learner], least: float = 0.0) -> None:
        """Let learners race against the winner; it ends after a fold in which they have no chance.

        The best wins if it is better by one standard error, and by at least this share of the loss.
        """
        folds = list(range(len(self.fit.folds)))
        for some in (folds[:1], folds[1:]):
            self._try(learners, some)
            learners = [a for a in learners if self._lag(a, self.winner, DROPS_OUT) <= 0]
            if not learners:
                return
        learner = self._best(learners)
        enough = least * _mean(self.fit, self.losses[self.winner])
        if (
            self._lag(self.winner, learner, AS_GOOD) > 0
            and self._lag(self.winner, learner, 0) > enough
        ):
            self.winner = learner

    def _try(self, learners: Sequence[Learner], folds: Sequence[int]) -> None:
        """Predict the test rows of some folds by every learner."""
        # Trees, and what users bring, take longest, and begin first.
        order = sorted(learners, key=lambda learner: learner.is_smooth)
        jobs = [(some, self.columns, k) for k in folds for some in trained_together(order)]
        found = self.fit.run(CrossFit.fold_predictions, jobs)
        self.n_fits += len(jobs)
        for (some, _, fold), predictions in zip(jobs, found, strict=True):
            y = self.fit.table.y[self.fit.folds[fold][1]]
            for learner, prediction in zip(some, predictions, strict=True):
                self.predicted.setdefault(learner, []).append(prediction)
                self.losses.setdefault(learner, []).append(self.fit.family.losses(prediction, y))

    def _first_as_good(self, alive: Sequence[Learner]) -> Learner:
        """Return the best of those that did not drop out, or one that gives a sharper test.

        A learner of the user gives way to formulas that are left: with more draws and milder limits
        these prove more of what both see. Of a kind and view, the most regularised learner that is
        as good is taken, which comes first.
        """
        best = self._best(alive)
        if best in self.fit.user_learners:
            best = self._best([a for a in alive if a.is_smooth] or [best])
        return next(
            a
            for a in alive
            if (a.kind, a.view) == (best.kind, best.view) and self._lag(a, best, AS_GOOD) <= 0
        )

    def _linear(self) -> Learner | None:
        """Return the linear learner that did best as long as it took part."""
        linear = [a for a in self.losses if a.kind == "linear"]
        return min(linear, key=lambda a: self._lag(a, self.winner, 0), default=None)

    def _best(self, learners: Sequence[Learner]) -> Learner:
        return min(learners, key=lambda a: _mean(self.fit, self.losses[a]))

    def _lag(self, learner: Learner, best: Learner, errors: float) -> float:
        """Mean difference, less so many standard errors, over the folds where both are known."""
        losses, least = self.losses[learner], self.losses[best]
        n = min(len(losses), len(least))
        difference = np.concatenate(losses[:n]) - np.concatenate(least[:n])
        found = paired_test(difference[:, np.newaxis], self.fit.test_weights(n))
        return float(found.mean[0] - errors * found.error[0])


def predictions_while(
    fit: CrossFit,
    trials: Sequence[Trial],
    beside: Sequence[Array],
    goes_on: GoesOn,
) -> tuple[list[Array], int]:
    """Predict the tested rows by trials: two folds, and the others if it is open what comes of it.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    trials : sequence of Trial
        What is fitted.
    beside : sequence of ndarray
        For every trial, the predictions that it is compared with.
    goes_on : callable
        Tells by the mean difference of losses in two folds, and its standard error, whether there
        is anything left to see. One would not do: in the first of a split by time, models have seen
        few rows.

    Returns
    -------
    predictions : list of ndarray of shape (n_tested, ...)
        NaN in the rows of folds that were not tried.
    n_fits : int
        Number of models fitted.
    """
    trials = sharing_bins(fit, trials)
    found: list[list[Array]] = [[] for _ in trials]
    alive, n_fits = list(range(len(trials))), 0
    folds = range(len(fit.folds))
    # All that is open at once, so that nobody waits.
    for some in (folds[:2], folds[2:]):
        jobs = [(k, fold) for k in alive for fold in some]
        fit.workers.reporter.expect(len(jobs))
        results = fit.run(CrossFit.fold_prediction, [(trials[k], fold) for k, fold in jobs])
        n_fits += len(jobs)
        for (k, _), prediction in zip(jobs, results, strict=True):
            found[k].append(prediction)
        alive = [k for k in alive if goes_on(*_difference(fit, found[k], beside[k]))]
    return [_all_rows(fit, parts) for parts in found], n_fits


def sharing_bins(fit: CrossFit, trials: Sequence[Trial]) -> list[Trial]:
    """Let boosted trees of most of the same columns share bins of all of these."""
    out = list(trials)
    n_rows = max(len(train) for train, _ in fit.folds)
    able = [k for k, t in enumerate(out) if rounds_of(t.learner) and t.more is None]
    for learner in dict.fromkeys(out[k].learner for k in able):
        own = [k for k in able if out[k].learner == learner]
        everything = np.unique(np.concatenate([out[k].columns for k in own]))
        shape, n_rounds = (n_rows, len(everything)), rounds_of(learner)
        some = [k for k in own if may_share_bins(*shape, len(out[k].columns), n_rounds)]
        for k in some if len(some) > 1 else ():
            out[k] = replace(out[k], within=everything)
    return out


def _difference(fit: CrossFit, parts: Sequence[Array], beside: Array) -> tuple[float, float]:
    """Return how much larger losses are than beside, in the first folds, and the standard error."""
    rows = np.concatenate([test for _, test in fit.folds[: len(parts)]])
    y, own = fit.table.y[rows], np.concatenate(parts)
    others = beside[np.searchsorted(fit.tested, rows)]
    differences = fit.family.losses(own, y) - fit.family.losses(others, y)
    clusters = None if fit.table.clusters is None else fit.table.clusters[rows]
    found = paired_test(differences[:, np.newaxis], fit.test_weights(len(parts)), clusters)
    return float(found.mean[0]), float(found.error[0])


def _all_rows(fit: CrossFit, parts: Sequence[Array]) -> Array:
    """Put what is known of the first folds into the order of the tested rows."""
    shape = parts[0].shape[1:]
    unknown = [np.full((len(test), *shape), np.nan) for _, test in fit.folds[len(parts) :]]
    return fit.gathered([*parts, *unknown])


def trials_below(fit: CrossFit, trials: Sequence[Trial], limit: float) -> tuple[list[int], int]:
    """Return which trials have a mean loss below a limit, and how many models that took.

    A trial ends with the fold that puts it far above, or where it cannot get below any more.
    """
    found: list[list[Array]] = [[] for _ in trials]
    alive, n_fits = list(range(len(trials))), 0
    for fold in range(len(fit.folds)):
        results = fit.run(CrossFit.fold_loss, [(trials[k], fold) for k in alive])
        n_fits += len(alive)
        for k, losses in zip(alive, results, strict=True):
            found[k].append(losses)
        # No loss is negative: the folds that are left can lower a mean so far, and no further.
        bound = min(FAR_ABOVE, len(fit.folds) / (fold + 1)) * limit
        alive = [k for k in alive if _mean(fit, found[k]) < bound]
    return alive, n_fits


def _mean(fit: CrossFit, parts: Sequence[Array]) -> float:
    """Average over the folds that there are."""
    return float(np.average(np.concatenate(parts), weights=fit.test_weights(len(parts))))
