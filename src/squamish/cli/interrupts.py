"""Ctrl-C before there is a command that could answer it. Loads nothing that takes time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

# What shells give to a process that was interrupted.
INTERRUPTED = 130


@contextmanager
def interrupts_end_the_process() -> Iterator[None]:
    """Let Ctrl-C end the process at once, in one line, unless somebody else takes care of it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, _end)
    except ValueError:  # signals belong to the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    # Not by an exception: whoever imports may catch it, or make another one of it.
    os.write(2, b"squamish: interrupted\n")
    os._exit(INTERRUPTED)
