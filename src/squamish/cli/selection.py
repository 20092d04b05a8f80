"""What --select says: the name of a selection, or a number of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from squamish.errors import InputError

if TYPE_CHECKING:
    from squamish.result.result import Selection


def read_selection(text: str, n_columns: int, method: str) -> Selection:
    """Read it, and refuse before the work what could not be selected after it.

    Examples
    --------
    >>> from squamish.cli.selection import read_selection
    >>> read_selection("minimal", 10, "crossfit"), read_selection("5", 10, "crossfit")
    ('minimal', 5)
    """
    from squamish.result.result import NAMED

    if text in NAMED:
        return text
    if not (text.isascii() and text.isdecimal()):
        allowed = ", ".join(NAMED)
        raise InputError(f"--select is {text!r}; it must be {allowed} or a number of columns")
    if method != "crossfit":
        raise InputError(
            f"--select is {text}, but method {method!r} does not search sets of every size"
        )
    if not 1 <= int(text) <= n_columns:
        raise InputError(f"--select is {text}; the columns that are judged are 1 to {n_columns}")
    return int(text)
