"""Penalised multinomial logistic regression, for a path of penalties.

Coefficients are found by L-BFGS in coordinates in which the Hessian is close to the identity, so
that few steps do: without the penalty, it is bounded by a multiple of the covariance of the columns
(D. Bohning: "Multinomial logistic regression algorithm", Annals of the Institute of Statistical
Mathematics 44, 1992). These coordinates are the principal components, each divided by the root of
its variance and the penalty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from squamish.arrays import Array, Indices

# A gradient, per row, at which a solution is close enough: probabilities are off by 0.0001 or less
# then, on average; and one at which it is close enough to compare penalties, ten times as much.
TOLERANCE, ROUGHLY = 1e-4, 1e-3
MOST_STEPS = 200


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
    Z: Array,
    states: Indices,
    n_states: int,
    strengths: Sequence[float],
    near: Multinomial | None = None,
    tolerance: float = TOLERANCE,
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
    near : Multinomial, optional
        A model of other rows, where the first one begins.
    tolerance : float
        The gradient at which a solution is close enough.

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
    variances, directions = np.linalg.eigh(Z.T @ Z / n)
    components = Z @ directions
    observed = np.eye(n_states)[states]
    shares = (observed.sum(axis=0) + 1) / (n + n_states)
    found = near or Multinomial(np.log(shares), np.zeros((d, n_states)))
    for strength in strengths:
        penalty = 1 / (strength * n)
        # The Hessian where nothing is known of a row: a constant has a variance of 1.
        curvature = np.outer(np.append(1.0, np.maximum(variances, 0)), shares * (1 - shares))
        curvature[1:] += penalty
        scale = 1 / np.sqrt(curvature)
        start = np.vstack([found.intercepts, directions.T @ found.coefficients]) / scale
        solution = optimize.minimize(
            _value_and_gradient,
            start.ravel(),
            (components, observed, scale, penalty),
            jac=True,
            method="L-BFGS-B",
            options={"gtol": tolerance, "maxiter": MOST_STEPS},
        )
        best = solution.x.reshape(d + 1, n_states) * scale
        found = Multinomial(best[0], directions @ best[1:])
        yield found


def _value_and_gradient(
    flat: Array, components: Array, observed: Array, scale: Array, penalty: float
) -> tuple[float, Array]:
    """Return the penalised mean log loss and its gradient in scaled components."""
    beta = flat.reshape(scale.shape) * scale
    scores = beta[0] + components @ beta[1:]
    scores -= scores.max(axis=1, keepdims=True)
    exponent = np.exp(scores)
    total = exponent.sum(axis=1, keepdims=True)
    loss = float(np.log(total).mean() - np.vdot(observed, scores) / len(components))
    error = (exponent / total - observed) / len(components)
    value = loss + penalty * float(np.vdot(beta[1:], beta[1:])) / 2
    gradient = np.vstack([error.sum(axis=0), components.T @ error + penalty * beta[1:]])
    return value, (gradient * scale).ravel()
