"""A hash that tells whether a table is the same as before."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from squamish.arrays import Array
from squamish.table.table import Table


def fingerprint(table: Table, screened: Mapping[str, Array] | None = None) -> str:
    """Return a hash of everything that a verdict on a table depends on.

    Parameters
    ----------
    table : Table
        The rows that models see.
    screened : mapping of str to ndarray, or None
        p-values of tests that come from more rows than these.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.fingerprint import fingerprint
    >>> from squamish.table.table import Table
    >>> table = Table(np.eye(4), np.arange(4) % 2, "classification")
    >>> fingerprint(table) == fingerprint(table, {"marginal": np.ones(4)})
    False
    """
    digest = hashlib.sha256(f"{table.task} {table.n_folds} {table.X.shape}".encode())
    folds = [rows for fold in table.folds or () for rows in fold]
    tests = [] if screened is None else [screened[name] for name in sorted(screened)]
    for array in (table.X, table.y, table.is_category, table.feature, *folds, *tests):
        digest.update(np.ascontiguousarray(array).data)
    for rows in (table.weights, table.clusters):
        digest.update(b"none" if rows is None else np.ascontiguousarray(rows).data)
    return digest.hexdigest()
