"""Watching a Dask cluster: who is there, who has gone silent, who has another version.

Every question to a scheduler or a worker that has frozen is one that is never answered. They are
asked in threads of their own, so that whoever waits for results looks at what is known only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter
from typing import Any

from squamish import __version__

# Seconds between two looks at a cluster.
INTERVAL = 0.5
# Seconds without a word after which a scheduler or a worker counts as silent: workers of small
# clusters send a heartbeat every half second, those of a thousand every six.
SILENT = 10.0


@dataclass(frozen=True)
class Outlook:
    """What is known of a cluster.

    Attributes
    ----------
    cores : mapping of str to int
        The workers that can be given work, by address, and their threads.
    silent : mapping of str to float
        The workers that have not been heard of for a while, and for how many seconds.
    unfit : mapping of str to str
        The workers that have another version, and what they have.
    is_complete : bool
        Whether it is known of all workers which of these they are.
    unanswered : float
        Seconds since the scheduler has last answered.
    """

    cores: Mapping[str, int]
    silent: Mapping[str, float]
    unfit: Mapping[str, str]
    is_complete: bool
    unanswered: float

    @property
    def scheduler_is_silent(self) -> bool:
        """Whether the scheduler has not answered for a while."""
        return self.unanswered > SILENT


class Watch:
    """Looks at a cluster again and again, until it is stopped."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._n_looks = 0
        self._answered = perf_counter()
        # By address: threads, and when the worker was last heard of.
        self._there: dict[str, tuple[int, float]] = {}
        # By address: what is wrong with the worker; empty if it is fit, None if it did not say.
        self._unfit: dict[str, str | None] = {}
        self._stopped = Event()
        Thread(target=self._look_again_and_again, daemon=True).start()

    def outlook(self) -> Outlook:
        """Return what is known at this moment."""
        now, there = perf_counter(), self._there
        silent = {worker: now - heard for worker, (_, heard) in there.items()}
        silent = {worker: seconds for worker, seconds in silent.items() if seconds > SILENT}
        answering = {worker: known[0] for worker, known in there.items() if worker not in silent}
        unfit = {worker: self._unfit.get(worker) for worker in answering}
        return Outlook(
            {worker: cores for worker, cores in answering.items() if unfit[worker] == ""},
            silent,
            {worker: wrong for worker, wrong in unfit.items() if wrong},
            self._n_looks > 0 and None not in unfit.values(),
            now - self._answered,
        )

    def look_anew(self) -> Outlook:
        """Wait until all workers have been looked at once more, or have gone silent."""
        before, until = self._n_looks, perf_counter() + SILENT
        while perf_counter() < until and not self._stopped.wait(INTERVAL / 10):
            found = self.outlook()
            if self._n_looks > before + 1 and found.is_complete:
                return found
        return self.outlook()

    def stop(self) -> None:
        """End the watch."""
        self._stopped.set()

    def _look_again_and_again(self) -> None:
        while not self._stopped.is_set() and self._client.status != "closed":
            try:
                ages = self._client.run_on_scheduler(_ages_of_workers())
            except Exception:  # the scheduler is away, which its last answer tells
                self._stopped.wait(INTERVAL)
                continue
            now = perf_counter()
            for worker in ages.keys() - self._there.keys():
                Thread(target=self._ask, args=(worker,), daemon=True).start()
            self._there = {worker: (cores, now - age) for worker, (cores, age) in ages.items()}
            self._answered, self._n_looks = now, self._n_looks + 1
            self._stopped.wait(INTERVAL)

    def _ask(self, worker: str) -> None:
        """Ask a worker for its version; one that cannot answer, but is there, is unfit."""
        try:
            answers = self._client.run(_version(), workers=[worker], on_error="return")
        except Exception:  # it is gone, or the scheduler is
            return
        for said in answers.values():
            if isinstance(said, OSError):  # it went away while it was asked
                return
            self._unfit[worker] = _wrong_with(said)


def _wrong_with(said: Any) -> str:
    """Say what is wrong with a worker that gives this for its version."""
    if said == __version__:
        return ""
    if isinstance(said, BaseException):
        return f"a squamish that cannot be loaded ({type(said).__name__})"
    return f"squamish {said}" if said else "no squamish"


def _ages_of_workers() -> Any:
    # A function within a function is sent as code, not as a name to import.
    def ages(dask_scheduler: Any) -> dict[str, tuple[int, float]]:
        from distributed.metrics import time

        now, workers = time(), dask_scheduler.workers
        return {name: (state.nthreads, now - state.last_seen) for name, state in workers.items()}

    return ages


def _version() -> Any:
    def version() -> str | None:
        try:
            import squamish
        except ImportError:
            return None
        return squamish.__version__

    return version
