"""Columns of Python objects as floats or levels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from squamish.arrays import Array
from squamish.errors import InputError, InputTypeError
from squamish.table.levels import Levels
from squamish.table.values import as_number, is_missing

READABLE = (str, bytes, Real, Decimal, date, time, timedelta, np.bool_)


def read_objects(values: Sequence[Any], label: str, *, parse: bool = False) -> Array | Levels:
    """Turn Python values into floats: numbers, moments or spans of time, or level numbers.

    Parameters
    ----------
    values : sequence
        The column.
    label : str
        What it is called in messages.
    parse : bool
        Take text that stands for numbers for numbers, as in an array that had to make all its
        columns text.
    """
    known = [(row, value) for row, value in enumerate(values) if not is_missing(value)]
    _refuse_others(known, label)
    text = [(row, value) for row, value in known if isinstance(value, str | bytes)]
    parsed = {row: as_number(value) for row, value in text} if parse else {}
    if text and len(text) == len(known) and (not parse or None in parsed.values()):
        return Levels.of_text([None if is_missing(v) else str(v) for v in values])
    out = np.full(len(values), np.nan)
    for row, value in known:
        number = parsed.get(row) if isinstance(value, str | bytes) else as_number(value)
        if number is None:
            raise InputError(
                f"{label} holds {str(value)!r} in row {row}; a column must be numeric or text, "
                "not both"
            )
        out[row] = number
    return out


def _refuse_others(known: Sequence[tuple[int, Any]], label: str) -> None:
    """Refuse values that are neither numbers nor text nor times."""
    for row, value in known:
        if not isinstance(value, READABLE):
            raise InputTypeError(
                f"{label} holds {value!r} in row {row}, which is a {type(value).__name__}; a value "
                "of this argument must be text (a string), a number or a date"
            )
