"""Single-index models: a smooth curve of one penalised linear predictor.

Amounts that cannot be negative, that saturate or that grow in proportion depend on their columns
through one number, but not in a line. Where that is so, a curve of this number takes one direction
and a few coefficients, and all squares and products take hundreds.

References
----------
H. Ichimura: "Semiparametric least squares (SLS) and weighted SLS estimation of single-index
models", Journal of Econometrics 58 (1993). J. Friedman and W. Stuetzle: "Projection pursuit
regression", JASA 76 (1981), on how to fit them: curve and direction take turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family
from squamish.models.polynomial import fit_polynomial

# Pieces of the curve, each with a fifth of the rows: it can rise, saturate and turn twice, and a
# piece has twenty rows in a table of a hundred.
N_PIECES = 5
# Directions that are tried. Steps of Gauss and Newton square the error, so that three or four are
# usual; it ends where one gains less than this share of the loss.
MOST_STEPS, LEAST_GAIN = 10, 1e-3
# A direction or column that varies less than this tells nothing but rounding.
LEAST_SCALE = 1e-9


@dataclass(frozen=True, eq=False)
class Curve:
    """A quadratic spline: a line, and from every knot on a parabola more.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        Where parabolas begin; the first is the least value.
    highest : float
        The largest value. Outside of all values the curve stays as it is there.
    intercept : float
        Its value at 0.
    slopes : ndarray of shape (n_knots + 1,)
        Coefficients of the line and of the parabolas.
    """

    knots: Array
    highest: float
    intercept: float
    slopes: Array

    def __call__(self, index: Array) -> Array:
        """Return the height of the curve."""
        inside = np.clip(index, self.knots[0], self.highest)
        height = self.intercept + self.slopes[0] * inside
        for knot, slope in zip(self.knots, self.slopes[1:], strict=True):
            height = height + slope * np.square(np.maximum(inside - knot, 0))
        return np.asarray(height)

    def steepness(self, index: Array) -> Array:
        """Return the derivative of the curve at values between its ends."""
        parabolas = 2 * np.maximum(index[:, np.newaxis] - self.knots, 0)
        return np.asarray(self.slopes[0] + parabolas @ self.slopes[1:])


@dataclass(frozen=True, eq=False)
class SingleIndex:
    """Scores ``curve(x direction)``, for families of one linear predictor."""

    direction: Array
    curve: Curve
    family: Family

    def predict(self, X: Array) -> Array:
        """Return a prediction for every row."""
        return self._at(X @ self.direction)

    def predict_replaced(self, X: Array, columns: Indices, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns)."""
        moved = (values - X[:, columns]) @ self.direction[columns]
        return self._at(X @ self.direction + moved)

    def _at(self, index: Array) -> Array:
        return self.family.link(self.curve(index)[..., np.newaxis])


def fit_single_index(
    X: Array, y: NDArray[Any], family: Family, strength: float, weights: Array | None
) -> SingleIndex:
    """Fit a curve to a linear predictor, then turn this to where the curve asks, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families import family_of
    >>> from squamish.models.single_index import fit_single_index
    >>> X = np.random.default_rng(0).standard_normal((300, 4))
    >>> y = np.maximum(X @ [2.0, 1.0, 0.0, 0.0], 0)
    >>> model = fit_single_index(X, y, family_of("regression"), 1.0, None)
    >>> (abs(model.direction) / model.direction[0]).round(1).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    first = fit_polynomial(X, y, family, strength, weights, quadratic=False).beta[0]
    spread = float((X @ first).std())
    if spread < LEAST_SCALE:
        # No column tells anything in a line, so that there is no direction: a constant is left.
        first, spread = np.zeros(X.shape[1]), 1.0
    best, best_loss = _with_curve(X, y, family, strength, weights, first / spread)
    current = best
    for _ in range(MOST_STEPS):
        turned = _turned(X, y, strength, weights, current)
        current, loss = _with_curve(X, y, family, strength, weights, turned)
        enough = loss > (1 - LEAST_GAIN) * best_loss
        if loss < best_loss:
            best, best_loss = current, loss
        if enough:
            break
    return best


def _with_curve(
    X: Array,
    y: NDArray[Any],
    family: Family,
    strength: float,
    weights: Array | None,
    direction: Array,
) -> tuple[SingleIndex, float]:
    """Fit the curve of a direction; return the model, and its loss in these rows."""
    index = X @ direction
    knots = np.unique(np.quantile(index, np.arange(N_PIECES) / N_PIECES))
    terms = np.column_stack([index, np.square(np.maximum(index[:, np.newaxis] - knots, 0))])
    Z, mean, scale = _standardised(terms)
    intercept, coefficients = family.fit_linear(Z, y, strength, weights)
    slopes = coefficients[0] / scale
    curve = Curve(knots, float(index.max()), float(intercept[0] - slopes @ mean), slopes)
    fitted = family.profiled(intercept + Z @ coefficients.T, y, weights)
    model = SingleIndex(direction, curve, fitted)
    losses = family.losses(model.predict(X), y)
    return model, float(np.average(losses, weights=weights))


def _turned(
    X: Array, y: NDArray[Any], strength: float, weights: Array | None, model: SingleIndex
) -> Array:
    """Turn the direction by a step of Gauss and Newton, with the curve as a term of its own."""
    index = X @ model.direction
    ahead = model.curve.steepness(index)[:, np.newaxis] * X
    Z, _, scale = _standardised(np.column_stack([model.curve(index), ahead]))
    _, coefficients = model.family.fit_linear(Z, y, strength, weights)
    own, turn = coefficients[0][0] / scale[0], coefficients[0][1:] / scale[1:]
    direction = own * model.direction + turn
    spread = float((X @ direction).std())
    return model.direction if spread < LEAST_SCALE else direction / spread


def _standardised(terms: Array) -> tuple[Array, Array, Array]:
    """Return standardised terms, their means and their scales."""
    mean, scale = terms.mean(axis=0), terms.std(axis=0)
    scale[scale < LEAST_SCALE] = 1.0
    return (terms - mean) / scale, mean, scale
