"""Taking a table in: any frame, array or sparse matrix, with errors that help.

Every column becomes floats. Numbers stay what they are; booleans are 0 and 1; dates are
seconds since 1970 and durations are seconds; text and categories are numbered in the order of
their labels, and marked as categories. NaN marks what is missing, except in categories, where
it is a level of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from os import PathLike
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from squamish.errors import InputError, InputTypeError, check_choice, in_one_line

Array = NDArray[np.float64]
# A text column is taken for a mistake if so many of its levels, and so large a share, are numbers.
LEAST_NUMBERS, MOST_OF_THEM = 5, 0.8
ALLOWED = "columns may hold numbers, booleans, text, categories, dates, times or durations"


@dataclass(frozen=True, eq=False)
class Levels:
    """A category: the number of the level in every row, and where there is none.

    Attributes
    ----------
    codes : ndarray of float
        Level numbers, in the order of the labels; what is missing comes last.
    missing : ndarray of bool
        Rows without a value.
    labels : ndarray
        What the levels stand for, in the order of their numbers; None is not among them.
    like_a_number : str
        One of the labels, if most of them could be numbers; else empty.
    """

    codes: Array
    missing: NDArray[np.bool_]
    labels: NDArray[Any]
    like_a_number: str = ""

    def again(self, labels: NDArray[Any]) -> Array:
        """Return the numbers of labels; that of None, and one more for what is not known."""
        known = {label: float(code) for code, label in enumerate(self.labels.tolist())}
        none, unknown = float(len(known)), float(len(known) + 1)
        found = (none if is_missing(v) else known.get(v, unknown) for v in labels.tolist())
        return np.fromiter(found, dtype=np.float64, count=len(labels))


@dataclass(frozen=True, eq=False)
class ReadColumns:
    """A table as floats, and what is known of its categories.

    Attributes
    ----------
    values : ndarray or sparse matrix of shape (n_samples, n_features)
        The table as floats; a sparse one stays sparse.
    levels : dict of int to Levels
        The columns that hold level numbers.
    """

    values: Any
    levels: dict[int, Levels]

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Tell for every column whether it holds level numbers."""
        return np.isin(np.arange(self.values.shape[1]), list(self.levels))

    def missing_shares(self, used: NDArray[np.bool_]) -> Array:
        """Return the share of missing values in every column, among the rows that are used."""
        if sparse.issparse(self.values):
            gaps = sparse.csc_array(self.values[used])
            gaps.data = np.isnan(gaps.data).astype(float)
            return np.asarray(gaps.mean(axis=0)).ravel()
        shares = np.isnan(self.values[used]).mean(axis=0)
        for j, levels in self.levels.items():
            shares[j] = levels.missing[used].mean()
        return np.asarray(shares)


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library behind one interface; None for anything else."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any, n_features: int) -> tuple[str, ...]:
    """Return the names of a frame's columns as text, or numbers if it has no names."""
    frame = as_frame(X)
    return tuple(map(str, range(n_features) if frame is None else frame.columns))


def read_columns(
    estimator: BaseEstimator, X: Any, categorical: Iterable[str | int] | None = None
) -> ReadColumns:
    """Turn a training table into floats, and tell which columns are categories.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The table.
    categorical : iterable of str or int, or None
        Names or numbers of further columns that are categories.

    Returns
    -------
    ReadColumns
        The table as floats, and its categories.
    """
    refuse(X)
    frame = as_frame(X)
    if frame is None:
        read = _read_array(estimator, X)
    else:
        with in_one_line():
            validate_data(estimator, X, skip_check_array=True)
        read = _read_numbers(frame) or _joined(
            [
                _read_series(f"column {str(name)!r}", series)
                for name, series in zip(frame.columns, frame.iter_columns(), strict=True)
            ]
        )
    values, levels = read.values, read.levels
    if values.shape[0] < 2:
        raise InputError(f"X has {len(values)} rows, n_samples = {len(values)}; 2 are the minimum")
    if categorical is not None:
        names = column_names(X, values.shape[1])
        if sparse.issparse(values):
            raise InputError("categorical_features cannot be columns of a sparse matrix")
        for j in positions(categorical, names, "categorical_features").tolist():
            if j not in levels:
                levels[j] = _level_numbers(values[:, j])
                values[:, j] = levels[j].codes
    return read


def _joined(columns: Sequence[Array | Levels]) -> ReadColumns:
    values = np.column_stack([c.codes if isinstance(c, Levels) else c for c in columns])
    return ReadColumns(values, {j: c for j, c in enumerate(columns) if isinstance(c, Levels)})


@dataclass(frozen=True, eq=False)
class LazyRows:
    """The rows of a polars LazyFrame, which are read when they are asked for.

    Attributes
    ----------
    frame : polars.LazyFrame
        The table.
    n_rows : int
        How many rows it has.
    levels : mapping of int to Levels
        Its categories, as they were read in some of the rows.
    infinite : {"error", "missing"}
        What to do with infinite values.
    used : ndarray of bool or None
        Which rows are used; None for all.
    """

    frame: Any
    n_rows: int
    levels: Mapping[int, Levels] = field(default_factory=dict)
    infinite: str = "error"
    used: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, frame: Any, n_rows: int) -> LazyRows:
        """Check that a frame has as many rows as there are targets."""
        import polars as pl

        found = int(frame.select(pl.len()).collect().item())
        if found != n_rows:
            raise InputError(f"X has {found} rows, and y has {n_rows}; they must have the same")
        return cls(frame, n_rows)

    def rows(self, numbers: NDArray[np.intp], portions: Sequence[tuple[int, int]]) -> Any:
        """Return some rows, given in ascending order, as a frame."""
        import polars as pl

        cut = np.searchsorted(numbers, [start for start, _ in portions][1:])
        return pl.concat(
            [
                self._frame(start, stop)[some - start]
                for (start, stop), some in zip(portions, np.split(numbers, cut), strict=True)
                if len(some)
            ]
        )

    def portion(self, start: int, stop: int) -> Array:
        """Return some rows as floats, numbered as the levels were before."""
        some = nw.from_native(self._frame(start, stop), eager_only=True)
        columns = [
            _read_series(f"column {name!r}", series)
            for name, series in zip(some.columns, some.iter_columns(), strict=True)
        ]
        values = np.column_stack([self._numbers(j, column) for j, column in enumerate(columns)])
        numbers = np.arange(start, stop)
        used = np.ones(len(values), dtype=bool) if self.used is None else self.used[start:stop]
        return np.asarray(without_infinite(values, used, some.columns, self.infinite, numbers))

    def _numbers(self, j: int, column: Array | Levels) -> Array:
        if isinstance(column, Levels):
            known = self.levels[j].again(np.array([*column.labels.tolist(), None], dtype=object))
            return known[column.codes.astype(np.intp)]
        return self.levels[j].again(column) if j in self.levels else column

    def _frame(self, start: int, stop: int) -> Any:
        return self.frame.slice(start, stop - start).collect()


def is_lazy(X: Any) -> bool:
    """Tell whether a table is a polars LazyFrame."""
    return bool(nw.dependencies.is_polars_lazyframe(X))


def positions(
    columns: Iterable[str | int], names: Sequence[str], parameter: str
) -> NDArray[np.intp]:
    """Find columns by name or by number.

    Examples
    --------
    >>> from squamish.table.columns import positions
    >>> positions(["b", 0], ["a", "b"], "feature_groups")
    array([1, 0])
    """
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError(f"{parameter} holds {columns!r}; it must hold lists of columns")
    found = []
    for column in columns:
        if str(column) in names:
            found.append(names.index(str(column)))
        elif isinstance(column, int | np.integer) and 0 <= column < len(names):
            found.append(int(column))
        else:
            raise InputError(
                f"{parameter} holds {column!r}, which is no column of X; the columns are "
                f"{', '.join(names[:20])}{', ...' if len(names) > 20 else ''}"
            )
    return np.array(found, dtype=np.intp)


def refuse(X: Any) -> None:
    """Refuse what can be seen from outside: no table, repeated names."""
    if isinstance(X, str | bytes | PathLike):
        raise InputError(f"X is {X!r}; read the file first and pass the table")
    # Of the class: pandas has columns as attributes, whatever they are called.
    if hasattr(type(X), "collect"):
        raise InputError(f"X is a {type(X).__name__}; collect() it first")
    given = X.column_names if hasattr(type(X), "column_names") else getattr(X, "columns", ())
    names = Counter(map(str, given if _is_listed(given) else ()))
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        raise InputError(
            f"column names must differ; more than one column is called {', '.join(repeated)}"
        )
    if hasattr(X, "columns") and _is_listed(given) and not names:
        raise InputError("X has no columns; it must have 1 or more (0 feature(s) found)")


def _is_listed(names: Any) -> bool:
    return hasattr(names, "__iter__") and not callable(names)


def _read_series(label: str, series: nw.Series[Any]) -> Array | Levels:
    """Turn a frame's column into floats, or into levels if it is a category."""
    dtype = series.dtype
    try:
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            # A cast may turn what is missing into a word.
            pairs = zip(series.cast(nw.String).to_list(), series.is_null().to_list(), strict=True)
            levels = _numbered([None if gap else label for label, gap in pairs])
            # What is said to be a category is one.
            return levels if dtype == nw.String else replace(levels, like_a_number="")
        if dtype in (nw.Date, nw.Datetime):
            seconds = series.cast(nw.Datetime("us")).dt.timestamp("us").cast(nw.Float64) / 1e6
            return _floats(seconds)
        if dtype == nw.Duration:
            return _floats(series.dt.total_microseconds().cast(nw.Float64) / 1e6)
        if dtype == nw.Boolean or dtype.is_numeric():
            return _floats(series.cast(nw.Float64))
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        # Not every library can cast every type; its values can still be read one by one.
        return _from_objects(series.to_list(), label)
    if dtype.is_nested() or dtype == nw.Binary:
        raise InputError(f"{label} holds {dtype}; {ALLOWED}")
    return _from_objects(series.to_list(), label)


def _read_numbers(frame: nw.DataFrame[Any]) -> ReadColumns | None:
    """Read a frame of nothing but numbers at once, which is quicker; None if it is another."""
    if not all(dtype.is_numeric() for dtype in frame.schema.values()):
        return None
    values = frame.to_numpy()
    # Gaps of some types would be objects.
    if values.dtype.kind not in "fiu":
        return None
    return ReadColumns(np.array(values, dtype=np.float64), {})


def _floats(series: nw.Series[Any]) -> Array:
    return np.array(series.to_numpy(), dtype=np.float64)


def _read_array(estimator: BaseEstimator, X: Any) -> ReadColumns:
    """Turn a matrix, a list of rows or a sparse matrix into floats."""
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object if X.dtype.kind == "O" else np.float64), np.nan)
    checks = {"ensure_all_finite": False, "ensure_min_samples": 2, "copy": True}
    with in_one_line():
        if sparse.issparse(X):
            values = validate_data(estimator, X, accept_sparse="csc", dtype=np.float64, **checks)
            return ReadColumns(values, {})
        raw = _as_objects(X)
        if raw is None:
            return ReadColumns(validate_data(estimator, X, dtype=np.float64, **checks), {})
        validate_data(estimator, raw, dtype=None, **checks)
    return _joined(
        [
            _from_objects(column.tolist(), f"column {j}", parse=True)
            for j, column in enumerate(raw.T)
        ]
    )


def _as_objects(X: Any) -> NDArray[Any] | None:
    """Return a matrix of text, dates or anything else as Python values; None for numbers."""
    try:
        raw = np.asarray(X)
        if raw.dtype.kind in "USTMm":
            # In rows of Python values, numbers beside text would have become text.
            raw = np.array(X, dtype=object)
    except ValueError:  # rows of unequal length
        return None
    return raw if raw.ndim == 2 and raw.shape[1] and raw.dtype.kind == "O" else None


def _from_objects(values: list[Any], label: str, parse: bool = False) -> Array | Levels:
    """Turn Python values into floats: numbers, moments or spans of time, or level numbers.

    With ``parse``, text that stands for numbers is numbers, as in an array that had to make
    all its columns text.
    """
    known = [(row, value) for row, value in enumerate(values) if not is_missing(value)]
    out = np.full(len(values), np.nan)
    for row, value in known:
        if not isinstance(value, str | bytes | Real | Decimal | date | time | timedelta | np.bool_):
            raise InputTypeError(
                f"{label} holds {value!r} in row {row}; every argument must be text (a string), "
                f"a number or a date, not {type(value).__name__}"
            )
    text = [(row, value) for row, value in known if isinstance(value, str | bytes)]
    numbers = {row: _number(value) for row, value in text} if parse else {}
    if text and len(text) == len(known) and (not parse or None in numbers.values()):
        return _numbered([None if is_missing(v) else str(v) for v in values])
    for row, value in known:
        number = numbers.get(row) if isinstance(value, str | bytes) else _number(value)
        if number is None:
            raise InputError(
                f"{label} holds {str(value)!r} in row {row}; a column must be numeric or text, "
                "not both"
            )
        out[row] = number
    return out


def _number(value: Any) -> float | None:
    """Return a number, or seconds for a moment or a span of time; None if it is neither."""
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            return value.timestamp()
        return (value - datetime(1970, 1, 1)).total_seconds()
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).total_seconds()
    if isinstance(value, time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    if isinstance(value, timedelta):
        return value.total_seconds()
    try:
        return float(value)
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        return None


def _numbered(labels: list[Any]) -> Levels:
    """Enumerate text labels in their order."""
    missing = np.array([is_missing(label) for label in labels], dtype=bool)
    text = [str(label) for label, gap in zip(labels, missing, strict=True) if not gap]
    # No array of text: every entry of one takes as much memory as the longest.
    levels = sorted(set(text))
    places = {label: place for place, label in enumerate(levels)}
    codes = np.full(len(labels), float(len(levels)))
    codes[~missing] = [places[label] for label in text]
    numbers = [label for label in levels if _number(label.replace(",", ".")) is not None]
    likely = len(numbers) >= max(LEAST_NUMBERS, MOST_OF_THEM * len(levels))
    return Levels(codes, missing, np.array(levels, dtype=object), numbers[0] if likely else "")


def _level_numbers(values: Array) -> Levels:
    """Enumerate the different values of a numeric column."""
    levels, codes = np.unique(values, return_inverse=True)
    return Levels(codes.astype(np.float64), np.isnan(values), levels[~np.isnan(levels)])


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # pandas' NA and a signalling NaN cannot be compared
        return True
    except ValueError:  # an array has no single answer
        return False


def without_infinite(
    values: Any,
    used: NDArray[np.bool_],
    names: Sequence[str],
    infinite: str,
    numbers: NDArray[np.intp] | None = None,
) -> Any:
    """Take infinite values for missing, or refuse the first one in a row that is used.

    Parameters
    ----------
    values : ndarray or sparse matrix of shape (n_samples, n_features)
        The table as floats, which may be changed.
    used : ndarray of bool of shape (n_samples,)
        Which rows are used.
    names : sequence of str
        The names of the columns.
    infinite : {"error", "missing"}
        What to do with infinite values.
    numbers : ndarray of int or None
        The number of every row, if these are some of many.
    """
    check_choice("infinite", infinite, ("error", "missing"))
    is_sparse = sparse.issparse(values)
    stored = values.data if is_sparse else values
    if not np.isinf(stored).any():
        return values
    if infinite == "error":
        cells = sparse.coo_array(values if is_sparse else np.where(np.isinf(values), values, 0.0))
        wrong = np.isinf(cells.data) & used[cells.row]
        if wrong.any():
            j = cells.col[wrong].min()
            row = cells.row[wrong & (cells.col == j)].min()
            name = names[j] if names[j] == str(j) else repr(names[j])
            number = row if numbers is None else numbers[row]
            raise InputError(
                f"column {name} holds {values[row, j]} in row {number}; values must be finite, or "
                "NaN where they are missing (infinite='missing' takes them for missing)"
            )
    stored[np.isinf(stored)] = np.nan
    return values
