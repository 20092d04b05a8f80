"""The audit: the same fit on shuffled targets, in which whatever is found is false."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from squamish.arrays import Array, Fold, Indices
from squamish.evidence.relevance import IRRELEVANT, STRONG
from squamish.execution.progress import Reporter, shown
from squamish.execution.workers import OutOfTime, Workers, as_generator, one_thread
from squamish.fitting.deciding import Prepared, classify, prepare, remembered
from squamish.fitting.observations import Observations
from squamish.fitting.provenance import in_one_row
from squamish.fitting.reading import Reading, read_all
from squamish.fitting.request import Conditions, Method, Request
from squamish.fitting.sampling import read
from squamish.fitting.shuffling import Exchange, strata_of
from squamish.methods.crossfit import CrossfitMethod
from squamish.result.audit import Audit, Shuffle
from squamish.table.exposures import is_exposed
from squamish.table.lazy import is_lazy, take_by_name
from squamish.table.rows import read_weights
from squamish.table.target import one_column
from squamish.table.times import is_paired

STAGE = "audit"
# Seeds are whole numbers that every reader of JSON keeps to the last digit.
MOST_SEEDS = 2**53
# The streams of an int seed that methods and samples draw from are below this one.
OWN_STREAM = 9

# A relevant column: its place in the table, whether it is strong, and its proof.
Finding = tuple[int, bool, str]


@dataclass(frozen=True, eq=False)
class Plan:
    """What all shuffles share.

    Attributes
    ----------
    kind : type of BaseEstimator
        The estimator that tables are read for.
    request : Request
        What was passed, with the target as an array, and with what was read off the target
        itself, so that it stays the same: the task, and the folds as row numbers.
    method : CrossfitMethod or PaperMethod
        How to decide.
    observed : Observations
        Which rows are used, and their target.
    exchange : Exchange
        Which of them may change places.
    folds : tuple of (train, test)
        The folds that were asked for, as numbers of rows that are used.
    """

    kind: type[BaseEstimator]
    request: Request
    method: Method
    observed: Observations
    exchange: Exchange
    folds: tuple[Fold, ...]

    def shuffled(self, rng: np.random.Generator) -> Request:
        """Return the same request with the targets, and their weights, in a random order."""
        observed = self.observed
        source = self.exchange.draw_for(observed.y, observed.family, self.folds, rng)
        rows, used = np.arange(len(observed.used)), np.flatnonzero(observed.used)
        rows[used] = used[source]
        weights: Array | None = self.request.sample_weight
        return replace(
            self.request,
            y=self.request.y[rows],
            sample_weight=None if weights is None else weights[rows],
        )


def audit(
    estimator: BaseEstimator,
    request: Request,
    method: Method,
    conditions: Conditions,
    n_shuffles: int,
) -> Audit:
    """Judge a table with its target in random orders.

    Parameters
    ----------
    estimator : BaseEstimator
        On whose behalf; it is left as it is.
    request : Request
        What was passed, and how to read it.
    method : CrossfitMethod or PaperMethod
        How to decide.
    conditions : Conditions
        How to carry it out: ``n_jobs`` shuffles at the same time. The checkpoint is another
        file than that of a fit, with ``.audit`` at the end of its name.
    n_shuffles : int
        How many orders to judge.
    """
    start = perf_counter()
    deadline = np.inf if conditions.time_budget is None else start + conditions.time_budget
    # A checkpoint has what was finished in time before, and knows it by what is prepared.
    late = np.inf if conditions.checkpoint is not None else deadline
    plan, prepared = _plan(estimator, request, method, conditions, late)
    ready = not prepared.screened.unfinished
    names, data = prepared.reading.columns.names, ""
    if conditions.checkpoint is not None:
        conditions = replace(conditions, checkpoint=checkpoint_of_audit(conditions.checkpoint))
        data = _fingerprint(plan, prepared)
    # The table may be large, and every shuffle puts one of its own in order.
    del prepared
    found = _judge_all(plan, data, conditions, n_shuffles, deadline) if ready else {}
    return Audit(
        shuffles=tuple(_named(number, *found[number], names) for number in sorted(found)),
        n_unfinished=n_shuffles - len(found),
        level=method.alpha if isinstance(method, CrossfitMethod) else None,
        method=in_one_row(method),
        seconds=perf_counter() - start,
        notes=plan.exchange.notes(),
    )


def checkpoint_of_audit(checkpoint: str | PathLike[str]) -> Path:
    """Return the file for the finished shuffles, given that for the finished work of a fit.

    Examples
    --------
    >>> from squamish.fitting.audit import checkpoint_of_audit
    >>> checkpoint_of_audit("work.bin").name
    'work.bin.audit'
    """
    return Path(f"{fspath(checkpoint)}.audit")


def _plan(
    estimator: BaseEstimator,
    request: Request,
    method: Method,
    conditions: Conditions,
    deadline: float,
) -> tuple[Plan, Prepared]:
    """Read the table once as it is, which finds all mistakes, and settle what stays."""
    kind = type(estimator)
    y = request.y if is_paired(request.y) or is_exposed(request.y) else one_column(request.y)
    # What an array does not tell is settled first: the order of a category.
    observed = Observations.of(request, len(y))
    request = replace(request, y=y, order=observed.labels if observed.is_ordered else None)
    reading = read(kind(), request, method, conditions)
    with one_thread:
        prepared = prepare(reading, Workers(conditions.n_jobs, deadline=deadline))
    if is_lazy(request.X) and not reading.is_sample:
        request = replace(request, X=request.X.collect())
    folds = tuple(reading.table.folds or ())
    settled = replace(
        request,
        sample_weight=read_weights(request.sample_weight, len(y)),
        task=observed.task,
        cv=_in_all_rows(folds, observed) if folds else request.cv,
    )
    # Of a sample the rows have no order but that of their numbers.
    order = np.arange(observed.n_rows) if reading.is_sample else prepared.rows
    strata = _strata(kind, request, reading) if reading.adjusted_for else None
    exchange = Exchange.of(order, observed.clusters, strata)
    return Plan(kind, settled, method, observed, exchange, folds), prepared


def _strata(kind: type[BaseEstimator], request: Request, reading: Reading) -> Indices:
    """Tell which rows are alike in what is adjusted for, of all rows that are used."""
    X, names = request.X, reading.adjusted_for
    categories = request.categorical_features
    if is_lazy(X):
        X = take_by_name(X, names).collect()
        categories = [name for name in categories or () if name in names] or None
    plain = replace(request, X=X, categorical_features=categories, cv=None)
    everything = read_all(kind(), replace(plain, feature_groups=None, adjust_for=None))
    places = np.flatnonzero(np.isin(everything.columns.names, names))
    return strata_of(everything.table.take(places))


def _in_all_rows(folds: tuple[Fold, ...], observed: Observations) -> list[Fold]:
    """Return folds of the rows that are used as folds of the whole table."""
    used = np.flatnonzero(observed.used)
    return [(used[train], used[test]) for train, test in folds]


def _judge_all(
    plan: Plan, data: str, conditions: Conditions, n_shuffles: int, deadline: float
) -> dict[int, tuple[int, tuple[Finding, ...]]]:
    """Judge as many orders as there is time for: seed and findings of each, by its number."""
    told = () if conditions.callback is None else (conditions.callback,)
    with (
        shown(conditions.verbose) as bar,
        remembered(lambda: data, plan.method, conditions) as checkpoint,
    ):
        reporter = Reporter({STAGE: 1.0}, [*told, *bar])
        reporter.begin(STAGE, n_shuffles)
        random_state = conditions.random_state if checkpoint is None else checkpoint.seed
        rng = _own_stream(random_state)
        with closing(Workers(conditions.n_jobs, reporter, checkpoint, deadline)) as workers:
            try:
                return dict(enumerate(workers.run(_judge_one, plan, range(n_shuffles), rng)))
            except OutOfTime as late:
                return late.results


def _fingerprint(plan: Plan, prepared: Prepared) -> str:
    """Return a hash of the table, of which column is which, and of all rows of a sample."""
    names = "\0".join(prepared.reading.columns.names).encode(errors="replace")
    beside: list[NDArray[Any]] = [prepared.feature, np.frombuffer(names, dtype=np.uint8)]
    if prepared.reading.is_sample:
        beside.append(plan.observed.y)
    return prepared.fingerprint(*beside)


def _judge_one(
    plan: Plan, number: int, rng: np.random.Generator
) -> tuple[int, tuple[Finding, ...]]:
    """Shuffle the target and judge the table: the seed of both, and what was found."""
    seed = int(rng.integers(MOST_SEEDS))
    request = plan.shuffled(_own_stream(seed))
    conditions = Conditions(random_state=seed, n_jobs=1)
    reading = read(plan.kind(), request, plan.method, conditions)
    with one_thread:
        prepared = prepare(reading, Workers(1))
        judgement = classify(prepared, plan.method, conditions, Reporter())
    classes, proof = judgement.classes, judgement.evidence.proof
    relevant = np.flatnonzero(classes != IRRELEVANT).tolist()
    return seed, tuple((j, bool(classes[j] == STRONG), proof[j]) for j in relevant)


def _own_stream(random_state: Any) -> np.random.Generator:
    """Return a stream that neither a method nor a sample with the same seed draws from."""
    return as_generator(random_state).spawn(OWN_STREAM + 1)[OWN_STREAM]


def _named(
    number: int, seed: int, findings: tuple[Finding, ...], names: tuple[str, ...]
) -> Shuffle:
    """Return what was found in an order by the names of the columns."""
    return Shuffle(
        number=number,
        seed=seed,
        proofs={names[j]: proof for j, _, proof in findings},
        strong=tuple(names[j] for j, is_strong, _ in findings if is_strong),
    )
