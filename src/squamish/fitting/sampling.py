"""Tables of very many rows, of which models see a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from squamish.arrays import Array, Mask
from squamish.evidence.provenance import Columns
from squamish.execution.workers import OutOfTime, Workers
from squamish.fitting.notes import note_on_rare_classes
from squamish.models import sample_size
from squamish.screening.allrows import AllRows, Source
from squamish.table.drawing import LEAST_OF_CLASS, draw_rows, without_rare_classes
from squamish.table.levels import Levels
from squamish.table.rows import even_weights
from squamish.table.table import Table

if TYPE_CHECKING:
    from squamish.methods.crossfit import CrossfitMethod

# Up to so many rows, all are used for everything.
FEW_ROWS = 50_000


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
        used: Mask | None = None,
    ) -> Taken:
        """Draw as many rows as models have to see, and ask all rows what takes no model."""
        table = self.table
        table.family.check(table.y, table.labels)

        def some(n_rows: int) -> Table:
            drawn = table.rows(draw_rows(n_rows, rng, table.y, table.task, table.clusters))
            X = drawn.X.toarray() if sparse.issparse(drawn.X) else drawn.X
            weights = None if drawn.weights is None else even_weights(drawn.weights)
            return without_rare_classes(replace(drawn, X=X, weights=weights), method.n_folds)

        sample = some(method.sample_size(some(sample_size.PILOT)))
        left_out = [label for label in table.labels if label not in sample.labels]
        taken = replace(self, table=sample, notes=[*self.notes, *note_on_rare_classes(left_out)])
        common = not table.family.has_classes or np.sum(np.bincount(y) >= LEAST_OF_CLASS) > 1
        if not table.rows_are_alike or not common:
            return taken
        return replace(taken, everything=AllRows.of(source, sample, y, used))

    def screened(self, workers: Workers) -> Mapping[str, Array]:
        """Return what tests on all rows say of the columns; nothing if there are none."""
        if self.everything is None:
            return {}
        try:
            return self.everything.p_values(self.table, workers)
        except OutOfTime:
            return {}
