"""squamish fit --audit: the same fit on shuffled targets, after the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from squamish import RelevanceSelector

# What an audit is written to, beside the forms of the verdict.
FILE = "audit.json"


def run_audit(
    selector: RelevanceSelector, given: dict[str, Any], n_shuffles: int, folder: Path | None
) -> str:
    """Audit a table, write what was found if there is a folder for it, and say so.

    Parameters
    ----------
    selector : RelevanceSelector
        What the verdict was given by.
    given : dict
        What it was given to fit.
    n_shuffles : int
        How many shuffled targets to judge.
    folder : Path or None
        Where to write it.
    """
    from squamish.table.files import write_whole

    found = selector.audit(**given, n_shuffles=n_shuffles)
    if folder is None:
        return str(found)
    path = folder / FILE
    write_whole(path, json.dumps(found.to_dict(), indent=1) + "\n")
    return f"{found}\nWritten: {path}"
