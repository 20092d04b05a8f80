"""What a row of a table says about a column, and in which order rows come."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from squamish.evidence.interface import Obstacle
from squamish.evidence.relevance import CLASS_NAMES, IRRELEVANT, STRONG, WEAK
from squamish.report.wording.names import alternatives
from squamish.report.wording.worth import share

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The share of a column's variance beyond which others tell most of it.
MOSTLY = 0.5
# What the mark of a class means.
UNDECIDED = "undecided for want of time: the class is a best guess, and may change"
# What is said where nothing replaces a weak column, by why it is not strong.
NO_SUBSTITUTE: dict[Obstacle, str] = {
    "": "nothing in particular",
    "undecided": "not known: the time was used up before",
    "untested": "nothing in particular",
    "unproven": "nothing in particular; not proven to add anything",
    "small": "nothing in particular; what it adds is certain, but small",
    "little": "nothing in particular; what it adds is too little to count as strong",
    "refit": "nothing in particular; a model without it loses too little",
}
# Shares are told apart as they are printed, so that what looks alike has the order of the table.
DIGITS = 3


def ordered(result: RelevanceResult) -> list[int]:
    """Return the relevant columns, strong ones first, by what they are worth.

    Where that was not measured, strong ones come by what they cost, weak ones by their groups.
    """
    strong = np.flatnonzero(result.classes == STRONG).tolist()
    weak = np.flatnonzero(result.classes == WEAK).tolist()
    worth, costs = result.evidence.worth.columns, result.evidence.cost
    if worth:
        return [
            *sorted(strong, key=partial(_by_worth, result)),
            *sorted(weak, key=partial(_by_worth, result)),
        ]
    return [
        *sorted(strong, key=lambda j: -costs[j]),
        *sorted(weak, key=lambda j: result.group_numbers.get(j, -1)),
    ]


def _by_worth(result: RelevanceResult, j: int) -> tuple[float, float, bool, int]:
    found = result.evidence.worth.columns.get(j)
    least, most = (0.0, 0.0) if found is None else found.rank
    return -round(least, DIGITS), -round(most, DIGITS), not result.evidence.minimal[j], j


def names_by_worth(result: RelevanceResult, relevance: int) -> tuple[str, ...]:
    """Return the columns of a class by what they are worth, or in the order of the table."""
    if relevance == IRRELEVANT or not result.evidence.worth.columns:
        return result.names_of(relevance)
    return tuple(result.feature_names[j] for j in ordered(result) if result.classes[j] == relevance)


def class_name(result: RelevanceResult, j: int) -> str:
    """Name the class of a column, with a mark if it is a guess, for want of time."""
    mark = " ?" if result.evidence.undecided[j] else ""
    return f"{CLASS_NAMES[int(result.classes[j])]}{mark}"


def group(result: RelevanceResult, j: int) -> str:
    """Return the number of a column's group, if there is a choice in it."""
    number = result.group_numbers.get(j, len(result.groups))
    return str(number + 1) if number < len(result.interchangeable) else ""


def cost_heading(result: RelevanceResult) -> str:
    """Name what `cost` says."""
    return result.evidence.vocabulary.cost_heading


def cost(result: RelevanceResult, j: int) -> str:
    """Say what a removal costs: a share of what the model gains, or the loss without it."""
    value = result.evidence.cost[j]
    if np.isnan(value):
        return ""
    return share(value) if result.evidence.cost_is_share else f"{value:.3g}"


def rows_that_decide(result: RelevanceResult, name: str) -> str:
    """Say about how many rows would decide a close call; nothing if nothing tells."""
    rows = result.more_rows.get(name)
    if rows is None:
        return ""
    if np.isinf(rows):
        return "; to decide takes more than 100 times the rows"
    return f"; about {rows:,.0f} rows would decide"


def in_half_samples(result: RelevanceResult, j: int) -> str:
    """Say in how many half-samples a column had which class; nothing if none was judged."""
    stability = result.stability
    if stability is None or not stability.n_finished:
        return ""
    counts = stability.columns[result.feature_names[j]]
    said = {"strong": counts.strong, "weak": counts.weak, "irrelevant": counts.irrelevant}
    return ", ".join(f"{n} {name}" for name, n in said.items() if n)


def half_sample_heading(result: RelevanceResult) -> str:
    """Name what `in_half_samples` says; nothing if no half-sample was judged."""
    stability = result.stability
    if stability is None or not stability.n_finished:
        return ""
    return f"in {stability.n_finished} half-samples"


def replacement(result: RelevanceResult, j: int, most: int = 10) -> str:
    """Say what replaces a weak column, or why nothing is named; empty for others."""
    if result.classes[j] != WEAK:
        return ""
    name = result.feature_names[j]
    sets = result.substitutes.get(name, ()) or stands_for(result, name)
    return alternatives(sets, most=most) or no_substitute(result, j)


def stands_for(result: RelevanceResult, name: str) -> tuple[tuple[str, ...], ...]:
    """Return what was proven to stand in for a member of the minimal set by itself."""
    slots = (slot for slot in result.signatures.slots if slot[0] == (name,))
    return next((slot[1:] for slot in slots), ())


def no_substitute(result: RelevanceResult, j: int) -> str:
    """Say why a weak column has no substitutes; empty for a method that does not tell them."""
    if not result.evidence.tells_substitutes:
        return ""
    obstacle = result.evidence.obstacle(j)
    if obstacle != "small" and result.evidence.explained[j] > MOSTLY:
        return "all others together, no small set of them"
    return NO_SUBSTITUTE[obstacle]
