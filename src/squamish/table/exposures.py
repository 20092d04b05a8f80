"""How long rows of counts were exposed, as users pass it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array
from squamish.errors import InputError
from squamish.families import Task
from squamish.table.target import one_column
from squamish.table.values import as_number, is_missing

# A count, as it was passed, and an exposure for every row.
PASSED = np.dtype([("count", np.object_), ("exposure", np.float64)])
EXPOSED = np.dtype([("count", np.float64), ("exposure", np.float64)])


def with_exposure(y: Any, task: Task | None, exposure: Any) -> Any:
    """Return counts together with their exposures; targets without these as they are."""
    if exposure is None:
        return y
    if task != "counts":
        raise InputError(f"exposure takes task='counts', but task is {task!r}")
    if isinstance(y, np.ndarray) and y.dtype == PASSED:
        return y
    counts = one_column(y)
    values = np.asarray(exposure, dtype=object).ravel()
    if len(values) != len(counts):
        raise InputError(
            f"exposure has {len(values)} values, but y has {len(counts)}; they must be as many"
        )
    out = np.empty(len(counts), dtype=PASSED)
    out["count"] = counts
    out["exposure"] = [_exposure(value, row) for row, value in enumerate(values.tolist())]
    # What is not known to be exposed tells nothing.
    out["count"][np.isnan(out["exposure"])] = None
    return out


def is_exposed(y: Any) -> bool:
    """Tell whether a target was read as counts with exposures."""
    return isinstance(y, np.ndarray) and y.dtype == PASSED


def exposed(counts: NDArray[Any], exposures: Array) -> NDArray[Any]:
    """Put counts and exposures into one array, unless all exposures are the same."""
    if np.ptp(exposures) == 0:
        return counts
    out = np.empty(len(counts), dtype=EXPOSED)
    out["count"], out["exposure"] = counts, exposures / exposures.mean()
    return out


def _exposure(value: Any, row: int) -> float:
    if is_missing(value):
        return np.nan
    number = as_number(value)
    if number is None or not 0 < number < np.inf:
        raise InputError(f"exposure holds {value} in row {row}; exposures must be above 0")
    return number
