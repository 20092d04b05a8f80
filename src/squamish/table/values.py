"""Single Python values: which stand for none, and which for a number."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, NaT or pandas' NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # pandas' NA and a signalling NaN cannot be compared
        return True
    except ValueError:  # an array has no single answer
        return False


def as_number(value: Any) -> float | None:
    """Return a number, or seconds for a moment or a span of time; None if it is neither.

    Examples
    --------
    >>> from datetime import date, time
    >>> from squamish.table.values import as_number
    >>> as_number("1.5"), as_number(date(1970, 1, 2)), as_number(time(1)), as_number("red")
    (1.5, 86400.0, 3600.0, None)
    """
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
