"""The target: classes or amounts, and which rows have one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import column_or_1d

from squamish.arrays import Mask
from squamish.errors import InputError, InputTypeError, check_choice, in_one_line, warn_caller
from squamish.families import Family, Task
from squamish.table.values import is_missing

# Integer targets with more distinct values than this are taken for amounts, not for classes.
MOST_CLASSES = 20
# The share of rows with a value of their own estimates how likely it is that the next row holds one
# that was never seen (Good and Turing). Kinds of things are known sooner or later.
MOST_NEW = 0.05

# Models keep a number for every row and class, several times: 200 million take 1.6 GB each time.
MOST_INDICATORS = 200_000_000


def read_target(y: Any, counted: Mask, missing: str = "error") -> tuple[NDArray[Any], Mask]:
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
    values = one_column(y)
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


def one_column(y: Any) -> NDArray[Any]:
    """Return a target of any library as an array, gaps and all."""
    if y is None:
        raise InputError("RelevanceSelector requires y to be passed, but the target y is None")
    _refuse_several(y)
    if isinstance(y, Mapping | Iterator | Set):
        raise InputTypeError(
            f"y is a {type(y).__name__}; it must be a list, an array or a column, with a value for "
            "each row"
        )
    with in_one_line():
        if isinstance(y, np.ma.MaskedArray):
            y = np.ma.filled(y.astype(object), np.nan)
        values: NDArray[Any] = column_or_1d(y)
    if _is_table(y):
        warn_caller(
            "a column-vector y was passed: a table of one column; y should be a list or a 1d array",
            DataConversionWarning,
        )
    if values.dtype.kind == "S":
        return np.array([value.decode(errors="backslashreplace") for value in values.tolist()])
    if values.dtype.kind == "c":
        raise InputError(f"Complex data not supported: y holds {values[0]}")
    return values.astype(object) if values.dtype.kind == "T" else values


def _refuse_several(y: Any) -> None:
    """Refuse several targets at once."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    shape = getattr(y, "shape", None)
    if isinstance(y, list | tuple):
        shape = np.shape(np.asarray(y, dtype=object)) if _is_table(y) else None
    n_columns = len(fields) if fields else shape[1] if shape and len(shape) == 2 else 1
    if n_columns > 1:
        raise InputError(
            f"y has {n_columns} columns, but one target is explained at a time: fit a selector for "
            "each of them, in a loop such as {name: clone(selector).fit(X, y[name]).result_ for "
            "name in y} (an event and a time take task='survival')"
        )


def _is_table(y: Any) -> bool:
    shape = getattr(y, "shape", None)
    return len(shape) > 1 if isinstance(shape, tuple) else np.asarray(y, dtype=object).ndim > 1


def _refuse_infinite(y: NDArray[Any], used: Mask) -> None:
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

    Text and booleans are classes. Whole numbers are, if at most 20 values occur more than once, and
    nearly all rows hold one of these. Other numbers are amounts. A few rare values change nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.target import infer_task
    >>> infer_task(np.array(["yes", "no", "yes"]))
    'classification'
    >>> infer_task(np.arange(100)), infer_task(np.array([1, 2, 3, 4, 5] * 20 + [9]))
    ('regression', 'classification')
    """
    if not np.issubdtype(y.dtype, np.number):
        return "classification"
    values, counts = np.unique(y, return_counts=True)
    if np.any(values != np.rint(values)):
        return "regression"
    if len(values) == 2:
        return "classification"
    few = np.sum(counts > 1) <= MOST_CLASSES and np.sum(counts == 1) <= MOST_NEW * len(y)
    return "classification" if few else "regression"


def lone_values(y: NDArray[Any]) -> Mask:
    """Tell which rows hold a number that no other row holds, which cannot be a class."""
    values, places, counts = np.unique(y, return_inverse=True, return_counts=True)
    if not np.issubdtype(y.dtype, np.number) or len(values) == 2:
        return np.zeros(len(y), dtype=bool)
    return np.asarray(counts[places] == 1)


def _plain_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as numbers and text as text, where they came as objects."""
    if y.dtype.kind in "mM":
        raise InputError(f"y holds dates or times ({y.dtype}); turn them into numbers first")
    if y.dtype != object:
        return y
    if all(isinstance(value, Real | Decimal) for value in y):
        return _as_floats(y)
    if all(isinstance(value, bytes) for value in y):
        y = np.array([value.decode(errors="backslashreplace") for value in y], dtype=object)
    if all(isinstance(value, str) for value in y):
        return y.astype(str)
    kinds = sorted({type(value).__name__ for value in y})
    raise InputError(f"y holds {' and '.join(kinds)}; it must hold text only or numbers only")


def _as_floats(y: NDArray[Any]) -> NDArray[Any]:
    try:
        return y.astype(np.float64)
    except OverflowError:
        raise InputError("y holds a number that is too large; the target must be finite") from None


def encode_target(y: NDArray[Any], family: Family) -> NDArray[Any]:
    """Turn a target into numbers that models can be fitted to; refuse one that never differs."""
    if np.all(y == y[0]):
        raise InputError(
            f"y holds one class only, {y[0]!s}: there is nothing to tell apart; "
            "it must hold two or more different values"
        )
    codes = family.encode(y)
    if family.has_classes:
        _refuse_too_many_classes(codes)
    return codes


def _refuse_too_many_classes(codes: NDArray[Any]) -> None:
    n_classes = len(np.unique(codes))
    if n_classes * len(codes) > MOST_INDICATORS:
        raise InputError(
            f"y has {n_classes:,} classes in {len(codes):,} rows, more than can be told apart in "
            f"memory (at most {MOST_INDICATORS:,} classes times rows): turn amounts, such as "
            "dates, into numbers, or join classes"
        )
