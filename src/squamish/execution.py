"""Running many fits: seeds that belong to tasks, not to workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from squamish.checkpoint import Checkpoint
from squamish.errors import InputError
from squamish.progress import Reporter

RandomState = int | np.integer | np.random.Generator | np.random.RandomState | None
T = TypeVar("T")
R = TypeVar("R")


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn whatever names a source of randomness into a Generator.

    An int gives the same stream every time. A Generator or RandomState is drawn from, so
    that two calls with the same object differ, as is usual in scikit-learn.

    Examples
    --------
    >>> from squamish.execution import as_generator
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
    _calls: Iterator[int] = field(default_factory=count)

    def run(
        self,
        function: Callable[[T, np.random.Generator], R],
        tasks: Sequence[T],
        rng: np.random.Generator,
    ) -> list[R]:
        """Call ``function(task, rng)`` for every task and return the results in order.

        Every task gets a random stream of its own, so the results do not depend on
        ``n_jobs``. Threads suffice because LightGBM works outside the GIL, and they share
        the table instead of copying it. What a checkpoint knows is not done again: a result
        is an array, or made of numbers, text and tuples. Raises OutOfTime if not all tasks
        could be done before the deadline.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.execution import Workers
        >>> Workers(2).run(lambda task, rng: task * 10, [1, 2, 3], np.random.default_rng(0))
        [10, 20, 30]
        """
        streams, call = rng.spawn(len(tasks)), next(self._calls)
        results: dict[int, R] = {}
        if self.checkpoint is not None:
            results.update(self.checkpoint.recall(call))
        for _ in results:
            self.reporter.step()

        longest = 0.0

        def one(i: int) -> tuple[int, R, float]:
            start = perf_counter()
            return i, function(tasks[i], streams[i]), perf_counter() - start

        def calls() -> Iterator[Any]:
            for i in range(len(tasks)):
                if i not in results and perf_counter() + longest < self.deadline:
                    yield delayed(one)(i)

        options = {"require": "sharedmem", "return_as": "generator_unordered"}
        found = Parallel(n_jobs=self.n_jobs, **options)(calls())
        try:
            for i, result, seconds in found:
                longest = max(longest, seconds)
                if self.checkpoint is not None:
                    self.checkpoint.keep(call, i, result)
                results[i] = result
                self.reporter.step()
        finally:
            with warnings.catch_warnings():
                # Whoever ends the work early knows that some of it is not done.
                warnings.simplefilter("ignore", UserWarning)
                found.close()
        if len(results) < len(tasks):
            self.unfinished.append(self.reporter.stage)
            raise OutOfTime(results)
        return [results[i] for i in range(len(tasks))]
