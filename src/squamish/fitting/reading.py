"""Reading what was passed: columns and observations become a table, and notes on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from squamish.arrays import Indices, Mask
from squamish.errors import InputError, check_choice, in_one_line
from squamish.evidence.provenance import Columns
from squamish.fitting.notes import (
    note_on_empty,
    note_on_unknown_adjustments,
    notes_on_table,
    notes_on_text,
)
from squamish.fitting.observations import Observations
from squamish.fitting.request import Request
from squamish.screening.all_rows import AllRows
from squamish.table.alignment import refuse_other_order
from squamish.table.columns import ReadColumns, read_columns
from squamish.table.dates import DateFormat
from squamish.table.folds import read_folds, read_n_folds
from squamish.table.ids import like_ids
from squamish.table.ignored_gaps import marked, without_lone_values
from squamish.table.infinite import without_infinite
from squamish.table.levels import Levels
from squamish.table.names import adjusted_columns, features_of_columns
from squamish.table.rows import even_weights
from squamish.table.table import Table

# What gaps may mean.
MISSING = ("informative", "ignore")


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read: a table, or a sample of one, and what is known of it.

    Attributes
    ----------
    table : Table
        The rows that models see.
    columns : Columns
        The names of the columns that are judged and what they hold.
    summary : str
        The target in words.
    notes : tuple of str
        What a user should know of it.
    levels : mapping of int to Levels
        The columns that are categories.
    dates : mapping of int to DateFormat
        The columns of text that were read as dates.
    n_rows : int
        How many rows there are in all.
    all_rows : AllRows or None
        Tests on all rows, if the table is a sample of them.
    """

    table: Table
    columns: Columns
    summary: str
    notes: tuple[str, ...]
    levels: Mapping[int, Levels]
    dates: Mapping[int, DateFormat]
    n_rows: int
    all_rows: AllRows | None = None
    adjusted_for: tuple[str, ...] = ()

    @property
    def is_sample(self) -> bool:
        """Whether models do not see all rows."""
        return len(self.table.y) < self.n_rows


def read_all(estimator: BaseEstimator, request: Request) -> Reading:
    """Read all rows of a table.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    request : Request
        What was passed; the table is in memory.
    """
    told = {"y": request.y, "sample_weight": request.sample_weight, "groups": request.groups}
    for name, rows in told.items():
        refuse_other_order(request.X, rows, name)
    with in_one_line():
        columns = read_columns(estimator, request.X, request.categorical_features)
    return put_together(request, columns, Observations.of(request, columns.values.shape[0]))


def put_together(
    request: Request, read: ReadColumns, observed: Observations, numbers: Indices | None = None
) -> Reading:
    """Make a table of columns and observations, without the rows that are not used.

    Parameters
    ----------
    request : Request
        What was passed.
    read : ReadColumns
        Its columns.
    observed : Observations
        What is said about the same rows.
    numbers : ndarray of int or None
        The number of every row, if these are some of many.
    """
    check_choice("missing", request.missing, MISSING)
    used = observed.used
    values = without_infinite(read.values, used, read.names, request.infinite, numbers)
    read = replace(read, values=values)
    clusters = observed.clusters
    if clusters is not None:
        clusters = np.unique(clusters, return_inverse=True)[1]
    feature = features_of_columns(request.feature_groups, read.names)
    table = Table(
        X=_rows(request, read, used),
        y=observed.y,
        task=observed.task,
        labels=observed.labels,
        is_category=read.is_category,
        feature=feature,
        is_adjusted=adjusted_columns(request.adjust_for, read.names, feature),
        weights=None if observed.weights is None else even_weights(observed.weights),
        clusters=clusters,
        folds=read_folds(request.cv, observed.y, clusters, observed.task, used),
        n_folds=read_n_folds(request.cv),
    )
    # The range of a column may be beyond what a float holds.
    with np.errstate(over="ignore", invalid="ignore"):
        table = replace(table, is_id=like_ids(table) & ~read.is_doubtful)
    missing = read.missing_shares(used)
    notes = [
        *notes_on_text(read.names, read.levels, read.dates),
        *notes_on_table(table, read.names),
        *note_on_empty(missing, read.names),
        *note_on_unknown_adjustments(missing, table.is_adjusted, read.names),
    ]
    return Reading(
        table,
        read.described(used).some(np.flatnonzero(~table.is_adjusted)),
        observed.summary,
        (*observed.notes, *notes),
        read.levels,
        read.dates,
        observed.n_rows,
        adjusted_for=tuple(read.names[j] for j in np.flatnonzero(table.is_adjusted)),
    )


def _rows(request: Request, read: ReadColumns, used: Mask) -> Any:
    """Return the rows that are used, with gaps as what they mean."""
    values = read.values if used.all() else read.values[used]
    if request.missing == "informative":
        return values
    if sparse.issparse(values):
        raise InputError("missing is 'ignore', which is for tables that are not sparse")
    return without_lone_values(marked(values, read.levels))
