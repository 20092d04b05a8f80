"""The partial test of classes on the scale of log odds: logistic regression on all columns.

Hypothesis
    The coefficient of the column in a logistic regression of a class (of ordered classes: of all
    above a threshold), given all others, is zero; of one of several parts of a feature, and of all
    of them, given all other features (see partial).
Statistic
    The score of the column beyond the others, divided by its standard error: that of the model or
    that of the rows (sandwich estimate with leave-one-out residuals), whichever is larger.
Null distribution
    Student's t with n - d - 1 degrees of freedom, corrected for the number of classes (Bonferroni).
    What would be found by it is corrected for the tail that shuffled residuals have, by a
    saddlepoint approximation.
Validity
    Exchangeable rows. With few rows of a class beside the columns, fitted probabilities are too
    extreme and standard errors of the model too small: the leave-one-out residuals, which grow
    then, make up for it. Abstains where the partial test of least squares does.
Literature
    J. MacKinnon, H. White: "Some heteroskedasticity-consistent covariance matrix estimators with
    improved finite sample properties", Journal of Econometrics 29 (1985).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from squamish.arrays import Array, Indices, Mask
from squamish.families.logistic import fit_logistic
from squamish.screening.partial import Design, PartialTests, beyond_other_features
from squamish.screening.validity import WORTH_CONFIRMING
from squamish.statistics.permutation import tail_inflation

# The inverse penalty of coefficients of standardised columns: a prior of variance 1, which keeps
# them finite where classes can be separated, and is next to nothing where they cannot.
STRENGTH = 1.0
# The least share of a row's residual that leaving it out may leave of one: of a row that the model
# follows wherever it goes, nothing is known.
LEAST_LEFT = 0.02
# Columns times columns times rows times classes: 10^10 products take some seconds.
MOST_PRODUCTS = 1e10


def odds_tests(design: Design, targets: Array) -> PartialTests:
    """Test each column, and each feature of several, given all others, for every class.

    Parameters
    ----------
    design : Design
        Standardised columns.
    targets : ndarray of shape (n_samples, n_targets)
        Centred indicators of classes, or of being above a threshold.
    """
    n, d = design.Z.shape
    n_targets = targets.shape[1]
    if design.abstains.all() or n * d**2 * n_targets > MOST_PRODUCTS:
        return PartialTests(np.ones(d), np.ones(d))
    found = [_Fitted.of(design, target > 0).tests(n_targets) for target in targets.T]
    least = [np.minimum(1, np.min(p, axis=0) * n_targets) for p in zip(*found, strict=True)]
    return PartialTests(np.where(design.abstains, 1.0, least[0]), least[1])


@dataclass(frozen=True, eq=False)
class _Fitted:
    """The logistic regression of one class against the others.

    Attributes
    ----------
    design : Design
        Columns.
    beta : ndarray of shape (d,)
        Their coefficients.
    error : ndarray of shape (n_samples,)
        Whether a row is of the class, minus its fitted probability.
    left_out : ndarray of shape (n_samples,)
        The same, of a model that did not see the row.
    variance : ndarray of shape (n_samples,)
        That of the class, by fitted probabilities.
    beyond : ndarray of shape (n_samples, d)
        What other features leave of each column, as far as rows count in the fit.
    score : ndarray of shape (d,)
        That of what is left of each column.
    information : ndarray of shape (d,)
        The variance of the score, by the model.
    """

    design: Design
    beta: Array
    error: Array
    left_out: Array
    variance: Array
    beyond: Array
    score: Array
    information: Array

    @classmethod
    def of(cls, design: Design, is_class: Mask) -> _Fitted:
        """Fit it, and take what other features tell off each column."""
        Z, feature = design.Z, design.feature
        n, d = Z.shape
        intercept, coefficients = fit_logistic(Z, is_class, STRENGTH, None)
        beta = coefficients[0]
        fitted = special.expit(intercept[0] + Z @ beta)
        variance = np.maximum(fitted * (1 - fitted), 1e-12)
        A = np.column_stack([np.ones(n), Z])
        hessian = A.T @ (A * variance[:, np.newaxis])
        hessian[np.diag_indices_from(hessian)] += np.append(1e-10 * n, np.full(d, 1 / STRENGTH))
        inverse = np.linalg.inv(hessian)
        leverage = variance * np.einsum("ij,ij->i", A @ inverse, A)
        error = is_class - fitted
        left_out = error / np.maximum(1 - leverage, LEAST_LEFT)
        # The intercept is a feature of its own.
        weights, information = beyond_other_features(inverse, np.append(feature.max() + 1, feature))
        score = hessian @ np.append(0.0, beta) @ weights[:, 1:]
        beyond = A @ weights[:, 1:]
        return cls(design, beta, error, left_out, variance, beyond, score, information[1:])

    def tests(self, n_targets: int) -> PartialTests:
        """Test columns and features, as one of so many classes."""
        n, d = self.design.Z.shape
        of_rows = np.square(self.left_out) @ np.square(self.beyond)
        ratio = np.abs(self.score) / np.sqrt(np.maximum(self.information, of_rows))
        p = 2 * stats.t.sf(ratio, n - d - 1)
        for j in np.flatnonzero(p * n_targets < WORTH_CONFIRMING):
            parts = np.flatnonzero(self.design.feature == self.design.feature[j])
            p[j] *= self._inflation(parts, self.beyond[:, j], ratio[j])
        jointly = np.ones(d)
        for parts in self.design.several:
            jointly[parts] = self._joint_p_value(parts, n_targets)
        return PartialTests(np.minimum(p, 1), jointly)

    def _joint_p_value(self, parts: Indices, n_targets: int) -> float:
        """Test all parts of a feature together: Wald's statistic, by the larger variance."""
        n, d = self.design.Z.shape
        own = self.beyond[:, parts] @ self.beta[parts]
        by_model = float(self.beta[parts] @ self.score[parts])
        of_rows = float(np.square(self.left_out) @ np.square(own))
        square = by_model**2 / max(by_model, of_rows, 1e-300)
        n_free = self.design.n_free(parts)
        p = float(stats.f.sf(square / n_free, n_free, n - d - 1))
        if p * n_targets < WORTH_CONFIRMING:
            p *= self._inflation(parts, own, np.sqrt(square))
        return min(p, 1.0)

    def _inflation(self, parts: Indices, own: Array, ratio: float) -> float:
        """Return the excess of the tail of shuffled residuals of the model without some columns.

        See Freedman and Lane in the partial test of least squares.
        """
        without = self.error + self.beyond[:, parts] @ self.beta[parts] * self.variance
        return float(tail_inflation(without, own[:, np.newaxis], np.array([ratio]))[0])
