"""The partial test of classes on the scale of log odds: logistic regression on all columns.

Hypothesis
    The coefficient of the column in a logistic regression of a class, given all others, is zero.
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

import numpy as np
from scipy import special, stats

from squamish.arrays import Array, Mask
from squamish.families.logistic import fit_logistic
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


def odds_p_values(Z: Array, targets: Array, abstains: Mask) -> Array:
    """Test each column given all others in logistic regressions, one for every class.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Standardised columns.
    targets : ndarray of shape (n_samples, n_targets)
        Centred indicators of classes.
    abstains : ndarray of bool of shape (d,)
        Columns for which the test does not hold.
    """
    n, d = Z.shape
    if abstains.all() or n * d**2 * targets.shape[1] > MOST_PRODUCTS:
        return np.ones(d)
    p = np.column_stack([_of_class(Z, target > 0, targets.shape[1]) for target in targets.T])
    return np.where(abstains, 1.0, np.minimum(1, p.min(axis=1) * targets.shape[1]))


def _of_class(Z: Array, is_class: Mask, n_targets: int) -> Array:
    """Test each column in the logistic regression of one class against the others."""
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
    # What the others leave of each column, as far as rows count in the fit.
    information = 1 / np.maximum(np.diag(inverse)[1:], 1e-300)
    beyond = (A @ inverse[:, 1:]) * information
    error = is_class - fitted
    left_out = error / np.maximum(1 - leverage, LEAST_LEFT)
    of_rows = np.square(left_out) @ np.square(beyond)
    ratio = np.abs(beta) * information / np.sqrt(np.maximum(information, of_rows))
    p = 2 * stats.t.sf(ratio, n - d - 1)
    for j in np.flatnonzero(p * n_targets < WORTH_CONFIRMING):
        # Residuals of the model without the column (Freedman and Lane).
        residual = error + beyond[:, j] * beta[j] * variance
        p[j] *= tail_inflation(residual, beyond[:, [j]], ratio[[j]])[0]
    return np.minimum(p, 1)
