"""Penalised multinomial logistic regression, for a path of penalties.

Coefficients are found by L-BFGS in coordinates in which the Hessian is close to the identity, so
that few steps do: without the penalty, it is bounded by a multiple of the covariance of the columns
(D. Bohning: "Multinomial logistic regression algorithm", Annals of the Institute of Statistical
Mathematics 44, 1992). These coordinates are the principal components, each divided by the root of
its variance and the penalty. Rows are gone through in single precision, whose rounding is a
thousandth of the gradient at which a solution is close enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from squamish.arrays import Array, Floats, Indices

# In coordinates in which the Hessian is the identity, chance moves a coefficient by 1 / sqrt(n).
# Where the gradient is a share of this, it is off by that share of its standard error. So close is
# close enough, and so close is enough to compare penalties.
TOLERANCE, ROUGHLY = 0.01, 0.1
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
        The share of a standard error by which a solution may be off.

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
    components = (Z @ directions).astype(np.float32)
    observed = np.eye(n_states, dtype=np.float32)[states]
    counts = np.bincount(states, minlength=n_states)
    # A column for each coefficient, the constants first.
    moments = np.column_stack([counts, observed.T @ components]) / n
    shares = (counts + 1) / (n + n_states)
    found = near or Multinomial(np.log(shares), np.zeros((d, n_states)))
    for strength in strengths:
        penalty = np.append(0.0, np.full(d, 1 / (strength * n)))
        # The Hessian where nothing is known of a row: a constant has a variance of 1.
        curvature = np.outer(shares * (1 - shares), np.append(1.0, np.maximum(variances, 0)))
        scale = 1 / np.sqrt(curvature + penalty)
        start = np.column_stack([found.intercepts, found.coefficients.T @ directions]) / scale
        solution = optimize.minimize(
            _value_and_gradient,
            start.ravel(),
            (components, moments, scale, penalty),
            jac=True,
            method="L-BFGS-B",
            options={"gtol": tolerance / np.sqrt(n), "maxiter": MOST_STEPS},
        )
        best = solution.x.reshape(n_states, d + 1) * scale
        found = Multinomial(best[:, 0], directions @ best[:, 1:].T)
        yield found


def _value_and_gradient(
    flat: Array, components: Floats, moments: Array, scale: Array, penalty: Array
) -> tuple[float, Array]:
    """Return the penalised mean log loss and its gradient in scaled components.

    States come first and rows last, so that maxima and sums over states take whole rows of numbers.
    """
    # Rounded in every term alike: a difference between terms would be steeper than what is left.
    beta = (flat.reshape(scale.shape) * scale).astype(np.float32)
    scores = beta[:, 1:] @ components.T
    scores += beta[:, :1]
    top = scores.max(axis=0)
    scores -= top
    weights = np.exp(scores, out=scores)
    total = weights.sum(axis=0)
    shrunk = penalty * beta
    value = float((np.log(total) + top).mean(dtype=np.float64) - np.vdot(moments, beta))
    weights /= total * np.float32(len(components))
    gradient = np.column_stack([weights.sum(axis=1), weights @ components]) - moments + shrunk
    return value + float(np.vdot(shrunk, beta)) / 2, (gradient * scale).ravel()
