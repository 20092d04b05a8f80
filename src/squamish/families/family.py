"""What a method has to know of a kind of target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices

Task = Literal["classification", "regression", "survival", "counts", "ordinal"]
Target = NDArray[Any]

# Fewer test rows do not tell how much predictions are worth: the slope of a regression on them has
# a standard error of 0.22 or more.
LEAST_CALIBRATED = 20


class Family(ABC):
    """A kind of target: how it is read, predicted, scored and spoken of.

    Stages and tests ask a family and never the name of a task, so that counts, ordered classes
    or censored times are one more class here and nothing else.

    Attributes
    ----------
    task : str
        Its name in parameters and results.
    loss_name, loss_unit : str
        What the loss of a row is called, and the axis of a picture of its growth.
    loss_scale, absolute_scale : str
        How a target is scaled for the loss, and for the paper's; empty if it is not.
    absolute_unit : str
        The unit of the paper's loss, ``|f(x) - y|``.
    has_classes : bool
        Whether targets are labels, so that tests compare classes.
    has_order : bool
        Whether one target is more than another, so that tests of ranks ask for a shift.
    is_censored : bool
        Whether how long a row was observed is no part of what is to be told, so that columns may
        depend on that: not all orders of the target are equally likely then.
    """

    task: ClassVar[Task]
    loss_name: ClassVar[str]
    loss_unit: ClassVar[str]
    loss_scale: ClassVar[str] = ""
    absolute_unit: ClassVar[str]
    absolute_scale: ClassVar[str] = ""
    has_classes: ClassVar[bool]
    has_order: ClassVar[bool] = True
    is_censored: ClassVar[bool] = False

    @abstractmethod
    def encode(self, values: Target) -> Target:
        """Turn what a user passed into numbers that models can be fitted to."""

    @abstractmethod
    def labels(self, values: Target) -> tuple[str, ...]:
        """Name the classes, in the order of their codes; empty if there are none."""

    @abstractmethod
    def summarise(self, values: Target) -> str:
        """Say in a few words what a user passed."""

    @abstractmethod
    def check(self, y: Target, labels: tuple[str, ...]) -> None:
        """Raise an InputError if targets cannot be judged out of sample."""

    @abstractmethod
    def prepared(self, y: Target) -> Target:
        """Bound the influence of single rows, and choose the unit of the loss."""

    @abstractmethod
    def scores(self, y: Target) -> Array:
        """Return the target as centred columns, with which linear tests correlate features."""

    def score_variances(self, y: Target) -> Array | None:
        """Return how much the scores of every row vary if nothing is known of it; None if alike."""
        return None

    def odds_targets(self, y: Target) -> Array | None:
        """Return events of which models take the log odds, as centred indicators; None if none."""
        return None

    @abstractmethod
    def strata(self, y: Target) -> Indices:
        """Divide rows by their targets, for tests of independence in a table of counts."""

    @abstractmethod
    def most_folds(self, y: Target) -> int:
        """Return the most folds in which every kind of target can be trained on."""

    @abstractmethod
    def splitter(self, n_folds: int, seed: int, *, grouped: bool) -> Any:
        """Return a scikit-learn splitter that keeps the shares of `strata` alike."""

    @abstractmethod
    def is_trainable(self, y: Target, train: Indices) -> bool:
        """Tell whether the training rows of a fold hold every kind of target."""

    @abstractmethod
    def constant(self, y: Target, weights: Array | None = None) -> Array:
        """Return the best prediction that looks at no feature, for one row."""

    @abstractmethod
    def losses(self, prediction: Array, y: Target) -> Array:
        """Return the loss of every row, a proper scoring rule."""

    @abstractmethod
    def residuals(self, prediction: Array, y: Target) -> Array:
        """Return the score residuals: minus the derivative of the loss by the linear predictor.

        One column for each independent component of the target.
        """

    @abstractmethod
    def errors(self, prediction: Array, y: Target) -> Array:
        """Return target minus prediction, with an axis of components at the end."""

    def calibrated_errors(self, replaced: Array, y: Target, shares: Array | None = None) -> Array:
        """Return errors of predictions that are shrunk to where they are best.

        A model that has learned little but chance is sure of it all the same, and where draws are
        not quite right, its errors go with what a drawn unit seems to add. Predictions without the
        unit are therefore shrunk to their mean by the slope of a regression of the target on them:
        to nothing if they tell nothing, when errors are those of the target itself. Few rows stay
        as they are.

        Parameters
        ----------
        replaced : ndarray of shape (n_draws, n, ...)
            Predictions with a unit drawn anew.
        y : ndarray of shape (n,)
            The target.
        shares : ndarray of shape (n_draws, n) or None
            The probability of each draw, if these are all there are.

        Returns
        -------
        ndarray of shape (n_draws, n, n_components), or (n, n_components) with ``shares``
            Target minus prediction, for every draw, or as expected over all of them.
        """
        errors = self.errors(replaced, y)
        if shares is not None:
            errors = (shares[..., np.newaxis] * errors).sum(axis=0)
        target = self.errors(np.zeros_like(replaced[0]), y)
        return errors if len(y) < LEAST_CALIBRATED else _shrunk(errors, target)

    @abstractmethod
    def predictors(self, prediction: Array) -> Array:
        """Return what errors are multiplied with in a score: predictions on a linear scale."""

    @abstractmethod
    def score_variance(self, loss: float) -> float:
        """Return the variance of the score of a removal over its squared mean, times its cost.

        ``loss`` is the mean loss of the better model, and the cost is small.
        """

    @abstractmethod
    def n_predictors(self, y: Target) -> int:
        """Return how many linear predictors there are."""

    @abstractmethod
    def strengths(self, n_terms: Literal["linear", "quadratic"]) -> tuple[float, ...]:
        """Return the inverse penalties that are tried for linear predictors, weakest last."""

    @abstractmethod
    def fit_linear(
        self, Z: Array, y: Target, strength: float, weights: Array | None
    ) -> tuple[Array, Array]:
        """Fit a penalised linear predictor; return intercepts and coefficients, a row each."""

    @abstractmethod
    def link(self, scores: Array) -> Array:
        """Turn linear predictors, in the last axis, into predictions."""

    def of_estimator(self, predicted: Array) -> Array:
        """Turn what an estimator of scikit-learn predicts, by its methods, into predictions."""
        return predicted

    def without_order(self, y: Target) -> Family | None:
        """Return a family with the same predictions that does not know of an order; None if none.

        None, too, if the order of such a target tells nothing.
        """
        return None

    def profiled(self, scores: Array, y: Target, weights: Array | None) -> Family:
        """Return the family with what its link needs beside linear predictors, fitted to these.

        Such as a baseline or thresholds; most families need nothing.
        """
        return self

    @abstractmethod
    def tree_objective(self, y: Target) -> dict[str, Any]:
        """Return LightGBM's parameters for the objective of boosted trees."""


class ProfiledFamily(Family):
    """A family whose link has parameters of its own, such as a baseline or thresholds.

    They are fitted to linear predictors (`profiled`), in every round of boosted trees anew, and
    LightGBM is told derivatives of the loss. There is one linear predictor.
    """

    @abstractmethod
    def profiled(self, scores: Array, y: Target, weights: Array | None) -> ProfiledFamily:
        """Return the family with its parameters fitted to linear predictors of shape (n, 1)."""

    @abstractmethod
    def derivatives(self, scores: Array, y: Target) -> tuple[Array, Array]:
        """Return first and second derivatives of losses by linear predictors of shape (n, 1).

        Of the parameters that were fitted; both have the shape (n,).
        """

    def tree_objective(self, y: Target) -> dict[str, Any]:
        """Leave the objective to `derivatives`; where nothing can be split, trees stay at zero."""
        return {"objective": "regression", "num_class": 1}


def _shrunk(errors: Array, target: Array) -> Array:
    """Shrink predictions by the slope of a regression of the target on them.

    Parameters
    ----------
    errors : ndarray of shape (..., n, n_components)
        Target minus prediction, for every draw.
    target : ndarray of shape (n, n_components)
        The target, as predictions are compared with it.
    """
    told = target - errors
    target = target - target.mean(axis=0)
    told = told - told.mean(axis=-2, keepdims=True)
    # Of several draws, the mean tells: a single one has chance of its own.
    mean = told.mean(axis=tuple(range(told.ndim - 2)))
    slope = np.vdot(target, mean) / max(float(np.vdot(mean, mean)), 1e-300)
    return np.asarray(target - np.clip(slope, 0.0, 1.0) * told)
