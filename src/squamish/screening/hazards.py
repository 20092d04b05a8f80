"""The partial test of rates: a regression of rates (Cox's, or Poisson's) on all columns.

Hypothesis
    The coefficient of the column in a regression of rates, given all others, is zero; of one of
    several parts of a feature, and of all of them, given all other features (see partial).
Statistic
    The score of the column beyond the others, divided by its standard error: that of the model or
    that of the rows (sandwich estimate with leave-one-out residuals), whichever is larger.
Null distribution
    Student's t with n - d - 1 degrees of freedom, n being events. What would be found by it is
    corrected for the tail that shuffled residuals have, by a saddlepoint approximation.
Validity
    Independent rows. Events may come in clusters: the variance of rows makes up for it. Abstains
    where the partial test of least squares does, or where events are too few beside the columns.
Literature
    D. Lin, L. Wei: "The robust inference for the Cox proportional hazards model", JASA 84 (1989).
    J. MacKinnon, H. White: "Some heteroskedasticity-consistent covariance matrix estimators with
    improved finite sample properties", Journal of Econometrics 29 (1985). P. Peduzzi, J. Concato,
    A. Feinstein, T. Holford: "Importance of events per independent variable in proportional
    hazards regression analysis", Journal of Clinical Epidemiology 48 (1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from squamish.arrays import Array, Indices
from squamish.families.poisson import fit_rates, profiled_hessian
from squamish.families.rates import Rates
from squamish.screening.odds import LEAST_LEFT, MOST_PRODUCTS, STRENGTH
from squamish.screening.partial import (
    FREEDOM_PER_COLUMN,
    LEAST_FREEDOM,
    Design,
    PartialTests,
    beyond_other_features,
)
from squamish.screening.validity import WORTH_CONFIRMING
from squamish.statistics.permutation import tail_inflation

# The fewest events for each coefficient of a regression that is relied on.
EVENTS_PER_COLUMN = 10


def hazard_tests(design: Design, family: Rates, y: NDArray[Any]) -> PartialTests:
    """Test each column, and each feature of several, given all others."""
    n, d = design.Z.shape
    n_events = int(min(family.events(y).sum(), n))
    too_few = n_events - d - 1 < max(LEAST_FREEDOM, int(FREEDOM_PER_COLUMN * d))
    if design.abstains.all() or too_few or n * d**2 > MOST_PRODUCTS:
        return PartialTests(np.ones(d), np.ones(d))
    single, jointly = _Fitted.of(design, family, y).tests()
    return PartialTests(np.where(design.abstains, 1.0, single), jointly)


def leading_residuals(
    Z: Array, scores: Array, family: Rates, y: NDArray[Any], weights: Array | None
) -> Array:
    """Return what a regression on the columns that tell most leaves unexplained, as a column.

    Who is observed for longer has had more of what a column does to the rate. Together with such a
    column, one that tells when rows are lost seems to matter, unless the rate is taken out first.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Standardised columns.
    scores : ndarray of shape (n, 1)
        Events minus those that are expected of all rows.
    family, y, weights
        The target, and how much rows count.
    """
    most = int(min(family.events(y).sum(), len(y))) // EVENTS_PER_COLUMN
    w = np.ones(len(Z)) if weights is None else weights
    leading = np.argsort(-np.abs((w * scores[:, 0]) @ Z), kind="stable")[:most]
    if len(leading) == 0:
        return scores
    rows, some = family.rate_rows(y, weights), Z[:, leading]
    expected = rows.expected(some @ fit_rates(some, rows, STRENGTH)).sum(axis=1)
    return np.asarray(((rows.events - expected) / w)[:, np.newaxis])


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The regression of rates on all columns.

    Attributes
    ----------
    design : Design
        Columns.
    freedom : int
        Degrees of freedom.
    beta : ndarray of shape (d,)
        Their coefficients.
    error, expected : ndarray of shape (n,)
        Events minus those that are expected, and the latter.
    beyond : ndarray of shape (n, d)
        What other features leave of each column, as far as rows count in the fit.
    left_out : ndarray of shape (n, d)
        What every row adds to the score of that, in a model that did not see the row.
    score : ndarray of shape (d,)
        That of what is left of each column.
    information : ndarray of shape (d,)
        The variance of the score, by the model.
    """

    design: Design
    freedom: int
    beta: Array
    error: Array
    expected: Array
    beyond: Array
    left_out: Array
    score: Array
    information: Array

    @classmethod
    def of(cls, design: Design, family: Rates, y: NDArray[Any]) -> _Fitted:
        """Fit it, and take what other features tell off each column."""
        Z, rows, strength = design.Z, family.rate_rows(y, None), STRENGTH / family.dispersion(y)
        beta = fit_rates(Z, rows, strength)
        in_pieces = rows.expected(Z @ beta)
        expected = in_pieces.sum(axis=1)
        hessian, means = profiled_hessian(Z, in_pieces, rows.totals)
        hessian[np.diag_indices_from(hessian)] += 1 / strength
        inverse = np.asarray(np.linalg.inv(hessian), np.float64)
        weights, information = beyond_other_features(inverse, design.feature)
        beyond, error = Z @ weights, rows.events - expected
        # The baseline follows the rows, too: what counts is the distance from means of its pieces.
        off = rows.errors_in_pieces(in_pieces) @ (means @ weights)
        terms = error[:, np.newaxis] * beyond - off
        centred = Z - Z.T @ expected / max(float(expected.sum()), 1e-300)
        leverage = expected * np.einsum("ij,ij->i", centred @ inverse, centred)
        terms /= np.maximum(1 - leverage, LEAST_LEFT)[:, np.newaxis]
        score = hessian @ beta @ weights
        n_events = int(min(rows.totals.sum(), len(Z)))
        freedom = n_events - Z.shape[1] - 1
        return cls(design, freedom, beta, error, expected, beyond, terms, score, information)

    def tests(self) -> PartialTests:
        """Test columns and features."""
        d = len(self.beta)
        of_rows = np.square(self.left_out).sum(axis=0)
        variance = np.maximum(np.maximum(self.information, of_rows), 1e-300)
        ratio = np.abs(self.score) / np.sqrt(variance)
        p = 2 * stats.t.sf(ratio, self.freedom)
        for j in np.flatnonzero(p < WORTH_CONFIRMING):
            parts = np.flatnonzero(self.design.feature == self.design.feature[j])
            p[j] *= self._inflation(parts, self.beyond[:, j], ratio[j])
        jointly = np.ones(d)
        for parts in self.design.several:
            jointly[parts] = self._joint_p_value(parts)
        return PartialTests(np.minimum(p, 1), jointly)

    def _joint_p_value(self, parts: Indices) -> float:
        """Test all parts of a feature together: Wald's statistic, by the larger variance."""
        by_model = float(self.beta[parts] @ self.score[parts])
        of_rows = float(np.square(self.left_out[:, parts] @ self.beta[parts]).sum())
        square = by_model**2 / max(by_model, of_rows, 1e-300)
        n_free = self.design.n_free(parts)
        p = float(stats.f.sf(square / n_free, n_free, self.freedom))
        if p < WORTH_CONFIRMING:
            own = self.beyond[:, parts] @ self.beta[parts]
            p *= self._inflation(parts, own, np.sqrt(square))
        return min(p, 1.0)

    def _inflation(self, parts: Indices, own: Array, ratio: float) -> float:
        """Return the excess of the tail of shuffled residuals of the model without some columns.

        See Freedman and Lane in the partial test of least squares.
        """
        without = self.error + self.beyond[:, parts] @ self.beta[parts] * self.expected
        return float(tail_inflation(without, own[:, np.newaxis], np.array([ratio]))[0])
