"""Penalised regression of rates: Newton's method, or L-BFGS for many terms.

Events come at a rate that is a baseline times the exponential of a linear predictor. The baseline
is constant in each of some pieces, such as spans of time, and profiled out: at any predictor its
best value is the number of events over what is expected without it. With a piece for every event
that is Cox's regression with Breslow's baseline, and with one piece Poisson's.

References
----------
D. Cox: "Regression models and life-tables", JRSS B 34 (1972). N. Breslow: "Covariance analysis of
censored survival data", Biometrics 30 (1974). M. Friedman: "Piecewise exponential models for
survival data with covariates", Annals of Statistics 10 (1982).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from squamish.arrays import Array, Indices
from squamish.families.logistic import MOST_STEPS, TOLERANCE, moments

# Newton's steps square the error: six or seven are usual.
MOST_NEWTON_STEPS = 50
# The least part of a step that is tried.
LEAST_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class RateRows:
    """Rows with events and exposures.

    Attributes
    ----------
    events : ndarray of shape (n,)
        How many events each row has, times its weight.
    piece : ndarray of int of shape (n,)
        The piece in which it has them.
    exposures : ndarray of shape (n, n_pieces)
        How long it was exposed in every piece, times its weight.
    totals : ndarray of shape (n_pieces,)
        How many events every piece has.
    """

    events: Array
    piece: Indices
    exposures: Array
    totals: Array

    def expected(self, scores: Array) -> Array:
        """Return the events that are expected of each row in each piece, at the best baseline."""
        # Of a constant nothing is left; no exponential overflows without the largest.
        shares = self.exposures * np.exp(scores - scores.max())[:, np.newaxis]
        return np.asarray(shares * (self.totals / np.maximum(shares.sum(axis=0), 1e-300)))

    def errors_in_pieces(self, expected: Array) -> Array:
        """Return events minus those that are expected in every piece."""
        errors = -expected
        errors[np.arange(len(errors)), self.piece] += self.events
        return errors

    def value(self, scores: Array) -> float:
        """Return minus the logarithm of the likelihood at the best baseline, up to a constant."""
        top = scores.max()
        sums = np.exp(scores - top) @ self.exposures
        logs = np.log(np.maximum(sums, 1e-300)) + top
        return float(self.totals @ logs - self.events @ scores)


def profiled_hessian(Z: Array, expected: Array, totals: Array) -> tuple[Array, Array]:
    """Return second derivatives by coefficients at the best baseline, and means of columns.

    These are the means in each piece of those in which events are expected, of shape
    (n_pieces, d): what the baseline takes up (Schur's complement).
    """
    sums = expected.T @ Z
    means = sums / np.maximum(totals, 1e-300)[:, np.newaxis]
    return moments(Z, expected.sum(axis=1)) - means.T @ sums, means


def fit_rates(Z: Array, rows: RateRows, strength: float) -> Array:
    """Fit coefficients by Newton's method."""
    penalty = 1 / strength
    total = max(float(rows.totals.sum()), 1e-300)
    beta, scores = np.zeros(Z.shape[1]), np.zeros(len(Z))
    current = rows.value(scores)
    for _ in range(MOST_NEWTON_STEPS):
        expected = rows.expected(scores)
        gradient = Z.T @ (expected.sum(axis=1) - rows.events) + penalty * beta
        # One step more than that: it costs little, and squares the error.
        last = np.abs(gradient).max(initial=0.0) <= TOLERANCE / 3 * total
        hessian, _ = profiled_hessian(Z, expected, rows.totals)
        hessian[np.diag_indices_from(hessian)] += penalty
        step = linalg.cho_solve((np.linalg.cholesky(hessian), True), gradient, check_finite=False)
        ahead, length = Z @ step, 1.0
        while length > LEAST_STEP:
            new, new_scores = beta - length * step, scores - length * ahead
            if (least := rows.value(new_scores) + penalty * float(new @ new) / 2) < current:
                break
            length /= 2
        else:
            break
        beta, scores, current = new, new_scores, least
        if last:
            break
    return beta


def fit_wide_rates(Z: Array, rows: RateRows, strength: float) -> Array:
    """Fit coefficients by L-BFGS, which needs no matrix of terms by terms.

    In single precision, as logistic regression of many terms is: rounding is a thousandth of the
    tolerance.
    """
    columns = Z.astype(np.float32)
    total = max(float(rows.totals.sum()), 1e-300)
    penalty = 1 / (strength * total)

    def value_and_gradient(flat: Array) -> tuple[float, Array]:
        beta = flat.astype(np.float32)
        slopes = beta.astype(np.float64)
        scores = (columns @ beta).astype(np.float64)
        value = rows.value(scores) / total + penalty * float(slopes @ slopes) / 2
        left = (rows.expected(scores).sum(axis=1) - rows.events) / total
        return value, left.astype(np.float32) @ columns + penalty * slopes

    solution = optimize.minimize(
        value_and_gradient,
        np.zeros(Z.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": TOLERANCE, "maxiter": MOST_STEPS},
    )
    return np.asarray(solution.x)
