"""What to keep: the minimal set with its stand-ins, and what the explorer knows of exchanges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.evidence.relevance import CLASS_NAMES
from squamish.report import wording
from squamish.report.page.path import Path, draw_path
from squamish.report.page.rows import Bar, bar

if TYPE_CHECKING:
    from squamish.evidence.worth import Alternative, Slot
    from squamish.result.result import RelevanceResult

# The most places on the first screen, and behind a fold; stand-ins in a place, in one of several
# members, where each takes lines of its own, and in a menu; groups that cost more together.
FIRST_PLACES, MOST_PLACES = 12, 200
MOST_OTHERS, MOST_JOINT, MOST_CHOICES, MOST_TOGETHER = 4, 2, 60, 3


@dataclass(frozen=True)
class Member:
    """A column of the minimal set, and what it is worth."""

    name: str
    relevance: str
    worth: str
    bar: Bar | None


@dataclass(frozen=True)
class PlaceRow:
    """A place in the minimal set, who takes it, and who can stand in."""

    members: tuple[Member, ...]
    others: tuple[str, ...]
    n_others_left_out: int
    slot: int | None


@dataclass(frozen=True)
class Keep:
    """All that the first screen says."""

    lead: str
    signatures: str
    losses: str
    n_members: int
    first: tuple[PlaceRow, ...]
    rest: tuple[PlaceRow, ...]
    n_left_out: int
    has_choice: bool
    together: tuple[str, ...]
    n_cover: int
    path: Path


def what_to_keep(result: RelevanceResult) -> Keep | None:
    """Describe the minimal set; None if small sets were not searched."""
    if not wording.searched(result):
        return None
    rows = _places(result)
    shown = rows[:MOST_PLACES]
    return Keep(
        wording.keep(result),
        wording.signatures(result),
        _losses(result),
        int(result.evidence.minimal.sum()),
        tuple(shown[:FIRST_PLACES]),
        tuple(shown[FIRST_PLACES:]),
        len(rows) - len(shown),
        any(row.slot is not None for row in rows),
        _together(result),
        int(result.evidence.covering.sum()),
        draw_path(result),
    )


def _places(result: RelevanceResult) -> list[PlaceRow]:
    """Return the places by what their members are worth."""
    rank = {j: i for i, j in enumerate(wording.ordered(result))}
    formula = result.evidence.worth.formula
    slots = () if formula is None else formula.slots
    by_worth = sorted(wording.places(result), key=lambda place: min(rank[j] for j in place.columns))
    return [
        _place(
            result,
            place.columns,
            place.slot,
            None if place.slot is None else slots.index(place.slot),
        )
        for place in by_worth
    ]


def _place(
    result: RelevanceResult, columns: tuple[int, ...], slot: Slot | None, number: int | None
) -> PlaceRow:
    others = () if slot is None else slot.alternatives[1:]
    names = result.feature_names
    own = [names[j] for j in columns]
    most = MOST_OTHERS if len(own) == 1 else MOST_JOINT
    named = (wording.exchange(own, [names[j] for j in a.columns]) for a in others[:most])
    return PlaceRow(
        tuple(_member(result, j) for j in columns),
        tuple(named),
        max(len(others) - most, 0),
        number,
    )


def _member(result: RelevanceResult, j: int) -> Member:
    relevance = CLASS_NAMES[int(result.classes[j])]
    return Member(result.feature_names[j], relevance, wording.worth_of(result, j), bar(result, j))


def _losses(result: RelevanceResult) -> str:
    """Say the losses with so many digits that they differ as they do."""
    evidence = result.evidence
    small, full = evidence.minimal_loss, evidence.loss
    if np.isnan(small):
        return ""
    adjusted = bool(result.adjusted_for)
    digits = next((n for n in (3, 4, 5) if f"{small:.{n}g}" != f"{full:.{n}g}"), 3)
    with_these, with_all, with_none = (
        f"{loss:.{digits}g}" for loss in (small, full, evidence.constant_loss)
    )
    return (
        f"The out-of-sample loss is {with_these} with these, {with_all} with all relevant columns "
        f"and {with_none} with {wording.without_judged(result) if adjusted else 'none'}."
    )


def _together(result: RelevanceResult) -> tuple[str, ...]:
    """Name the groups that cost more than their members one by one."""
    return tuple(each.said(4) for each in wording.together(result)[:MOST_TOGETHER])


def choices(result: RelevanceResult) -> dict[str, Any] | None:
    """Collect what the explorer knows of exchanges; None if there is no choice."""
    formula = result.evidence.worth.formula
    if formula is None or not formula.slots:
        return None
    gain = result.gain
    slots = [slot.alternatives[:MOST_CHOICES] for slot in formula.slots]
    columns = {j for some in slots for a in some for j in a.columns} | {*formula.fixed}
    return {
        "columns": {str(j): _for_menus(result, j) for j in sorted(columns)},
        "fixed": list(formula.fixed),
        "slots": [[_choice(a, gain) for a in some] for some in slots],
        "margin": round(100 * formula.margin / gain, 2),
        "error": round(100 * formula.error, 1),
        "checked": [formula.n_checked, formula.n_as_good],
        "all_checked": formula.n_checked == formula.count - 1,
    }


def _for_menus(result: RelevanceResult, j: int) -> list[Any]:
    """Return the name of a column, what it is worth, and its bar."""
    drawn = bar(result, j)
    ends = [0, 0] if drawn is None else [drawn.start, drawn.width]
    return [result.feature_names[j], wording.worth_of(result, j), *ends]


def _choice(alternative: Alternative, gain: float) -> list[Any]:
    """Return columns, growth and its upper bound, in percent of the gain."""
    growth, high = (
        round(100 * value / gain, 2) for value in (alternative.growth, alternative.high)
    )
    return [list(alternative.columns), growth, high]
