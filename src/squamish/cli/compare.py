"""squamish compare: what changed between two saved results."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from squamish.cli.answers import answering
from squamish.cli.options import AsJson
from squamish.cli.streams import say


def compare(
    before: Annotated[Path, typer.Argument(help="A result.json.")],
    after: Annotated[Path, typer.Argument(help="Another result.json.")],
    as_json: AsJson = False,
) -> None:
    """Tell what changed between two results. The exit code is 1 if a verdict did."""
    with answering():
        from squamish import RelevanceResult

        found = RelevanceResult.from_json(before).compare(RelevanceResult.from_json(after))
    say(json.dumps(asdict(found)) if as_json else str(found))
    raise typer.Exit(0 if found.same else 1)
