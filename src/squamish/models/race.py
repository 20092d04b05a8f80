"""Races of learners over the folds: who is clearly worse drops out on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import Learner, portfolio
from squamish.statistics.paired import paired_test

# A learner drops out if it is worse by more than two standard errors of the paired difference
# (5% in a normal test, less over correlated folds), and within one the most regularised of the
# winner's kind wins (the rule of one standard error: Breiman and others, 1984).
DROPS_OUT, AS_GOOD = 2.0, 1.0
# On other columns, a few more or fewer, learners are tried again that lag behind by less than this
# share of what the winner gains over the constant.
CONTENDING = 0.1
# A trial ends once its mean loss is this many times the limit: the rest cannot make up for it
# unless losses of folds differ wildly.
FAR_ABOVE = 2.0


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

    def contenders(self, lag: float) -> list[Learner]:
        """Return the best learner of every kind that lags behind by less than this.

        A learner of a user is a kind of its own: what one of them is good at says nothing of
        another.
        """
        best: dict[str, Learner] = {}
        for learner in sorted(self.lags, key=self.lags.__getitem__):
            if self.lags[learner] < lag:
                best.setdefault(learner.kind, learner)
        return list(best.values())


def contestants(fit: CrossFit, columns: Indices) -> list[Learner]:
    """Return the learners that race on some columns: the portfolio, then those of the user."""
    return [*portfolio(fit.family, len(fit.table.y), len(columns)), *fit.user_learners]


def race_portfolio(fit: CrossFit, features: Indices, before: Race | None = None) -> Race:
    """Race all learners on some features, or only what was near the winner on others before."""
    columns = fit.columns(features)
    learners = contestants(fit, columns)
    if before is not None:
        lag = CONTENDING * max(before.gain(fit), 0.0)
        known = [a for a in learners if before.lags.get(a, np.inf) <= lag]
        learners = known or learners
    return race(fit, learners, columns)


def race(fit: CrossFit, learners: Sequence[Learner], columns: Indices) -> Race:
    """Find the learner with the least loss, and drop on the way what is clearly worse.

    Among learners that are as good, the one that gives the sharper test wins.
    """
    predicted: dict[Learner, list[Array]] = {learner: [] for learner in learners}
    found: dict[Learner, list[Array]] = {learner: [] for learner in learners}
    alive, n_fits = list(learners), 0
    for fold in range(len(fit.folds)):
        # Trees, and what users bring, take longest, and begin first.
        order = sorted(alive, key=lambda learner: learner.is_polynomial)
        jobs = [(Trial(learner, columns), fold) for learner in order]
        results = fit.run(CrossFit.fold_prediction, jobs)
        n_fits += len(alive)
        y = fit.table.y[fit.folds[fold][1]]
        for learner, result in zip(order, results, strict=True):
            predicted[learner].append(result)
            found[learner].append(fit.family.losses(result, y))
        best = _best(fit, alive, found)
        alive = [a for a in alive if _lag(fit, found[a], found[best], DROPS_OUT) <= 0]
    winner = _winner(fit, alive, found)
    lags = {a: _lag(fit, found[a], found[winner], 0) for a in learners}
    predictions, losses = (fit.gathered(parts[winner]) for parts in (predicted, found))
    return Race(winner, predictions, losses, lags, n_fits)


def _winner(
    fit: CrossFit, alive: Sequence[Learner], found: Mapping[Learner, Sequence[Array]]
) -> Learner:
    """Return the best of those that did not drop out, or one that gives a sharper test.

    A learner of the user gives way to polynomials that are left: with more draws and milder limits
    these prove more of what both see. Of a kind and view, the most regularised learner that is as
    good is taken, which comes first.
    """
    best = _best(fit, alive, found)
    if best in fit.user_learners:
        best = _best(fit, [a for a in alive if a.is_polynomial] or [best], found)
    return next(
        a
        for a in alive
        if (a.kind, a.view) == (best.kind, best.view)
        and _lag(fit, found[a], found[best], AS_GOOD) <= 0
    )


def _best(
    fit: CrossFit, learners: Sequence[Learner], found: Mapping[Learner, Sequence[Array]]
) -> Learner:
    return min(learners, key=lambda learner: _mean(fit, found[learner]))


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


def _lag(fit: CrossFit, losses: Sequence[Array], best: Sequence[Array], errors: float) -> float:
    """Mean difference, less so many standard errors, over the folds where both are known."""
    n = min(len(losses), len(best))
    difference = np.concatenate(losses[:n]) - np.concatenate(best[:n])
    found = paired_test(difference[:, np.newaxis], fit.test_weights(n))
    return float(found.mean[0] - errors * found.error[0])
