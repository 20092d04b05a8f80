"""Penalised logistic regression of two classes: Newton's method, or L-BFGS for many terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize, special

from squamish.arrays import Array

# The gradient, as a share of the weights of all rows, at which a solution is close enough:
# coefficients are then exact to about three digits, far below their standard errors.
TOLERANCE = 1e-3
# As many steps as LogisticRegression was asked for; where classes lie apart, there is no end.
MOST_STEPS = 300


# So many values are weighted at once: they stay in the cache, and a copy of all rows is not needed.
VALUES_AT_ONCE = 2**18


def moments(A: Array, weights: Array) -> Array:
    """Products of all pairs of columns, summed over weighted rows."""
    rows = max(A.shape[1], VALUES_AT_ONCE // A.shape[1])
    total = np.zeros((A.shape[1], A.shape[1]))
    for first in range(0, len(A), rows):
        part = slice(first, first + rows)
        # A matrix times itself takes half of what two of them take.
        half = A[part] * np.sqrt(weights[part])[:, np.newaxis]
        total += half.T @ half
    return total


def fit_logistic(
    Z: Array, y: NDArray[Any], strength: float, weights: Array | None
) -> tuple[Array, Array]:
    """Fit two classes by Newton's method.

    What LogisticRegression finds, in less time, and other threads can work at the same time:
    of the solvers, only NumPy's factorisation lets them.
    """
    w = np.ones(len(Z)) if weights is None else weights
    A = np.column_stack([np.ones(len(Z)), Z])
    penalty = np.append(0.0, np.full(Z.shape[1], 1 / strength))
    # So little that it only makes the system solvable.
    floor = 1e-10 * w.sum()

    def value(beta: Array, scores: Array) -> float:
        return float(w @ (np.logaddexp(0, scores) - y * scores) + penalty @ np.square(beta) / 2)

    beta, scores = np.zeros(A.shape[1]), np.zeros(len(Z))
    current = value(beta, scores)
    for _ in range(100):
        p = special.expit(scores)
        gradient = A.T @ (w * (p - y)) + penalty * beta
        # One step more than that: it costs little, and squares the error.
        last = np.abs(gradient).max() <= TOLERANCE / 3 * w.sum()
        hessian = moments(A, w * p * (1 - p))
        hessian[np.diag_indices_from(hessian)] += penalty + floor
        factor = np.linalg.cholesky(hessian)
        step = linalg.cho_solve((factor, True), gradient, check_finite=False)
        ahead, length = A @ step, 1.0
        while length > 1e-6:
            new, new_scores = beta - length * step, scores - length * ahead
            if (least := value(new, new_scores)) < current:
                break
            length /= 2
        else:
            break
        beta, scores, current = new, new_scores, least
        if last:
            break
    return beta[:1], beta[np.newaxis, 1:]


def fit_wide_logistic(
    Z: Array, y: NDArray[Any], strength: float, weights: Array | None
) -> tuple[Array, Array]:
    """Fit two classes by L-BFGS, which needs no matrix of terms by terms.

    What LogisticRegression does, with rows in single precision: each step goes through all of them
    twice, and is as fast as they come from memory. Rounding is a thousandth of the tolerance.
    """
    w = np.full(len(Z), 1 / len(Z)) if weights is None else weights / weights.sum()
    rows = Z.astype(np.float32)
    total = len(Z) if weights is None else float(weights.sum())
    penalty = 1 / (strength * total)

    def value_and_gradient(flat: Array) -> tuple[float, Array]:
        # Rounded in every term alike: a difference between terms would be steeper than what is
        # left.
        beta = flat.astype(np.float32)
        slopes = beta[1:].astype(np.float64)
        scores = (rows @ beta[1:]).astype(np.float64) + float(beta[0])
        value = w @ (np.logaddexp(0, scores) - y * scores) + penalty * slopes @ slopes / 2
        left = w * (special.expit(scores) - y)
        moments = left.astype(np.float32) @ rows
        return float(value), np.append(left.sum(), moments + penalty * slopes)

    solution = optimize.minimize(
        value_and_gradient,
        np.zeros(Z.shape[1] + 1),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": TOLERANCE, "maxiter": MOST_STEPS},
    )
    return solution.x[:1], solution.x[np.newaxis, 1:]
