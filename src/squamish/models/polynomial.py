"""Penalised linear predictors of columns, and of all their squares and products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family


@dataclass(frozen=True)
class Polynomial:
    """Scores ``intercept + x beta + x W x``, one for each linear predictor of the family."""

    intercept: Array
    beta: Array
    W: Array | None
    family: Family

    def predict(self, X: Array) -> Array:
        """Return a prediction for every row."""
        return self.family.link(self._scores(X))

    def predict_replaced(self, X: Array, columns: Indices, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns)."""
        delta = values - X[:, columns]
        slope = np.broadcast_to(self.beta[:, columns], (len(X), *self.beta[:, columns].shape))
        scores = self._scores(X)
        if self.W is None:
            return self.family.link(scores + np.einsum("dnc,nkc->dnk", delta, slope))
        slope = slope + 2 * np.einsum("nj,kjc->nkc", X, self.W[:, :, columns])
        inner = self.W[:, columns][:, :, columns]
        change = np.einsum("dnc,nkc->dnk", delta, slope)
        change += np.einsum("dnc,kce,dne->dnk", delta, inner, delta, optimize=True)
        return self.family.link(scores + change)

    def _scores(self, X: Array) -> Array:
        scores = self.intercept + X @ self.beta.T
        if self.W is not None:
            scores = scores + np.stack([((X @ w) * X).sum(axis=1) for w in self.W], axis=1)
        return np.asarray(scores)


def fit_polynomial(
    X: Array,
    y: NDArray[Any],
    family: Family,
    strength: float,
    weights: Array | None,
    *,
    quadratic: bool,
) -> Polynomial:
    """Fit a linear predictor of standardised terms; with squares and products if quadratic."""
    d = X.shape[1]
    left, right = np.triu_indices(d) if quadratic else (np.empty(0, int), np.empty(0, int))
    terms = np.hstack([X, X[:, left] * X[:, right]])
    mean, scale = terms.mean(axis=0), terms.std(axis=0)
    scale[scale < 1e-12] = 1
    terms = (terms - mean) / scale
    intercept, coef = family.fit_linear(terms, y, strength, weights)
    family = family.profiled(intercept + terms @ coef.T, y, weights)
    coef = coef / scale
    intercept = intercept - coef @ mean
    if not quadratic:
        return Polynomial(intercept, coef, None, family)
    W = np.zeros((len(coef), d, d))
    W[:, left, right] = coef[:, d:] / 2
    return Polynomial(intercept, coef[:, :d], W + W.transpose(0, 2, 1), family)
