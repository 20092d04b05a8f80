"""squamish report: the page of a saved result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from squamish.cli.answers import answering
from squamish.cli.options import Saved
from squamish.cli.streams import say
from squamish.errors import InputError


def report(
    result: Saved,
    out: Annotated[
        Path | None, typer.Option(help="The page, .html or .md; report.html beside it if not given")
    ] = None,
    all_features: Annotated[
        bool, typer.Option("--all", help="Show every column, however many there are.")
    ] = False,
) -> None:
    """Make the report of a saved result."""
    with answering():
        from squamish import RelevanceResult
        from squamish.table.files import refuse_to_replace

        page = out or result.parent / "report.html"
        refuse_to_replace({"the result": result}, {"the report": page})
        if page.suffix.lower() not in (".html", ".htm", ".md"):
            raise InputError(f"{page.name!r} ends neither in .html nor in .md")
        saved = RelevanceResult.from_json(result)
        if page.suffix.lower() == ".md":
            saved.to_markdown(page)
        elif all_features:
            saved.to_html(page, max_features=None)
        else:
            saved.to_html(page)
    say(f"The report is in {page}")
