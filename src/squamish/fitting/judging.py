"""Judging a table: read it, let a method decide, and put the result together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator

from squamish.execution.progress import Reporter, shown, sklearn_tasks
from squamish.execution.workers import Workers, one_thread
from squamish.fitting.deciding import Judgement, Prepared, classify, prepare
from squamish.fitting.notes import (
    note_on_constant,
    note_on_paper,
    note_on_sample,
    note_on_time,
    notes_on_adjustment,
    notes_on_rest,
    notes_on_verdict,
)
from squamish.fitting.provenance import in_one_row, provenance_of
from squamish.fitting.reading import Reading
from squamish.fitting.request import Conditions, Method, Request
from squamish.fitting.sampling import read
from squamish.fitting.stability import SHARE_OF_FIT, STAGE, judge_half_samples
from squamish.models import adjustment
from squamish.result.result import RelevanceResult
from squamish.screening import all_rows


def judge(
    estimator: BaseEstimator, request: Request, method: Method, conditions: Conditions
) -> RelevanceResult:
    """Decide the class of every column of a table.

    Parameters
    ----------
    estimator : BaseEstimator
        On whose behalf: gets ``n_features_in_`` and ``feature_names_in_``, and has the callbacks
        of scikit-learn that are told.
    request : Request
        What was passed, and how to read it.
    method : CrossfitMethod or PaperMethod
        How to decide.
    conditions : Conditions
        How to carry it out.
    """
    start = perf_counter()
    deadline = np.inf if conditions.time_budget is None else start + conditions.time_budget
    reading = read(estimator, request, method, conditions)
    stages = _stages(method, conditions, reading)
    # Many small products: threads of the linear algebra would only wait for each other,
    # and round differently on a machine with more cores.
    with _reporter(estimator, request, conditions, stages) as reporter, one_thread:
        prepared = prepare(reading, Workers(conditions.n_jobs, reporter, deadline=deadline))
        # Nothing else of the rows is needed from here on, and they may be large.
        reading = prepared.reading
        judgement = classify(prepared, method, conditions, reporter, deadline)
        stability = judge_half_samples(prepared, method, conditions, reporter, deadline)
    return RelevanceResult(
        columns=reading.columns,
        classes=judgement.classes,
        evidence=judgement.evidence,
        method=in_one_row(method),
        task=reading.table.task,
        n_samples=reading.n_rows,
        seconds=perf_counter() - start,
        notes=(*_notes(prepared, judgement, conditions), *(stability.notes if stability else ())),
        provenance=provenance_of(estimator, request, conditions, reading),
        stability=stability,
        adjusted_for=reading.adjusted_for,
    )


def _stages(method: Method, conditions: Conditions, reading: Reading) -> dict[str, float]:
    """Return the stages in their order, with the share of the time that each usually takes."""
    long, is_adjusted = reading.all_rows is not None, bool(reading.adjusted_for)
    stages = dict(all_rows.STAGES if long else {})
    stages |= (adjustment.STAGES if is_adjusted else {}) | method.STAGES
    if conditions.stability is None:
        return stages
    return stages | {STAGE: conditions.stability * SHARE_OF_FIT * sum(method.STAGES.values())}


@contextmanager
def _reporter(
    estimator: BaseEstimator, request: Request, conditions: Conditions, stages: Mapping[str, float]
) -> Iterator[Reporter]:
    """Tell whoever wants to know how far the work is."""
    told = () if conditions.callback is None else (conditions.callback,)
    with (
        shown(conditions.verbose) as bar,
        sklearn_tasks(estimator, len(stages), request.X, request.y) as tasks,
    ):
        yield Reporter(stages, [*told, *bar, *tasks])


def _notes(prepared: Prepared, judgement: Judgement, conditions: Conditions) -> tuple[str, ...]:
    """Say what a user should know before trusting a verdict."""
    reading, feature = prepared.reading, prepared.feature
    evidence, names = judgement.evidence, reading.columns.names
    n_adjusted = int(reading.table.is_adjusted.sum())
    notes = [*reading.notes, *notes_on_adjustment(reading.adjusted_for, n_adjusted)]
    notes += notes_on_verdict(judgement.classes, evidence, feature, names)
    notes += note_on_paper(evidence, reading.table.task)
    notes += notes_on_rest(evidence, reading.table, names)
    notes += note_on_time(evidence, judgement.unfinished, conditions.time_budget)
    if reading.is_sample:
        notes.append(note_on_sample(evidence, reading.n_rows, bool(prepared.screened.p_values)))
        constant = (feature < 0) & ~evidence.undecided
        notes += note_on_constant(np.flatnonzero(constant).tolist(), names)
    return tuple(notes)
