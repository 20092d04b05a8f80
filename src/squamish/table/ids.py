"""Columns that number or name the rows: identifiers, which tell nothing about new rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from squamish.arrays import Array, Mask
from squamish.table.table import Table

# Tables with fewer rows are too small to tell an ID from a coincidence.
LEAST_ROWS = 20
# Whole numbers that were drawn by chance repeat sooner or later. Twenty out of twenty, the fewest
# that are looked at, would be all different with a probability of 7e-5.
NO_CHANCE = 1e-4
# A category that differs in nearly every row names the rows.
MOSTLY_DIFFERENT = 0.95


def like_ids(table: Table) -> Mask:
    """Tell which columns look like identifiers: names of rows, or running numbers, with holes too.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.ids import like_ids
    >>> from squamish.table.table import Table
    >>> rng = np.random.default_rng(0)
    >>> running, amount = rng.permutation(400)[:300] + 1000, rng.integers(0, 10**6, 300)
    >>> X = np.column_stack([running, amount, rng.standard_normal(300)])
    >>> like_ids(Table(X, np.arange(300), "regression"))
    array([ True, False, False])
    """
    found = np.zeros(table.n_columns, dtype=bool)
    if len(table.y) < LEAST_ROWS or sparse.issparse(table.X):
        return found
    for j in range(table.n_columns):
        column = table.X[:, j]
        if table.is_category[j]:
            found[j] = len(np.unique(column)) > MOSTLY_DIFFERENT * len(column)
        else:
            found[j] = _is_running(column[~np.isnan(column)])
    return found


def _is_running(known: Array) -> bool:
    """Tell whether numbers are whole, all different, and too dense to be so by chance.

    Of n numbers that are drawn from so many, evenly, which lets them repeat least, all are
    different with a probability of at most exp(-n (n - 1) / 2 / number).
    """
    n = len(known)
    if n < LEAST_ROWS or np.any(known != np.rint(known)):
        return False
    number = known.max() - known.min() + 1
    chance = np.exp(-n * (n - 1) / 2 / number)
    return bool(chance < NO_CHANCE and len(np.unique(known)) == n)
