"""What was adjusted for, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most columns that are named in a sentence.
MOST_NAMED = 6


def together(names: Sequence[str]) -> str:
    """Name columns that belong together, and count those beyond the first.

    Examples
    --------
    >>> from squamish.report.wording.adjustment import together
    >>> together(["age", "sex", "centre"])
    'age, sex and centre'
    """
    left = len(names) - MOST_NAMED
    if left > 0:
        return f"{', '.join(names[:MOST_NAMED])} and {left} more columns"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def without_judged(result: RelevanceResult) -> str:
    """Name the prediction that looks at no column which is judged."""
    return f"{together(result.adjusted_for)} alone" if result.adjusted_for else "the constant"
