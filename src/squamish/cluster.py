"""Dask clusters: what all tasks share goes to every worker once, and lost workers do not matter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from joblib import parallel_config

from squamish.errors import InputError


def sending(backend: Any, shared: Any) -> Any:
    """Return joblib's backend for a Dask cluster, with something that all its tasks share.

    joblib would send it again in every call. It would also wait for ever for a task that the
    scheduler has given up, because worker after worker died with it.
    """
    # Its name until joblib 1.5.
    hand_out = "submit" if hasattr(backend, "submit") else "apply_async"

    class Sending(type(backend)):  # type: ignore[misc]
        def submit(self, func: Any, callback: Any = None) -> Future[Any]:
            future: Future[Any] = getattr(super(), hand_out)(func, callback)
            future.add_done_callback(lambda done: done.exception() and callback(done.exception()))
            return future

        if hand_out == "apply_async":
            apply_async = submit

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, BaseException):
                raise out
            return super().retrieve_result_callback(out)

    client = backend.client
    ours = Sending(client=client)
    with warnings.catch_warnings():
        # That it is large is known, and it is sent only once.
        warnings.simplefilter("ignore", UserWarning)
        # The result of a task, other than scattered data, survives all workers that have it:
        # the scheduler has it made again.
        ours.data_futures[id(shared)] = client.submit(_shared, shared, pure=False)
    return ours


def _shared(value: Any) -> Any:
    return value


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
