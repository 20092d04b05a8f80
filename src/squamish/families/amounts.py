"""Amounts: numbers with a squared error."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from squamish.arrays import Array, Indices
from squamish.errors import InputError
from squamish.families.family import Family, Target, Task
from squamish.statistics.ridge import fit_ridge
from squamish.statistics.scaling import standardise
from squamish.statistics.scores import normal_scores

# Amounts are clipped so many interquartile ranges beyond the quartiles: Tukey's outer fence,
# which one of 400,000 normal values passes.
OUTER_FENCE = 3.0
# Ridge penalties for standardised terms, of which leave-one-out error chooses: from next to none
# to a shrinkage of most of what 10,000 rows say.
RIDGE_PENALTIES = np.logspace(-2, 4, 7)
# Amounts are cut into fifths for counts; a cut that leaves less than this share is not made.
STRATA, LEAST_SHARE = (0.2, 0.4, 0.6, 0.8), 1 / 20


class Amounts(Family):
    """Amounts, in units of their standard deviation, with the squared error."""

    task: ClassVar[Task] = "regression"
    loss_name: ClassVar[str] = "squared error"
    loss_unit: ClassVar[str] = "squared error, in variances of the target"
    loss_scale: ClassVar[str] = " (of a target with variance 1)"
    absolute_unit: ClassVar[str] = "in half-ranges of the target"
    absolute_scale: ClassVar[str] = " (of a target from -1 to 1)"
    has_classes: ClassVar[bool] = False

    def encode(self, values: Target) -> Target:
        """Return amounts around their middle, 1 apart from it at the most."""
        try:
            return standardise(values.astype(np.float64)[:, np.newaxis])[:, 0]
        except ValueError:
            first = str(np.unique(values)[0])
            raise InputError(
                f"task is 'regression', but y holds {first!r}, which is not a number"
            ) from None

    def labels(self, values: Target) -> tuple[str, ...]:
        """Return none."""
        return ()

    def summarise(self, values: Target) -> str:
        """Say how far the amounts go."""
        low, middle, high = np.quantile(values.astype(np.float64), [0, 0.5, 1])
        return f"amounts from {low:.4g} to {high:.4g}, median {middle:.4g}"

    def check(self, y: Target, labels: tuple[str, ...]) -> None:
        """Refuse nothing."""

    def prepared(self, y: Target) -> Target:
        """Clip at the outer fences, and standardise: losses are shares of the variance."""
        low, high = np.quantile(y, [0.25, 0.75])
        if high > low:
            y = np.clip(y, low - OUTER_FENCE * (high - low), high + OUTER_FENCE * (high - low))
        return (y - y.mean()) / y.std()

    def scores(self, y: Target) -> Array:
        """Return the normal scores of the amounts."""
        return normal_scores(y[:, np.newaxis])

    def strata(self, y: Target) -> Indices:
        """Cut amounts into fifths."""
        return in_fifths(y)

    def most_folds(self, y: Target) -> int:
        """Return the number of rows."""
        return len(y)

    def splitter(self, n_folds: int, seed: int, *, grouped: bool) -> Any:
        """Return a splitter that shuffles rows, or keeps groups of rows whole."""
        return (GroupKFold if grouped else KFold)(n_folds, shuffle=True, random_state=seed)

    def is_trainable(self, y: Target, train: Indices) -> bool:
        """Train on any amounts."""
        return True

    def constant(self, y: Target, weights: Array | None = None) -> Array:
        """Return the mean."""
        return np.asarray(np.average(y, weights=weights))

    def losses(self, prediction: Array, y: Target) -> Array:
        """Return the squared errors."""
        return np.square(prediction - y)

    def residuals(self, prediction: Array, y: Target) -> Array:
        """Return what is left unexplained."""
        return (y - prediction)[:, np.newaxis]

    def errors(self, prediction: Array, y: Target) -> Array:
        """Return what is left unexplained."""
        return (y - prediction)[..., np.newaxis]

    def predictors(self, prediction: Array) -> Array:
        """Return the predictions themselves."""
        return prediction[..., np.newaxis]

    def score_variance(self, loss: float) -> float:
        """Return the loss: a score r g has the variance E r^2 E g^2, and its mean is E g^2."""
        return loss

    def n_predictors(self, y: Target) -> int:
        """Return one."""
        return 1

    def strengths(self, n_terms: Literal["linear", "quadratic"]) -> tuple[float, ...]:
        """Return a single one, since ridge regression finds its penalty by itself."""
        return (1.0,)

    def fit_linear(
        self, Z: Array, y: Target, strength: float, weights: Array | None
    ) -> tuple[Array, Array]:
        """Fit ridge regression with the penalty of the least leave-one-out error."""
        ridge = fit_ridge(Z, y, RIDGE_PENALTIES, weights)
        return np.array([ridge.intercept]), ridge.coef[np.newaxis]

    def link(self, scores: Array) -> Array:
        """Take the predictor for the prediction."""
        return scores[..., 0]

    def tree_objective(self, y: Target) -> dict[str, Any]:
        """Minimise the squared error."""
        return {"objective": "regression", "num_class": 1}


def in_fifths(y: Array) -> Indices:
    """Cut amounts into fifths; a value that many rows share is in one of them.

    There may be fewer than five, since none has less than a twentieth of the rows, unless
    two do not go without.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families.amounts import in_fifths
    >>> in_fifths(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    array([0, 1, 2, 3, 4])
    >>> in_fifths(np.array([0.5, 9.0, 9.0, 9.0, 9.0, 9.0]))
    array([0, 1, 1, 1, 1, 1])
    """
    n, cuts = len(y), np.quantile(y, STRATA)
    # What is capped from above is told from the rest, as what is capped from below is.
    cuts = np.unique(np.minimum(cuts, y[y < y.max()].max(initial=y.min())))
    n_below = np.searchsorted(np.sort(y), cuts, side="right")
    kept: list[int] = []
    for k, rows in enumerate(n_below):
        if min(rows - (n_below[kept[-1]] if kept else 0), n - rows) >= LEAST_SHARE * n:
            kept.append(k)
    kept = kept or [int(np.minimum(n_below, n - n_below).argmax())]
    return np.searchsorted(cuts[kept], y)
