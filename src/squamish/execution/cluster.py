"""Dask clusters: what all tasks share goes to every worker once, and lost workers do not matter."""

from __future__ import annotations

import logging
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from queue import Empty, Queue
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np
from joblib import parallel_config

from squamish import __version__
from squamish.errors import ClusterLost, InputError
from squamish.execution.watch import SILENT, Outlook, Watch

Call = tuple[Callable[..., Any], tuple[Any, ...]]

# Seconds between two looks for results.
WAIT = 0.005
# Seconds without a word after which a worker is given up and its tasks go to others, and after
# which a scheduler counts as lost: longer than a machine that swaps or collects garbage is away.
PATIENCE = 60.0
# Seconds that a scheduler has to introduce itself, and to take leave.
HANDSHAKE, LEAVE = 20.0, 5.0
# Whoever waits is told so after so many seconds without a result, and again after as many.
NOTICE = 2.0
# Who writes tracebacks of lost connections.
LOGGERS = ("asyncio", "distributed", "tornado")

_LOST = object()


class DaskCluster:
    """The workers of a Dask cluster, and what was sent to them.

    joblib hands out tasks there as well, but sends what they share again in every call, and
    waits for ever for results that were lost with a worker.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._sent: dict[int, tuple[Any, Any]] = {}
        self._watch: Watch | None = None
        # Workers that get no work, since they are silent or have another version.
        self._avoided: frozenset[str] = frozenset()
        self._has_begun = False

    def results(
        self,
        calls: Iterator[Call],
        shared: Any,
        deadline: float = np.inf,
        tell: Callable[[str], None] = lambda what: None,
    ) -> Generator[Any, None, None]:
        """Yield the results of calls, in any order; each gets what is shared as first argument.

        After the deadline nobody is waited for who does not answer. ``tell`` is told what is
        waited for meanwhile.
        """
        ready: deque[Call] = deque()
        tasks: dict[Any, Call] = {}
        patience = _Patience(tell)
        try:
            while True:
                there = self._outlook()
                if self._must_start_over(there):
                    ready.extend(tasks.values())
                    _release(tasks)
                room = _most_at_a_time(there) - len(ready) - len(tasks)
                ready.extend(islice(calls, max(room, 0)))
                while ready and self._may_begin(there) and there.cores:
                    call = ready.popleft()
                    tasks[self._submit(call, shared, there)] = call
                if not (ready or tasks) or (perf_counter() > deadline and _nobody_answers(there)):
                    return
                done = [task for task in tasks if task.done()]
                if done:
                    patience.renew()
                else:
                    patience.wait(self._what_is_awaited(there))
                for task in done:
                    call = tasks.pop(task)
                    result = self._result(task, deadline)
                    if result is _LOST:
                        ready.append(call)
                    else:
                        yield result
        finally:
            _release(tasks)

    def forget(self) -> None:
        """Let the workers forget what was sent to them, and look at them no more."""
        self._sent.clear()
        if self._watch is not None:
            self._watch.stop()
            self._watch = None

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return str(getattr(self.client.scheduler, "address", "an unknown address"))

    def _outlook(self) -> Outlook:
        """Return what is known of the cluster; raise an error if it is lost."""
        if self._watch is None:
            self._watch = Watch(self.client)
        there = self._watch.outlook()
        if self.client.status in ("closing", "closed"):
            raise ClusterLost(f"the Dask scheduler at {self.address} went away during the fit")
        if there.unanswered > PATIENCE:
            raise ClusterLost(
                f"the Dask scheduler at {self.address} has not answered for {PATIENCE:g} s"
            )
        return there

    def _may_begin(self, there: Outlook) -> bool:
        """Tell whether all workers are known; before the first task, refuse other versions."""
        if self._has_begun or not there.is_complete:
            return self._has_begun
        for worker, found in sorted(there.unfit.items()):
            raise InputError(
                f"the worker at {worker} has {found}; install squamish {__version__} in the "
                "environment of every worker"
            )
        self._has_begun = True
        return True

    def _must_start_over(self, there: Outlook) -> bool:
        """Tell whether tasks may lie with workers that are of no use any more.

        What lies with a worker is known to the scheduler only; so all is handed out again, and
        sent again, to the others.
        """
        given_up = {w for w, seconds in there.silent.items() if seconds > PATIENCE}
        avoided = frozenset(given_up | there.unfit.keys())
        more, self._avoided = avoided - self._avoided, avoided
        if not more or not self._has_begun:
            return False
        self._sent.clear()
        for worker in sorted(more):
            has = there.unfit.get(worker)
            why = f"has {has}" if has else f"has not been heard of for {PATIENCE:g} s"
            warnings.warn(f"the worker at {worker} {why}; it gets no more work", stacklevel=4)
        return True

    def _result(self, task: Any, deadline: float) -> Any:
        """Return the result of a task that is done; a mark if it was lost."""
        left = max(deadline - perf_counter(), SILENT)
        try:
            return task.result(timeout=min(PATIENCE, left))
        except Exception:
            if task.status != "error":
                return _LOST
            # A worker of another version may have joined and failed before it was looked at.
            if self._watch is not None and self._watch.look_anew().unfit.keys() - self._avoided:
                return _LOST
            raise

    def _what_is_awaited(self, there: Outlook) -> str:
        """Say whom a result is waited for from, if it is not work that takes its time."""
        if there.scheduler_is_silent or self.client.status != "running":
            return f"waiting for the Dask scheduler at {self.address}, which does not answer"
        if there.silent:
            n = len(there.silent)
            which = f"{n} of {n + len(there.cores)} workers, silent for"
            return f"waiting for {which} {min(there.silent.values()):.0f} s"
        if not there.cores and there.is_complete:
            return f"waiting for workers: the cluster at {self.address} has none"
        return "" if self._has_begun else "waiting for the workers to say which version they have"

    def _submit(self, call: Call, shared: Any, there: Outlook) -> Any:
        function, arguments = call
        where = {"workers": sorted(there.cores)} if self._avoided else {}
        known = self._sent.get(id(shared))
        if known is None or known[1].cancelled():
            # With the thing itself, so that its number stays its own.
            known = self._sent[id(shared)] = shared, self._send(shared, where)
        sealed = _Sealed(function, arguments)
        return self.client.submit(_call, known[1], sealed, pure=False, **where)

    def _send(self, shared: Any, where: dict[str, list[str]]) -> Any:
        with warnings.catch_warnings():
            # That it is large is known, and it is sent only once.
            warnings.simplefilter("ignore", UserWarning)
            # The result of a task, other than scattered data, survives all workers that have
            # it: the scheduler has it made again.
            return self.client.submit(_shared, shared, pure=False, **where)


class _Patience:
    """Waits for results a moment at a time, and tells for whom if it takes longer."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told = perf_counter()

    def renew(self) -> None:
        """Begin anew, since something came."""
        self._told = perf_counter()

    def wait(self, awaited: str) -> None:
        """Wait a moment."""
        if perf_counter() - self._told > NOTICE and awaited:
            self._tell(awaited)
            self.renew()
        sleep(WAIT)


class _Sealed:
    """A call that Dask does not look into: old versions take a function in a tuple for a task."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments


def _call(shared: Any, sealed: _Sealed) -> Any:
    return sealed.function(shared, *sealed.arguments)


def _shared(value: Any) -> Any:
    return value


def _most_at_a_time(there: Outlook) -> int:
    """Return how many tasks are handed out: one at work and one that waits for every core."""
    return 2 * max(sum(there.cores.values()), 1)


def _nobody_answers(there: Outlook) -> bool:
    """Tell whether results may never come."""
    return not there.cores or bool(there.silent) or there.scheduler_is_silent


def _release(tasks: dict[Any, Call]) -> None:
    """Let go of tasks; to cancel them would wait for an answer of the scheduler."""
    for task in tasks:
        task.release()
    tasks.clear()


@contextmanager
def connected(address: str | None, timeout: float = HANDSHAKE) -> Iterator[None]:
    """Work on the Dask cluster whose scheduler has this address; here, if there is none.

    Raises an InputError if no scheduler introduces itself there within the timeout.
    """
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "a cluster needs Dask; install it with: pip install 'squamish[dask]'"
        ) from None
    with _silent_logs():
        client = _shaken_hands(lambda: Client(address, timeout=timeout), address, timeout)
        try:
            with parallel_config(backend="dask", client=client):
                yield
        finally:
            # A scheduler that is gone, or frozen, does not say goodbye.
            with suppress(Exception):
                client.close(timeout=LEAVE)


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Keep Dask from logging tracebacks of what is said in an error, or is no error."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith(LOGGERS)]
    levels = {logging.getLogger(name): logging.getLogger(name).level for name in names}
    try:
        for logger in levels:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


def _shaken_hands(connect: Callable[[], Any], address: str, timeout: float) -> Any:
    """Return a client, unless nobody answers in time or what answers is no scheduler.

    Dask waits without a limit for the first words of whoever accepts a connection, and takes
    whatever comes for its own protocol.
    """
    answer: Queue[Any] = Queue()

    def try_to_connect() -> None:
        try:
            answer.put(connect())
        except BaseException as error:  # whatever the words of a stranger lead to
            answer.put(error)

    Thread(target=try_to_connect, daemon=True).start()
    # Dask says itself whether there was no connection within the timeout: it may speak first.
    try:
        found = answer.get(timeout=timeout + NOTICE)
    except Empty:
        found = TimeoutError(f"nothing was said for {timeout:g} s after the connection was made")
    if not isinstance(found, BaseException):
        return found
    said = (
        " ".join(str(found).split()) if isinstance(found, OSError | ValueError | TypeError) else ""
    )
    said = said or f"what answers does not speak as one does ({type(found).__name__})"
    raise InputError(f"there is no Dask scheduler at {address!r}: {said}") from None
