"""Tests of hidimstat, with its defaults and around the learners of its examples.

Conditional feature importance (CFI) and leave-one-covariate-out (LOCO) are those with five folds,
whose p-values are of the corrected t-test over folds (Nadeau and Bengio). Those without folds test
something else: draws of one column, or signed residuals. Every test returns what it selects by its
own default, the importance of every column, and p-values that are not corrected.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tested = tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64] | None]
N_FOLDS = 5
# The false discovery rate of hidimstat's function for knockoffs.
FDR = 0.1


def boosting(task: str, seed: int) -> Any:
    """Make boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if task == "classification":
        return HistGradientBoostingClassifier(random_state=seed)
    return HistGradientBoostingRegressor(random_state=seed)


def lasso(task: str, seed: int) -> Any:
    """Make a linear model with an L1 penalty chosen in folds."""
    from sklearn.linear_model import LassoCV, LogisticRegressionCV

    if task == "classification":
        return LogisticRegressionCV(
            l1_ratios=(1,),
            solver="liblinear",
            scoring="neg_log_loss",
            random_state=seed,
            use_legacy_attributes=False,
        )
    return LassoCV(random_state=seed)


def removal(
    X: NDArray[np.float64],
    y: NDArray[Any],
    task: str,
    seed: int,
    *,
    kind: str,
    learner: Callable[[str, int], Any],
) -> Tested:
    """Say what redrawing a column, or leaving it out, costs on rows not trained on."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import KFold, StratifiedKFold

    of_classes = task == "classification"
    folds = (StratifiedKFold if of_classes else KFold)(N_FOLDS, shuffle=True, random_state=seed)
    settings: dict[str, Any] = {"random_state": seed} if kind == "CFICV" else {}
    if of_classes:
        settings |= {"method": "predict_proba", "loss": log_loss}
    test = getattr(import_module("hidimstat"), kind)(learner(task, seed), folds, **settings)
    scores = test.fit_importance(X, y).mean(axis=1)
    return test.pvalue_selection(), scores, test.pvalues_


def knockoffs(X: NDArray[np.float64], y: NDArray[Any], task: str, seed: int) -> Tested:
    """Compare every column with its Gaussian knockoff in one lasso."""
    # Its own default is a lasso whose penalties it sets; it has none for classes.
    settings: dict[str, Any] = {}
    if task == "classification":
        settings = {"estimator": lasso(task, seed), "preconfigure_lasso_path": False}
    test = import_module("hidimstat").ModelXKnockoff(random_state=seed, **settings)
    (scores,) = test.fit_importance(X, y)
    return test.fdr_selection(FDR), scores, None


TESTS: dict[str, Callable[[NDArray[np.float64], NDArray[Any], str, int], Tested]] = {
    "CFI, boosting": partial(removal, kind="CFICV", learner=boosting),
    "CFI, lasso": partial(removal, kind="CFICV", learner=lasso),
    "LOCO, boosting": partial(removal, kind="LOCOCV", learner=boosting),
    "LOCO, lasso": partial(removal, kind="LOCOCV", learner=lasso),
    "knockoffs, lasso": knockoffs,
}
