"""Data frames of any library, column by column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from squamish.arrays import Array, Indices
from squamish.errors import InputError, is_complaint, reason_of
from squamish.table.levels import Levels
from squamish.table.objects import read_objects

ALLOWED = "columns may hold numbers, booleans, text, categories, dates, times or durations"
LONGEST_DTYPE = 40
SECONDS_OF_DAY = 86_400.0


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library behind one interface; None for anything else."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def read_frame(frame: nw.DataFrame[Any]) -> list[Array | Levels]:
    """Turn every column of a frame into floats, or into levels if it is a category."""
    return [
        # Without its name, which polars may take for a pattern.
        _read_series(f"column {str(name)!r}", series.alias("column"))
        for name, series in zip(frame.columns, frame.iter_columns(), strict=True)
    ]


def read_numbers(frame: nw.DataFrame[Any]) -> Array | None:
    """Read a frame of nothing but numbers at once, which is quicker; None if it is another."""
    if not all(dtype.is_numeric() for dtype in frame.schema.values()):
        return None
    try:
        values = frame.to_numpy()
    except Exception as error:
        # Some numbers are too wide for NumPy; columns are read one by one then.
        if not is_complaint(error):
            raise
        return None
    # Gaps of some types would be objects.
    return np.array(values, dtype=np.float64) if values.dtype.kind in "fiu" else None


def dtype_names(frame: nw.DataFrame[Any]) -> tuple[str, ...]:
    """Return the types of the columns, as the frame's library calls them."""
    return tuple(_dtype_name(series) for series in frame.iter_columns())


def take_columns(X: Any, columns: Indices, library: str = "default") -> Any:
    """Return some columns of a frame, as a frame of its own library or of another.

    Parameters
    ----------
    X : data frame
        The table.
    columns : ndarray of int
        Which columns.
    library : {"default", "pandas", "polars"}
        Whose frame to return; without a column it stays what it is.
    """
    numbers = columns.tolist()
    frame = nw.from_native(X, eager_only=True)
    # Only pandas can keep its rows without a column.
    taken = X.iloc[:, numbers] if hasattr(X, "iloc") else frame[:, numbers].to_native()
    if library == "default" or not numbers:
        return taken
    some = nw.from_native(taken, eager_only=True)
    return some.to_pandas() if library == "pandas" else some.to_polars()


def _dtype_name(series: nw.Series[Any]) -> str:
    native = series.to_native()
    dtype = str(getattr(native, "dtype", getattr(native, "type", series.dtype)))
    # Some name all of their levels.
    return dtype if len(dtype) <= LONGEST_DTYPE else f"{dtype[: LONGEST_DTYPE - 3]}..."


def _read_series(label: str, series: nw.Series[Any]) -> Array | Levels:
    """Turn a column into floats, or into levels if it is a category."""
    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise InputError(f"{label} holds {dtype}; {ALLOWED}")
    for read in (_read_at_once, _read_one_by_one):
        try:
            return read(label, series)
        except InputError:
            raise
        except BaseException as error:
            # Not every library can cast every type; its values can still be read one by one.
            if not (is_complaint(error) or isinstance(error, TypeError | NotImplementedError)):
                raise
            reason = reason_of(error)
    raise InputError(f"{label} holds a {dtype} that cannot be read: {reason}")


def _read_at_once(label: str, series: nw.Series[Any]) -> Array | Levels:
    """Let the library of a column convert it."""
    dtype = series.dtype
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _read_labels(series)
    if dtype == nw.Date:
        # By number: as dates, those beyond the year 9999 end polars in a panic.
        return _floats(series.cast(nw.Int32).cast(nw.Float64) * SECONDS_OF_DAY)
    if dtype == nw.Datetime:
        seconds = series.cast(nw.Datetime("us")).dt.timestamp("us").cast(nw.Float64) / 1e6
        return _floats(seconds)
    if dtype == nw.Duration:
        return _floats(series.dt.total_microseconds().cast(nw.Float64) / 1e6)
    if dtype == nw.Boolean or dtype.is_numeric():
        return _floats(series.cast(nw.Float64))
    return _read_one_by_one(label, series)


def _read_one_by_one(label: str, series: nw.Series[Any]) -> Array | Levels:
    return read_objects(series.to_list(), label)


def _read_labels(series: nw.Series[Any]) -> Levels:
    # A cast may turn what is missing into a word.
    pairs = zip(series.cast(nw.String).to_list(), series.is_null().to_list(), strict=True)
    levels = Levels.of_text([None if gap else label for label, gap in pairs])
    # What is said to be a category is one.
    is_text = series.dtype == nw.String
    return levels if is_text else replace(levels, like_a_number="", like_dates=())


def _floats(series: nw.Series[Any]) -> Array:
    return np.array(series.to_numpy(), dtype=np.float64)
