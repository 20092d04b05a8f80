"""Stability: the same method on half of the rows, again and again.

Complementary pairs of half-samples, as in R. Shah, R. Samworth: "Variable selection with error
control: another look at stability selection", Journal of the Royal Statistical Society B 75 (2013).
They are drawn without replacement, so that no row is there twice; the rows that are not in one half
are the other one. Half of the rows show less than all do: what is strong in the verdict and weak
in many halves is what it takes all these rows to tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from squamish.arrays import Array
from squamish.errors import InputError
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.evidence.spreading import spread_values
from squamish.execution.progress import Reporter
from squamish.execution.workers import OutOfTime, Workers, as_generator, one_thread
from squamish.fitting.deciding import Prepared, classify, prepare, remembered
from squamish.fitting.halving import Halving, half_table
from squamish.fitting.request import Conditions, Method
from squamish.result.stability import Counts, Stability

STAGE = "judge half-samples"
# The time of half a table beside that of all of it, for the display of progress: 0.5 to 0.75 of it
# were measured on three tables.
SHARE_OF_FIT = 0.7
# Seeds are whole numbers that every reader of JSON keeps to the last digit.
MOST_SEEDS = 2**53
# The streams of an int seed that methods, samples and audits draw from are below this one.
OWN_STREAM = 10

# Why a half cannot be judged, if so; the class of every feature, and whether it is in the minimal
# set.
Verdict = tuple[str, tuple[int, ...], tuple[bool, ...]]


@dataclass(frozen=True, eq=False)
class Plan:
    """What all half-samples share: the table in its canonical order, the method and the halves."""

    prepared: Prepared
    method: Method
    halving: Halving


def judge_half_samples(
    prepared: Prepared,
    method: Method,
    conditions: Conditions,
    reporter: Reporter,
    deadline: float,
) -> Stability | None:
    """Judge as many half-samples as were asked for, or as there is time for.

    Parameters
    ----------
    prepared : Prepared
        The table as it was judged.
    method : CrossfitMethod or PaperMethod
        How it was judged.
    conditions : Conditions
        How many half-samples, ``n_jobs`` of them at the same time. The checkpoint is another file
        than that of the verdict, with ``.stability`` at the end of its name.
    reporter : Reporter
        Is told of every half-sample.
    deadline : float
        After which none is begun.

    Returns
    -------
    Stability or None
        How often every column had which class; None if it was not asked for.
    """
    if conditions.stability is None:
        return None
    # What there was no time to put in order has no halves.
    ready = not prepared.screened.unfinished
    verdicts = _judge_all(prepared, method, conditions, reporter, deadline) if ready else []
    return _summary(prepared, conditions.stability, verdicts)


def checkpoint_of_stability(checkpoint: str | PathLike[str]) -> Path:
    """Return the file for the finished half-samples, given that for the finished work of a fit.

    Examples
    --------
    >>> from squamish.fitting.stability import checkpoint_of_stability
    >>> checkpoint_of_stability("work.bin").name
    'work.bin.stability'
    """
    return Path(f"{fspath(checkpoint)}.stability")


def _judge_all(
    prepared: Prepared,
    method: Method,
    conditions: Conditions,
    reporter: Reporter,
    deadline: float,
) -> list[Verdict]:
    """Judge half-samples, in any order, as long as there is time."""
    if conditions.checkpoint is not None:
        own = checkpoint_of_stability(conditions.checkpoint)
        conditions = replace(conditions, checkpoint=own)
    n = conditions.stability or 0
    reporter.begin(STAGE, n)
    with remembered(lambda: _fingerprint(prepared), method, conditions) as checkpoint:
        random_state = conditions.random_state if checkpoint is None else checkpoint.seed
        rng = as_generator(random_state).spawn(OWN_STREAM + 1)[OWN_STREAM]
        halving = Halving.of(prepared.reading.table, int(rng.integers(MOST_SEEDS)))
        plan = Plan(prepared, method, halving)
        with closing(Workers(conditions.n_jobs, reporter, checkpoint, deadline)) as workers:
            try:
                return workers.run(_judge_one, plan, range(n), rng)
            except OutOfTime as late:
                return list(late.results.values())


def _fingerprint(prepared: Prepared) -> str:
    """Return a hash of the table that is not that of the verdict."""
    return prepared.fingerprint(np.frombuffer(STAGE.encode(), dtype=np.uint8))


def _judge_one(plan: Plan, number: int, rng: np.random.Generator) -> Verdict:
    """Judge a half of the rows."""
    table, judged = plan.prepared.reading.table, plan.prepared.reading.table.judged
    conditions = Conditions(random_state=int(rng.integers(MOST_SEEDS)), n_jobs=1)
    try:
        half = half_table(table, plan.halving.rows(number))
        reading = replace(plan.prepared.reading, table=half)
        with one_thread:
            judgement = classify(prepare(reading, Workers(1)), plan.method, conditions, Reporter())
    except InputError as error:
        return str(error), (), ()
    # The columns of a feature have the same class: the first one tells it.
    first = np.unique(judged.feature, return_index=True)[1]
    minimal = judgement.evidence.minimal[first]
    return "", tuple(judgement.classes[first].tolist()), tuple(minimal.tolist())


def _summary(prepared: Prepared, n_asked: int, verdicts: Sequence[Verdict]) -> Stability:
    """Count the classes of every column of the table."""
    reasons = Counter(reason for reason, _, _ in verdicts if reason)
    found = [(classes, minimal) for reason, classes, minimal in verdicts if not reason]
    n_features = prepared.reading.table.judged.n_features
    classes = np.array([c for c, _ in found], dtype=np.intp).reshape(len(found), n_features)
    minimal = np.array([m for _, m in found], dtype=np.intp).reshape(len(found), n_features)
    in_class: list[Array] = [(classes == c).sum(axis=0) for c in (STRONG, WEAK, IRRELEVANT)]
    # A column that does not vary is irrelevant in all.
    fill = (0, 0, len(found), 0)
    counts = [
        spread_values(of_features, prepared.feature, nothing).tolist()
        for of_features, nothing in zip([*in_class, minimal.sum(axis=0)], fill, strict=True)
    ]
    names = prepared.reading.columns.names
    return Stability(
        n_asked=n_asked,
        n_finished=len(found),
        columns={name: Counts(*row) for name, *row in zip(names, *counts, strict=True)},
        notes=tuple(_notes(prepared, reasons, n_asked - len(verdicts))),
    )


def _notes(prepared: Prepared, reasons: Counter[str], n_late: int) -> list[str]:
    """Say what half-samples are missing, and of what the others are halves."""
    notes = [
        f"{n} half-sample{'s' if n > 1 else ''} could not be judged: {reason}"
        for reason, n in reasons.most_common()
    ]
    if n_late:
        notes.append(f"there was no time for {n_late} half-sample{'s' if n_late > 1 else ''}")
    if prepared.reading.is_sample:
        notes.append(
            "half-samples are halves of the rows that models see; tests of all rows are not "
            "made again in them"
        )
    return notes
