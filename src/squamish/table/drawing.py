"""Random samples of rows: of every class enough, of groups of rows all or some."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Indices, Mask
from squamish.families import Task, family_of
from squamish.table.table import Table

# Of a class of fewer rows, sums are not normal; a sample holds so many of each, if there are.
LEAST_OF_CLASS = 50


def draw_rows(
    n_rows: int,
    rng: np.random.Generator,
    y: NDArray[Any],
    task: Task,
    clusters: Indices | None = None,
) -> Indices:
    """Draw so many rows, or a few more.

    Of every class there are `LEAST_OF_CLASS` rows, if there are so many at all. Of clusters,
    the rows are thinned, so that all clusters stay; if they are many, some are drawn, each
    with a tenth of these rows at most.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.drawing import draw_rows
    >>> clusters = np.repeat([0, 1, 2], [60, 4, 4])
    >>> drawn = draw_rows(30, np.random.default_rng(0), np.zeros(68), "regression", clusters)
    >>> np.bincount(clusters[drawn])
    array([22,  4,  4])
    """
    n = len(y)
    if n_rows >= n:
        return np.arange(n)
    drawn = np.zeros(n, dtype=bool)
    if clusters is None:
        drawn[rng.choice(n, n_rows, replace=False)] = True
    else:
        drawn[_draw_of_clusters(n_rows, rng, np.unique(clusters, return_inverse=True)[1])] = True
    if family_of(task).has_classes:
        drawn |= _more_of_rare_classes(drawn, rng, y)
    return np.flatnonzero(drawn)


def _more_of_rare_classes(drawn: Mask, rng: np.random.Generator, y: NDArray[Any]) -> Mask:
    """Draw further rows of classes that have few among those that were drawn."""
    more = np.zeros(len(y), dtype=bool)
    for label, count in enumerate(np.bincount(y[drawn], minlength=int(y.max()) + 1)):
        if count < LEAST_OF_CLASS:
            left = np.flatnonzero((y == label) & ~drawn)
            n_more = min(LEAST_OF_CLASS - int(count), len(left))
            more[rng.choice(left, n_more, replace=False)] = True
    return more


def _draw_of_clusters(n_rows: int, rng: np.random.Generator, clusters: Indices) -> Indices:
    """Draw rows of few clusters, as many of each as its size allows, or some of many clusters."""
    sizes = np.bincount(clusters)
    if len(sizes) > n_rows // 10:
        order, most = rng.permutation(len(sizes)), max(n_rows // 10, 1)
        n_chosen = int(np.searchsorted(np.cumsum(np.minimum(sizes, most)[order]), n_rows)) + 1
        is_chosen = np.isin(np.arange(len(sizes)), order[:n_chosen])
    else:
        most = max(c for c in range(1, n_rows + 1) if np.minimum(sizes, c).sum() <= n_rows)
        is_chosen = np.ones(len(sizes), dtype=bool)
    # The place of every row among those of its cluster, in random order.
    order = rng.permutation(len(clusters))
    order = order[np.argsort(clusters[order], kind="stable")]
    place = np.empty(len(clusters), dtype=np.intp)
    place[order] = np.arange(len(clusters)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.flatnonzero(is_chosen[clusters] & (place < most))


def without_rare_classes(table: Table, least: int) -> Table:
    """Leave out the rows of classes with fewer rows than this, as long as two classes stay."""
    if not table.family.has_classes:
        return table
    counts = np.bincount(table.y, minlength=len(table.labels))
    if counts.min() >= least or np.sum(counts >= least) < 2:
        return table
    table = table.rows(np.flatnonzero(counts[table.y] >= least))
    labels = tuple(label for label, n in zip(table.labels, counts, strict=True) if n >= least)
    return replace(table, y=np.unique(table.y, return_inverse=True)[1], labels=labels)
