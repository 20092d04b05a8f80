"""Folds that the user asks for: a number, a splitter of scikit-learn, or row numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit, check_cv

from squamish.arrays import Fold, Indices, Mask
from squamish.errors import InputError, check_range
from squamish.families import Task, family_of


def is_number_of_folds(cv: Any) -> bool:
    """Tell whether how to split is left to the method, but for the number of folds."""
    return cv is None or isinstance(cv, int | np.integer)


def read_n_folds(cv: Any) -> int | None:
    """Return the number of folds, if ``cv`` is one."""
    if not isinstance(cv, int | np.integer):
        return None
    check_range("cv", cv, at_least=2, integer=True)
    return int(cv)


def read_folds(
    cv: Any,
    y: NDArray[Any],
    groups: Indices | None,
    task: Task,
    used: Mask,
) -> Sequence[Fold] | None:
    """Let a scikit-learn splitter, a number or an iterable of row numbers split the rows.

    A number is left to the method, as None is. Splitters split the rows that are used. Row
    numbers that are given are those of the whole table, so that rows that are not used have to
    be left out of them. Every class has to be among the training rows of each fold.
    """
    if is_number_of_folds(cv):
        return None
    if isinstance(cv, PredefinedSplit):
        cv = list(cv.split())
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InputError(
            f"cv is {cv!r}; it must be None, a number of folds, a splitter of scikit-learn, or an "
            "iterable of (train, test)"
        )
    folds = _split(cv, y, groups)
    if not hasattr(cv, "split"):
        folds = [(_renumbered(train, used), _renumbered(test, used)) for train, test in folds]
    if len(folds) < 1:
        raise InputError("cv gives no folds")
    for number, fold in enumerate(folds, start=1):
        _check_fold(number, fold, y, groups, task)
    return folds


def _split(cv: Any, y: NDArray[Any], groups: Indices | None) -> list[Fold]:
    """Let a splitter or an iterable split the rows."""
    try:
        splitter = check_cv(cv, y)
        # Warnings belong to the process: only those that may come are caught.
        with _not_knowing_groups() if hasattr(cv, "split") else nullcontext():
            return [
                (_row_numbers(train), _row_numbers(test))
                for train, test in splitter.split(np.zeros((len(y), 1)), y, groups)
            ]
    except (TypeError, ValueError, IndexError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"cv cannot split these {len(y)} rows: {reason}") from None


@contextmanager
def _not_knowing_groups() -> Iterator[None]:
    """Let splitters ignore groups in silence; folds that divide them are refused later."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        yield


def _row_numbers(rows: Any) -> Indices:
    """Return row numbers; a mask tells them too."""
    rows = np.asarray(rows)
    return np.asarray(np.flatnonzero(rows) if rows.dtype == bool else rows, dtype=np.intp)


def _renumbered(rows: Indices, used: Mask) -> Indices:
    """Leave out rows that are not used, and number the others without them."""
    if len(rows) and (rows.max() >= len(used) or rows.min() < 0):
        wrong = rows[(rows >= len(used)) | (rows < 0)][0]
        raise InputError(f"cv holds row {wrong}, but the table has {len(used)} rows")
    return np.asarray(np.cumsum(used)[rows[used[rows]]] - 1, dtype=np.intp)


def _check_fold(
    number: int, fold: Fold, y: NDArray[Any], groups: Indices | None, task: Task
) -> None:
    train, test = fold
    if min(len(train), len(test)) == 0:
        raise InputError(f"fold {number} of cv has no rows to train or to test on")
    if np.isin(test, train).any():
        raise InputError(f"fold {number} of cv tests on rows that it is trained on")
    if not family_of(task).is_trainable(y, train):
        raise InputError(
            f"the training rows of fold {number} of cv lack a class of y; every fold must be "
            "trained on all classes"
        )
    if groups is not None and np.isin(groups[test], groups[train]).any():
        raise InputError(
            f"fold {number} of cv trains and tests on rows of the same group; take a splitter "
            "that keeps groups whole, such as GroupKFold"
        )


def folds_of_some(
    folds: Sequence[Fold], rows: Indices, y: NDArray[Any], groups: Indices | None, task: Task
) -> Sequence[Fold]:
    """Return folds without the rows that are left out, for a table of the others.

    A fold that would test on none of them is left out, too.

    Parameters
    ----------
    folds : sequence of (train, test)
        Folds of all rows.
    rows : ndarray of int
        The rows that stay, in ascending order.
    y, groups : ndarray
        Their target and groups.
    task : {"classification", "regression"}
        What kind of target it is.
    """
    place = np.full(max(int(r.max(initial=-1)) for fold in folds for r in (*fold, rows)) + 1, -1)
    place[rows] = np.arange(len(rows))

    def some(of_all: Indices) -> Indices:
        places = place[of_all]
        return places[places >= 0]

    left = [(some(train), some(test)) for train, test in folds]
    left = [(train, test) for train, test in left if len(test)]
    if not left:
        raise InputError("no fold of cv has rows to test on")
    for number, fold in enumerate(left, start=1):
        _check_fold(number, fold, y, groups, task)
    return left
