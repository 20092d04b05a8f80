"""The portfolio of learners that judge features, and the loss they are judged by.

Three kinds, from the plainest to the most flexible: a regularised linear model, the same on
all squares and products, and boosted trees. Each is fitted to standardised columns, or to the
normal scores of their ranks, which tame heavy tails and undo monotone transforms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import lightgbm
import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special
from sklearn.linear_model import LogisticRegression, RidgeCV

from squamish.table.table import Task

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
View = Literal["plain", "ranked"]

# Losses are bounded, so that single rows cannot decide a test.
LEAST_PROBABILITY = 1e-3
# Squares and products are tried up to so many of them, and so many numbers in all rows.
MOST_TERMS, MOST_NUMBERS = 2500, 50_000_000
# Up to so many coefficients Newton's method is worth its matrix; and when it may stop.
MOST_NEWTON, TOLERANCE = 500, 1e-3
# The most columns that a boosted tree looks at; of more, each sees a random share.
MOST_COLUMNS = 500
# A model of so many numbers may keep its histograms.
FEW_NUMBERS = 20_000


class Model(Protocol):
    """A fitted learner."""

    def predict(self, X: Array) -> Array:
        """Return probabilities of shape (n, classes), or amounts of shape (n,)."""

    def predict_redrawn(self, X: Array, columns: Rows, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns)."""


@dataclass(frozen=True)
class Learner:
    """A way to fit a model: its kind, what it sees of the columns, and how freely it fits."""

    kind: Literal["linear", "quadratic", "boosted"]
    view: View = "plain"
    strength: float = 1.0

    def __str__(self) -> str:
        view = " on ranks" if self.view == "ranked" else ""
        strength = f" (C={self.strength:g})" if self.kind != "boosted" else ""
        return f"{self.kind}{view}{strength}"

    def fit(self, X: Array, y: NDArray[Any], task: Task, weights: Array | None = None) -> Model:
        """Fit the learner to columns that already have its view."""
        if self.kind == "boosted":
            return _fit_boosted(X, y, task, weights)
        return _fit_polynomial(X, y, task, self.kind == "quadratic", self.strength, weights)


def portfolio(task: Task, n_rows: int, n_columns: int) -> list[Learner]:
    """Return the learners that are tried, plainest first."""
    n_terms = n_columns * (n_columns + 3) // 2
    if task == "regression":
        strengths: Sequence[float] = (1.0,)
    else:
        strengths = (0.1, 1.0, 10.0, 100.0)
    views: tuple[View, ...] = ("plain", "ranked")
    learners = [Learner("linear", view, c) for view in views for c in strengths]
    if n_terms < MOST_TERMS and n_terms * n_rows <= MOST_NUMBERS:
        strengths = (1.0,) if task == "regression" else (0.003, 0.03, 0.3, 3.0)
        learners += [Learner("quadratic", view, c) for view in views for c in strengths]
    return [*learners, Learner("boosted")]


def row_losses(prediction: Array, y: NDArray[Any]) -> Array:
    """Return the loss of every row: log loss for probabilities, squared error for amounts."""
    if y.dtype.kind in "iu":
        chosen = np.take_along_axis(
            prediction, np.broadcast_to(y[:, np.newaxis], (*prediction.shape[:-1], 1)), axis=-1
        )[..., 0]
        return -np.log(np.clip(chosen, LEAST_PROBABILITY, 1))
    return np.square(prediction - y)


@dataclass(frozen=True)
class _Boosted:
    booster: lightgbm.Booster
    binary: bool

    def predict(self, X: Array) -> Array:
        out = np.asarray(self.booster.predict(X, num_threads=1))
        return np.column_stack([1 - out, out]) if self.binary else out

    def predict_redrawn(self, X: Array, columns: Rows, values: Array) -> Array:
        stacked = np.tile(X, (len(values), 1))
        stacked[:, columns] = values.reshape(-1, len(columns))
        out = self.predict(stacked)
        return out.reshape(len(values), len(X), *out.shape[1:])


def train_trees(
    X: NDArray[Any],
    y: NDArray[Any],
    task: Task,
    n_trees: int,
    *,
    weights: Array | None = None,
    **params: Any,
) -> lightgbm.Booster:
    """Boost small trees in one thread, with settings that suit small tables."""
    n_classes = int(y.max()) + 1 if task == "classification" else 0
    objective = {0: "regression", 2: "binary"}.get(n_classes, "multiclass")
    settings = dict(
        objective=objective,
        num_class=n_classes if objective == "multiclass" else 1,
        learning_rate=0.1,
        num_leaves=15,
        min_data_in_leaf=10,
        max_bin=63,
        bin_construct_sample_cnt=20_000,
        histogram_pool_size=64,
        force_col_wise=True,
        num_threads=1,
        seed=0,
        verbose=-1,
    )
    data = lightgbm.Dataset(X, y, weight=weights, params=settings | params)
    # lightgbm.train would also write the trees as text and read them again, which takes half as
    # long as to train few rows.
    booster = lightgbm.Booster(settings | params, data)
    for _ in range(n_trees):
        # A tree that finds nothing in its random columns is not the last one.
        booster.update()
    return booster


def _fit_boosted(X: Array, y: NDArray[Any], task: Task, weights: Array | None) -> Model:
    binary = task == "classification" and int(y.max()) == 1
    share = min(1.0, MOST_COLUMNS / X.shape[1])
    booster = train_trees(X, y, task, 100, weights=weights, feature_fraction=share)
    if X.size > FEW_NUMBERS:
        # The trees alone, without what they were trained with: models are kept for a while.
        booster = lightgbm.Booster(model_str=booster.model_to_string())
    return _Boosted(booster, binary)


@dataclass(frozen=True)
class _Polynomial:
    """Scores ``intercept + x beta + x W x`` for every class, or for the amount."""

    intercept: Array
    beta: Array
    W: Array | None
    task: Task

    def predict(self, X: Array) -> Array:
        return self._link(self._scores(X))

    def predict_redrawn(self, X: Array, columns: Rows, values: Array) -> Array:
        delta = values - X[:, columns]
        slope = np.broadcast_to(self.beta[:, columns], (len(X), *self.beta[:, columns].shape))
        scores = self._scores(X)
        if self.W is None:
            return self._link(scores + np.einsum("dnc,nkc->dnk", delta, slope))
        slope = slope + 2 * np.einsum("nj,kjc->nkc", X, self.W[:, :, columns])
        inner = self.W[:, columns][:, :, columns]
        change = np.einsum("dnc,nkc->dnk", delta, slope)
        change += np.einsum("dnc,kce,dne->dnk", delta, inner, delta, optimize=True)
        return self._link(scores + change)

    def _scores(self, X: Array) -> Array:
        scores = self.intercept + X @ self.beta.T
        if self.W is not None:
            scores = scores + np.stack([((X @ w) * X).sum(axis=1) for w in self.W], axis=1)
        return np.asarray(scores)

    def _link(self, scores: Array) -> Array:
        if self.task == "regression":
            return scores[..., 0]
        if scores.shape[-1] == 1:
            positive = 1 / (1 + np.exp(-np.clip(scores, -30, 30)))
            return np.concatenate([1 - positive, positive], axis=-1)
        exponent = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.asarray(exponent / exponent.sum(axis=-1, keepdims=True))


def _fit_polynomial(
    X: Array,
    y: NDArray[Any],
    task: Task,
    quadratic: bool,
    strength: float,
    weights: Array | None,
) -> Model:
    d = X.shape[1]
    left, right = np.triu_indices(d) if quadratic else (np.empty(0, int), np.empty(0, int))
    terms = np.hstack([X, X[:, left] * X[:, right]])
    mean, scale = terms.mean(axis=0), terms.std(axis=0)
    scale[scale < 1e-12] = 1
    intercept, coef = _fit_linear((terms - mean) / scale, y, task, strength, weights)
    coef = coef / scale
    intercept = intercept - coef @ mean
    if not quadratic:
        return _Polynomial(intercept, coef, None, task)
    W = np.zeros((len(coef), d, d))
    W[:, left, right] = coef[:, d:] / 2
    return _Polynomial(intercept, coef[:, :d], W + W.transpose(0, 2, 1), task)


def _fit_linear(
    Z: Array, y: NDArray[Any], task: Task, strength: float, weights: Array | None
) -> tuple[Array, Array]:
    if task == "regression":
        ridge = RidgeCV(np.logspace(-2, 4, 7)).fit(Z, y, weights)
        return np.atleast_1d(ridge.intercept_), np.atleast_2d(ridge.coef_)
    if y.max() == 1 and Z.shape[1] <= MOST_NEWTON:
        return _fit_logistic(Z, y, strength, weights)
    solver = "newton-cholesky" if Z.shape[1] * (y.max() + 1) <= MOST_NEWTON else "lbfgs"
    model = LogisticRegression(C=strength, solver=solver, tol=TOLERANCE, max_iter=300)
    model.fit(Z, y, weights)
    return np.asarray(model.intercept_), np.asarray(model.coef_)


def _fit_logistic(
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
