"""Penalised logistic regression of two classes by Newton's method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from squamish.arrays import Array

# The gradient, as a share of the weights of all rows, at which a solution is close enough:
# coefficients are then exact to about three digits, far below their standard errors.
TOLERANCE = 1e-3


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
        hessian = A.T @ (A * (w * p * (1 - p))[:, np.newaxis])
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
