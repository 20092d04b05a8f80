"""Folds: which rows are trained on, and which are tested."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from squamish.arrays import Fold
from squamish.errors import InputError
from squamish.table.table import Table


def split_rows(table: Table, n_folds: int, rng: np.random.Generator) -> list[Fold]:
    """Split rows into folds: shares of the targets alike, clusters of rows whole."""
    family = table.family
    seed, strata = int(rng.integers(2**31)), family.strata(table.y)
    if table.clusters is None:
        split = family.splitter(n_folds, seed, grouped=False)
        return list(split.split(table.X, strata))
    n_clusters = len(np.unique(table.clusters))
    if n_clusters < 2:
        raise InputError("groups holds one group only; it must hold 2 or more, to test on others")
    split = family.splitter(min(n_folds, n_clusters), seed, grouped=True)
    folds = [
        (train, test)
        for train, test in split.split(table.X, strata, table.clusters)
        if len(test) and family.is_trainable(table.y, train)
    ]
    if not folds:
        raise InputError(
            "groups leave no way to train on every class and test on other groups; every class "
            "must occur in 2 or more groups"
        )
    return folds


def covering(folds: Sequence[Fold], n_rows: int) -> list[Fold]:
    """Return folds in which every row is predicted.

    Rows that no fold tests, such as the first of a time-ordered split, join the last one:
    models are trained on their values, so that they must have some.
    """
    train, test = folds[-1]
    untested = np.setdiff1d(np.arange(n_rows), np.concatenate([rows for _, rows in folds]))
    return [*folds[:-1], (train, np.concatenate([test, untested]))]
