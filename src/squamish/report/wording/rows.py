"""What a row of a table says about a column, and in which order rows come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from squamish.evidence.relevance import STRONG, WEAK
from squamish.report.wording.names import alternatives

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The share of a column's variance beyond which others tell most of it.
MOSTLY = 0.5


def ordered(result: RelevanceResult) -> list[int]:
    """Return the relevant columns: strong ones by what they cost, weak ones by their groups."""
    costs = result.evidence.cost
    strong = np.flatnonzero(result.classes == STRONG).tolist()
    weak = np.flatnonzero(result.classes == WEAK).tolist()
    return [
        *sorted(strong, key=lambda j: -costs[j]),
        *sorted(weak, key=lambda j: result.group_numbers.get(j, -1)),
    ]


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


def share(effect: float) -> str:
    """Say a share of what the model gains."""
    # A model that is kept can be misled by a redrawn column, and lose more than it gained.
    return "over 100%" if effect > 1 else f"{max(effect, 0):.1%}"


def replacement(result: RelevanceResult, j: int, most: int = 10) -> str:
    """Say what replaces a weak column, or why nothing is named; empty for others."""
    if result.classes[j] != WEAK:
        return ""
    sets = result.substitutes.get(result.feature_names[j], ())
    return alternatives(sets, most=most) or no_substitute(result, j)


def no_substitute(result: RelevanceResult, j: int) -> str:
    """Say why a weak column has no substitutes; empty for a method that does not tell them."""
    if not result.evidence.tells_substitutes:
        return ""
    if j in result.evidence.small:
        return "nothing in particular: what it adds is certain, but small"
    if result.evidence.explained[j] > MOSTLY:
        return "all others together, no small set of them"
    return "nothing in particular, but what it adds is too little to prove"
