"""What becomes of a verdict: it is signed, written in every form, and printed."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from squamish.cli.answers import in_options
from squamish.cli.streams import say
from squamish.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from squamish import RelevanceResult

# The forms in which a verdict is written.
FILES = ("report.html", "result.json", "features.csv")
# Options without influence on the verdict.
_BESIDE_THE_POINT = (
    "out",
    "quiet",
    "as_json",
    "checkpoint",
    "audit",
    "cluster",
    "costs",
    "max_size",
)


def check_folder(folder: Path) -> None:
    """Find out before the work whether a folder can be made, and written to."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"the folder {str(folder)!r} cannot be made: {existing.name!r} is a file")
    if not os.access(existing, os.W_OK):
        raise InputError(
            f"the folder {str(folder)!r} cannot be made: {existing.name!r} is read-only"
        )


def signed(
    result: RelevanceResult, data: str, target: str, context: typer.Context
) -> RelevanceResult:
    """Record the names of the data and the command that was given."""
    origin = replace(result.provenance, data=data, target=target, command=_command(context))
    return replace(result, provenance=origin)


def _command(context: typer.Context) -> str:
    """Write the command again, as far as the verdict depends on it."""
    words = ["squamish", context.info_name or ""]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value is None or value == parameter.default or parameter.name in _BESIDE_THE_POINT:
            continue
        for item in value if isinstance(value, list | tuple) else [value]:
            flag = [parameter.opts[0]] if parameter.param_type_name == "option" else []
            words += flag if item is True else [*flag, str(item)]
    return shlex.join(words)


def write_verdict(result: RelevanceResult, folder: Path) -> list[Path]:
    """Write the result in every form, and return the files."""
    from squamish.report.frames import by_worth
    from squamish.table.files import without_formulas, write_table

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from None
    page, data, table = written = [folder / name for name in FILES]
    result.to_json(data)
    # It is the one that people open in a spreadsheet: by worth, and names may be anything.
    write_table(without_formulas(by_worth(result, "polars")), table)
    result.to_html(page)
    return written


def print_verdict(result: RelevanceResult, written: list[Path]) -> None:
    """Print the verdict for a reader, and where more of it is."""
    from squamish.report.terminal import show

    show(replace(result, notes=tuple(map(in_options, result.notes))), console())
    say("Written: " + ", ".join(map(str, written)))


def console() -> Console:
    """Return what tables are printed to: a terminal, or lines of a fixed width."""
    from rich.console import Console

    found = Console(highlight=False)
    if not found.is_terminal:
        found.width = 120
    return found
