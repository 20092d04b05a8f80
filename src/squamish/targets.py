"""The target: classes or amounts, and which rows have one."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from squamish.errors import InputError, check_choice
from squamish.intake import is_missing
from squamish.tables import Task, standardise

# Integer targets with more distinct values than this are taken for amounts, not for classes.
MOST_CLASSES = 20


def read_target(
    estimator: BaseEstimator, y: Any, missing: str = "error"
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Check a target, and find the rows that have one.

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator that is fitted, for messages.
    y : array-like of shape (n_samples,)
        The target.
    missing : {"error", "drop"}
        What to do with rows without a target.

    Returns
    -------
    target : ndarray
        Numbers, booleans or text, for the rows that have one.
    known : ndarray of bool of shape (n_samples,)
        Which rows have one.
    """
    check_choice("missing_target", missing, ("error", "drop"))
    values = None if y is None else np.asarray(y)
    known = np.ones(0, dtype=bool)
    if values is not None and values.ndim == 1:
        known = np.array([not is_missing(value) for value in values.tolist()], dtype=bool)
        if not known.all():
            if missing == "error":
                raise InputError(
                    f"y has {np.sum(~known)} missing values of {len(known)}; drop these rows first "
                    "(missing_target='drop' does it)"
                )
            y = values[known]
            if y.dtype == object and len({type(value) for value in y.tolist()}) == 1:
                y = np.array(y.tolist())
        _refuse_infinite(values[known])
    target = validate_data(estimator, y=y)
    if not len(known):
        known = np.ones(len(target), dtype=bool)
    return _plain_labels(target), known


def _refuse_infinite(y: NDArray[Any]) -> None:
    if y.dtype.kind in "USmMbc":
        return
    try:
        infinite = np.flatnonzero(np.isinf(y.astype(np.float64)))
    except (TypeError, ValueError, OverflowError):
        return
    if len(infinite):
        row = int(infinite[0])
        raise InputError(f"y holds {y[row]} in row {row}; the target must be finite")


def infer_task(y: NDArray[Any]) -> Task:
    """Tell classes from amounts.

    Text, booleans and whole numbers with at most 20 distinct values are classes; fractions,
    whole numbers with more values, and those with a value that occurs only once, as a
    large count does, are amounts.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.targets import infer_task
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
