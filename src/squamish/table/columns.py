"""Reading the columns of a table: any frame, array or sparse matrix, with errors that help.

Every column becomes floats. Numbers stay what they are; booleans are 0 and 1; dates are
seconds since 1970 and durations are seconds; text and categories are numbered in the order of
their labels, and marked as categories. NaN marks what is missing, except in categories, where
it is a level of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from squamish.arrays import Array, Mask
from squamish.errors import InputError, InputTypeError, in_one_line
from squamish.evidence.provenance import Columns
from squamish.table.dates import DateFormat
from squamish.table.frames import as_frame, dtype_names, read_frame, read_numbers
from squamish.table.levels import Levels
from squamish.table.names import column_names, positions, refuse_repeated_names
from squamish.table.objects import read_objects


@dataclass(frozen=True, eq=False)
class ReadColumns:
    """A table as floats, and what is known of its columns.

    Attributes
    ----------
    values : ndarray or sparse matrix of shape (n_samples, n_features)
        The table as floats; a sparse one stays sparse.
    levels : mapping of int to Levels
        The columns that hold level numbers.
    names : tuple of str
        The names of the columns; numbers if they have none.
    dtypes : tuple of str
        Their types, as the table's library calls them.
    dates : mapping of int to DateFormat
        The columns of text that were read as dates.
    """

    values: Any
    levels: Mapping[int, Levels]
    names: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    dates: Mapping[int, DateFormat] = field(default_factory=dict)

    @property
    def is_category(self) -> Mask:
        """Tell for every column whether it holds level numbers."""
        return np.isin(np.arange(self.values.shape[1]), list(self.levels))

    @property
    def is_doubtful(self) -> Mask:
        """Tell for every column whether it holds text that could be numbers or dates."""
        found = [j for j, own in self.levels.items() if own.like_a_number or own.like_dates]
        return np.isin(np.arange(self.values.shape[1]), found)

    def missing_shares(self, used: Mask) -> Array:
        """Return the share of missing values in every column, among the rows that are used."""
        if sparse.issparse(self.values):
            gaps = sparse.csc_array(self.values[used])
            gaps.data = np.isnan(gaps.data).astype(float)
            return np.asarray(gaps.mean(axis=0)).ravel()
        # A mask would copy the table.
        gaps = np.isnan(self.values if used.all() else self.values[used])
        shares = np.count_nonzero(gaps, axis=0) / len(gaps)
        for j, levels in self.levels.items():
            shares[j] = levels.missing[used].mean()
        return np.asarray(shares)

    def described(self, used: Mask) -> Columns:
        """Describe the columns of what was passed."""
        return Columns(self.names, self.dtypes, tuple(self.missing_shares(used).tolist()))


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
    if frame is not None:
        # Before many columns are read that hold nothing.
        _check_rows(frame.shape[0])
    if frame is None:
        read = _read_array(estimator, X)
        dtype = str(getattr(X, "dtype", type(X).__name__))
        dtypes: tuple[str, ...] = (dtype,) * read.values.shape[1]
    else:
        with in_one_line():
            validate_data(estimator, X, skip_check_array=True)
        numbers = read_numbers(frame)
        read = _joined(read_frame(frame)) if numbers is None else ReadColumns(numbers, {})
        dtypes = dtype_names(frame)
    n_rows, n_columns = read.values.shape
    _check_rows(n_rows)
    read = _with_dates(replace(read, names=column_names(X, n_columns), dtypes=dtypes))
    return read if categorical is None else _with_categories(read, categorical)


def _check_rows(n_rows: int) -> None:
    if n_rows < 2:
        raise InputError(f"X has {n_rows} rows, n_samples = {n_rows}; 2 are the minimum")


def refuse(X: Any) -> None:
    """Refuse what can be seen from outside: no table, repeated names."""
    if isinstance(X, str | bytes | PathLike):
        raise InputError(f"X is {X!r}; read the file first and pass the table")
    if reason := _no_table(X):
        raise InputTypeError(f"X is {reason}")
    # Of the class: pandas has columns as attributes, whatever they are called.
    if hasattr(type(X), "collect"):
        raise InputError(f"X is a {type(X).__name__}; collect() it first")
    refuse_repeated_names(X)


def _no_table(X: Any) -> str:
    """Say what was passed instead of a table, and what to do; nothing if it may be one."""
    kind = type(X).__name__
    if sparse.issparse(X):  # one of SciPy's kinds is a dictionary, too
        return ""
    if isinstance(X, Mapping) or (isinstance(X, list | tuple) and X and isinstance(X[0], Mapping)):
        what = f"a {kind}" if isinstance(X, Mapping) else f"a {kind} of {type(X[0]).__name__}s"
        return f"{what}; make a data frame of it, such as pandas.DataFrame(X)"
    if getattr(getattr(X, "dtype", None), "names", None):
        return "an array of records; make a data frame of it, such as pandas.DataFrame(X)"
    if X is None or isinstance(X, Iterator | Set | Real):
        what = "None" if X is None else f"of type {kind}"
        return f"{what}, which is no table; pass a data frame, an array or a list of rows"
    return ""


def _joined(columns: Sequence[Array | Levels]) -> ReadColumns:
    values = np.column_stack([c.codes if isinstance(c, Levels) else c for c in columns])
    return ReadColumns(values, {j: c for j, c in enumerate(columns) if isinstance(c, Levels)})


def _with_dates(read: ReadColumns) -> ReadColumns:
    """Read text as dates where all of it is, in a single way."""
    found = {j: form for j, own in read.levels.items() if (form := own.date_format) is not None}
    for j, form in found.items():
        read.values[:, j] = read.levels[j].moments(form)
    levels = {j: own for j, own in read.levels.items() if j not in found}
    return replace(read, levels=levels, dates=found)


def _with_categories(read: ReadColumns, categorical: Iterable[str | int]) -> ReadColumns:
    """Take further columns for categories."""
    if sparse.issparse(read.values):
        raise InputError("categorical_features cannot be columns of a sparse matrix")
    levels = dict(read.levels)
    for j in positions(categorical, read.names, "categorical_features").tolist():
        if j not in levels:
            levels[j] = Levels.of_numbers(read.values[:, j])
            read.values[:, j] = levels[j].codes
    return replace(read, levels=levels)


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
        [read_objects(column.tolist(), f"column {j}", parse=True) for j, column in enumerate(raw.T)]
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
