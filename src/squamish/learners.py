"""The models that judge features, and the loss they are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor

from squamish.tables import Table, Task

try:
    from lightgbm import LGBMClassifier, LGBMModel, LGBMRegressor
except OSError as error:
    raise ImportError(
        "LightGBM cannot find the OpenMP runtime of this system: install libgomp "
        "('apt-get install libgomp1' on Debian and Ubuntu, 'dnf install libgomp' on Fedora, "
        "'brew install libomp' on macOS)"
    ) from error


@dataclass(frozen=True)
class FittedForest:
    """What a method needs to know of a forest: how well it fits and what it used."""

    loss: float
    importances: NDArray[np.float64]


def lightgbm_model(task: Task, **params: Any) -> LGBMModel:
    """Make an unfitted LightGBM model that runs in one thread and reports gain importances.

    One thread each: many small fits side by side beat one fit on many cores, and the
    result does not depend on the number of cores. Left to itself LightGBM would choose by
    a stopwatch whether it adds up by rows or by columns, and sums would round differently.
    """
    model = LGBMClassifier if task == "classification" else LGBMRegressor
    return model(importance_type="gain", n_jobs=1, force_col_wise=True, verbose=-1, **params)


def fit_forest(table: Table, rng: np.random.Generator, **params: Any) -> FittedForest:
    """Fit a forest and measure its loss on the rows it was fitted to, as the paper does."""
    if table.X.shape[1] == 0:
        return FittedForest(_loss_of_constant(table), np.empty(0))
    model = lightgbm_model(table.task, random_state=int(rng.integers(2**31)), **params)
    model.fit(table.X, table.y)
    return FittedForest(absolute_loss(model, table), model.feature_importances_.astype(float))


def absolute_loss(model: Any, table: Table) -> float:
    """Mean of ``|f(x) - y|``, the paper's loss divided by the number of rows.

    For classes, ``f`` is the probability of the class and ``y`` is 1 for the true one, so
    that each row adds one minus the probability given to its class.
    """
    if table.task == "regression":
        return float(np.mean(np.abs(model.predict(table.X) - table.y)))
    probabilities = model.predict_proba(table.X)
    return float(np.mean(1 - probabilities[np.arange(len(table.y)), table.y]))


def _loss_of_constant(table: Table) -> float:
    """Return the loss of the best prediction that needs no feature."""
    dummy = DummyClassifier() if table.task == "classification" else DummyRegressor()
    return absolute_loss(dummy.fit(table.X, table.y), table)
