"""Columns of every kind as numbers that a linear model can use: the parts of a feature.

A number is one part. If values are missing, their absence is a second part. A category of few
levels has a part for each level. A category of many levels would have too many, so it is
target-encoded, by means learned from other rows than those it is used on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from squamish.arrays import Array, Fold, Indices, Mask
from squamish.statistics.pairs import ranges
from squamish.statistics.scores import normal_scores
from squamish.table.canonical import no_hurry
from squamish.table.table import Table

# Levels, and gaps, in fewer rows than this cannot be judged; rare levels are taken together. Five
# expected rows are Cochran's rule for tests of counts.
LEAST_ROWS = 5
# A category with more levels than this, or with more than this share of its rows in rare ones,
# is target-encoded: indicators of more levels cost a test of each, and a model a coefficient.
MOST_LEVELS, MOST_JOINED = 12, 0.1
# Target encoding draws the mean of a level towards that of all rows, which counts as so many rows
# (an empirical Bayes estimate where levels differ by a third of the standard deviation, 1/sqrt 10).
SMOOTHING = 10.0
# Training rows are encoded by the other folds of so many.
INNER_FOLDS = 5
# So many values are standardised and ranked at a time, which takes several times their memory.
AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Part:
    """How a part is made of a column: its values, its gaps, or some of its levels.

    Attributes
    ----------
    column : int
        The column.
    kind : {"value", "gap", "level"}
        What it tells: the number itself, where it is missing, or which rows have a level.
    codes : ndarray or None
        The level numbers that make up a level.
    others : bool
        Whether it is the rows with all other level numbers, known or not.
    """

    column: int
    kind: Literal["value", "gap", "level"]
    codes: Array | None = None
    others: bool = False

    @property
    def has_two_values(self) -> bool:
        """Whether it is either there or not."""
        return self.kind != "value"

    def values(self, x: Array) -> Array:
        """Return the part of some rows of the column; NaN where a number is missing."""
        if self.kind == "value":
            return x
        if self.codes is None:
            return np.isnan(x).astype(float)
        return (np.isin(x, self.codes) != self.others).astype(float)


def parts_of(x: Array, column: int, is_category: bool) -> list[Part] | None:
    """Tell the parts of a column by its values; None for a category of many levels.

    A column that is the same in all rows has none.
    """
    return _level_parts(x, column) if is_category else _number_parts(x, column)


def _number_parts(x: Array, column: int) -> list[Part]:
    """Return a number as it is, and where it is missing if that can be judged."""
    missing = np.isnan(x)
    known = x[~missing]
    varies = len(known) > 0 and known.min() < known.max()
    enough = min(missing.sum(), len(known)) >= LEAST_ROWS
    value, gap = Part(column, "value"), Part(column, "gap")
    if varies:
        return [value, gap] if enough else [value]
    return [gap] if missing.any() and len(known) else []


def _level_parts(x: Array, column: int) -> list[Part] | None:
    """Return a part for each of few levels, or one for two; the last takes unknown levels."""
    levels = few_levels(x)
    if levels is None:
        return None
    last = int(levels.max())
    parts = [Part(column, "level", np.unique(x[levels == k])) for k in range(last)]
    parts.append(Part(column, "level", np.unique(x[levels != last]), others=True))
    return {0: [], 1: parts[1:]}.get(last, parts)


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
    is_gap : ndarray of bool of shape (n_parts,)
        Which parts tell where a number is missing.
    exclusive : ndarray of int of shape (n_parts,)
        Parts with the same number are levels of one category; -1 for others.
    many_levels : tuple of (int, ndarray of int)
        Categories of many levels: their feature, and the level of every row.
    """

    plain: Array
    ranked: Array
    feature: Indices
    gap: Indices
    is_gap: Mask
    exclusive: Indices
    many_levels: tuple[tuple[int, Indices], ...]


def encode(table: Table, check_time: Callable[[], None] = no_hurry) -> Parts:
    """Split every column into its parts.

    Parameters
    ----------
    table : Table
        Columns of every kind.
    check_time : callable
        Called between steps that take a moment each; what it raises ends the work.

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
    parts: list[Part] = []
    gap: list[int] = []
    exclusive: list[int] = []
    many_levels = []
    for j, x in enumerate(table.X.T):
        own = parts_of(x, j, bool(table.is_category[j]))
        if own is None:
            many_levels.append((int(table.feature[j]), np.unique(x, return_inverse=True)[1]))
            continue
        kinds = [part.kind for part in own]
        gap += [len(parts) + 1, -1] if kinds == ["value", "gap"] else [-1] * len(own)
        exclusive += [j if kinds.count("level") > 1 else -1] * len(own)
        parts += own
    plain, ranked = _views(table.X, parts, check_time)
    return Parts(
        plain,
        ranked,
        table.feature[[part.column for part in parts]].astype(np.intp),
        np.array(gap, dtype=np.intp),
        np.array([part.kind == "gap" for part in parts], dtype=bool),
        np.array(exclusive, dtype=np.intp),
        tuple(many_levels),
    )


def _views(X: Array, parts: Sequence[Part], check_time: Callable[[], None]) -> tuple[Array, Array]:
    """Return the values of parts, standardised, and the normal scores of their ranks."""
    plain, ranked = np.empty((2, len(X), len(parts)))
    for start, stop in ranges(len(parts), size=AT_ONCE // len(X) + 1):
        check_time()
        values = np.column_stack([part.values(X[:, part.column]) for part in parts[start:stop]])
        plain[:, start:stop] = _standardised(values)
        ranked[:, start:stop] = _standardised_scores(values)
    return plain, ranked


def few_levels(x: Array) -> Indices | None:
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
    many_levels: Sequence[tuple[int, Indices]],
    scores: Array,
    fold: Fold,
    weights: Array | None,
    clusters: Indices | None,
) -> tuple[Array, Indices]:
    """Encode categories of many levels by the mean target of their levels, for one fold.

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


def _level_means(levels: Indices, scores: Array, weights: Array, rows: Indices) -> Array:
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
