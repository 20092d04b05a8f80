"""Taking a table in: checks with messages that help, the kind of target, a canonical order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from squamish.errors import InputError, InputTypeError, check_choice

Task = Literal["classification", "regression"]

# Integer targets with more distinct values than this are taken for amounts, not for classes.
MOST_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Table:
    """A checked table: floats, NaN where a value is missing, and a target fit for LightGBM.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray of shape (n_samples,)
        Class codes 0, 1, ... for classification, amounts scaled to [-1, 1] for regression.
    task : {"classification", "regression"}
        What kind of target ``y`` is.
    labels : tuple of str
        The name of every class, for messages.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    task: Task
    labels: tuple[str, ...] = ()

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def take(self, columns: NDArray[Any]) -> Table:
        """Return the table with these columns only."""
        return replace(self, X=self.X[:, columns])

    def with_column(self, column: NDArray[np.float64]) -> Table:
        """Return the table with one column more, at its end."""
        return replace(self, X=np.column_stack([self.X, column]))

    def in_canonical_order(self) -> tuple[Table, NDArray[np.intp]]:
        """Drop constant columns, scale the others, sort columns and rows by what they hold.

        Forests break ties by position and draw rows and columns by number, so a verdict
        would otherwise change with the order in which the table happens to be stored.

        Returns
        -------
        table : Table
            The same data, rearranged.
        places : ndarray of int
            For every column of it, its place in this table.
        """
        varying = np.flatnonzero(_varies(self.X))
        raw = self.X[:, varying]
        X = _standardise(raw)
        columns, rows, signs = _canonical_order(X, raw, self.y)
        X = X[np.ix_(rows, columns)] * signs[columns]
        return replace(self, X=X, y=self.y[rows]), varying[columns]


def read_table(estimator: BaseEstimator, X: Any, y: Any, task: Task | None) -> Table:
    """Check a training table and its target, and settle the task.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like or data frame of shape (n_samples, n_features)
        Numbers; NaN marks a missing value.
    y : array-like of shape (n_samples,)
        The target.
    task : {"classification", "regression"} or None
        None infers it from ``y``.

    Returns
    -------
    Table
        The checked table.
    """
    _refuse_frame(X)
    try:
        values, target = validate_data(
            estimator,
            X,
            y,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2,
        )
    except (TypeError, ValueError, OverflowError):
        complaint = _complaint(X, y)
        if complaint is None:
            raise
        raise InputError(complaint) from None
    target = _plain_labels(target)
    task = infer_task(target) if task is None else task
    check_choice("task", task, get_args(Task))
    labels = np.unique(target).astype(str).tolist() if task == "classification" else ()
    return Table(values, _encode_target(target, task), task, tuple(labels))


def infer_task(y: NDArray[Any]) -> Task:
    """Tell classes from amounts.

    Text, booleans and whole numbers with at most 20 distinct values are classes; fractions,
    whole numbers with more values, and those with a value that occurs only once, as a
    large count does, are amounts.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.tables import infer_task
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


def column_names(X: Any, n_features: int) -> tuple[str, ...]:
    """Return the names of a frame's columns as text, or numbers if it has no names."""
    return tuple(str(name) for name in getattr(X, "columns", range(n_features)))


def _plain_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as numbers and text as text, where they came as objects."""
    if y.dtype.kind in "mM":
        raise InputError(f"y holds dates or times ({y.dtype}); turn them into numbers first")
    if y.dtype != object:
        return y
    complaint = _complaint_about_target(y)
    if complaint is not None:
        raise InputError(complaint)
    if all(isinstance(value, Real | Decimal) for value in y):
        return y.astype(np.float64)
    if all(isinstance(value, str) for value in y):
        return y.astype(str)
    kinds = sorted({type(value).__name__ for value in y})
    raise InputError(f"y holds {' and '.join(kinds)}; it must hold text only or numbers only")


def _encode_target(y: NDArray[Any], task: Task) -> NDArray[Any]:
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
        return _standardise(y.astype(np.float64)[:, np.newaxis])[:, 0]
    except ValueError:
        raise InputError(
            f"task is 'regression', but y holds {str(values[0])!r}, which is not a number"
        ) from None


def _standardise(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centre columns and scale them to [-1, 1], so that units have no influence.

    LightGBM rounds to float32 and takes what is below 1e-35 for zero. The last digits go,
    because they depend on the units that the column came in.
    """
    X = np.divide(X, np.nanmax(np.abs(X), axis=0))
    X -= (np.nanmax(X, axis=0) + np.nanmin(X, axis=0)) / 2
    X /= np.maximum(np.nanmax(np.abs(X), axis=0), 1e-300)
    return np.round(X, 12) + 0.0


def _refuse_frame(X: Any) -> None:
    """Refuse what can be seen from outside: no table, repeated names, dates."""
    if isinstance(X, str | bytes | PathLike):
        raise InputError(f"X is {X!r}; read the file first and pass the table")
    if hasattr(X, "collect"):
        raise InputError(f"X is a {type(X).__name__}; collect() it first")
    names = Counter(str(name) for name in getattr(X, "columns", ()))
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        raise InputError(
            f"column names must differ; more than one column is called {', '.join(repeated)}"
        )
    if hasattr(X, "columns") and not names:
        raise InputError("X has no columns; it must have 1 or more (0 feature(s) found)")
    dtypes = [str(dtype).lower() for dtype in getattr(X, "dtypes", ())]
    for name, dtype in zip(names, dtypes, strict=False):
        if dtype.startswith(("date", "time", "duration", "period")):
            raise InputError(
                f"column {name!r} holds dates or times ({dtype}); columns must be numeric: "
                "turn it into numbers, such as days since a start, first"
            )


def _complaint(X: Any, y: Any) -> str | None:
    """Say in one sentence what is wrong with a table that was refused, or None if unsure."""
    if issparse(X) or y is None or np.iscomplexobj(X):
        return None
    if hasattr(X, "__len__") and hasattr(y, "__len__") and len(X) != len(y):
        return f"X has {len(X)} rows, but y has {len(y)} values; they must be as many"
    complaints = (_complaint_about_column(name, column) for name, column in _columns(X))
    return next(filter(None, complaints), None) or _complaint_about_target(y)


def _columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield each column of a frame or of a matrix with a name to call it by."""
    if hasattr(X, "columns"):
        for name in X.columns:
            yield f"column {name!r}", np.asarray(X[name])
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        for j, column in enumerate(X.T):
            yield f"column {j}", column
    elif isinstance(X, Sequence) and len({len(row) for row in X if isinstance(row, Sequence)}) == 1:
        yield from _columns(np.array(X, dtype=object))


def _complaint_about_column(name: str, column: NDArray[Any]) -> str | None:
    numbers = _as_floats(column)
    if numbers is None:
        return _complaint_about_value(name, column)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite) == 0:
        return None
    return (
        f"{name} holds {column[infinite[0]]} in row {infinite[0]}; values must be finite, "
        "or NaN where they are missing"
    )


def _complaint_about_value(name: str, column: NDArray[Any]) -> str | None:
    for row, value in enumerate(column):
        try:
            float(value)
        except (ValueError, OverflowError):
            return f"{name} holds {str(value)!r} in row {row}; columns must be numeric"
        except TypeError:
            raise InputTypeError(
                f"{name} holds {value!r} in row {row}; every argument must be a number, or a "
                f"string that stands for a number, not {type(value).__name__}"
            ) from None
    return None


def _complaint_about_target(y: Any) -> str | None:
    values = np.asarray(y)
    missing = sum(map(_is_missing, values)) if values.ndim == 1 else 0
    if missing:
        return f"y has {missing} missing values of {len(values)}; drop these rows first"
    numbers = None if values.dtype.kind in "USmM" else _as_floats(values)
    if numbers is not None and np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        return f"y holds {values[row]} in row {row}; the target must be finite"
    return None


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64] | None:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA cannot be compared
        return True


def _varies(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which columns hold more than one value, a missing value being one of them."""
    constant: NDArray[np.bool_] = ((X[0] == X) | (np.isnan(X) & np.isnan(X[0]))).all(axis=0)
    return ~constant


def _canonical_order(
    X: NDArray[np.float64], raw: NDArray[np.float64], y: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Order columns and rows, and turn columns, by hashes that do not depend on any of these.

    A column's hash adds up over its rows, and each row contributes the rank of its value
    together with the rank of its target: any order of the rows gives the same sum. Sums
    over uint64 wrap around and are exact, unlike sums of floats. Of a column and its
    negative, the one with the smaller hash is taken.
    """
    target = _ranks(y)
    ranks = np.empty(X.shape, dtype=np.uint64)
    for j, column in enumerate(X.T):
        ranks[:, j] = _ranks(column)
    upright, turned = (_column_hash(r, target) for r in (ranks, ranks.max(axis=0) - ranks))
    flip = turned < upright
    ranks[:, flip] = ranks[:, flip].max(axis=0, initial=0) - ranks[:, flip]
    signs = np.where(flip, -1.0, 1.0)
    # Copies through a monotone function have the same ranks: their values decide, and the
    # units they came in if nothing else differs.
    value_hash, raw_hash = (
        _mix((values + 0.0).view(np.uint64)).sum(axis=0) for values in (np.round(X * signs, 9), raw)
    )
    columns = np.lexsort([raw_hash, value_hash, np.minimum(upright, turned)])
    position = np.arange(len(columns), dtype=np.uint64)
    row_hash = _mix(ranks[:, columns] * np.uint64(2**32) + position).sum(axis=1)
    return columns, np.lexsort([row_hash, target]), signs


def _column_hash(ranks: NDArray[np.uint64], target: NDArray[np.uint64]) -> NDArray[np.uint64]:
    hashes: NDArray[np.uint64] = _mix(ranks * np.uint64(2**32) + target[:, np.newaxis]).sum(axis=0)
    return hashes


def _ranks(values: NDArray[Any]) -> NDArray[np.uint64]:
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit integers (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
