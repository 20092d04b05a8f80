"""Dask clusters: what all tasks share goes to every worker once, and lost workers do not matter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import islice
from time import perf_counter, sleep
from typing import Any

import numpy as np
from joblib import parallel_config

from squamish import __version__
from squamish.errors import InputError

Call = tuple[Callable[..., Any], tuple[Any, ...]]

# Seconds between two looks for results, and until a result, or every worker, counts as lost.
WAIT, PATIENCE = 0.005, 60


class DaskCluster:
    """The workers of a Dask cluster, and what was sent to them.

    joblib hands out tasks there as well, but sends what they share again in every call, and
    waits for ever for results that were lost with a worker.
    """

    def __init__(self, client: Any) -> None:
        _check_versions(client)
        self.client = client
        self._sent: dict[int, tuple[Any, Any]] = {}

    def results(
        self, calls: Iterator[Call], shared: Any, deadline: float = np.inf
    ) -> Generator[Any, None, None]:
        """Yield the results of calls, in any order; each gets what is shared as first argument.

        Nobody is waited for after the deadline if there are no workers.
        """
        waiting: dict[Any, Call] = {}
        alone_since = perf_counter()
        try:
            while True:
                n_cores = sum(self.client.ncores().values())
                alone_since = perf_counter() if n_cores else alone_since
                for call in islice(calls, max(2 * max(n_cores, 1) - len(waiting), 0)):
                    waiting[self._submit(call, shared)] = call
                if not waiting or (not n_cores and perf_counter() > deadline):
                    return
                if perf_counter() - alone_since > PATIENCE:
                    warnings.warn("the cluster has no workers; still waiting", stacklevel=2)
                    alone_since = np.inf
                done = [future for future in waiting if future.done()]
                if not done:
                    sleep(WAIT)
                for future in done:
                    call = waiting.pop(future)
                    try:
                        result = future.result(timeout=PATIENCE)
                    except (CancelledError, TimeoutError):
                        if future.status == "error":
                            raise
                        # Lost with a worker.
                        waiting[self._submit(call, shared)] = call
                    else:
                        yield result
        finally:
            self.client.cancel(list(waiting))

    def forget(self) -> None:
        """Let the workers forget what was sent to them."""
        self._sent.clear()

    def _submit(self, call: Call, shared: Any) -> Any:
        function, arguments = call
        known = self._sent.get(id(shared))
        if known is None or known[1].cancelled():
            # With the thing itself, so that its number stays its own.
            known = self._sent[id(shared)] = shared, self._send(shared)
        return self.client.submit(_call, known[1], _Sealed(function, arguments), pure=False)

    def _send(self, shared: Any) -> Any:
        with warnings.catch_warnings():
            # That it is large is known, and it is sent only once.
            warnings.simplefilter("ignore", UserWarning)
            # The result of a task, other than scattered data, survives all workers that have
            # it: the scheduler has it made again.
            return self.client.submit(_shared, shared, pure=False)


class _Sealed:
    """A call that Dask does not look into: old versions take a function in a tuple for a task."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments


def _call(shared: Any, sealed: _Sealed) -> Any:
    return sealed.function(shared, *sealed.arguments)


def _shared(value: Any) -> Any:
    return value


def _check_versions(client: Any) -> None:
    """Refuse workers that do not have this version: they would end at the first task."""

    # A function within a function is sent as code, not as a name to import.
    def version() -> str | None:
        try:
            import squamish
        except ImportError:
            return None
        return squamish.__version__

    for worker, there in sorted(client.run(version, on_error="ignore").items()):
        if there != __version__:
            raise InputError(
                f"the worker at {worker} has {f'squamish {there}' if there else 'no squamish'}; "
                f"install squamish {__version__} in the environment of every worker"
            )


@contextmanager
def connected(address: str | None, timeout: float = 20) -> Iterator[None]:
    """Work on the Dask cluster whose scheduler has this address; here, if there is none."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "a cluster needs Dask; install it with: pip install 'squamish[dask]'"
        ) from None
    try:
        client: Any = Client(address, timeout=timeout)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"there is no Dask scheduler at {address!r}: {error}") from None
    with client, parallel_config(backend="dask", client=client):
        yield
