"""The verdict as a table in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from squamish.errors import legible
from squamish.evidence.relevance import CLASS_NAMES, IRRELEVANT, STRONG, WEAK
from squamish.report import wording

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The longest name or sentence that is shown in full.
LONGEST_CELL = 400
STYLES = {STRONG: "bold cyan", WEAK: "yellow", IRRELEVANT: "dim"}
# The most rows of the table, names of irrelevant columns below it, and close calls.
MOST_ROWS, MOST_NAMES, MOST_CLOSE = 60, 12, 5


def show(result: RelevanceResult, console: Console) -> None:
    """Print the verdict: a table of the relevant columns, then all that needs a sentence."""
    console.print(verdict(result))


def verdict(result: RelevanceResult) -> RenderableType:
    """Lay out the verdict."""
    relevant = wording.ordered(result)
    parts: list[RenderableType] = []
    if relevant:
        parts.append(_table(result, relevant[:MOST_ROWS]))
    if len(relevant) > MOST_ROWS:
        parts.append(Text(f"and {len(relevant) - MOST_ROWS:,} more relevant columns", style="dim"))
    names = result.irrelevant
    if names:
        shown = ", ".join(map(_cell, names[:MOST_NAMES]))
        more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
        parts.append(Text(f"{len(names):,} irrelevant: {shown}{more}", style="dim"))
    parts += [Text(f"Note: {_cell(note)}", style="magenta") for note in result.notes]
    close = list(result.borderline.items())
    parts += [Text(f"Close call: {_cell(name)}, {reason}") for name, reason in close[:MOST_CLOSE]]
    if len(close) > MOST_CLOSE:
        parts.append(Text(f"and {len(close) - MOST_CLOSE} more close calls"))
    return Group(*parts, Text(wording.one_line(result), style="bold"))


def _cell(text: str) -> str:
    return legible(text, LONGEST_CELL)


def _table(result: RelevanceResult, columns: list[int]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column("class", no_wrap=True)
    table.add_column("group", justify="right", no_wrap=True)
    table.add_column(wording.cost_heading(result), justify="right")
    table.add_column("can be replaced by", overflow="fold")
    for j in columns:
        relevance = int(result.classes[j])
        table.add_row(
            Text(_cell(result.feature_names[j])),
            Text(CLASS_NAMES[relevance], style=STYLES[relevance]),
            Text(wording.group(result, j)),
            Text(wording.cost(result, j)),
            Text(_cell(wording.replacement(result, j, most=4))),
        )
    return table
