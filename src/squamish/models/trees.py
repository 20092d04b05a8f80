"""Boosted trees of LightGBM, set up for small tables and for one thread."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family
from squamish.models.stacking import predict_stacked

# What a tree adds of what it finds.
LEARNING_RATE = 0.1
# Four splits deep where all leaves are used, so that interactions of four columns can be seen;
# a leaf has a standard error of a third of a standard deviation (1 / sqrt 10) or less.
N_LEAVES, LEAST_IN_LEAF = 15, 10
# 63 bins fit into six bits, and a cut in between is off by less than a percent of the rows.
N_BINS, ROWS_FOR_BINS = 63, 20_000
# Megabytes for histograms, which LightGBM does not limit by itself.
HISTOGRAM_POOL = 64
# The most columns that a tree looks at; of more, each sees a random share.
MOST_COLUMNS = 500
# Thresholds are looked up for so many rows or more: it takes as long as to predict a thousand.
MANY_ROWS = 300
# Cells between thresholds are numbered anew beyond so many, so that numbers of cells and rows stay
# below what an integer holds.
MOST_CELLS = 2**31
# So many bins are copied, of a byte each.
MOST_COPIED = 10_000_000
# A model of so many numbers may keep its histograms; of more, the trees alone are kept.
FEW_NUMBERS = 20_000


@dataclass(frozen=True)
class BoostedTrees:
    """The first rounds of fitted trees."""

    booster: lightgbm.Booster
    family: Family
    n_rounds: int

    def after(self, n_rounds: int) -> BoostedTrees:
        """Return the model as it was after so many rounds."""
        return replace(self, n_rounds=n_rounds)

    def predict(self, X: Array) -> Array:
        """Return a prediction for every row."""
        raw = self.booster.predict(X, num_iteration=self.n_rounds, num_threads=1)
        return self.family.tree_prediction(np.asarray(raw))

    def predict_replaced(self, X: Array, columns: Indices, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns).

        Trees see no more of a value than between which of their thresholds it lies. So each row is
        predicted once for each of these cells that it is in.
        """
        if len(X) < MANY_ROWS:
            return predict_stacked(self.predict, X, columns, values)
        cells, n_cells = np.zeros(values.shape[:2], dtype=np.int64), 1
        for k, column in enumerate(columns.tolist()):
            steps = self._thresholds.get(column, np.empty(0))
            cells = cells * (len(steps) + 1) + np.searchsorted(steps, values[:, :, k])
            n_cells *= len(steps) + 1
            if n_cells > MOST_CELLS:
                there, cells = np.unique(cells, return_inverse=True)
                cells, n_cells = cells.reshape(values.shape[:2]), len(there)
        keys = (cells * len(X) + np.arange(len(X))).ravel()
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        rows = X[first % len(X)]
        rows[:, columns] = values.reshape(-1, len(columns))[first]
        found = self.predict(rows)[which.reshape(-1)]
        return found.reshape(*values.shape[:2], *found.shape[1:])

    @cached_property
    def _thresholds(self) -> dict[int, Array]:
        """Where trees split each column that they split at all, ascending."""
        text = self.booster.model_to_string(num_iteration=self.n_rounds)
        split, at = (
            np.array(" ".join(re.findall(rf"^{name}=(.*)$", text, re.MULTILINE)).split(), dtype)
            for name, dtype in (("split_feature", np.intp), ("threshold", np.float64))
        )
        return {int(column): np.unique(at[split == column]) for column in np.unique(split)}


def train_trees(
    X: NDArray[Any],
    y: NDArray[Any],
    family: Family,
    n_trees: int,
    *,
    weights: Array | None = None,
    **params: Any,
) -> lightgbm.Booster:
    """Boost small trees in one thread.

    One thread each, row by row: left to itself LightGBM chooses by a stopwatch whether it adds up
    by rows or by columns, and sums round differently. Rows take up to a third less time where
    columns have few values, and as long elsewhere, but a second copy of the bins.
    """
    settings = dict(
        **family.tree_objective(y),
        learning_rate=LEARNING_RATE,
        num_leaves=N_LEAVES,
        min_data_in_leaf=LEAST_IN_LEAF,
        max_bin=N_BINS,
        bin_construct_sample_cnt=ROWS_FOR_BINS,
        histogram_pool_size=HISTOGRAM_POOL,
        **{"force_row_wise" if X.size <= MOST_COPIED else "force_col_wise": True},
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


def fit_trees(
    X: Array, y: NDArray[Any], family: Family, weights: Array | None, n_rounds: int
) -> BoostedTrees:
    """Fit the boosted trees of the portfolio."""
    share = min(1.0, MOST_COLUMNS / X.shape[1])
    booster = train_trees(X, y, family, n_rounds, weights=weights, feature_fraction=share)
    if X.size > FEW_NUMBERS:
        # Without what they were trained with: models are kept for a while.
        booster = lightgbm.Booster(model_str=booster.model_to_string())
    return BoostedTrees(booster, family, n_rounds)
