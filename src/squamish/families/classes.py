"""Classes: labels without an order, with the log loss."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from squamish.arrays import Array, Indices
from squamish.errors import InputError
from squamish.families.family import Family, Target, Task
from squamish.families.logistic import TOLERANCE, fit_logistic, fit_wide_logistic

# Probabilities are bounded from below, so that the log loss of a row is at most 6.9: single rows
# cannot decide a test.
LEAST_PROBABILITY = 1e-3
# Up to so many coefficients, Newton's method is worth its matrix.
MOST_NEWTON = 500
# Linear predictors beyond these are certain to 13 digits.
CERTAIN = 30.0
# The most classes that a summary names.
MOST_NAMED = 10


class Classes(Family):
    """Two or more classes, coded 0, 1, ..., with the log loss of their probabilities."""

    task: ClassVar[Task] = "classification"
    loss_name: ClassVar[str] = "log loss"
    loss_unit: ClassVar[str] = "log loss in nats"
    absolute_unit: ClassVar[str] = "1 - probability of the true class"
    has_classes: ClassVar[bool] = True
    has_order: ClassVar[bool] = False

    def encode(self, values: Target) -> Target:
        """Return class codes."""
        classes, codes = np.unique(values, return_inverse=True)
        if len(classes) > max(len(values) / 2, 2):
            raise InputError(
                f"y has {len(classes)} different values in {len(values)} rows; classes must "
                "repeat (task='regression' takes numbers as amounts)"
            )
        return codes

    def labels(self, values: Target) -> tuple[str, ...]:
        """Name the classes."""
        return tuple(np.unique(values).astype(str).tolist())

    def summarise(self, values: Target) -> str:
        """Say how many rows each class has.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.families import family_of
        >>> family_of("classification").summarise(np.array(["no", "yes", "no"]))
        '2 classes: no (2), yes (1)'
        """
        labels, counts = np.unique(values, return_counts=True)
        pairs = zip(labels[:MOST_NAMED], counts, strict=False)
        shown = [f"{label} ({n:,})" for label, n in pairs]
        left = len(labels) - MOST_NAMED
        more = f" and {left} more" if left > 0 else ""
        return f"{len(labels)} classes: {', '.join(shown)}{more}"

    def check(self, y: Target, labels: tuple[str, ...]) -> None:
        """Refuse classes of a single row."""
        single = [labels[c] for c in np.flatnonzero(np.bincount(y) == 1)]
        if single:
            raise InputError(
                f"y has one row only of class {', '.join(single)}; every class must have 2 "
                "or more, so that one can be predicted from the others"
            )

    def prepared(self, y: Target) -> Target:
        """Change nothing: the log loss is bounded already."""
        return y

    def scores(self, y: Target) -> Array:
        """Return an indicator of each class, or of one of two."""
        indicators = (y[:, np.newaxis] == np.unique(y)).astype(float)
        centred = indicators - indicators.mean(axis=0)
        return centred[:, 1:] if centred.shape[1] == 2 else centred

    def odds_targets(self, y: Target) -> Array | None:
        """Return an indicator of each class, or of one of two."""
        return self.scores(y)

    def strata(self, y: Target) -> Indices:
        """Return the classes themselves."""
        return y

    def most_folds(self, y: Target) -> int:
        """Return the size of the rarest class."""
        return int(np.bincount(y).min())

    def splitter(self, n_folds: int, seed: int, *, grouped: bool) -> Any:
        """Return a splitter that keeps the shares of the classes."""
        kind = StratifiedGroupKFold if grouped else StratifiedKFold
        return kind(n_folds, shuffle=True, random_state=seed)

    def is_trainable(self, y: Target, train: Indices) -> bool:
        """Tell whether all classes are there."""
        return len(np.unique(y[train])) == len(np.unique(y))

    def constant(self, y: Target, weights: Array | None = None) -> Array:
        """Return the share of each class."""
        counts = np.bincount(y, weights=weights)
        return np.asarray(counts / counts.sum())

    def losses(self, prediction: Array, y: Target) -> Array:
        """Return the log losses."""
        codes = np.broadcast_to(y[:, np.newaxis], (*prediction.shape[:-1], 1))
        chosen = np.take_along_axis(prediction, codes, axis=-1)[..., 0]
        return -np.log(np.clip(chosen, LEAST_PROBABILITY, 1))

    def residuals(self, prediction: Array, y: Target) -> Array:
        """Return indicators minus probabilities, centred; one column for two classes."""
        residuals = (y[:, np.newaxis] == np.arange(prediction.shape[1])) - prediction
        residuals -= residuals.mean(axis=0)
        return residuals[:, 1:] if residuals.shape[1] == 2 else residuals

    def errors(self, prediction: Array, y: Target) -> Array:
        """Return indicators minus probabilities."""
        return (y[:, np.newaxis] == np.arange(prediction.shape[-1])) - prediction

    def predictors(self, prediction: Array) -> Array:
        """Return logarithms of probabilities, bounded like the loss."""
        return np.log(np.clip(prediction, LEAST_PROBABILITY, 1))

    def score_variance(self, loss: float) -> float:
        """Return a half: mean and variance of a score are both twice the divergence it costs."""
        return 0.5

    def n_predictors(self, y: Target) -> int:
        """Return one for two classes, and else one for each."""
        n_classes = int(y.max()) + 1
        return 1 if n_classes == 2 else n_classes

    def strengths(self, n_terms: Literal["linear", "quadratic"]) -> tuple[float, ...]:
        """Return decades, from heavy penalties to next to none; lower where terms are many."""
        return (0.1, 1.0, 10.0, 100.0) if n_terms == "linear" else (0.003, 0.03, 0.3, 3.0)

    def fit_linear(
        self, Z: Array, y: Target, strength: float, weights: Array | None
    ) -> tuple[Array, Array]:
        """Fit logistic regression, of two classes or multinomial."""
        if y.max() == 1:
            fit = fit_logistic if Z.shape[1] <= MOST_NEWTON else fit_wide_logistic
            return fit(Z, y, strength, weights)
        solver = "newton-cholesky" if Z.shape[1] * (y.max() + 1) <= MOST_NEWTON else "lbfgs"
        model = LogisticRegression(C=strength, solver=solver, tol=TOLERANCE, max_iter=300)
        model.fit(Z, y, weights)
        return np.asarray(model.intercept_), np.asarray(model.coef_)

    def link(self, scores: Array) -> Array:
        """Return probabilities: the logistic function of one predictor, softmax of several."""
        if scores.shape[-1] == 1:
            positive = 1 / (1 + np.exp(-np.clip(scores, -CERTAIN, CERTAIN)))
            return np.concatenate([1 - positive, positive], axis=-1)
        exponent = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return np.asarray(exponent / exponent.sum(axis=-1, keepdims=True))

    def tree_objective(self, y: Target) -> dict[str, Any]:
        """Minimise the log loss of two classes or of several."""
        n_classes = int(y.max()) + 1
        if n_classes == 2:
            return {"objective": "binary", "num_class": 1}
        return {"objective": "multiclass", "num_class": n_classes}
