"""Deciding: a table that was read is put in order, and a method judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices, Mask
from squamish.errors import InputError
from squamish.evidence import CrossfitEvidence, Evidence
from squamish.evidence.relevance import IRRELEVANT
from squamish.execution.checkpoint import Checkpoint, opened
from squamish.execution.progress import Reporter
from squamish.execution.workers import OutOfTime, Workers, as_generator
from squamish.fitting.provenance import settings_of, versions
from squamish.fitting.reading import Reading
from squamish.fitting.request import Conditions, Method
from squamish.methods.crossfit import CrossfitMethod
from squamish.table.canonical import in_canonical_order


@dataclass(frozen=True, eq=False)
class Screened:
    """What tests on all rows of a long table found.

    Attributes
    ----------
    p_values : mapping of str to ndarray of shape (n_columns,)
        By the names of the tests; none if there were no tests, or no time for them.
    unfinished : tuple of str
        The stages in which there was no time left.
    """

    p_values: Mapping[str, Array]
    unfinished: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a method decided.

    Attributes
    ----------
    classes : ndarray of int
        The class of every feature, or of every column.
    evidence : Evidence
        What it rests on.
    unfinished : tuple of str
        The stages in which there was no time left.
    """

    classes: NDArray[np.int64]
    evidence: Evidence
    unfinished: tuple[str, ...]

    def of_columns(self, feature: Indices) -> Judgement:
        """Return what was decided of columns, given the feature of each; -1 is irrelevant."""
        classes = np.full(len(feature), IRRELEVANT)
        judged = feature >= 0
        classes[judged] = self.classes[feature[judged]]
        return replace(self, classes=classes, evidence=self.evidence.spread(feature))

    def undecided(self) -> Judgement:
        """Return the same without a decision on any column: none was tested, none is proven."""
        n = len(self.classes)
        nothing: dict[str, Array | Mask] = {"undecided": np.ones(n, dtype=bool)}
        if isinstance(self.evidence, CrossfitEvidence):
            nothing["p_relevant"] = np.ones(n)
        evidence: Any = self.evidence
        return replace(self, evidence=replace(evidence, **nothing))


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table in canonical order, with what tests on all rows found.

    Attributes
    ----------
    reading : Reading
        What was read, with the table in its canonical order.
    screened : Screened
        What was found on all rows, for the columns in this order.
    rows : ndarray of int of shape (n_samples,)
        For every row of the table, its number in the order that was read.
    feature : ndarray of int of shape (n_columns,)
        For every column that is judged, its feature in the table; -1 if it is constant.
    """

    reading: Reading
    screened: Screened
    rows: Indices
    feature: Indices

    def fingerprint(self, *beside: NDArray[Any]) -> str:
        """Return a hash of all that was prepared, and of what else a verdict depends on."""
        p_values = self.screened.p_values
        return self.reading.table.fingerprint(
            *(p_values[name] for name in sorted(p_values)), *beside
        )

    def without_columns(self) -> Prepared:
        """Return the same rows and nothing else, for a verdict when there was no time for more."""
        reading = replace(self.reading, table=self.reading.table.take(np.zeros(0, dtype=np.intp)))
        return replace(
            self,
            reading=reading,
            screened=replace(self.screened, p_values={}),
            feature=np.full_like(self.feature, -1),
        )


def prepare(reading: Reading, workers: Workers) -> Prepared:
    """Test columns on all rows of a long table, and put it in its canonical order.

    If there is no time for that, the table is left without columns.
    """
    screened = _screen(reading, workers)
    try:
        order = in_canonical_order(reading.table, workers.check_time)
    except OutOfTime:
        reading, n = replace(reading, levels={}, all_rows=None), len(reading.table.y)
        late = Screened({}, tuple(workers.unfinished))
        feature = np.arange(reading.table.judged.n_columns)
        return Prepared(reading, late, np.arange(n), feature).without_columns()
    found = {name: p[order.columns] for name, p in screened.p_values.items()}
    feature = order.feature[~reading.table.is_adjusted]
    reading = replace(reading, table=order.table, levels={}, all_rows=None)
    return Prepared(reading, replace(screened, p_values=found), order.rows, feature)


def _screen(reading: Reading, workers: Workers) -> Screened:
    """Test every column on all rows, if models see a sample of them and there is time."""
    if reading.all_rows is None:
        return Screened({})
    with closing(workers):
        try:
            return Screened(reading.all_rows.p_values(reading.table, workers))
        except OutOfTime:
            return Screened({}, tuple(workers.unfinished))


def classify(
    prepared: Prepared,
    method: Method,
    conditions: Conditions,
    reporter: Reporter,
    deadline: float = np.inf,
) -> Judgement:
    """Let the method decide on every column, with what was finished before."""
    # Without the tests on all rows there is nothing yet that could go on.
    late = bool(prepared.screened.unfinished)
    with nullcontext() if late else remembered(prepared.fingerprint, method, conditions) as file:
        rng = as_generator(conditions.random_state if file is None else file.seed)
        unfinished = list(prepared.screened.unfinished)
        workers = Workers(conditions.n_jobs, reporter, file, deadline, unfinished)
        try:
            decided = _decided(prepared, method, rng, workers)
        except OutOfTime:  # before there was anything that could be judged
            prepared = prepared.without_columns()
            decided = _decided(prepared, method, rng, workers)
    judgement = Judgement(*decided, tuple(workers.unfinished)).of_columns(prepared.feature)
    nothing_judged = bool(judgement.unfinished) and prepared.reading.table.n_columns == 0
    return judgement.undecided() if nothing_judged else judgement


def _decided(
    prepared: Prepared, method: Method, rng: np.random.Generator, workers: Workers
) -> tuple[NDArray[np.int64], Evidence]:
    """Return the class of every feature, and the evidence; only one method knows long tables."""
    table = prepared.reading.table
    with closing(workers):
        if isinstance(method, CrossfitMethod):
            return method.classify(table, rng, workers, prepared.screened.p_values)
        return method.classify(table, rng, workers)


def remembered(
    fingerprint: Callable[[], str], method: Method, conditions: Conditions
) -> AbstractContextManager[Checkpoint | None]:
    """Open the file that remembers finished work, if one is wanted.

    The data are hashed only then.
    """
    if conditions.checkpoint is None:
        return nullcontext()
    if conditions.random_state is not None and conditions.seed is None:
        raise InputError(
            f"random_state is {conditions.random_state!r}; with a checkpoint it must be an int or "
            "None, so that the same work can be done again"
        )
    about = {
        "data": fingerprint(),
        "settings": f"{settings_of(method)}, random_state={conditions.random_state}",
        "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
    }
    return opened(conditions.checkpoint, about, conditions.seed)
