"""The command line: a module for each command, and modules for what they share.

Whatever takes long to load is loaded by the command that needs it: help and completion must not
wait for it.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

missing = [name for name in ("jinja2", "polars", "rich", "typer") if find_spec(name) is None]
if missing:
    wanted = ", ".join(missing)
    sys.exit(f"squamish: the command line needs {wanted}: pip install 'squamish[cli]'")

from squamish.cli.interrupts import interrupts_end_the_process

# Nothing is open yet that would have to be closed, and a traceback of imports helps nobody.
with interrupts_end_the_process():
    from squamish.cli.commands import app
    from squamish.cli.streams import prepare_streams

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    prepare_streams()
    try:
        app()
    except OSError as error:  # a full disk
        print(f"squamish: {error.strerror}", file=sys.stderr)
        sys.exit(2)
