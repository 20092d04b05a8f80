"""Names of columns in texts."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from squamish.errors import legible

# The longest name that is written in full.
LONGEST_NAME = 32


def listed(names: Sequence[str], quote: bool = False) -> str:
    """Join names that belong together."""
    return " + ".join(repr(name) if quote else name for name in names)


def alternatives(sets: Sequence[Sequence[str]], quote: bool = False, most: int | None = 10) -> str:
    """Join sets of which any will do.

    Examples
    --------
    >>> from squamish.report.wording.names import alternatives
    >>> alternatives([["bmi"], ["weight", "height"]])
    'bmi or weight + height'
    """
    shown = [listed(names, quote) for names in sets[:most]]
    left = len(sets) - len(shown)
    more = [f"{left} other{'s' if left > 1 else ''}"] if left else []
    return " or ".join([*shown, *more])


def no_such_column(name: str, columns: Sequence[str]) -> str:
    """Say that there is no such column, and which ones come near.

    Examples
    --------
    >>> from squamish.report.wording.names import no_such_column
    >>> no_such_column("hight", ["age", "height"])
    "there is no column 'hight'; did you mean 'height'?"
    """
    near = difflib.get_close_matches(name, columns, n=3)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else f"the columns are {', '.join(columns[:20])}{', ...' if len(columns) > 20 else ''}"
    )
    return f"there is no column {name!r}; {hint}"


def shorten(name: str, longest: int = LONGEST_NAME) -> str:
    """Put a name in one line, and leave out its middle if it is long.

    Examples
    --------
    >>> from squamish.report.wording.names import shorten
    >>> shorten("income of the household before taxes", longest=16)
    'income o…e taxes'
    """
    return legible(name, longest)
