"""Infinite values: taken for missing, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from squamish.arrays import Indices, Mask
from squamish.errors import InputError, check_choice


def without_infinite(
    values: Any,
    used: Mask,
    names: Sequence[str],
    infinite: str,
    numbers: Indices | None = None,
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
    stored = values.data if sparse.issparse(values) else values
    if not np.isinf(stored).any():
        return values
    if infinite == "error":
        _refuse_first(values, used, names, numbers)
    stored[np.isinf(stored)] = np.nan
    return values


def _refuse_first(values: Any, used: Mask, names: Sequence[str], numbers: Indices | None) -> None:
    """Name the first infinite value, column by column, in a row that is used."""
    is_sparse = sparse.issparse(values)
    cells = sparse.coo_array(values if is_sparse else np.where(np.isinf(values), values, 0.0))
    wrong = np.isinf(cells.data) & used[cells.row]
    if not wrong.any():
        return
    j = cells.col[wrong].min()
    row = cells.row[wrong & (cells.col == j)].min()
    name = names[j] if names[j] == str(j) else repr(names[j])
    number = row if numbers is None else numbers[row]
    raise InputError(
        f"column {name} holds {values[row, j]} in row {number}; values must be finite, or "
        "NaN where they are missing (infinite='missing' takes them for missing)"
    )
