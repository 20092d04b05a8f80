"""The verdict as a table in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from squamish.errors import legible
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.report import wording

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The longest name or sentence that is shown in full.
LONGEST_CELL = 400
STYLES = {STRONG: "bold cyan", WEAK: "yellow", IRRELEVANT: "dim"}
# The most rows of the table, names in a line below it, lines of stand-ins and groups, close calls.
MOST_ROWS, MOST_NAMES, MOST_LINES, MOST_CLOSE = 60, 12, 8, 5
# The most names of the minimal set, which is what is wanted.
MOST_KEPT = 60


def show(result: RelevanceResult, console: Console) -> None:
    """Print the verdict: a table of the relevant columns, then all that needs a sentence."""
    console.print(verdict(result))


def verdict(result: RelevanceResult) -> RenderableType:
    """Lay out the verdict."""
    relevant = wording.ordered(result)
    parts: list[RenderableType] = []
    if result.adjusted_for:
        given = _some(result.adjusted_for, MOST_NAMES)
        parts.append(Text(f"Adjusted for, in every model: {given}"))
    if relevant:
        parts.append(_table(result, relevant[:MOST_ROWS]))
    if result.undecided:
        parts.append(Text(f"? {wording.UNDECIDED}", style="magenta"))
    if len(relevant) > MOST_ROWS:
        parts.append(Text(f"and {len(relevant) - MOST_ROWS:,} more relevant columns", style="dim"))
    names = result.irrelevant
    if names:
        parts.append(Text(f"{len(names):,} irrelevant: {_some(names, MOST_NAMES)}", style="dim"))
    parts += _worth(result)
    parts += [Text(f"Note: {_cell(note)}", style="magenta") for note in result.notes]
    close = list(result.borderline.items())
    parts += [Text(f"Close call: {_cell(name)}, {reason}") for name, reason in close[:MOST_CLOSE]]
    if len(close) > MOST_CLOSE:
        parts.append(Text(f"and {len(close) - MOST_CLOSE} more close calls"))
    if result.stability is not None:
        parts.append(Text(str(result.stability)))
    return Group(*parts, Text(wording.one_line(result), style="bold"))


def path(result: RelevanceResult) -> Table:
    """Lay out what the next column buys."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("columns", justify="right", no_wrap=True)
    table.add_column("keeps", justify="right", no_wrap=True)
    table.add_column("95% interval", no_wrap=True)
    table.add_column("minimal", no_wrap=True)
    table.add_column("change", overflow="fold")
    for step in wording.steps(result):
        mark = "yes" if step.minimal else ""
        cells = (f"{step.size:,}", step.kept, step.interval, mark, _cell(step.change))
        table.add_row(*map(Text, cells), style="bold" if step.minimal else "")
    return table


def _worth(result: RelevanceResult) -> Iterator[Text]:
    """Say what to keep, what can stand in, and what only a whole group costs."""
    if not wording.searched(result):
        return
    kept = result.select("minimal")
    yield Text(f"Keep (minimal set): {_some(kept, MOST_KEPT)}", style="bold")
    yield Text(f"{wording.keep(result)}. {wording.signatures(result)}".rstrip())
    stand_ins = wording.stand_ins(result)
    yield from (Text(f"Stand-in: {_cell(line)}") for line in stand_ins[:MOST_LINES])
    if len(stand_ins) > MOST_LINES:
        left = len(stand_ins) - MOST_LINES
        yield Text(f"and {left:,} more places with a choice (squamish signatures lists them)")
    groups = wording.together(result)
    for each in groups[:MOST_LINES]:
        yield Text(f"Removal costs of {_cell(each.said(MOST_NAMES))}")
    if len(groups) > MOST_LINES:
        yield Text(f"and {len(groups) - MOST_LINES} more groups that cost more together")


def _some(names: tuple[str, ...], most: int) -> str:
    shown = ", ".join(map(_cell, names[:most]))
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def _cell(text: str) -> str:
    return legible(text, LONGEST_CELL)


def _table(result: RelevanceResult, columns: list[int]) -> Table:
    searched = wording.searched(result)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column("class", no_wrap=True)
    table.add_column(wording.cost_heading(result), justify="right")
    if searched:
        table.add_column("worth at most", justify="right")
        table.add_column("minimal", no_wrap=True)
    table.add_column("group", justify="right", no_wrap=True)
    half_samples = wording.half_sample_heading(result)
    if half_samples:
        table.add_column(half_samples)
    table.add_column("can be replaced by", overflow="fold")
    for j in columns:
        relevance = int(result.classes[j])
        worth = (wording.most(result, j), "yes" if result.evidence.minimal[j] else "")
        table.add_row(
            Text(_cell(result.feature_names[j])),
            Text(wording.class_name(result, j), style=STYLES[relevance]),
            Text(wording.cost(result, j)),
            *(map(Text, worth) if searched else ()),
            Text(wording.group(result, j)),
            *([Text(wording.in_half_samples(result, j))] if half_samples else []),
            Text(_cell(wording.replacement(result, j, most=4))),
        )
    return table
