"""Penalised cumulative logit: ordered classes, of which one linear predictor moves all alike.

The probability of class k or lower is F(threshold_k - score), F being the logistic function. That
of a class between two thresholds, at u above and l below the score, is

    F(u) - F(l) = F(u) F(-l) (1 - exp(l - u)),

so that the loss is that of two logistic regressions and of a gap that no row but only its class
knows. It is convex in thresholds and score together.

References
----------
P. McCullagh: "Regression models for ordinal data", JRSS B 42 (1980).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg, optimize, special

from squamish.arrays import Array, Indices
from squamish.families.logistic import MOST_STEPS, TOLERANCE, moments

# Gaps beyond this have a probability of one to the last digit; the exponential stays finite.
WIDEST_GAP = 500.0
# Steps of Newton's method, which squares the error; halved steps shorter than this change nothing.
MOST_NEWTON_STEPS, SHORTEST_STEP = 100, 1e-6
# So little, as a share of the weights, that it only makes a system solvable.
FLOOR = 1e-10


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model.

    Attributes
    ----------
    thresholds : ndarray of shape (n_classes - 1,)
        Where a class ends and the next one begins, ascending.
    slopes : ndarray of shape (d,)
        Coefficients of the columns.
    """

    thresholds: Array
    slopes: Array


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Ordered classes at some thresholds and scores: the loss and its derivatives.

    Attributes
    ----------
    y : ndarray of int of shape (n_samples,)
        Classes 0, 1, ...
    w : ndarray of shape (n_samples,)
        Weights.
    thresholds : ndarray of shape (n_classes - 1,)
        Ascending.
    scores : ndarray of shape (n_samples,)
        Linear predictors.
    """

    y: Indices
    w: Array
    thresholds: Array
    scores: Array

    @cached_property
    def edges(self) -> Array:
        """Thresholds, with the ends of the line around them."""
        return np.concatenate([[-np.inf], self.thresholds, [np.inf]])

    @cached_property
    def gaps(self) -> Array:
        """Widths of the classes that have one: all but the first and the last."""
        return np.asarray(np.minimum(np.diff(self.thresholds), WIDEST_GAP))

    @cached_property
    def sizes(self) -> Array:
        """Weight of the rows of every class."""
        return self.of_classes(np.ones(len(self.y)))

    @cached_property
    def upper(self) -> Array:
        """From the score to where the class ends."""
        return self.edges[self.y + 1] - self.scores

    @cached_property
    def lower(self) -> Array:
        """From the score to where the class begins."""
        return self.edges[self.y] - self.scores

    @cached_property
    def above(self) -> Array:
        """The probability of a higher class than that of the row."""
        return special.expit(-self.upper)

    @cached_property
    def below(self) -> Array:
        """The probability of a lower class than that of the row."""
        return special.expit(self.lower)

    @property
    def curvature(self) -> Array:
        """The second derivative of the loss of every row by its score."""
        return self.upper_curvature + self.lower_curvature

    @cached_property
    def upper_curvature(self) -> Array:
        """That of the part that knows where the class ends."""
        return self.above * (1 - self.above)

    @cached_property
    def lower_curvature(self) -> Array:
        """That of the part that knows where the class begins."""
        return self.below * (1 - self.below)

    def of_classes(self, values: Array) -> Array:
        """Add up values of rows, weighted, over every class."""
        return np.asarray(np.bincount(self.y, self.w * values, len(self.thresholds) + 1), float)

    def value(self) -> float:
        """Return the weighted loss; infinite where thresholds are not in order."""
        if len(self.gaps) and self.gaps.min() <= 0:
            return np.inf
        rows = special.log_expit(self.upper) + special.log_expit(-self.lower)
        return -float(self.w @ rows + self.sizes[1:-1] @ np.log(-np.expm1(-self.gaps)))

    def gradient(self) -> Array:
        """Return the derivative of the loss by the thresholds."""
        out = self.of_classes(self.below)[1:] - self.of_classes(self.above)[:-1]
        push = self.sizes[1:-1] / np.expm1(self.gaps)
        out[1:] -= push
        out[:-1] += push
        return out

    def banded_hessian(self) -> Array:
        """Return its second derivative, tridiagonal: the band above the diagonal, and this."""
        out = np.zeros((2, len(self.thresholds)))
        out[1] = self.of_classes(self.upper_curvature)[:-1]
        out[1] += self.of_classes(self.lower_curvature)[1:] + FLOOR * self.w.sum()
        bend = -self.sizes[1:-1] / (np.expm1(self.gaps) * np.expm1(-self.gaps))
        out[1, 1:] += bend
        out[1, :-1] += bend
        out[0, 1:] = -bend
        return out

    def mixed(self, Z: Array) -> Array:
        """Return the second derivative by thresholds and coefficients of columns."""
        n, k = len(self.y), len(self.thresholds)
        known = np.zeros((n, k + 2))
        known[np.arange(n), self.y + 1] = self.w * self.upper_curvature
        known[np.arange(n), self.y] = self.w * self.lower_curvature
        return -(known[:, 1:-1].T @ Z)


def probabilities(thresholds: Array, scores: Array) -> Array:
    """Return the probability of each class, in a last axis more.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families.cumulative import probabilities
    >>> probabilities(np.array([-1.0, 1.0]), np.array([0.0, 9.0])).round(2)
    array([[0.27, 0.46, 0.27],
           [0.  , 0.  , 1.  ]])
    """
    through = special.expit(thresholds - scores[..., np.newaxis])
    ends = np.zeros((*scores.shape, 1)), np.ones((*scores.shape, 1))
    return np.diff(np.concatenate([ends[0], through, ends[1]], axis=-1), axis=-1)


def shares_to_thresholds(y: Indices, weights: Array | None = None) -> Array:
    """Return the thresholds at which classes have the shares that they have, if scores are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families.cumulative import shares_to_thresholds
    >>> shares_to_thresholds(np.array([0, 1, 1, 2])).round(2)
    array([-1.1,  1.1])
    """
    counts = np.bincount(y, weights=weights)
    return np.asarray(special.logit(np.cumsum(counts)[:-1] / counts.sum()))


def fit_thresholds(
    y: Indices, scores: Array, weights: Array | None, start: Array | None = None
) -> Array:
    """Fit thresholds to given scores, by Newton's method.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families.cumulative import fit_thresholds
    >>> fit_thresholds(np.array([0, 1, 1, 2]), np.full(4, 5.0), None).round(2)
    array([3.9, 6.1])
    """
    w = np.ones(len(y)) if weights is None else weights
    if start is None:
        start = shares_to_thresholds(y, weights) + float(np.average(scores, weights=weights))
    # Slopes of no columns.
    return _minimum(np.empty((len(y), 0)), Likelihood(y, w, start, scores), 1.0).thresholds


def fit_cumulative(Z: Array, y: Indices, strength: float, weights: Array | None) -> Fitted:
    """Fit ordered classes by Newton's method.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families.cumulative import fit_cumulative
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.standard_normal(1000), rng.logistic(size=1000)
    >>> y = np.searchsorted([-1.0, 0.5], 2 * x + noise)
    >>> fitted = fit_cumulative(x[:, np.newaxis], y, 100.0, None)
    >>> fitted.thresholds.round(1), fitted.slopes.round(1)
    (array([-0.8,  0.7]), array([2.]))
    """
    w = np.ones(len(y)) if weights is None else weights
    start = Likelihood(y, w, shares_to_thresholds(y, weights), np.zeros(len(y)))
    return _minimum(Z, start, strength)


def _minimum(Z: Array, start: Likelihood, strength: float) -> Fitted:
    """Find thresholds and slopes of the least penalised loss; slopes come on top of the scores."""
    k, slopes, current, least = len(start.thresholds), np.zeros(Z.shape[1]), start, start.value()
    for _ in range(MOST_NEWTON_STEPS):
        by_slopes = Z.T @ (current.w * (current.above - current.below)) + slopes / strength
        gradient = np.concatenate([current.gradient(), by_slopes])
        # One step more than that: it costs little, and squares the error.
        last = np.abs(gradient).max() <= TOLERANCE / 3 * current.w.sum()
        step, length = _newton_step(Z, current, strength, gradient), 1.0
        thresholds, scores = step[:k], Z @ step[k:]
        while length > SHORTEST_STEP:
            new = slopes - length * step[k:]
            ahead = replace(
                current,
                thresholds=current.thresholds - length * thresholds,
                scores=current.scores - length * scores,
            )
            value = ahead.value() + float(new @ new) / (2 * strength)
            if value < least:
                break
            length /= 2
        else:
            break
        slopes, current, least = new, ahead, value
        if last:
            break
    return Fitted(current.thresholds, slopes)


def _newton_step(Z: Array, at: Likelihood, strength: float, gradient: Array) -> Array:
    """Solve for the step of thresholds and slopes together."""
    k, d, band = len(at.thresholds), Z.shape[1], at.banded_hessian()
    if d == 0 and k > 1:
        return np.asarray(linalg.solveh_banded(band, gradient, check_finite=False))
    hessian = np.zeros((k + d, k + d))
    hessian[:k, :k] = np.diag(band[1]) + np.diag(band[0, 1:], 1) + np.diag(band[0, 1:], -1)
    if d:
        hessian[:k, k:] = at.mixed(Z)
        hessian[k:, :k] = hessian[:k, k:].T
        hessian[k:, k:] = moments(Z, at.w * at.curvature)
        hessian[np.arange(k, k + d), np.arange(k, k + d)] += 1 / strength + FLOOR * at.w.sum()
    factor = np.linalg.cholesky(hessian)
    return np.asarray(linalg.cho_solve((factor, True), gradient, check_finite=False))


def fit_wide_cumulative(Z: Array, y: Indices, strength: float, weights: Array | None) -> Fitted:
    """Fit ordered classes by L-BFGS, which needs no matrix of terms by terms.

    Of slopes alone: thresholds are fitted to their scores in every step, so that the loss is a
    smooth convex function of the slopes. Rows are in single precision, as they are for two classes.
    """
    w = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
    rows = Z.astype(np.float32)
    total = len(y) if weights is None else float(weights.sum())
    penalty = 1 / (strength * total)
    thresholds = shares_to_thresholds(y, weights)

    def value_and_gradient(slopes: Array) -> tuple[float, Array]:
        nonlocal thresholds
        # Rounded in every term alike: a difference between terms would be steeper than what is
        # left.
        rounded = slopes.astype(np.float32)
        scores = (rows @ rounded).astype(np.float64)
        thresholds = fit_thresholds(y, scores, w, thresholds)
        found = Likelihood(y, w, thresholds, scores)
        shrunk = penalty * rounded.astype(np.float64)
        left = (w * (found.below - found.above)).astype(np.float32)
        value = found.value() + float(shrunk @ rounded) / 2
        return value, -(left @ rows).astype(np.float64) + shrunk

    solution = optimize.minimize(
        value_and_gradient,
        np.zeros(Z.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": TOLERANCE, "maxiter": MOST_STEPS},
    )
    return Fitted(fit_thresholds(y, Z @ solution.x, w, thresholds), solution.x)
