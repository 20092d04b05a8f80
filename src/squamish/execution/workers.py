"""Running many fits: seeds that belong to tasks, not to workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from squamish.compatibility import (
    active_backend,
    dask_client,
    n_workers,
    shares_memory,
    yields_results,
)
from squamish.errors import InputError
from squamish.execution.checkpoint import Checkpoint
from squamish.execution.cluster import Call, DaskCluster
from squamish.execution.progress import Reporter

RandomState = int | np.integer | np.random.Generator | np.random.RandomState | None
S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

# Every process has a name of its own, on whatever machine; a fork does what its parent does.
_PROCESS = uuid4().hex


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn whatever names a source of randomness into a Generator.

    An int gives the same stream every time. A Generator or RandomState is drawn from, so
    that two calls with the same object differ, as is usual in scikit-learn.

    Examples
    --------
    >>> from squamish.execution.workers import as_generator
    >>> bool(as_generator(7).random() == as_generator(7).random())
    True
    """
    if isinstance(random_state, np.random.Generator):
        # A stream of our own, which can be split into one for each task.
        return np.random.default_rng(random_state.integers(0, 2**63, size=4))
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise InputError(
        f"random_state is {random_state!r}; it must be None, an int of 0 or more, "
        "a numpy Generator or a RandomState"
    )


class OutOfTime(Exception):  # noqa: N818 (it is no error, methods expect it)
    """The time budget is used up; what is finished of a call is there, by the task's number."""

    def __init__(self, results: dict[int, Any]) -> None:
        super().__init__()
        self.results = results


@dataclass(frozen=True, eq=False)
class Workers:
    """Who does the work: how many fits at the same time, and who is told of each.

    Attributes
    ----------
    n_jobs : int or None
        How many tasks to run at the same time; -1 for all cores.
    reporter : Reporter
        Counts the finished tasks.
    checkpoint : Checkpoint or None
        Remembers what they found.
    deadline : float
        No task is begun that would probably last longer, by the clock of ``perf_counter``.
    unfinished : list of str
        The stages in which there was no time left.
    """

    n_jobs: int | None = None
    reporter: Reporter = field(default_factory=Reporter)
    checkpoint: Checkpoint | None = None
    deadline: float = np.inf
    unfinished: list[str] = field(default_factory=list)
    _calls: list[int] = field(default_factory=list)
    _clusters: list[DaskCluster] = field(default_factory=list)

    def run(
        self,
        function: Callable[[S, T, np.random.Generator], R],
        shared: S,
        tasks: Sequence[T],
        rng: np.random.Generator,
    ) -> list[R]:
        """Call ``function(shared, task, rng)`` for every task and return the results in order.

        Every task gets a random stream of its own, so the results do not depend on
        ``n_jobs``. Threads are the rule, because LightGBM works outside the GIL, and they
        share the table instead of copying it; joblib's ``parallel_config`` can ask for
        processes or a cluster instead, and then function, tasks and what is shared have to
        be picklable. What a checkpoint knows is not done again: a result is an array, or made
        of numbers, text and tuples. Raises OutOfTime if not all tasks could be done before
        the deadline.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.execution.workers import Workers
        >>> times = lambda factor, task, rng: factor * task
        >>> Workers(2).run(times, 10, [1, 2, 3], np.random.default_rng(0))
        [10, 20, 30]
        """
        streams, call = rng.spawn(len(tasks)), len(self._calls)
        self._calls.append(call)
        self.reporter.hand_out(len(tasks))
        results: dict[int, R] = {}
        # Once the time is used up, calls are others than those of a fit with more time.
        checkpoint = None if self.unfinished else self.checkpoint
        if checkpoint is not None:
            # A call may have had more tasks before than it has this time.
            known = checkpoint.recall(call).items()
            results.update((i, result) for i, result in known if i < len(tasks))
        for _ in results:
            self.reporter.step()

        longest = 0.0

        def calls() -> Iterator[Call]:
            for i in range(len(tasks)):
                if i not in results and perf_counter() + longest < self.deadline:
                    yield _one, (_PROCESS, function, i, tasks[i], streams[i])

        with closing(self._results(calls(), shared, alone=len(tasks) == 1)) as found:
            for i, result, seconds in found:
                longest = max(longest, seconds)
                if checkpoint is not None:
                    checkpoint.keep(call, i, result)
                results[i] = result
                self.reporter.step()
        if len(results) < len(tasks):
            self.unfinished.append(self.reporter.stage)
            raise OutOfTime(results)
        return [results[i] for i in range(len(tasks))]

    def check_time(self) -> None:
        """Raise OutOfTime after the deadline: for work at home that is not cut into tasks."""
        if perf_counter() > self.deadline:
            self.unfinished.append(self.reporter.stage)
            raise OutOfTime({})

    def close(self) -> None:
        """Let a cluster forget what was sent to it."""
        for cluster in self._clusters:
            cluster.forget()

    def _results(
        self, calls: Iterator[Call], shared: Any, alone: bool
    ) -> Generator[tuple[int, Any, float], None, None]:
        """Yield the results of calls, in any order, from where joblib is told to do them."""
        # A single task is not worth the way to another process.
        options = {"require": "sharedmem"} if alone else {"prefer": "threads"}
        backend, n_jobs = active_backend(**options)
        if shares_memory(backend):
            n_jobs = n_jobs if self.n_jobs is None else self.n_jobs
            yield from _in_threads(calls, shared, n_workers(backend, n_jobs))
            return
        client = dask_client(backend)
        if client is not None:
            if not self._clusters:
                self._clusters.append(DaskCluster(client))
            tell = self.reporter.wait
            yield from self._clusters[0].results(calls, shared, self.deadline, tell)
            return
        # Some can only give all results at once.
        many = yields_results(backend)
        parallel = Parallel(
            n_jobs=self.n_jobs,
            return_as="generator_unordered" if many else "list",
            **options,
        )
        results = parallel(delayed(function)(shared, *arguments) for function, arguments in calls)
        try:
            for found in results:  # noqa: UP028 (to end it is up to us)
                yield found
        finally:
            with warnings.catch_warnings():
                # Whoever ends the work early knows that some of it is not done.
                warnings.simplefilter("ignore", UserWarning)
                if many:
                    results.close()


def _in_threads(calls: Iterator[Call], shared: Any, n_threads: int) -> Generator[Any, None, None]:
    """Yield the results of calls in any order: joblib would look for them every 10 ms only."""
    if n_threads == 1:
        for function, arguments in calls:
            yield function(shared, *arguments)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        waiting: set[Future[Any]] = set()
        while True:
            # One more than there are threads, so that nobody waits for us.
            for function, arguments in islice(calls, n_threads + 1 - len(waiting)):
                waiting.add(pool.submit(function, shared, *arguments))
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _one(
    shared: S,
    home: str,
    function: Callable[[S, T, np.random.Generator], R],
    i: int,
    task: T,
    rng: np.random.Generator,
) -> tuple[int, R, float]:
    """Do one task, in the process that asks for it or in another."""
    if home != _PROCESS:
        _use_one_thread()
    start = perf_counter()
    return i, function(shared, task, rng), perf_counter() - start


@cache
def _use_one_thread() -> None:
    """Let linear algebra run in one thread as long as this process lives, as it does at home.

    More would wait for each other, and round differently.
    """
    threadpool_limits(1, user_api="blas")


class _OneThread:
    """Linear algebra in one thread, as long as any fit of this process is in here.

    The limit belongs to the process. If each of several fits in threads set one and took it
    back, the first to end would take it from the others, and the last would leave it behind.
    """

    def __init__(self) -> None:
        self._lock, self._n_inside = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limits = threadpool_limits(1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limits.restore_original_limits()


one_thread = _OneThread()
