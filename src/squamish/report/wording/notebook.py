"""The verdict as a small table for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from squamish.evidence.relevance import HEADINGS
from squamish.report.wording.rows import names_by_worth
from squamish.report.wording.summary import KEEP, one_line
from squamish.report.wording.worth import searched, stand_ins

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most names that a notebook shows of each class.
MOST_NAMES = 40


def notebook_html(result: RelevanceResult) -> str:
    """Write the verdict as HTML without a style of its own."""
    rows = []
    if searched(result):
        rows.append(_row(KEEP, result.select("minimal")))
    if exchanged := stand_ins(result):
        rows.append(_row("stand-ins", exchanged))
    rows += [_row(heading, names_by_worth(result, c)) for c, heading in HEADINGS.items()]
    rows += [_group_row(names) for names in result.interchangeable]
    notes = "".join(f"<p>Note: {escape(note)}</p>" for note in result.notes)
    return (
        f"<div><p>{escape(one_line(result))}</p><table><tbody>{''.join(rows)}</tbody></table>"
        f"{notes}</div>"
    )


def _row(heading: str, names: Sequence[str]) -> str:
    left = len(names) - MOST_NAMES
    more = f" and {left:,} more (<code>.to_frame()</code> has all)" if left > 0 else ""
    return (
        f'<tr><th scope="row" style="text-align:left;vertical-align:top">{heading}</th>'
        f'<td style="text-align:left">{_shown(names) or "(none)"}{more}</td></tr>'
    )


def _group_row(names: Sequence[str]) -> str:
    more = ", ..." if len(names) > MOST_NAMES else ""
    return (
        '<tr><td style="text-align:left;vertical-align:top">these replace each other</td>'
        f'<td style="text-align:left">{_shown(names)}{more}</td></tr>'
    )


def _shown(names: Sequence[str]) -> str:
    return ", ".join(f"<bdi>{escape(name)}</bdi>" for name in names[:MOST_NAMES])
