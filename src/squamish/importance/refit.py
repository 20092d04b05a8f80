"""Leave-one-covariate-out (LOCO): the best model that does without a feature, out of sample.

References
----------
J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani and L. Wasserman: "Distribution-free predictive
inference for regression", JASA 113 (2018), section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.importance.context import MOST_CONTEXT, closest_to
from squamish.importance.imputation import SMOOTH_FITS, depends_on_others, impute
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import View
from squamish.models.race import CONTENDING, Race
from squamish.statistics.paired import PairedTest


@dataclass(frozen=True, eq=False)
class Refits:
    """What refits without features say.

    Attributes
    ----------
    test : PairedTest
        Growth of the loss without each feature.
    r2 : ndarray of float
        R2 of each feature given the others, by the best imputer.
    n_fits : int
        Number of models fitted.
    """

    test: PairedTest
    r2: Array
    n_fits: int


@dataclass(frozen=True, eq=False)
class FeatureResidual:
    """A feature, what the others leave unexplained of it in a line, and how a learner sees it."""

    feature: int
    relevant: Indices
    view: View
    values: Array

    def column(self, fit: CrossFit) -> Array:
        """Return the feature itself, every row as it is seen in the fold that tests it."""
        return fit.held_out(self.view, self._own(fit))

    def others(self, fit: CrossFit) -> Array:
        """Return what imputers look at: what is relevant first, then what is close."""
        parts, values = fit.parts, fit.held_out("ranked", self._own(fit))
        # What is learned from the target of other rows cannot describe another feature.
        is_relevant = np.isin(parts.feature, self.relevant)
        others = parts.feature != self.feature
        first = closest_to(values, parts.ranked, np.flatnonzero(is_relevant & others))
        n_left = MOST_CONTEXT - len(first)
        near = closest_to(values, parts.ranked, np.flatnonzero(~is_relevant & others), n_left)
        view = parts.ranked if self.view == "ranked" else parts.plain
        return view[:, np.sort(np.concatenate([first, near]))]

    def _own(self, fit: CrossFit) -> Indices:
        return fit.columns(np.array([self.feature]))


def dependent_on_others(
    fit: CrossFit, residuals: Sequence[FeatureResidual]
) -> tuple[list[bool], int]:
    """Tell of which features the others tell more than a line does, and count the models."""
    fit.workers.reporter.expect(len(residuals))
    n_fits = sum(residual.values.shape[1] for residual in residuals)
    return fit.run(_depends, residuals), n_fits


def refit_without(
    fit: CrossFit, race: Race, residuals: Sequence[FeatureResidual], gain: float
) -> Refits:
    """Refit without each of some features, and test how much the loss grows.

    Any learner that was not far behind may be the best of them, and the winner may also use
    what the other columns say about the missing one.
    """
    fit.workers.reporter.expect(len(residuals))
    imputed = fit.run(_impute, residuals)
    r2 = np.array([_r2(fit, r.column(fit), x) for r, x in zip(residuals, imputed, strict=True)])
    contenders = race.contenders(CONTENDING * gain)
    trials: list[Trial] = []
    for residual, found in zip(residuals, imputed, strict=True):
        rest = fit.columns(np.setdiff1d(residual.relevant, [residual.feature]))
        trials += [Trial(learner, rest) for learner in contenders]
        trials.append(Trial(race.learner, rest, found))
    losses = fit.losses(trials)
    each = len(contenders) + 1
    best = [min(losses[k : k + each], key=fit.mean) for k in range(0, len(losses), each)]
    test = fit.test(np.column_stack(best) - race.losses[:, np.newaxis])
    n_folds, n_columns = len(fit.folds), sum(r.values.shape[1] for r in residuals)
    n_fits = len(trials) * n_folds + n_columns * (SMOOTH_FITS + 2 * n_folds)
    return Refits(test, r2, n_fits)


def _r2(fit: CrossFit, x: Array, imputed: Array) -> float:
    unexplained = np.square(x - imputed)[fit.tested].mean()
    return float(1 - unexplained / x[fit.tested].var(axis=0).mean())


def _depends(fit: CrossFit, residual: FeatureResidual, _: np.random.Generator) -> bool:
    """Tell whether the residual of a feature depends on the others in any way."""
    others = residual.others(fit)
    return any(depends_on_others(part, others, fit.folds) for part in residual.values.T)


def _impute(fit: CrossFit, residual: FeatureResidual, _: np.random.Generator) -> Array:
    """Predict a feature from the others as well as possible."""
    others = residual.others(fit)
    parts = zip(residual.column(fit).T, residual.values.T, strict=True)
    return np.column_stack([impute(others, x, x - part, fit.folds) for x, part in parts])
