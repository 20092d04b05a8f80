"""One table under judgement by the default method, and what was found so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from squamish.execution.progress import Reporter
from squamish.models.crossfit import CrossFit, Race, Trial
from squamish.models.learners import Array, Learner, Rows, View, portfolio
from squamish.redundancy.redundancy import substitutes
from squamish.screening import proofs
from squamish.screening.shadow import ShadowGains
from squamish.statistics.pairs import ranges
from squamish.table.table import Table

# The most columns that imputers look at; more are narrowed down to the closest ones.
MOST_CONTEXT = 150
# A loss below this share of the constant's is almost perfect; so many features are asked.
ALMOST_PERFECT, MOST_LEAKS = 0.02, 5


@dataclass(eq=False)
class Case:
    """One table under judgement, and what was found so far, feature by feature."""

    table: Table
    fit: CrossFit
    targets: Array
    p: dict[str, Array]
    proof: list[str]
    p_relevant: Array
    n_fits: int = 0
    gains: ShadowGains | None = None
    best: Race | None = None

    @classmethod
    def about(cls, table: Table, fit: CrossFit, targets: Array) -> Case:
        """Begin with nothing proven."""
        d = table.n_features
        return cls(table, fit, targets, {}, [""] * d, np.ones(d))

    @property
    def report(self) -> Reporter:
        """Whom to tell how far the work is."""
        return self.fit.workers.reporter

    @property
    def relevant(self) -> Rows:
        """The relevant features."""
        return np.flatnonzero([bool(name) for name in self.proof])

    def of_features(self, p: Array) -> Array:
        """Turn p-values of parts into p-values of features."""
        return proofs.feature_p_values(p, self.fit.parts.feature, self.table.n_features)

    def parts_of(self, features: Rows) -> Rows:
        """Return the parts of some features that are the same in every fold."""
        return np.flatnonzero(np.isin(self.fit.parts.feature, features))

    def race(self, features: Rows) -> Race:
        """Race the portfolio, or only what was not far behind on other features before."""
        columns = self.fit.columns(features)
        learners = self.portfolio(features)
        if self.best is not None:
            lags = self.best.lags
            known = [a for a in learners if lags.get(a, np.inf) < 0.02]
            learners = known or learners
        self.best = self.fit.race(learners, columns)
        self.n_fits += self.best.n_fits
        return self.best

    def portfolio(self, features: Rows) -> list[Learner]:
        """Return the learners that can be tried on some features."""
        return portfolio(self.table.task, len(self.table.y), len(self.fit.columns(features)))

    def gain(self, race: Race) -> float:
        """Return what the best learner gains over the constant prediction."""
        return self.fit.mean(self.fit.constant_losses() - race.losses)

    def losses(self, trials: Sequence[Trial]) -> list[Array]:
        """Return the losses of many models, and count them."""
        self.report.expect(len(trials) * len(self.fit.folds))
        self.n_fits += len(trials) * len(self.fit.folds)
        return self.fit.losses(trials)

    def loss_on(self, features: Rows) -> float:
        """Return the loss of the best learner on some of the relevant features."""
        race = self.best
        if race is None:
            return self.fit.mean(self.fit.constant_losses())
        if len(features) == len(self.relevant):
            return self.fit.mean(race.losses)
        learners = race.contenders(0.1 * self.gain(race)) or [race.learner]
        found = self.fit.race(learners, self.fit.columns(features))
        self.n_fits += found.n_fits
        return self.fit.mean(found.losses)

    def redraws(
        self,
        learner: Learner,
        columns: Rows,
        context: Rows,
        units: list[Rows],
        rng: np.random.Generator,
    ) -> tuple[Array, list[Array], Array]:
        """Redraw units of ``columns`` given the context: cost, what is left, share explained."""
        fit = self.fit
        places = [np.searchsorted(context, columns[unit]) for unit in units]
        residuals = fit.residuals(learner.view, context, places)
        D = fit.redraw_losses(learner, columns, units, residuals, rng)
        self.n_fits += len(fit.folds)
        explained = np.array([r.explained.mean() for r in residuals])
        return D, [r.values for r in residuals], explained

    def residuals(self, prediction: Array) -> Array:
        """Return what predictions of the tested rows leave unexplained, a column a class."""
        y = self.table.y[self.fit.tested]
        if self.table.task == "regression":
            return (y - prediction)[:, np.newaxis]
        residuals = (y[:, np.newaxis] == np.arange(prediction.shape[1])) - prediction
        residuals -= residuals.mean(axis=0)
        return residuals[:, 1:] if residuals.shape[1] == 2 else residuals

    def substitutes(self, features: Sequence[int]) -> dict[int, tuple[tuple[int, ...], ...]]:
        """Find the relevant features that replace each of these."""
        fit = self.fit
        relevant = self.relevant
        jobs = [(relevant, feature) for feature in features]
        found = fit.workers.run(_substitutes, fit, jobs, np.random.default_rng(0))
        return dict(zip(features, found, strict=True))

    def importances(self) -> Array:
        """Return the gains of every feature, those of its best part, in the rounds there are."""
        if self.gains is None:
            return np.zeros((0, self.table.n_features))
        gains = self.gains.in_rounds(self.gains.real)[:, self.gains.group]
        out = np.full((len(gains), self.table.n_features), np.nan)
        for part, feature in enumerate(self.fit.parts.feature):
            out[:, feature] = np.fmax(out[:, feature], gains[:, part])
        return out

    def leaks(self) -> tuple[int, ...]:
        """Find features that alone predict the target almost perfectly, among the likeliest."""
        fit, race = self.fit, self.best
        if race is None:
            return ()
        least = ALMOST_PERFECT * fit.mean(fit.constant_losses())
        likeliest = sorted(self.relevant.tolist(), key=lambda f: (self.p["marginal"][f], f))
        found: set[int] = set()
        for learner in dict.fromkeys([race.learner, Learner("boosted")]):
            # Whom all features do not make almost perfect, one of them does not either.
            if fit.mean(race.losses) + race.lags.get(learner, 0.0) > 2 * least:
                continue
            trials = [
                Trial(learner, fit.columns(np.array([feature])), feature=feature)
                for feature in likeliest[:MOST_LEAKS]
                if feature not in found
            ]
            perfect, n_fits = fit.losing_less(trials, least)
            self.n_fits += n_fits
            found |= {trial.feature for trial in perfect}
        return tuple(sorted(found))


def _substitutes(
    fit: CrossFit, job: tuple[Rows, int], _: np.random.Generator
) -> tuple[tuple[int, ...], ...]:
    """Find the features among some that replace one of them."""
    A, feature = job
    columns = fit.columns(A)
    views = [fit.widest(view, columns) for view in get_args(View)]
    places = np.searchsorted(A, fit.feature[columns])
    found = substitutes(views, places, int(np.searchsorted(A, feature)))
    return tuple(tuple(int(A[k]) for k in group) for group in found)


def closest(Z: Array, A: Rows, columns: Rows) -> Rows:
    """Return what imputers of ``A`` look at: all columns, or ``A`` and those closest to it."""
    if len(columns) <= MOST_CONTEXT:
        return columns
    own, others = np.intersect1d(columns, A), np.setdiff1d(columns, A)
    near = closest_to(Z[:, A], Z, others, max(MOST_CONTEXT - len(own), 0))
    return np.sort(np.concatenate([own, near]))


def closest_to(values: Array, Z: Array, columns: Rows, most: int = MOST_CONTEXT) -> Rows:
    """Return these columns of ``Z``, or so many of them that are closest to some values."""
    if len(columns) <= most:
        return columns
    closeness = np.zeros(len(columns))
    for start, stop in ranges(len(columns)):
        closeness[start:stop] = np.abs(values.T @ Z[:, columns[start:stop]]).max(axis=0)
    nearest = np.argsort(-closeness, kind="stable")[:most]
    return np.sort(columns[nearest])
