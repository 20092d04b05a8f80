"""The target: classes or amounts, and which rows have one."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d

from squamish.errors import InputError, check_choice, in_one_line
from squamish.table.table import Task, standardise
from squamish.table.values import is_missing

# Integer targets with more distinct values than this are taken for amounts, not for classes.
MOST_CLASSES = 20


def read_target(
    y: Any, counted: NDArray[np.bool_], missing: str = "error"
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Check a target, and find the rows that have one.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The target.
    counted : ndarray of bool of shape (n_samples,)
        Which rows of the table count at all.
    missing : {"error", "drop"}
        What to do with rows without a target.

    Returns
    -------
    target : ndarray
        Numbers, booleans or text, for the rows that are used.
    used : ndarray of bool of shape (n_samples,)
        Which rows count and have a target.
    """
    check_choice("missing_target", missing, ("error", "drop"))
    values = _one_column(y)
    if len(values) != len(counted):
        raise InputError(
            f"X has {len(counted)} rows, but y has {len(values)} values; they must be as many"
        )
    known = np.array([not is_missing(value) for value in values.tolist()], dtype=bool)
    n_missing = int(np.sum(counted & ~known))
    if n_missing and missing == "error":
        raise InputError(
            f"y has {n_missing} missing values of {len(known)}; drop these rows first "
            "(missing_target='drop' does it)"
        )
    used = known & counted
    _refuse_infinite(values, used)
    return _plain_labels(values[used]), used


def _one_column(y: Any) -> NDArray[Any]:
    if y is None:
        raise InputError("RelevanceSelector requires y to be passed, but the target y is None")
    with in_one_line():
        if isinstance(y, np.ma.MaskedArray):
            y = np.ma.filled(y.astype(object), np.nan)
        values: NDArray[Any] = column_or_1d(y, warn=True)
    if values.dtype.kind == "c":
        raise InputError(f"Complex data not supported: y holds {values[0]}")
    return values.astype(object) if values.dtype.kind == "T" else values


def _refuse_infinite(y: NDArray[Any], used: NDArray[np.bool_]) -> None:
    if y.dtype.kind in "USmMb":
        return
    try:
        infinite = np.flatnonzero(np.isinf(y[used].astype(np.float64)))
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return
    if len(infinite):
        row = int(np.flatnonzero(used)[infinite[0]])
        raise InputError(f"y holds {y[row]} in row {row}; the target must be finite")


def infer_task(y: NDArray[Any]) -> Task:
    """Tell classes from amounts.

    Text, booleans and whole numbers with at most 20 distinct values are classes; fractions,
    whole numbers with more values, and those with a value that occurs only once, as a
    large count does, are amounts.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.target import infer_task
    >>> infer_task(np.array(["yes", "no", "yes"]))
    'classification'
    >>> infer_task(np.arange(100))
    'regression'
    """
    if not np.issubdtype(y.dtype, np.number):
        return "classification"
    values, counts = np.unique(y, return_counts=True)
    amounts = np.any(values != np.rint(values)) or len(values) > MOST_CLASSES
    return "regression" if amounts or (len(values) > 2 and counts.min() == 1) else "classification"


def note_on_task(y: NDArray[Any], task: Task) -> list[str]:
    """Say so if whole numbers, which could be classes, were taken for amounts."""
    numbers = np.issubdtype(y.dtype, np.number)
    if task == "classification" or not numbers or np.any(y != np.rint(y)):
        return []
    return [
        f"y holds {len(np.unique(y))} different whole numbers and is taken for an amount; "
        "task='classification' takes them for classes"
    ]


def note_on_missing(left_out: NDArray[np.bool_]) -> list[str]:
    """Say how many rows were left out, since they have no target."""
    n = int(left_out.sum())
    return [f"{n} rows without a target were left out"] if n else []


def _plain_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as numbers and text as text, where they came as objects."""
    if y.dtype.kind in "mM":
        raise InputError(f"y holds dates or times ({y.dtype}); turn them into numbers first")
    if y.dtype != object:
        return y
    if all(isinstance(value, Real | Decimal) for value in y):
        return y.astype(np.float64)
    if all(isinstance(value, str) for value in y):
        return y.astype(str)
    kinds = sorted({type(value).__name__ for value in y})
    raise InputError(f"y holds {' and '.join(kinds)}; it must hold text only or numbers only")


def encode_target(y: NDArray[Any], task: Task) -> NDArray[Any]:
    """Return class codes, or amounts around their mean, 1 apart from it at the most."""
    values, codes = np.unique(y, return_inverse=True)
    if len(values) == 1:
        raise InputError(
            f"y holds one class only, {values[0]!s}: there is nothing to tell apart; "
            "it must hold two or more different values"
        )
    if task == "classification":
        if len(values) > max(len(y) / 2, 2):
            raise InputError(
                f"y has {len(values)} different values in {len(y)} rows; classes must repeat "
                "(task='regression' takes numbers as amounts)"
            )
        return codes
    try:
        return standardise(y.astype(np.float64)[:, np.newaxis])[:, 0]
    except ValueError:
        raise InputError(
            f"task is 'regression', but y holds {str(values[0])!r}, which is not a number"
        ) from None


def summarise_target(y: NDArray[Any], task: Task) -> str:
    """Say how many rows each class has, or how far the amounts go.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.target import summarise_target
    >>> summarise_target(np.array(["no", "yes", "no"]), "classification")
    '2 classes: no (2), yes (1)'
    """
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        shown = [f"{label} ({n:,})" for label, n in zip(labels[:10], counts, strict=False)]
        more = f" and {len(labels) - 10} more" if len(labels) > 10 else ""
        return f"{len(labels)} classes: {', '.join(shown)}{more}"
    low, middle, high = np.quantile(y.astype(np.float64), [0, 0.5, 1])
    return f"amounts from {low:.4g} to {high:.4g}, median {middle:.4g}"
