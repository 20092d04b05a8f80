"""The random forests of the paper, and the loss they are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMModel, LGBMRegressor

from squamish.arrays import Array
from squamish.families import Family
from squamish.table.table import Table


@dataclass(frozen=True)
class FittedForest:
    """What a method needs to know of a forest: how well it fits and what it used."""

    loss: float
    importances: Array


def lightgbm_model(family: Family, **params: Any) -> LGBMModel:
    """Make an unfitted LightGBM model that runs in one thread and reports gain importances.

    One thread each: many small fits side by side beat one fit on many cores, and the
    result does not depend on the number of cores. Left to itself LightGBM would choose by
    a stopwatch whether it adds up by rows or by columns, and sums would round differently.
    """
    model = LGBMClassifier if family.has_classes else LGBMRegressor
    return model(importance_type="gain", n_jobs=1, force_col_wise=True, verbose=-1, **params)


def fit_forest(table: Table, rng: np.random.Generator, **params: Any) -> FittedForest:
    """Fit a forest and measure its loss on the rows it was fitted to, as the paper does.

    Its seed is drawn from ``rng`` unless ``params`` has a ``random_state``.
    """
    family = table.family
    if table.n_features == 0:
        constant = family.constant(table.y)
        prediction = np.broadcast_to(constant, (len(table.y), *constant.shape))
        return FittedForest(absolute_loss(prediction, table), np.empty(0))
    model = lightgbm_model(family, **{"random_state": int(rng.integers(2**31)), **params})
    model.fit(table.X, table.y)
    # The booster itself: the wrapper's predict asks for names that the table does not have.
    prediction = model.booster_.predict(table.X, num_threads=1)
    return FittedForest(absolute_loss(prediction, table), model.feature_importances_.astype(float))


def absolute_loss(prediction: Array, table: Table) -> float:
    """Mean of ``|f(x) - y|``, the paper's loss divided by the number of rows.

    For classes, ``f`` is the probability of the class and ``y`` is 1 for the true one, so
    that each row adds one minus the probability given to its class. A single column of
    probabilities is that of class 1.
    """
    if prediction.ndim == 1:
        return float(np.mean(np.abs(prediction - table.y)))
    return float(np.mean(1 - prediction[np.arange(len(table.y)), table.y]))
