"""Gaps that mean nothing: filled with values that are drawn from the rest of the column.

What is drawn depends on nothing but where the gaps are, so that these tell nothing any more, while
the distribution of the column stays. What it tells fades as if that many rows had been shuffled.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from squamish.arrays import Array, Indices
from squamish.table.levels import Levels


def marked(values: Array, levels: Mapping[int, Levels]) -> Array:
    """Return a table in which the gaps of categories are NaN, too, and no level of their own."""
    out = values.copy()
    for j, own in levels.items():
        out[out[:, j] == len(own.labels), j] = np.nan
    return out


def without_lone_values(values: Array) -> Array:
    """Return a table in which columns of a single value have no gaps: they do not vary."""
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    lone = ~(low < high)
    out = values.copy()
    out[:, lone] = np.nan_to_num(low[lone])
    return out


def without_gaps(values: Array, rng: np.random.Generator) -> Array:
    """Fill gaps with what is in other rows, drawn at random.

    Columns with gaps in the same rows are filled from the same rows: what they tell of each other
    stays. A column without any value is filled with zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.ignored_gaps import without_gaps
    >>> x = np.array([1.0, np.nan, 3.0, np.nan, 5.0])
    >>> filled = without_gaps(np.column_stack([x, 2 * x]), np.random.default_rng(0))
    >>> bool(np.all(filled[:, 1] == 2 * filled[:, 0])), filled[[0, 2, 4], 0].tolist()
    (True, [1.0, 3.0, 5.0])
    """
    out, gaps = values.copy(), np.isnan(values)
    drawn: dict[bytes, Indices] = {}
    for j in np.flatnonzero(gaps.any(axis=0)).tolist():
        missing, donors = gaps[:, j], np.flatnonzero(~gaps[:, j])
        key = missing.tobytes()
        if key not in drawn and len(donors):
            drawn[key] = rng.choice(donors, missing.sum())
        out[missing, j] = values[drawn[key], j] if len(donors) else 0.0
    return out
