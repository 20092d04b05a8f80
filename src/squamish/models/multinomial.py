"""Penalised multinomial logistic regression, for a path of penalties.

Coefficients are found by L-BFGS in coordinates in which the columns are uncorrelated: the Hessian
is bounded by a multiple of their covariance (D. Bohning: "Multinomial logistic regression
algorithm", Annals of the Institute of Statistical Mathematics 44, 1992), so that few steps do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize, special

from squamish.arrays import Array, Indices

# A gradient, per row, at which a solution is close enough: probabilities are then exact to about
# three digits.
TOLERANCE = 1e-4
MOST_STEPS = 200
# Directions of less variance than this are not stretched to that of the others.
COLLINEAR = 1e-3


@dataclass(frozen=True, eq=False)
class Multinomial:
    """A fitted model: the logarithm of each probability is linear, up to a constant.

    Attributes
    ----------
    intercepts : ndarray of shape (n_states,)
        Constants.
    coefficients : ndarray of shape (d, n_states)
        Slopes.
    """

    intercepts: Array
    coefficients: Array

    def predict(self, Z: Array) -> Array:
        """Return the probability of every state in every row."""
        return np.asarray(special.softmax(self.intercepts + Z @ self.coefficients, axis=1))


def multinomial_path(
    Z: Array, states: Indices, n_states: int, strengths: Sequence[float]
) -> Iterator[Multinomial]:
    """Fit states to columns with each of some inverse penalties, one after the other.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Columns of about unit variance.
    states : ndarray of int of shape (n_samples,)
        What is to be predicted, coded 0, 1, ...
    n_states : int
        How many there are, also if some do not occur in these rows.
    strengths : sequence of float
        Inverse penalties, ascending; each solution begins at the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.models.multinomial import multinomial_path
    >>> Z = np.random.default_rng(0).standard_normal((300, 2))
    >>> states = (Z[:, 0] > 0).astype(int) + (Z[:, 0] > 1)
    >>> *_, last = multinomial_path(Z, states, 3, (1.0, 100.0))
    >>> bool((last.predict(Z).argmax(axis=1) == states).mean() > 0.95)
    True
    """
    n, d = Z.shape
    factor = np.linalg.cholesky(Z.T @ Z / n + COLLINEAR * np.eye(d))
    # Rows, and squared slopes, in uncorrelated coordinates.
    turned = np.ascontiguousarray(linalg.solve_triangular(factor, Z.T, lower=True).T)
    lower = linalg.solve_triangular(factor, np.eye(d), lower=True)
    squared = lower @ lower.T
    observed = np.eye(n_states)[states]
    shares = (observed.sum(axis=0) + 1) / (n + n_states)
    start = np.vstack([np.log(shares), np.zeros((d, n_states))])
    for strength in strengths:
        found = optimize.minimize(
            _value_and_gradient,
            start.ravel(),
            (turned, observed, squared / (strength * n)),
            jac=True,
            method="L-BFGS-B",
            options={"gtol": TOLERANCE, "maxiter": MOST_STEPS},
        )
        start = found.x.reshape(d + 1, n_states)
        slopes = linalg.solve_triangular(factor, start[1:], trans=1, lower=True)
        yield Multinomial(start[0], np.asarray(slopes))


def _value_and_gradient(
    flat: Array, turned: Array, observed: Array, penalty: Array
) -> tuple[float, Array]:
    """Return the penalised mean log loss and its gradient in uncorrelated coordinates."""
    beta = flat.reshape(-1, observed.shape[1])
    scores = beta[0] + turned @ beta[1:]
    scores -= scores.max(axis=1, keepdims=True)
    exponent = np.exp(scores)
    total = exponent.sum(axis=1, keepdims=True)
    loss = float(np.log(total).mean() - np.vdot(observed, scores) / len(turned))
    error = (exponent / total - observed) / len(turned)
    shrunk = penalty @ beta[1:]
    value = loss + float(np.vdot(beta[1:], shrunk)) / 2
    return value, np.vstack([error.sum(axis=0), turned.T @ error + shrunk]).ravel()
