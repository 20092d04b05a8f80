"""Columns of every kind as numbers that a linear model can use: the parts of a feature.

A number is one part. If values are missing, their absence is a second part. A category of few
levels has a part for each level. A category of many levels would have too many, so it is told
by what its levels mean for the target, learned from other rows than those it is used on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from squamish.statistics.pairs import ranges
from squamish.statistics.scores import normal_scores
from squamish.table.table import Fold, Table

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Levels, and gaps, in fewer rows than this cannot be judged; rare levels are taken together.
LEAST_ROWS = 5
# A category with more levels than this, or with more than this share of its rows in rare ones,
# is told by what its levels mean for the target.
MOST_LEVELS, MOST_JOINED = 12, 0.1
# So many rows of its own weigh as much as the mean of all rows.
SMOOTHING = 10.0
INNER_FOLDS = 5
# So many values are standardised and ranked at a time, which takes several times their memory.
AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of all features, standardised.

    Attributes
    ----------
    plain, ranked : ndarray of shape (n_samples, n_parts)
        Their values, and the normal scores of their ranks; 0 where a value is missing.
    feature : ndarray of int of shape (n_parts,)
        Which feature each part belongs to.
    gap : ndarray of int of shape (n_parts,)
        For a part with missing values, the part that tells where; -1 if there is none.
    exclusive : ndarray of int of shape (n_parts,)
        Parts with the same number are levels of one category; -1 for others.
    many_levels : tuple of (int, ndarray of int)
        Categories of many levels: their feature, and the level of every row.
    """

    plain: Array
    ranked: Array
    feature: Rows
    gap: Rows
    exclusive: Rows
    many_levels: tuple[tuple[int, Rows], ...]


def encode(table: Table) -> Parts:
    """Split every column into its parts.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.parts import encode
    >>> from squamish.table.table import Table
    >>> gaps = np.where(np.arange(60) % 3 == 0, np.nan, np.arange(60.0))
    >>> levels = np.arange(60.0) % 4
    >>> table = Table(
    ...     np.column_stack([gaps, levels]),
    ...     np.arange(60.0),
    ...     "regression",
    ...     is_category=np.array([False, True]),
    ... )
    >>> encode(table).feature
    array([0, 0, 1, 1, 1, 1])
    """
    columns: list[Array] = []
    feature: list[int] = []
    gap: list[int] = []
    exclusive: list[int] = []
    many_levels = []
    for j in range(table.n_columns):
        x, owner = table.X[:, j], int(table.feature[j])
        if not table.is_category[j]:
            parts = _number_parts(x)
            gaps = [len(columns) + 1, -1] if len(parts) == 2 else [-1]
            kind = -1
        else:
            levels = few_levels(x)
            if levels is None:
                many_levels.append((owner, np.unique(x, return_inverse=True)[1]))
                continue
            n_levels = int(levels.max()) + 1
            parts = [(levels == k).astype(float) for k in range(n_levels) if n_levels > 1]
            parts = parts[1:] if n_levels == 2 else parts
            gaps, kind = [-1] * len(parts), j if len(parts) > 1 else -1
        columns += parts
        feature += [owner] * len(parts)
        gap += gaps[: len(parts)]
        exclusive += [kind] * len(parts)
    plain, ranked = np.empty((2, len(table.y), len(columns)))
    for start, stop in ranges(len(columns), size=AT_ONCE // len(table.y) + 1):
        X = np.column_stack(columns[start:stop])
        plain[:, start:stop] = _standardised(X)
        ranked[:, start:stop] = _standardised_scores(X)
    return Parts(
        plain,
        ranked,
        np.array(feature, dtype=np.intp),
        np.array(gap, dtype=np.intp),
        np.array(exclusive, dtype=np.intp),
        tuple(many_levels),
    )


def _number_parts(x: Array) -> list[Array]:
    """Return a number as it is, and where it is missing if that can be judged."""
    missing = np.isnan(x)
    known = x[~missing]
    varies = len(known) > 0 and known.min() < known.max()
    enough = min(missing.sum(), len(known)) >= LEAST_ROWS
    if varies and enough:
        return [x, missing.astype(float)]
    return [x] if varies else [missing.astype(float)]


def few_levels(x: Array) -> Rows | None:
    """Enumerate the levels of a category, the rare ones joined as the last; None if many."""
    levels, counts = np.unique(x, return_counts=True)
    number = np.cumsum(counts >= LEAST_ROWS) - 1
    rare = counts < LEAST_ROWS
    number[rare] = number[-1] + 1 if not rare.all() else 0
    if number.max() >= MOST_LEVELS or counts[rare].sum() > MOST_JOINED * len(x):
        return None
    return np.asarray(number[np.searchsorted(levels, x)], dtype=np.intp)


def _standardised(X: Array) -> Array:
    X = X - np.nanmean(X, axis=0)
    X /= np.maximum(np.nanstd(X, axis=0), 1e-300)
    return np.nan_to_num(X, nan=0.0)


def _standardised_scores(X: Array) -> Array:
    """Take the normal scores of the values that are there, and 0 where none is."""
    if not np.isnan(X).any():
        return normal_scores(X)
    out = np.zeros_like(X)
    for j, x in enumerate(X.T):
        known = ~np.isnan(x)
        out[known, j] = normal_scores(x[known][:, np.newaxis])[:, 0]
    return out


def target_encodings(
    many_levels: Sequence[tuple[int, Rows]],
    scores: Array,
    fold: Fold,
    weights: Array | None,
    clusters: Rows | None,
) -> tuple[Array, Rows]:
    """Tell categories of many levels by the mean target of their levels, for one fold.

    Test rows get the means over all training rows. A training row gets the means over
    training rows in other inner folds, so that its own target is not among what describes
    it: a level that occurs once says nothing, as it will for new rows.

    Parameters
    ----------
    many_levels : sequence of (int, ndarray of int)
        The feature and the level of every row, for each category.
    scores : ndarray of shape (n_samples, n_scores)
        The target as centred columns.
    fold : (train, test)
        Row numbers.
    weights : ndarray or None
        How much each row counts.
    clusters : ndarray of int or None
        Rows that have to stay together in an inner fold.

    Returns
    -------
    encoded : ndarray of shape (n_samples, n_categories * n_scores)
        Rows outside the fold are zero.
    feature : ndarray of int
        The feature of each of its columns.
    """
    train, test = fold
    weights = np.ones(len(scores)) if weights is None else weights
    # Rows are sorted by the target, so that every fifth one gives stratified folds.
    inner = np.arange(len(train))
    if clusters is not None:
        inner = np.unique(clusters[train], return_inverse=True)[1]
    inner = inner % INNER_FOLDS
    blocks, features = [], []
    for feature, levels in many_levels:
        out = np.zeros_like(scores)
        out[test] = _level_means(levels, scores, weights, train)[levels[test]]
        for k in range(INNER_FOLDS):
            rows = train[inner == k]
            out[rows] = _level_means(levels, scores, weights, train[inner != k])[levels[rows]]
        scale = out[train].std(axis=0)
        out[np.concatenate(fold)] -= out[train].mean(axis=0)
        blocks.append(out / np.where(scale > 1e-9, scale, 1.0))
        features += [feature] * scores.shape[1]
    return np.hstack(blocks), np.array(features, dtype=np.intp)


def _level_means(levels: Rows, scores: Array, weights: Array, rows: Rows) -> Array:
    """Mean scores of every level in some rows, drawn towards the mean of all."""
    n_levels = int(levels.max()) + 1
    if len(rows) == 0:
        return np.zeros((n_levels, scores.shape[1]))
    w = weights[rows]
    count = np.bincount(levels[rows], weights=w, minlength=n_levels)
    centre = (w @ scores[rows]) / w.sum()
    sums = np.stack(
        [np.bincount(levels[rows], weights=w * s, minlength=n_levels) for s in scores[rows].T],
        axis=1,
    )
    return np.asarray((sums + SMOOTHING * centre) / (count + SMOOTHING)[:, np.newaxis])
