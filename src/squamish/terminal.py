"""The verdict as a table in a terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from squamish import wording
from squamish.evidence import CrossfitEvidence
from squamish.relevance import CLASS_NAMES, IRRELEVANT, STRONG, WEAK
from squamish.result import RelevanceResult

STYLES = {STRONG: "bold cyan", WEAK: "yellow", IRRELEVANT: "dim"}
# The most rows of the table, and the most names of irrelevant columns below it.
MOST_ROWS, MOST_NAMES = 60, 12


def show(result: RelevanceResult, console: Console) -> None:
    """Print the verdict: a table of the relevant columns, then all that needs a sentence."""
    console.print(verdict(result))


def verdict(result: RelevanceResult) -> RenderableType:
    """Lay out the verdict."""
    relevant = [j for c in (STRONG, WEAK) for j in np.flatnonzero(result.classes == c).tolist()]
    parts: list[RenderableType] = []
    if relevant:
        parts.append(_table(result, relevant[:MOST_ROWS]))
    if len(relevant) > MOST_ROWS:
        parts.append(Text(f"and {len(relevant) - MOST_ROWS:,} more relevant columns", style="dim"))
    names = result.irrelevant
    if names:
        shown = ", ".join(map(_one_line, names[:MOST_NAMES]))
        more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
        parts.append(Text(f"{len(names):,} irrelevant: {shown}{more}", style="dim"))
    parts += [Text(f"Note: {_one_line(note)}", style="magenta") for note in result.notes]
    if result.borderline:
        close = list(result.borderline)
        shown = ", ".join(map(_one_line, close[:MOST_NAMES]))
        more = f" and {len(close) - MOST_NAMES:,} more" if len(close) > MOST_NAMES else ""
        parts.append(Text(f"Close calls: {shown}{more}"))
    return Group(*parts, Text(wording.one_line(result), style="bold"))


def _table(result: RelevanceResult, columns: list[int]) -> Table:
    evidence = result.evidence
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column("class")
    table.add_column("group", justify="right")
    table.add_column("removal costs", justify="right")
    table.add_column("can be replaced by", overflow="fold")
    for j in columns:
        name, relevance = result.feature_names[j], int(result.classes[j])
        sets = result.substitutes.get(name, ())
        told = wording.alternatives(sets, most=4)
        if relevance == WEAK and not sets and isinstance(evidence, CrossfitEvidence):
            told = f"({wording.NO_SUBSTITUTE})"
        table.add_row(
            Text(_one_line(name)),
            Text(CLASS_NAMES[relevance], style=STYLES[relevance]),
            Text(str(result.group_numbers[j] + 1) if j in result.group_numbers else ""),
            Text(_cost(result, j)),
            Text(_one_line(told)),
        )
    return table


def _cost(result: RelevanceResult, j: int) -> str:
    """Say what a removal costs: a share of what the model gains, or the loss without it."""
    evidence = result.evidence
    if isinstance(evidence, CrossfitEvidence):
        return "" if np.isnan(evidence.effect[j]) else f"{evidence.effect[j]:.1%}"
    return "" if np.isnan(evidence.removal_loss[j]) else f"loss {evidence.removal_loss[j]:.3g}"


def _one_line(text: str) -> str:
    """Keep line breaks and control characters of a name from spoiling the table."""
    return "".join(c if c.isprintable() else " " for c in text)
