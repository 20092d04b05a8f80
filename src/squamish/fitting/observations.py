"""What is said about the rows of a table: their target, weight and group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices, Mask
from squamish.errors import InputError, check_choice
from squamish.families import FAMILIES, Family, Ordinal, Task, family_of
from squamish.fitting.notes import (
    note_on_classes,
    note_on_lone_values,
    note_on_missing,
    note_on_task,
)
from squamish.fitting.request import Request
from squamish.table.exposures import exposed, is_exposed
from squamish.table.order import in_order, read_order
from squamish.table.rows import read_groups, read_weights
from squamish.table.target import encode_target, infer_task, lone_values, read_target
from squamish.table.times import is_paired, signed


@dataclass(frozen=True, eq=False)
class Observations:
    """Target, weights and groups of the rows that are used.

    Attributes
    ----------
    used : ndarray of bool of shape (n_samples,)
        Which rows of the table count and have a target.
    y : ndarray of shape (n_used,)
        The target, as numbers that models can be fitted to.
    task : str
        What kind of target it is.
    labels : tuple of str
        The names of the classes, from the least to the greatest if they have an order.
    weights, clusters : ndarray of shape (n_used,) or None
        How much each row counts, and which rows belong together.
    n_rows : int
        How many rows are used, of which these may be some.
    summary : str
        The target in words.
    notes : tuple of str
        What a user should know of it.
    """

    used: Mask
    y: NDArray[Any]
    task: Task
    labels: tuple[str, ...]
    weights: Array | None
    clusters: Indices | None
    n_rows: int
    summary: str
    notes: tuple[str, ...]

    @property
    def family(self) -> Family:
        """All that depends on what kind of target it is."""
        return family_of(self.task)

    @property
    def is_ordered(self) -> bool:
        """Whether these are ordered classes."""
        return self.family.has_classes and self.family.has_order

    @classmethod
    def of(cls, request: Request, n_rows: int) -> Observations:
        """Check what was passed beside a table of so many rows."""
        weights = read_weights(request.sample_weight, n_rows)
        clusters = read_groups(request.groups, n_rows)
        counted = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
        target, used = _read_any_target(request.y, counted, request.missing_target)
        if len(target) < 2:
            raise InputError(
                f"{len(target)} rows are left: the sample_weight of others is zero, or they have "
                "no target; 2 or more are needed"
            )
        family = _family(request, target)
        known, lone = used.copy(), np.zeros(len(target), dtype=bool)
        if request.task is None and family.task == "classification":
            lone = lone_values(target)
            used[np.flatnonzero(used)[lone]] = False
        rare, target = target[lone], target[~lone]
        labels = family.labels(target)
        notes = [] if request.task else note_on_task(target, family.task, labels)
        return cls(
            used=used,
            y=encode_target(target, family),
            task=family.task,
            labels=labels,
            weights=None if weights is None else weights[used],
            clusters=None if clusters is None else clusters[used],
            n_rows=len(target),
            summary=family.summarise(target),
            notes=(
                *notes,
                *note_on_lone_values(rare),
                *note_on_classes(target, family.task),
                *note_on_missing(counted & ~known),
            ),
        )

    def some(self, rows: Indices) -> Observations:
        """Return what is said about some of the rows, of a table that holds no others."""
        return replace(
            self,
            used=np.ones(len(rows), dtype=bool),
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
        )


def _read_any_target(y: Any, counted: Mask, missing: str) -> tuple[NDArray[Any], Mask]:
    """Check a target, also one of pairs, and find the rows that have one."""
    if is_exposed(y):
        counts, used = read_target(y["count"], counted, missing)
        return exposed(counts, y["exposure"][used]), used
    return read_target(signed(y) if is_paired(y) else y, counted, missing)


def _family(request: Request, target: NDArray[Any]) -> Family:
    """Tell what kind of target it is, and the order of its classes if they have one."""
    order = read_order(request.order, request.y)
    task = request.task
    if task is None:
        # Two classes are the same in any order.
        is_ordered = request.order is not None or (order and len(np.unique(target)) > 2)
        task = "ordinal" if is_ordered else infer_task(target)
    check_choice("task", task, tuple(FAMILIES))
    if task == "ordinal":
        return Ordinal(in_order(target, order))
    if request.order is not None:
        raise InputError(f"order belongs to task='ordinal', but task is {task!r}")
    return family_of(task)
