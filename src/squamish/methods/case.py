"""One table under judgement by the default method, and what was found so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from squamish import proofs
from squamish.crossfitting import CrossFit, Race
from squamish.learners import Array, Learner, Rows, View, portfolio
from squamish.progress import Reporter
from squamish.redundancy import substitutes
from squamish.tables import Table

# A loss below this share of the constant's is almost perfect; so many features are asked.
ALMOST_PERFECT, MOST_LEAKS = 0.02, 5


@dataclass(eq=False)
class Case:
    """One table under judgement, and what was found so far, feature by feature."""

    table: Table
    fit: CrossFit
    targets: Array
    p: dict[str, Array] = field(default_factory=dict)
    proof: list[str] = field(default_factory=list)
    p_relevant: Array = field(default_factory=lambda: np.ones(0))
    n_fits: int = 0
    gains: proofs.ShadowGains | None = None

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

    def race(self, features: Rows, earlier: Race | None = None) -> Race:
        """Race the portfolio, or only what was not far behind on other features before."""
        columns = self.fit.columns(features)
        learners = portfolio(self.table.task, len(columns))
        if earlier is not None:
            known = [a for a in learners if earlier.lags.get(a, np.inf) < 0.02]
            learners = known or learners
        race = self.fit.race(learners, columns)
        self.n_fits += race.n_fits
        return race

    def residuals(self, prediction: Array) -> Array:
        """Return what predictions of the tested rows leave unexplained, a column a class."""
        y = self.table.y[self.fit.tested]
        if self.table.task == "regression":
            return (y - prediction)[:, np.newaxis]
        residuals = (y[:, np.newaxis] == np.arange(prediction.shape[1])) - prediction
        residuals -= residuals.mean(axis=0)
        return residuals[:, 1:] if residuals.shape[1] == 2 else residuals

    def substitutes(self, feature: int) -> tuple[tuple[int, ...], ...]:
        """Find the relevant features that replace another."""
        A, columns = self.relevant, self.fit.columns(self.relevant)
        views = [self.fit.matrix(view, 0)[:, columns] for view in get_args(View)]
        places = np.searchsorted(A, self.fit.feature[columns])
        found = substitutes(views, places, int(np.searchsorted(A, feature)))
        self.report.step()
        return tuple(tuple(int(A[k]) for k in group) for group in found)

    def importances(self) -> Array:
        """Return the gains of every feature, those of its best part, in the rounds there are."""
        if self.gains is None:
            return np.zeros((0, self.table.n_features))
        gains = self.gains.in_rounds(self.gains.real)[:, self.gains.group]
        out = np.full((len(gains), self.table.n_features), np.nan)
        for part, feature in enumerate(self.fit.parts.feature):
            out[:, feature] = np.fmax(out[:, feature], gains[:, part])
        return out

    def leaks(self, race: Race | None) -> tuple[int, ...]:
        """Find features that alone predict the target almost perfectly, among the likeliest."""
        fit = self.fit
        least = ALMOST_PERFECT * fit.mean(fit.constant_losses())
        if race is None or fit.mean(race.losses) > 2 * least:
            return ()
        likeliest = sorted(self.relevant.tolist(), key=lambda f: (self.p["marginal"][f], f))
        learners = dict.fromkeys([race.learner, Learner("boosted")])
        found = []
        for feature in likeliest[:MOST_LEAKS]:
            columns = fit.columns(np.array([feature]))
            self.n_fits += len(learners)
            # One fold shows what is far from perfect.
            hopeful = [a for a in learners if fit.fold_losses(a, columns, 0).mean() < 2 * least]
            self.n_fits += len(hopeful) * len(fit.folds)
            if any(fit.mean(fit.losses(a, columns)) < least for a in hopeful):
                found.append(feature)
        return tuple(sorted(found))
