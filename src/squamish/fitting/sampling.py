"""Tables of very many rows, of which models see a sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from squamish.arrays import Mask
from squamish.fitting.notes import note_on_rare_classes
from squamish.fitting.observations import Observations
from squamish.fitting.reading import Reading, put_together, read_all
from squamish.fitting.request import Conditions, Method, Request
from squamish.methods.crossfit import CrossfitMethod
from squamish.models import sample_size
from squamish.screening.all_rows import AllRows, Filled, InMemory, Source, portions
from squamish.table.columns import read_columns
from squamish.table.drawing import LEAST_OF_CLASS, draw_rows, without_rare_classes
from squamish.table.folds import is_number_of_folds
from squamish.table.lazy import LazyRows, is_lazy
from squamish.table.rows import even_weights
from squamish.table.table import Table

# Up to so many rows, all are used for everything.
FEW_ROWS = 50_000


def read(
    estimator: BaseEstimator, request: Request, method: Method, conditions: Conditions
) -> Reading:
    """Read a table: all of it, or of very many rows as many as models have to see.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    request : Request
        What was passed; the table may be a polars LazyFrame.
    method : CrossfitMethod or PaperMethod
        Tells how many rows it needs, if it can do with a sample.
    conditions : Conditions
        Tell what draws it.
    """
    sampler = _sampler(method, request)
    if is_lazy(request.X):
        y = request.y
        if sampler is not None and hasattr(y, "__len__") and len(y) > FEW_ROWS:
            return _read_lazily(estimator, request, sampler, conditions)
        request = replace(request, X=request.X.collect())
    reading = _with_gap_seed(read_all(estimator, request), request, conditions)
    if sampler is None or reading.n_rows <= FEW_ROWS:
        return reading
    table = reading.table
    return _sampled(reading, sampler, conditions.sample_rng(), InMemory(table.X), table.y)


def _with_gap_seed(reading: Reading, request: Request, conditions: Conditions) -> Reading:
    """Say what draws the values that gaps are filled with, if they mean nothing."""
    if request.missing == "informative":
        return reading
    table = replace(reading.table, gap_seed=conditions.gap_seed())
    return replace(reading, table=table)


def _sampler(method: Method, request: Request) -> CrossfitMethod | None:
    """Return the method if it may look at a sample; folds that are given are those of all rows."""
    may = isinstance(method, CrossfitMethod) and method.power < 1
    return method if may and is_number_of_folds(request.cv) else None


def _read_lazily(
    estimator: BaseEstimator, request: Request, method: CrossfitMethod, conditions: Conditions
) -> Reading:
    """Read a sample of a table that need not fit into memory."""
    rng = conditions.sample_rng()
    lazy = LazyRows.of(request.X, len(request.y))
    observed = Observations.of(request, lazy.n_rows)
    drawn = draw_rows(sample_size.MOST_ROWS, rng, observed.y, observed.task, observed.clusters)
    numbers = np.flatnonzero(observed.used)[drawn]
    frame = lazy.rows(numbers, portions(lazy.n_rows))
    columns = read_columns(estimator, frame, request.categorical_features)
    reading = put_together(request, columns, observed.some(drawn), numbers)
    reading = _with_gap_seed(reading, request, conditions)
    used = observed.used
    known = replace(lazy, levels=reading.levels, dates=reading.dates)
    source = replace(known, infinite=request.infinite, used=used)
    return _sampled(reading, method, rng, source, observed.y, None if used.all() else used)


def _sampled(
    reading: Reading,
    method: CrossfitMethod,
    rng: np.random.Generator,
    source: Source,
    y: NDArray[Any],
    used: Mask | None = None,
) -> Reading:
    """Draw as many rows as models have to see, and prepare tests of all rows without a model.

    Parameters
    ----------
    reading : Reading
        The rows to draw from.
    method : CrossfitMethod
        Tells how many rows it needs.
    rng : numpy.random.Generator
        Draws them.
    source : Source
        All rows.
    y : ndarray
        The target of all rows that are used.
    used : ndarray of bool or None
        Which rows of the source these are; None for all.
    """
    table = reading.table.without_gaps()
    if table.gap_seed is not None:
        source = Filled(source, table.gap_seed, reading.levels)
    family = table.family
    family.check(table.y, table.labels)
    pilot = _draw(table, sample_size.PILOT, rng, method.n_folds)
    sample = _draw(table, method.sample_size(pilot), rng, method.n_folds)
    left_out = [label for label in table.labels if label not in sample.labels]
    notes = (*reading.notes, *note_on_rare_classes(left_out))
    reading = replace(reading, table=sample, notes=notes)
    comparable = not family.has_classes or np.sum(np.bincount(y) >= LEAST_OF_CLASS) > 1
    # Who is at risk at an event is no sum over portions of rows, and what adjustments leave of
    # columns takes models.
    summed = not (table.is_adjusted.any() or family.is_censored)
    if not table.rows_are_alike or not comparable or not summed:
        return reading
    return replace(reading, all_rows=AllRows.of(source, sample, y, used))


def _draw(table: Table, n_rows: int, rng: np.random.Generator, least_of_class: int) -> Table:
    """Draw rows of a table, without classes that have fewer rows than this among them."""
    drawn = table.rows(draw_rows(n_rows, rng, table.y, table.task, table.clusters))
    X = drawn.X.toarray() if sparse.issparse(drawn.X) else drawn.X
    weights = None if drawn.weights is None else even_weights(drawn.weights)
    return without_rare_classes(replace(drawn, X=X, weights=weights), least_of_class)
