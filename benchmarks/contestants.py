"""Let one contestant select the columns of one table, in whatever environment it needs.

    ENVIRONMENT/bin/python benchmarks/contestants.py [PROCESS]

It ends when the process of this number does, the one that asks.
Every line of the input is a JSON object: {"contestant": NAME, "table": FILE, "seed": NUMBER}.
The file is an .npz with X, y and task, "classification" or "regression". Every line of the
output answers one: {"selected": [true, ...], "classes": [2, ...] or null, "seconds": NUMBER,
"accuracy": NUMBER or null, "scores": [0.1, ...] or null, "p_values": likewise}, or
{"error": "Type: message"}. Classes are 0 irrelevant, 1 weak,
2 strong. Seconds are those of a processor, of fitting. Accuracy is that of a model of the
selected columns on the rows it was fitted to, R2 for a regression. Scores say how important
columns are, the largest first, and p-values are not corrected.

Peers need versions of their dependencies that exclude each other: environments/ has one file
for each. So nothing but NumPy is imported here, and other libraries by who needs them.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries loaded later as well.
os.environ.update(
    OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1"
)

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from threading import Thread
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hidimstat_tests import TESTS as HIDIMSTAT

Table: TypeAlias = NDArray[np.float64]
Target: TypeAlias = NDArray[Any]
Task: TypeAlias = Literal["classification", "regression"]

# The paper's parameters of a forest, by scikit-learn's names for them: subsample is its
# bagging_fraction, subsample_freq its bagging_freq, and colsample_bytree its feature_fraction.
PAPER_FOREST: dict[str, Any] = dict(
    boosting_type="rf",
    n_estimators=100,
    num_leaves=32,
    max_depth=5,
    subsample=0.632,
    subsample_freq=1,
)
ELASTIC_NET_GRID = {
    "alpha": [0.0001, 0.001, 0.01, 0.1, 1.0],
    "l1_ratio": [0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
}
# Of more columns, elimination takes a tenth of those that are left at a time: one by one, with
# five folds, would be thousands of fits.
WIDE = 200


class Verdict(NamedTuple):
    """What a contestant says about a table, and how long it took."""

    selected: NDArray[np.bool_]
    seconds: float
    classes: NDArray[np.int64] | None = None
    accuracy: float | None = None
    scores: NDArray[np.float64] | None = None
    p_values: NDArray[np.float64] | None = None


def relevance_selector(
    X: Table, y: Target, task: Task, seed: int, *, method: str, **settings: Any
) -> Verdict:
    """Run a method of this package."""
    from squamish import CrossfitMethod, PaperMethod, RelevanceSelector

    methods = {"crossfit": CrossfitMethod, "paper": PaperMethod}
    selector = RelevanceSelector(
        methods[method](**settings), task=task, random_state=seed, n_jobs=1
    )
    seconds = _seconds(selector.fit, X, y)
    classes = selector.relevance_classes_
    # 0 is irrelevant, 1 weak, 2 strong: squamish.evidence.relevance, which other environments lack.
    selected = classes > 0
    return Verdict(selected, seconds, classes, _forest_accuracy(X[:, selected], y, task, seed))


def relevance_intervals(X: Table, y: Target, task: Task, seed: int) -> Verdict:
    """Run FRI, which bounds the weight of every column in all good linear models."""
    from fri import FRI, ProblemName

    if task == "classification" and y.max() > 1:
        raise ValueError(f"the target has {y.max() + 1} classes; FRI takes 2")
    search = FRI(
        ProblemName.CLASSIFICATION if task == "classification" else ProblemName.REGRESSION,
        loss_slack=0.1,
        w_l1_slack=0.1,
        n_probe_features=50,
        n_param_search=50,
        random_state=seed,
        n_jobs=1,
    )
    X = _standardised(X)
    seconds = _seconds(search.fit, X, y)
    # FRI's numbers for the three classes are ours.
    classes = np.asarray(search.relevance_classes_, dtype=np.int64)
    model = search.optim_model_
    if task == "classification":
        # Its model says -1 and 1, and its own score is an F1.
        accuracy = float(np.mean((model.predict(X) == 1) == (y == 1)))
    else:
        accuracy = float(model.score(X, y))
    return Verdict(classes > 0, seconds, classes, accuracy)


def elastic_net(X: Table, y: Target, task: Task, seed: int) -> Verdict:
    """Eliminate columns of an elastic net whose penalties were searched before."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.model_selection import GridSearchCV

    if task == "classification":
        model = SGDClassifier(penalty="elasticnet", random_state=seed, n_jobs=1)
    else:
        model = SGDRegressor(penalty="elasticnet", random_state=seed)
    X = _standardised(X)
    search = GridSearchCV(model, ELASTIC_NET_GRID, cv=_folds(task, 3, seed), refit=False, n_jobs=1)
    seconds = _seconds(search.fit, X, y)
    verdict = _eliminate(model.set_params(**search.best_params_), X, y, task, seed)
    return verdict._replace(seconds=seconds + verdict.seconds)


def random_forest(
    X: Table, y: Target, task: Task, seed: int, *, feature_fraction: float
) -> Verdict:
    """Eliminate columns of the paper's forest by how often it splits them, LightGBM's default."""
    return _eliminate(paper_forest(task, seed, feature_fraction), X, y, task, seed)


def boruta_of_the_paper(
    X: Table, y: Target, task: Task, seed: int, *, feature_fraction: float
) -> Verdict:
    """Run the first stage of method="paper" by itself, with confirmed columns only."""
    from boruta import BorutaPy

    forest = paper_forest(task, seed, feature_fraction).set_params(importance_type="gain")
    search = BorutaPy(
        forest, n_estimators="auto", perc=70, alpha=0.05, max_iter=100, random_state=seed
    )
    seconds = _seconds(search.fit, X, y)
    # Rank 1 is confirmed. (support_ also holds undecided columns if none was rejected.)
    selected = search.ranking_ == 1
    accuracy = _forest_accuracy(X[:, selected], y, task, seed)
    return Verdict(selected, seconds, accuracy=accuracy)


def borutapy(
    X: Table, y: Target, task: Task, seed: int, *, learner: Callable[[Task, int], Any]
) -> Verdict:
    """Run BorutaPy as its README does: its defaults, shallow trees, and "auto" many of them."""
    from boruta import BorutaPy

    search = BorutaPy(learner(task, seed), n_estimators="auto", random_state=seed)
    seconds = _seconds(search.fit, X, y)
    return Verdict(search.support_, seconds)


def leshy(X: Table, y: Target, task: Task, seed: int) -> Verdict:
    """Run Leshy around the learner and with the importance that its README recommends.

    These are LightGBM and SHAP values, its default. As in its example, it chooses the number
    of trees; that needs a depth, as LightGBM's own, -1, makes the number negative.
    """
    from arfs.feature_selection import Leshy

    trees = _boosted_trees(task, seed)
    search = Leshy(trees, n_estimators="auto", importance="shap", random_state=seed)
    seconds = _seconds(search.fit, _frame(X), y)
    return Verdict(search.support_, seconds)


def groot_cv(X: Table, y: Target, task: Task, seed: int) -> Verdict:
    """Run GrootCV, whose shadows come from NumPy's global generator."""
    from arfs.feature_selection import GrootCV

    # To LightGBM softmax and multiclass are the same, but GrootCV adds up the importances of
    # many classes only if they are called softmax.
    for_classes = "softmax" if y.max() > 1 else "binary"
    objective = for_classes if task == "classification" else "l2"
    search = GrootCV(objective=objective, n_jobs=1)
    seconds = _seconds(search.fit, _frame(X), y)
    return Verdict(search.support_, seconds)


def powershap(X: Table, y: Target, task: Task, seed: int) -> Verdict:
    """Run powershap in its automatic mode and around CatBoost, which are its defaults.

    It takes no seed: its splits, random columns and models have the seeds 0, 1, 2, ...
    """
    from catboost import CatBoostClassifier, CatBoostRegressor
    from powershap import PowerShap

    trees = CatBoostClassifier if task == "classification" else CatBoostRegressor
    model = trees(
        n_estimators=250,
        od_type="Iter",
        od_wait=25,
        use_best_model=True,
        verbose=0,
        thread_count=1,
        allow_writing_files=False,
    )
    search = PowerShap(model=model, show_progress=False)
    seconds = _seconds(search.fit, X, y)
    return Verdict(search.get_support(), seconds)


def removal_test(X: Table, y: Target, task: Task, seed: int, *, name: str) -> Verdict:
    """Run a test of hidimstat; its seconds are those of a processor."""
    start = time.process_time()
    selected, scores, p_values = HIDIMSTAT[name](X, y, task, seed)
    return Verdict(selected, time.process_time() - start, scores=scores, p_values=p_values)


def _lightgbm(task: Task, **params: Any) -> Any:
    """Make a LightGBM model that runs in one thread."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMClassifier if task == "classification" else LGBMRegressor
    return model(n_jobs=1, verbose=-1, **params)


def paper_forest(task: Task, seed: int, feature_fraction: float) -> Any:
    """Make the paper's forest."""
    return _lightgbm(
        task,
        random_state=seed,
        colsample_bytree=feature_fraction,
        # Left to itself it would choose by a stopwatch whether it adds up by rows or by columns.
        force_col_wise=True,
        **PAPER_FOREST,
    )


def _boosted_trees(task: Task, seed: int) -> Any:
    return _lightgbm(task, random_state=seed, max_depth=5)


def _shallow_forest(task: Task, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if task == "regression":
        return RandomForestRegressor(max_depth=5, random_state=seed, n_jobs=1)
    return RandomForestClassifier(max_depth=5, class_weight="balanced", random_state=seed, n_jobs=1)


def _eliminate(model: Any, X: Table, y: Target, task: Task, seed: int) -> Verdict:
    """Remove the least important columns, down to the number that is best in five folds."""
    from sklearn.feature_selection import RFECV

    folds = _folds(task, 5, seed)
    if X.shape[1] > WIDE:
        start = time.process_time()
        columns, fitted = _eliminate_by_tenths(model, X, y, folds)
        seconds = time.process_time() - start
        selected = np.isin(np.arange(X.shape[1]), columns)
        return Verdict(selected, seconds, accuracy=float(fitted.score(X[:, columns], y)))
    search = RFECV(model, cv=folds, n_jobs=1)
    seconds = _seconds(search.fit, X, y)
    return Verdict(search.support_, seconds, accuracy=float(search.score(X, y)))


def _eliminate_by_tenths(
    model: Any, X: Table, y: Target, folds: Any
) -> tuple[NDArray[np.intp], Any]:
    """Do what RFECV does, a tenth of what is left at a time: it can take a tenth of all only.

    Returns the columns that are left, and the model of them.
    """
    scores = np.array(
        [
            [fitted.score(X[test][:, columns], y[test]) for columns, fitted in path]
            for train, test in folds.split(X, y)
            for path in [shrinking(model, X[train], y[train])]
        ]
    ).mean(axis=0)
    # The fewest columns among equals, as RFECV chooses.
    best = len(scores) - 1 - int(np.argmax(scores[::-1]))
    return next(islice(shrinking(model, X, y), best, None))


def shrinking(model: Any, X: Table, y: Target) -> Iterator[tuple[NDArray[np.intp], Any]]:
    """Yield ever fewer columns, and the model of each set."""
    from sklearn.base import clone

    columns = np.arange(X.shape[1])
    while len(columns):
        fitted = clone(model).fit(X[:, columns], y)
        yield columns, fitted
        if hasattr(fitted, "coef_"):
            importance = np.square(np.atleast_2d(fitted.coef_)).sum(axis=0)
        else:
            importance = fitted.feature_importances_
        n_left = len(columns) - max(1, len(columns) // 10)
        columns = np.sort(columns[np.argsort(-importance, kind="stable")[:n_left]])


def _folds(task: Task, n_folds: int, seed: int) -> Any:
    from sklearn.model_selection import KFold, StratifiedKFold

    folds = StratifiedKFold if task == "classification" else KFold
    return folds(n_folds, shuffle=True, random_state=seed)


def _forest_accuracy(X: Table, y: Target, task: Task, seed: int) -> float:
    """Rate a selection by the paper's forest, on the rows that it is fitted to."""
    if X.shape[1] == 0:
        return float(np.bincount(y).max() / len(y)) if task == "classification" else 0.0
    return float(paper_forest(task, seed, feature_fraction=0.8).fit(X, y).score(X, y))


def _standardised(X: Table) -> Table:
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1)


def _frame(X: Table) -> Any:
    import pandas as pd

    return pd.DataFrame(X).add_prefix("x")


def _seconds(fit: Callable[..., object], *data: object) -> float:
    start = time.process_time()
    fit(*data)
    return time.process_time() - start


CONTESTANTS: dict[str, Callable[[Table, Target, Task, int], Verdict]] = {
    "squamish": partial(relevance_selector, method="crossfit"),
    "SQ": partial(relevance_selector, method="paper"),
    "SQ, one seed": partial(relevance_selector, method="paper", one_seed=True),
    "FRI": relevance_intervals,
    "ElasticNet": elastic_net,
    "RF": partial(random_forest, feature_fraction=1),
    "RF 0.1": partial(random_forest, feature_fraction=0.1),
    "Boruta 0.1": partial(boruta_of_the_paper, feature_fraction=0.1),
    "Boruta 1": partial(boruta_of_the_paper, feature_fraction=1),
    "BorutaPy RF": partial(borutapy, learner=_shallow_forest),
    "BorutaPy LightGBM": partial(borutapy, learner=_boosted_trees),
    "Leshy": leshy,
    "GrootCV": groot_cv,
    "powershap": powershap,
    **{name: partial(removal_test, name=name) for name in HIDIMSTAT},
}


def read_table(path: str) -> tuple[Table, Target, Task]:
    """Read a table, and number its classes from 0."""
    with np.load(path) as arrays:
        X, y, task = arrays["X"], arrays["y"], str(arrays["task"])
    if task not in ("classification", "regression"):
        raise ValueError(f"task is {task!r}; it has to be 'classification' or 'regression'")
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]
    return X, y, cast(Task, task)


def compete(contestant: str, table: str, seed: int) -> dict[str, Any]:
    """Let a contestant judge a table, and put its verdict in plain data."""
    if contestant not in CONTESTANTS:
        raise ValueError(f"contestant is {contestant!r}; there are {', '.join(CONTESTANTS)}")
    X, y, task = read_table(table)
    # Some peers take no seed and draw from the global generator.
    np.random.seed(seed)  # noqa: NPY002
    verdict = CONTESTANTS[contestant](X, y, task, seed)
    return {
        "selected": np.asarray(verdict.selected, dtype=bool).tolist(),
        "classes": _listed(verdict.classes),
        "seconds": verdict.seconds,
        "accuracy": verdict.accuracy,
        "scores": _listed(verdict.scores),
        "p_values": _listed(verdict.p_values),
    }


def _listed(values: NDArray[Any] | None) -> list[float] | None:
    return None if values is None else values.tolist()


def _end_with(parent: int) -> None:
    """End this process, whatever it does, soon after the one that asks it."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    """Answer every line of the input."""
    asked_by = int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid()
    Thread(target=_end_with, args=[asked_by], daemon=True).start()
    # Answers have the output to themselves: what peers print, from C as well, goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            answer = compete(**json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
