"""What the user says about rows: which count how much, and which belong together."""

from __future__ import annotations

from typing import Any

import numpy as np

from squamish.arrays import Array, Indices
from squamish.errors import InputError
from squamish.table.values import is_missing


def read_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Check the weights of the rows.

    Examples
    --------
    >>> from squamish.table.rows import read_weights
    >>> read_weights([1, 0, 3], 3)
    array([1., 0., 3.])
    """
    if sample_weight is None:
        return None
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers, one for each row") from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise InputError(
            f"sample_weight has the shape {weights.shape}; it must hold {n_rows} numbers, one for "
            "each row"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise InputError(
            f"sample_weight holds {weights[wrong[0]]} in row {wrong[0]}; weights must be finite "
            "and not below 0"
        )
    return weights


def even_weights(weights: Array) -> Array | None:
    """Scale weights to a mean of 1; None if all are the same."""
    if np.ptp(weights) == 0:
        return None
    weights = weights / weights.max()
    return weights / weights.mean()


def read_groups(groups: Any, n_rows: int) -> Indices | None:
    """Enumerate the groups of rows that belong together, in the order of their labels."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise InputError(
            f"groups has the shape {values.shape}; it must hold {n_rows} labels, one for each row"
        )
    missing = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
    if missing:
        raise InputError(f"groups has no label in row {missing[0]}; every row must have one")
    if values.dtype == object:
        values = values.astype(str)
    return np.unique(values, return_inverse=True)[1]
