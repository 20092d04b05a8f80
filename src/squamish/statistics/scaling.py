"""Scaling of columns, so that units have no influence."""

from __future__ import annotations

import numpy as np

from squamish.arrays import Array

# A value is absurdly far out if it is so many times as far as is usual for its column: then
# fewer than half of the 12 digits that are kept would be left for the others.
FAR = 1e6


def standardise(X: Array) -> Array:
    """Centre columns and scale them to [-1, 1], so that units have no influence.

    LightGBM rounds to float32 and takes what is below 1e-35 for zero. The last digits go,
    because they depend on the units that the column came in. Values that are absurdly far
    out, such as 1e20 for "unknown", would take all others' digits: they are moved closer.
    """
    largest = np.nanmax(np.abs(X), axis=0)
    X = np.divide(X, np.where(largest > 0, largest, 1.0))
    centre = _medians(X)
    away = np.abs(X - centre)
    away[away == 0] = np.nan
    away[0, np.isnan(away).all(axis=0)] = 1.0
    reach = FAR * _medians(away)
    X = np.clip(X, centre - reach, centre + reach)
    X -= (np.nanmax(X, axis=0) + np.nanmin(X, axis=0)) / 2
    X /= np.maximum(np.nanmax(np.abs(X), axis=0), 1e-300)
    return np.round(X, 12) + 0.0


def _medians(X: Array) -> Array:
    """Return the median of what is there in every column: numpy's goes column by column."""
    last = len(X) - 1 - np.isnan(X).sum(axis=0)
    low, high = last // 2, (last + 1) // 2
    # What is missing comes last.
    ordered, columns = np.partition(X, np.union1d(low, high), axis=0), np.arange(X.shape[1])
    return np.asarray((ordered[low, columns] + ordered[high, columns]) / 2)
