"""Output that is closed, read in part or of another encoding, and connections that are lost."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from squamish.errors import legible


def prepare_streams() -> None:
    """Print to whatever there is, and end with whoever reads it."""
    # Whoever closed the output does not want it; and a reader that ends, as head does, ends us.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.stdout.encoding.lower() not in ("utf-8", "utf8"):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[attr-defined,union-attr,unused-ignore]


def say(text: str, *, err: bool = False) -> None:
    """Print lines; nothing in them is obeyed by a terminal.

    Every line that a command prints goes through here, but for tables, whose cells are made
    legible before they are laid out.
    """
    import typer

    typer.echo("\n".join(legible(line, longest=None) for line in text.split("\n")), err=err)


@contextmanager
def lost_connections_are_errors(cluster: str | None) -> Iterator[None]:
    """Keep a cluster that goes away from ending us as a closed output does."""
    if cluster is None or not hasattr(signal, "SIGPIPE"):
        yield
        return
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)
