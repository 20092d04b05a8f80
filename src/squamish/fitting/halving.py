"""Half-samples: complementary halves of the rows, without a row in both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from squamish.arrays import Indices
from squamish.errors import InputError
from squamish.table.folds import folds_of_some
from squamish.table.rows import even_weights
from squamish.table.table import Table


@dataclass(frozen=True, eq=False)
class Halving:
    """How the rows of a table are halved.

    Rows that belong together stay together, and count as one. Of every class there are as many
    rows, or groups with mostly such rows, in both halves, or one more in one of them.

    Attributes
    ----------
    unit : ndarray of int of shape (n_samples,)
        What each row is drawn with: its group, or itself.
    stratum : ndarray of int of shape (n_units,)
        What the halves have equal shares of.
    seed : int
        Tells all draws.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.fitting.halving import Halving
    >>> from squamish.table.table import Table
    >>> halving = Halving.of(Table(np.eye(6), np.array([0, 1, 0, 1, 0, 1]), "classification"), 7)
    >>> halving.rows(0), halving.rows(1)
    (array([0, 3, 5]), array([1, 2, 4]))
    """

    unit: Indices
    stratum: Indices
    seed: int

    @classmethod
    def of(cls, table: Table, seed: int) -> Halving:
        """Halve the rows of a table, in the order in which they are."""
        unit = np.arange(len(table.y)) if table.clusters is None else table.clusters
        stratum = np.zeros(int(unit.max()) + 1, dtype=np.intp)
        if table.family.has_classes:
            counts = np.zeros((len(stratum), int(table.y.max()) + 1), dtype=np.intp)
            np.add.at(counts, (unit, table.y), 1)
            stratum = counts.argmax(axis=1)
        return cls(unit, stratum, seed)

    def rows(self, number: int) -> Indices:
        """Return the rows of a half; an odd number has what the even one before it has not."""
        rng = np.random.default_rng([self.seed, number // 2])
        order = rng.permutation(len(self.stratum))
        order = order[np.argsort(self.stratum[order], kind="stable")]
        # Every other one of a stratum; where its number is odd, chance says which half gets more.
        first = int(rng.integers(2)) ^ (number % 2)
        return np.flatnonzero(np.isin(self.unit, order[first::2]))


def half_table(table: Table, rows: Indices) -> Table:
    """Return some rows of a table, as a table that can be judged.

    Raises
    ------
    InputError
        If no model can learn from these rows what it would have to.
    """
    half = table.rows(rows)
    family = table.family
    if family.has_classes:
        missing = np.setdiff1d(np.arange(len(table.labels)), half.y)
        if len(missing):
            raise InputError(f"y has no row of class {table.labels[missing[0]]}")
        family.check(half.y, table.labels)
    elif np.ptp(half.y) == 0:
        raise InputError("y has the same value in all rows")
    weights, clusters = half.weights, half.clusters
    return replace(
        half,
        weights=None if weights is None else even_weights(weights),
        clusters=None if clusters is None else np.unique(clusters, return_inverse=True)[1],
        folds=None
        if table.folds is None
        else folds_of_some(table.folds, rows, half.y, half.clusters, table.task),
    )
