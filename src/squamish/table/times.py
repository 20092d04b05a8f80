"""Times until an event, as users pass them: which rows have the event, and when."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array
from squamish.errors import InputError, in_one_line
from squamish.families import Task
from squamish.table.values import as_number, is_missing

# An event and a time for every row; a time that is missing is not a number.
PAIRS = np.dtype([("event", np.bool_), ("time", np.float64)])
EXPECTED = (
    "it must hold an event (True or False, or 1 and 0) and a time for every row: a structured "
    "array, a frame of two columns, or a pair"
)
# A time of zero is told from its negative.
EARLIEST = float(np.finfo(np.float64).tiny)


def with_times(y: Any, task: Task | None) -> tuple[Any, Task | None]:
    """Return times as pairs where there are any, and the task; other targets as they are.

    A structured array with a boolean field and one of numbers, and a pair of such columns, are
    recognised.

    Examples
    --------
    >>> from squamish.table.times import with_times
    >>> with_times(([True, False, True], [3.0, 5.0, 1.5]), "survival")[0]["time"]
    array([3. , 5. , 1.5])
    """
    if task is None and _is_pairs(y):
        task = "survival"
    if task != "survival":
        return y, task
    if isinstance(y, np.ndarray) and y.dtype == PAIRS:
        return y, task
    (names, columns), n_rows = _two_columns(y), 0
    n_rows = len(columns[0])
    if len(columns[1]) != n_rows:
        raise InputError(
            f"y holds {n_rows} and {len(columns[1])} values; {EXPECTED}, as many of both"
        )
    event = _which_is_event(names, columns)
    return _paired(columns[event], columns[1 - event]), task


def is_paired(y: Any) -> bool:
    """Tell whether a target was read as times."""
    return isinstance(y, np.ndarray) and y.dtype == PAIRS


def signed(pairs: NDArray[Any]) -> Array:
    """Return one number for each row: the time of an event, minus that of a row that was lost."""
    times = np.maximum(pairs["time"], EARLIEST)
    return np.where(pairs["event"], times, -times)


def _is_pairs(y: Any) -> bool:
    """Tell whether a target is booleans beside numbers: a structured array of both, or a pair."""
    fields = getattr(getattr(y, "dtype", None), "fields", None)
    if isinstance(y, np.ndarray) and fields is not None:
        kinds = [kind.kind for kind, *_ in fields.values()]
    elif isinstance(y, tuple) and all(map(_is_column, y)):
        kinds = [np.asarray(column).dtype.kind for column in y]
    else:
        return False
    return len(kinds) == 2 and kinds.count("b") == 1 and sum(kind in "fiu" for kind in kinds) == 1


def _two_columns(y: Any) -> tuple[tuple[str, str], list[list[Any]]]:
    """Take a target apart into two columns and what they are called."""
    if y is None:
        raise InputError("RelevanceSelector requires y to be passed, but the target y is None")
    if isinstance(y, np.ndarray) and y.dtype.names:
        names, columns = list(y.dtype.names), [y[name].tolist() for name in y.dtype.names]
    elif isinstance(frame := nw.from_native(y, eager_only=True, pass_through=True), nw.DataFrame):
        names, columns = frame.columns, [frame[:, j].to_list() for j in range(frame.shape[1])]
    else:
        columns = _of_array(y)
        names = [f"column {j}" for j in range(len(columns))]
    if len(columns) != 2:
        what = "one column" if len(columns) == 1 else f"{len(columns)} columns"
        raise InputError(f"task is 'survival', but y has {what}; {EXPECTED}")
    return (names[0], names[1]), columns


def _of_array(y: Any) -> list[list[Any]]:
    """Return the columns of a pair, or of an array of two columns."""
    if isinstance(y, tuple | list) and len(y) == 2 and all(map(_is_column, y)):
        return [np.asarray(column, dtype=object).ravel().tolist() for column in y]
    with in_one_line():
        values = np.asarray(y, dtype=object)
    if values.ndim != 2:
        return [values.ravel().tolist()]
    return [column.tolist() for column in values.T]


def _is_column(values: Any) -> bool:
    """Tell whether values are those of many rows, in one dimension."""
    return not isinstance(values, str) and np.ndim(np.asarray(values, dtype=object)) == 1


def _which_is_event(names: tuple[str, str], columns: list[list[Any]]) -> int:
    """Return which column tells events: the one of booleans, or of zeros and ones."""
    known = [[value for value in column if not is_missing(value)] for column in columns]
    for flags in (
        [bool(c) and all(isinstance(v, bool | np.bool_) for v in c) for c in known],
        [bool(c) and all(as_number(v) in (0.0, 1.0) for v in c) for c in known],
    ):
        if sum(flags) == 1:
            return flags.index(True)
    both = " and ".join(repr(name) for name in names)
    found = "both" if known[0] and known[1] and all(flags) else "neither"
    raise InputError(
        f"y has {both}, of which {found} may tell events; one of them must hold True and False, "
        "or 1 and 0, and the other one times"
    )


def _paired(events: list[Any], times: list[Any]) -> NDArray[Any]:
    """Check events and times, and put them into one array."""
    out = np.zeros(len(events), dtype=PAIRS)
    for row, (event, time) in enumerate(zip(events, times, strict=True)):
        if is_missing(event) or is_missing(time):
            out[row] = False, np.nan
            continue
        number = as_number(time)
        if number is None or not 0 <= number < np.inf:
            raise InputError(f"y holds the time {time} in row {row}; times must be 0 or more")
        out[row] = bool(as_number(event)), number
    return out
