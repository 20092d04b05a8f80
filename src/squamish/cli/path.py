"""squamish path: what the next column buys, of a saved result."""

from __future__ import annotations

import json

from squamish.cli.answers import answering
from squamish.cli.options import AsJson, Saved
from squamish.cli.streams import say
from squamish.errors import InputError


def path(result: Saved, as_json: AsJson = False) -> None:
    """Show the best set of every size, and what share of the gain it keeps."""
    with answering():
        from squamish import RelevanceResult
        from squamish.report.frames import path_columns

        saved = RelevanceResult.from_json(result)
        if not saved.evidence.worth.path:
            raise InputError(
                f"{result.name!r} has no path: method {saved.evidence.kind!r} or its time did not "
                "let small sets be searched"
            )
    if as_json:
        columns = path_columns(saved)
        rows = zip(*columns.values(), strict=True)
        say(json.dumps([dict(zip(columns, row, strict=True)) for row in rows]))
        return
    from squamish.cli.verdict import console
    from squamish.report.terminal import path as laid_out

    console().print(laid_out(saved))
