"""The verdict as a page of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from squamish.errors import legible
from squamish.evidence.relevance import CLASS_NAMES, MEANINGS
from squamish.report.wording.names import listed
from squamish.report.wording.path import steps
from squamish.report.wording.rows import (
    UNDECIDED,
    class_name,
    cost,
    cost_heading,
    group,
    names_by_worth,
    ordered,
    replacement,
)
from squamish.report.wording.summary import one_line
from squamish.report.wording.survival import concordance, thirds
from squamish.report.wording.worth import exchange, keep, most, searched, signatures

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most stand-ins for a member.
MOST_OTHERS = 10


def markdown_page(result: RelevanceResult) -> str:
    """Write the verdict as a page: counts, the relevant columns, the others."""
    lines = ["# Which columns matter", "", _cell(one_line(result)), ""]
    for note in result.notes:
        lines += [f"Note: {_cell(note)}", ""]
    if said := concordance(result):
        lines += [f"{said}; {', '.join(thirds(result))}.", ""]
    lines += _keep(result)
    lines += _table(["class", "meaning", "columns"], _classes(result))
    worth = ["worth at most", "minimal"] if searched(result) else []
    heads = ["column", "class", "group", cost_heading(result), *worth, "p", "can be replaced by"]
    lines += ["", *_table(heads, (_columns(result, j) for j in ordered(result)))]
    if result.undecided:
        lines += ["", f"? {UNDECIDED}"]
    if result.borderline:
        close = ([_cell(name), reason] for name, reason in result.borderline.items())
        lines += ["", *_table(["close call", "what was close"], close)]
    return "\n".join([*lines, ""])


def _keep(result: RelevanceResult) -> list[str]:
    """Say what to keep, what can stand in, and what the next column buys."""
    if not searched(result):
        return []
    lines = ["## What to keep", "", _cell(", ".join(result.select("minimal"))), ""]
    lines += [f"{_cell(f'{keep(result)}. {signatures(result)}'.strip())}", ""]
    if result.signatures.slots:
        lines += [*_table(["member", "can stand in for it"], _slots(result)), ""]
    lines += ["## What the next column buys", ""]
    lines += [*_table(["columns", "keeps", "95% interval", "change"], _steps(result)), ""]
    return [*lines, "## The columns", ""]


def _slots(result: RelevanceResult) -> Iterator[list[str]]:
    for own, *others in result.signatures.slots:
        shown = [exchange(own, names) for names in others[:MOST_OTHERS]]
        left = len(others) - len(shown)
        more = [f"{left} more"] if left > 0 else []
        yield [_cell(listed(own)), _cell(" or ".join([*shown, *more]))]


def _steps(result: RelevanceResult) -> Iterator[list[str]]:
    for step in steps(result):
        size = f"{step.size} (minimal)" if step.minimal else str(step.size)
        yield [size, step.kept, step.interval, _cell(step.change)]


def _classes(result: RelevanceResult) -> Iterator[list[str]]:
    for c, meaning in MEANINGS.items():
        yield [CLASS_NAMES[c], meaning, _cell(", ".join(names_by_worth(result, c)) or "(none)")]


def _columns(result: RelevanceResult, j: int) -> list[str]:
    p = result.evidence.p_removal[j]
    cells = [
        result.feature_names[j],
        class_name(result, j),
        group(result, j),
        cost(result, j),
        *(
            [most(result, j), "yes" if result.evidence.minimal[j] else ""]
            if searched(result)
            else []
        ),
        "" if np.isnan(p) else f"{p:.2g}",
        replacement(result, j),
    ]
    return [_cell(cell) for cell in cells]


def _table(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    rule = "|---" * len(heads) + "|"
    return [f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]


def _cell(text: str) -> str:
    """Keep names from meaning something in Markdown: the end of a cell, emphasis, a link."""
    # An underscore within a word means nothing, and would be ugly to read with a backslash.
    text = re.sub(r"[\\`*\[~|]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", legible(text, longest=None))
    return re.sub(r"&(?=#?\w+;)", "&amp;", text).replace("<", "&lt;")
