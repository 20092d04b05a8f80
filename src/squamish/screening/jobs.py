"""Tests cut into jobs that are handed out together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from squamish.arrays import Array
from squamish.execution.workers import OutOfTime
from squamish.models.crossfit import CrossFit
from squamish.screening import product
from squamish.statistics.pairs import Block, blocks, sides

# A function of the table and folds, and its further arguments.
Job = tuple[Callable[..., Array], tuple[Any, ...]]


def run_jobs(
    fit: CrossFit, jobs: Mapping[str, list[Job]], rng: np.random.Generator
) -> tuple[dict[str, list[Array]], bool]:
    """Hand out all jobs together; return what was found under names that are finished.

    Tells as well whether all of them are.
    """
    everything = [job for some in jobs.values() for job in some]
    complete = True
    try:
        results = dict(enumerate(fit.workers.run(_call, fit, everything, rng)))
    except OutOfTime as error:
        results, complete = error.results, False
    found: dict[str, list[Array]] = {}
    start = 0
    for name, some in jobs.items():
        places = range(start, start + len(some))
        if all(i in results for i in places):
            found[name] = [results[i] for i in places]
        start += len(some)
    return found, complete


def _call(fit: CrossFit, job: Job, _: np.random.Generator) -> Array:
    function, arguments = job
    return function(fit, *arguments)


def product_jobs(Z: Array, targets: Array) -> list[Job]:
    """Cut the products of all pairs of columns into jobs."""
    d, n_targets = Z.shape[1], targets.shape[1]
    least = product.least_ratio(d, n_targets)
    ordered = np.stack([product.ordered_variances(Z, r) for r in targets.T])
    return [(_products, (block, targets, sides(ordered, block), least)) for block in blocks(d)]


def _products(
    fit: CrossFit, block: Block, targets: Array, ordered: Sequence[Array], least: float
) -> Array:
    # Targets are those of all rows, or of the tested ones.
    Z = fit.parts.ranked if len(targets) == len(fit.table.y) else fit.tested_ranks
    found = []
    for t, (r, *variances) in enumerate(zip(targets.T, *ordered, strict=True)):
        largest = product.largest_ratios(Z, r, variances, block, least)
        number = np.full((*largest.shape[:2], 1), float(t))
        found.append(np.concatenate([largest, number], axis=2))
    return np.concatenate(found, axis=1)
