"""Tables of very many rows: how many of them models have to see.

What a model costs without a column is measured in rows, and beyond a certain number more rows
only make sure what is sure already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from squamish.evidence.provenance import Columns
from squamish.execution.workers import OutOfTime, Workers
from squamish.fitting.notes import note_on_rare_classes
from squamish.models.learners import row_losses, train_trees
from squamish.screening.allrows import LEAST_OF_CLASS, AllRows, Source
from squamish.table.levels import Levels
from squamish.table.rows import even_weights
from squamish.table.table import Table, Task

if TYPE_CHECKING:
    from squamish.methods.crossfit import CrossfitMethod

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Up to so many rows, all are used for everything.
FEW_ROWS = 50_000
# A first model is fitted to so many rows; a sample has at least twice as many, and at most these.
PILOT, MOST_ROWS = 10_000, 100_000


def rows_needed(
    loss: float, gain: float, task: Task, n_tests: int, alpha: float, effect: float, power: float
) -> float:
    """Return how many rows show a cost of ``effect`` times the gain, with probability ``power``.

    A cost is the mean of differences between two losses, one for each row. For log loss they
    are log-likelihood ratios, whose variance is twice their mean if that is small; for squared
    error the variance is four times the remaining error times the mean.

    Examples
    --------
    >>> from squamish.fitting.sampling import rows_needed
    >>> round(rows_needed(0.4, 0.3, "classification", 50, alpha=0.01, effect=0.01, power=0.95))
    17922
    """
    ratio = 2.0 if task == "classification" else 4 * loss
    z = stats.norm.isf(alpha / max(n_tests, 1)) + stats.norm.isf(1 - power)
    return float(np.square(z) * ratio / (effect * gain)) if gain > 0 < effect else np.inf


def pilot_loss(table: Table) -> tuple[float, float]:
    """Return the loss of boosted trees on rows that they have not seen, and the gain by them."""
    # Rows of every class are in both parts.
    test = np.zeros(len(table.y), dtype=bool)
    test[np.argsort(table.y, kind="stable")[::5]] = True
    y = table.y / np.std(table.y) if table.task == "regression" else table.y
    trees = train_trees(table.X[~test], y[~test], table.task, 100, weights=None)
    prediction = np.asarray(trees.predict(table.X[test], num_threads=1))
    if table.task == "regression":
        constant = np.full(test.sum(), y[~test].mean())
    else:
        shares = np.bincount(y[~test], minlength=int(y.max()) + 1) / np.sum(~test)
        constant = np.tile(shares, (test.sum(), 1))
        if prediction.ndim == 1:
            prediction = np.column_stack([1 - prediction, prediction])
    loss = float(row_losses(prediction, y[test]).mean())
    return loss, float(row_losses(constant, y[test]).mean()) - loss


def draw_rows(
    n_rows: int,
    rng: np.random.Generator,
    y: NDArray[Any],
    task: Task,
    clusters: Rows | None = None,
) -> Rows:
    """Draw so many rows, or a few more.

    Of every class there are `LEAST_OF_CLASS` rows, if there are so many at all. Of clusters,
    the rows are thinned, so that all clusters stay; if they are many, some are drawn, each
    with a tenth of these rows at most.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.fitting.sampling import draw_rows
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
    if task == "classification":
        for label, count in enumerate(np.bincount(y[drawn], minlength=int(y.max()) + 1)):
            if count < LEAST_OF_CLASS:
                left = np.flatnonzero((y == label) & ~drawn)
                more = min(LEAST_OF_CLASS - int(count), len(left))
                drawn[rng.choice(left, more, replace=False)] = True
    return np.flatnonzero(drawn)


def _draw_of_clusters(n_rows: int, rng: np.random.Generator, clusters: Rows) -> Rows:
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
    """Leave out the rows of classes with fewer rows than this."""
    if table.task == "regression":
        return table
    counts = np.bincount(table.y, minlength=len(table.labels))
    if counts.min() >= least or np.sum(counts >= least) < 2:
        return table
    table = table.rows(np.flatnonzero(counts[table.y] >= least))
    labels = tuple(label for label, n in zip(table.labels, counts, strict=True) if n >= least)
    return replace(table, y=np.unique(table.y, return_inverse=True)[1], labels=labels)


@dataclass(frozen=True, eq=False)
class Taken:
    """What was taken in: a table, or a sample of one, and what is known of it.

    Attributes
    ----------
    table : Table
        The rows that models see.
    columns : Columns
        The names of the columns and what they hold.
    summary : str
        The target in words.
    notes : list of str
        What a user should know of it.
    levels : mapping of int to Levels
        The columns that are categories.
    n_rows : int
        How many rows there are in all.
    everything : AllRows or None
        Tests on all rows, if the table is a sample of them.
    """

    table: Table
    columns: Columns
    summary: str
    notes: list[str]
    levels: Mapping[int, Levels]
    n_rows: int
    everything: AllRows | None = None

    @property
    def is_sample(self) -> bool:
        """Whether models do not see all rows."""
        return len(self.table.y) < self.n_rows

    def sampled(
        self,
        method: CrossfitMethod,
        rng: np.random.Generator,
        source: Source,
        y: NDArray[Any],
        used: NDArray[np.bool_] | None = None,
    ) -> Taken:
        """Draw as many rows as models have to see, and ask all rows what takes no model."""
        table = self.table
        method.check_classes(table)

        def some(n_rows: int) -> Table:
            drawn = table.rows(draw_rows(n_rows, rng, table.y, table.task, table.clusters))
            X = drawn.X.toarray() if sparse.issparse(drawn.X) else drawn.X
            weights = None if drawn.weights is None else even_weights(drawn.weights)
            return without_rare_classes(replace(drawn, X=X, weights=weights), method.n_folds)

        sample = some(method.sample_size(some(PILOT)))
        left_out = [label for label in table.labels if label not in sample.labels]
        taken = replace(self, table=sample, notes=[*self.notes, *note_on_rare_classes(left_out)])
        common = table.task == "regression" or np.sum(np.bincount(y) >= LEAST_OF_CLASS) > 1
        if not table.rows_are_alike or not common:
            return taken
        return replace(taken, everything=AllRows.of(source, sample, y, used))

    def screened(self, workers: Workers) -> Table:
        """Return the table, with what tests on all rows say of its columns."""
        if self.everything is None:
            return self.table
        try:
            return replace(self.table, screened=self.everything.p_values(self.table, workers))
        except OutOfTime:
            return self.table
