"""The verdict as a small table for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from squamish.report.wording.summary import headed, one_line, shown

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult


def notebook_html(result: RelevanceResult) -> str:
    """Write the verdict as HTML without a style of its own."""
    rows = "".join(_row(heading, names) for heading, names in headed(result))
    notes = "".join(f"<p>Note: {escape(note)}</p>" for note in result.notes)
    return (
        f"<div><p>{escape(one_line(result))}</p><table><tbody>{rows}</tbody></table>{notes}</div>"
    )


def _row(heading: str, names: Sequence[str]) -> str:
    """Write a line; what belongs to the one above it has no heading of its own."""
    tag, scope = ("td", "") if heading.startswith(" ") else ("th", ' scope="row"')
    text = shown(names, lambda name: f"<bdi>{escape(name)}</bdi>")
    return (
        f'<tr><{tag}{scope} style="text-align:left;vertical-align:top">{heading.strip()}</{tag}>'
        f'<td style="text-align:left">{text}</td></tr>'
    )
