"""The command line: a module for each command, and modules for what they share.

Whatever takes long to load is loaded by the command that needs it: help and completion must not
wait for it, and whoever interrupts meanwhile gets an answer.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from squamish.cli.commands import app

missing = [name for name in ("jinja2", "polars", "rich", "typer") if find_spec(name) is None]
if missing:
    wanted = ", ".join(missing)
    print(
        f"squamish: the command line needs {wanted}: pip install 'squamish[cli]'", file=sys.stderr
    )
    sys.exit(2)

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line, and end with its exit code."""
    from squamish.cli.running import run
    from squamish.cli.supervision import supervised

    sys.exit(supervised(run))


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module 'squamish.cli' has no attribute {name!r}")
    from squamish.cli.commands import app

    return app
