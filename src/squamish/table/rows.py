"""What the user says about rows: which count how much, which belong together, how to split."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit, check_cv

from squamish.errors import InputError, check_range
from squamish.table.table import Fold, Task
from squamish.table.values import is_missing

Array = NDArray[np.float64]


def read_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Check the weights of the rows.

    Examples
    --------
    >>> from squamish.table.rows import read_weights
    >>> read_weights([1, 0, 3], 3)
    array([1., 0., 3.])
    """
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers, one for each row") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InputError(
            f"sample_weight has the shape {weights.shape}; it must hold {n_rows} numbers, one for "
            "each row"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise InputError(
            f"sample_weight holds {weights[wrong[0]]} in row {wrong[0]}; weights must be finite "
            "and not below 0"
        )
    return weights


def even_weights(weights: Array) -> Array | None:
    """Scale weights to a mean of 1; None if all are the same."""
    if np.ptp(weights) == 0:
        return None
    weights = weights / weights.max()
    return weights / weights.mean()


def read_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """Enumerate the groups of rows that belong together, in the order of their labels."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise InputError(
            f"groups has the shape {values.shape}; it must hold {n_rows} labels, one for each row"
        )
    missing = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
    if missing:
        raise InputError(f"groups has no label in row {missing[0]}; every row must have one")
    if values.dtype == object:
        values = values.astype(str)
    return np.unique(values, return_inverse=True)[1]


def read_folds(
    cv: Any,
    y: NDArray[Any],
    groups: NDArray[Any] | None,
    task: Task,
    used: NDArray[np.bool_],
) -> Sequence[Fold] | None:
    """Let a scikit-learn splitter, a number or an iterable of row numbers split the rows.

    A number is left to the method, as None is. Splitters split the rows that are used. Row
    numbers that are given are those of the whole table, so that rows that are not used have to
    be left out of them. Every class has to be among the training rows of each fold.
    """
    if cv is None or isinstance(cv, int | np.integer):
        return None
    if isinstance(cv, PredefinedSplit):
        cv = list(cv.split())
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InputError(
            f"cv is {cv!r}; it must be None, a number of folds, a splitter of scikit-learn, or an "
            "iterable of (train, test)"
        )
    try:
        splitter = check_cv(cv, y, classifier=task == "classification")
        with warnings.catch_warnings():
            # Splitters that do not know groups say so; folds that divide them are refused below.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            folds = [
                (_row_numbers(train), _row_numbers(test))
                for train, test in splitter.split(np.zeros((len(y), 1)), y, groups)
            ]
    except (TypeError, ValueError, IndexError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"cv cannot split these {len(y)} rows: {reason}") from None
    if not hasattr(cv, "split"):
        folds = [(_renumbered(train, used), _renumbered(test, used)) for train, test in folds]
    if len(folds) < 1:
        raise InputError("cv gives no folds")
    for number, (train, test) in enumerate(folds, start=1):
        _check_fold(number, train, test, y, task)
        if groups is not None and np.isin(groups[test], groups[train]).any():
            raise InputError(
                f"fold {number} of cv trains and tests on rows of the same group; take a splitter "
                "that keeps groups whole, such as GroupKFold"
            )
    return folds


def read_n_folds(cv: Any) -> int | None:
    """Return the number of folds, if ``cv`` is one."""
    if not isinstance(cv, int | np.integer):
        return None
    check_range("cv", cv, at_least=2, integer=True)
    return int(cv)


def _row_numbers(rows: Any) -> NDArray[np.intp]:
    """Return row numbers; a mask tells them too."""
    rows = np.asarray(rows)
    return np.asarray(np.flatnonzero(rows) if rows.dtype == bool else rows, dtype=np.intp)


def _renumbered(rows: NDArray[np.intp], used: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Leave out rows that are not used, and number the others without them."""
    if len(rows) and (rows.max() >= len(used) or rows.min() < 0):
        wrong = rows[(rows >= len(used)) | (rows < 0)][0]
        raise InputError(f"cv holds row {wrong}, but the table has {len(used)} rows")
    return np.asarray(np.cumsum(used)[rows[used[rows]]] - 1, dtype=np.intp)


def _check_fold(
    number: int, train: NDArray[np.intp], test: NDArray[np.intp], y: NDArray[Any], task: Task
) -> None:
    if min(len(train), len(test)) == 0:
        raise InputError(f"fold {number} of cv has no rows to train or to test on")
    if np.isin(test, train).any():
        raise InputError(f"fold {number} of cv tests on rows that it is trained on")
    if task == "classification" and len(np.unique(y[train])) < len(np.unique(y)):
        raise InputError(
            f"the training rows of fold {number} of cv lack a class of y; every fold must be "
            "trained on all classes"
        )
