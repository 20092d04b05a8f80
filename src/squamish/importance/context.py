"""What imputers look at: all other columns, or those that are closest."""

from __future__ import annotations

import numpy as np

from squamish.arrays import Array, Indices
from squamish.statistics.pairs import ranges

# The most columns that imputers look at. A regression on more takes the cube of their number, and
# its error grows with their share of the rows.
MOST_CONTEXT = 150


def closest(Z: Array, wanted: Indices, columns: Indices) -> Indices:
    """Return what imputers of some columns look at: all columns, or these and the closest ones."""
    if len(columns) <= MOST_CONTEXT:
        return columns
    own, others = np.intersect1d(columns, wanted), np.setdiff1d(columns, wanted)
    near = closest_to(Z[:, wanted], Z, others, max(MOST_CONTEXT - len(own), 0))
    return np.sort(np.concatenate([own, near]))


def closest_to(values: Array, Z: Array, columns: Indices, most: int | None = None) -> Indices:
    """Return these columns of ``Z``, or so many of them as are closest to some values."""
    most = MOST_CONTEXT if most is None else most
    if len(columns) <= most:
        return columns
    closeness = np.zeros(len(columns))
    for start, stop in ranges(len(columns)):
        closeness[start:stop] = np.abs(values.T @ Z[:, columns[start:stop]]).max(axis=0)
    nearest = np.argsort(-closeness, kind="stable")[:most]
    return np.sort(columns[nearest])
