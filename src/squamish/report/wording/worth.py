"""What sets and columns are worth: what to keep, what can stand in, what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from squamish.report.wording.names import alternatives, listed

if TYPE_CHECKING:
    from squamish.evidence.worth import Slot
    from squamish.result.result import RelevanceResult
    from squamish.result.signatures import Signatures

# Shares that are printed as 0.0% are nothing to a reader.
SEEN = 0.0005


@dataclass(frozen=True)
class Place:
    """A place in the minimal set: who takes it, and who can stand in.

    Attributes
    ----------
    columns : tuple of int
        Those of the minimal set; one, unless several are exchanged together.
    slot : Slot or None
        Its alternatives; None where nothing was found that can stand in.
    """

    columns: tuple[int, ...]
    slot: Slot | None


@dataclass(frozen=True)
class Together:
    """A group that costs more than its members one by one, in shares of the gain."""

    group: int
    members: tuple[str, ...]
    cost: float
    alone: float

    def said(self, most: int = 12) -> str:
        """Say so, with so many names."""
        names = ", ".join(self.members[:most])
        left = len(self.members) - most
        more = f" and {left:,} more" if left > 0 else ""
        at_most = "at most " if self.alone >= SEEN else ""
        return f"{names}{more}: {share(self.cost)} together, {at_most}{share(self.alone)} each"


def share(value: float) -> str:
    """Say a share of what the model gains.

    Examples
    --------
    >>> from squamish.report.wording.worth import share
    >>> share(0.1234), share(-0.02), share(1.2)
    ('12.3%', '0.0%', 'over 100%')
    """
    # A model that is kept can be misled by a redrawn column, and lose more than it gained.
    return "over 100%" if value > 1 else f"{max(value, 0):.1%}"


def most(result: RelevanceResult, j: int) -> str:
    """Say what a column is worth at the most; empty if it was not measured."""
    found = result.evidence.worth.columns.get(j)
    return "" if found is None else share(found.most)


def worth_of(result: RelevanceResult, j: int) -> str:
    """Say what a column is worth at the least and at the most; empty if it was not measured."""
    found = result.evidence.worth.columns.get(j)
    if found is None:
        return ""
    least, at_most = share(found.least), share(found.most)
    return least if least == at_most else f"{least} to {at_most}"


def places(result: RelevanceResult) -> list[Place]:
    """Return the places of the minimal set, in the order of the table; those with a choice last."""
    formula = result.evidence.worth.formula
    members = np.flatnonzero(result.evidence.minimal).tolist()
    if formula is None:
        return [Place((j,), None) for j in members]
    chosen = [Place(slot.alternatives[0].columns, slot) for slot in formula.slots]
    free = {j for place in chosen for j in place.columns}
    return [*(Place((j,), None) for j in members if j not in free), *chosen]


def searched(result: RelevanceResult) -> bool:
    """Tell whether small sets were searched, so that the minimal one is the smallest found."""
    return bool(result.evidence.worth.path)


def kept(result: RelevanceResult) -> float:
    """Return the share of the gain that the minimal set keeps; NaN if it was not measured."""
    gain = result.gain
    if not searched(result) or not gain > 0:
        return np.nan
    return (result.evidence.constant_loss - result.evidence.minimal_loss) / gain


def keep(result: RelevanceResult) -> str:
    """Say how good the minimal set is; empty if it was not searched."""
    if not searched(result):
        return ""
    n, n_relevant = int(result.evidence.minimal.sum()), int(np.sum(result.classes > 0))
    told = kept(result)
    of = f"{n:,} of {n_relevant:,} relevant columns" if n < n_relevant else _all(n)
    if np.isnan(told):
        return f"{of}, the smallest set found that is enough"
    verb = "keeps" if n == 1 else "keep"
    return f"{of} {verb} {told:.1%} of what the model gains, out of sample"


def _all(n: int) -> str:
    return f"All {n:,} relevant columns" if n > 1 else "The only relevant column"


def stand_ins(result: RelevanceResult) -> list[str]:
    """Say for every place with a choice what can stand in for whom."""
    return [_choice(own, others) for own, *others in result.signatures.slots]


def _choice(own: Sequence[str], others: Sequence[Sequence[str]], most: int = 5) -> str:
    if len(own) == 1:
        return f"{alternatives(others, most=most)} for {own[0]}"
    shown = [exchange(own, names) for names in others[:most]]
    left = len(others) - len(shown)
    return " or ".join([*shown, *([f"{left} more"] if left > 0 else [])])


def exchange(own: Sequence[str], names: Sequence[str]) -> str:
    """Say who stands in, and of several members for which.

    Examples
    --------
    >>> from squamish.report.wording.worth import exchange
    >>> exchange(["a"], ["b", "c"]), exchange(["a", "b"], ["a", "c"])
    ('b + c', 'c for b')
    """
    come = [name for name in names if name not in own]
    gone = [name for name in own if name not in names]
    return listed(come) if len(own) == 1 else f"{listed(come)} for {listed(gone)}"


def signatures(result: RelevanceResult) -> str:
    """Say how many sets predict as well; empty if they were not searched."""
    if result.evidence.worth.formula is None:
        return ""
    found = result.signatures
    more = "" if found.is_complete else " There may be more: not all that could be were tested."
    if found.count == 1:
        return f"Nothing was proven to stand in for a member.{more}"
    n = len(found.slots)
    where = f"{n} {'places have' if n > 1 else 'place has'} a choice"
    checked = _checked(found) if found.n_checked else ""
    return f"{found.count:,} sets predict as well: {where}{checked}.{more}"


def _checked(found: Signatures) -> str:
    """Say how the random check went, or that of all sets if they are few."""
    n, limit = found.n_checked, f"lost no more than {found.margin:.1%} of the gain"
    if n == found.count - 1:
        return f"; fitted anew, {found.n_as_good} of {n} other{'s' if n > 1 else ''} {limit}"
    return f"; of {n} drawn at random and fitted anew, {found.n_as_good} {limit}"


def together(result: RelevanceResult) -> list[Together]:
    """Return the groups that cost more than what their members cost one by one, dearest first."""
    measured, found = result.evidence.worth, []
    pairs = zip(result.evidence.groups, measured.groups, strict=False)
    for g, (members, shares) in enumerate(pairs):
        alone = [measured.columns[j].least for j in members if j in measured.columns]
        if len(members) > 1 and shares.least > max(SEEN, 2 * sum(alone)):
            names = tuple(result.feature_names[j] for j in members)
            found.append(Together(g, names, shares.least, max(alone, default=0.0)))
    return sorted(found, key=lambda each: -each.cost)


def suggested_columns(result: RelevanceResult, group: int) -> tuple[int, ...]:
    """Return the suggested columns of a group: those of the minimal set, if there are any."""
    kept = tuple(j for j in result.evidence.groups[group] if result.evidence.minimal[j])
    return kept if kept and searched(result) else result.evidence.representatives[group]


def is_needed(result: RelevanceResult, group: int) -> bool:
    """Tell whether some of a group has to be kept, as far as a search of small sets tells."""
    members = result.evidence.groups[group]
    return not searched(result) or any(result.evidence.minimal[j] for j in members)


def suggested(result: RelevanceResult, group: int) -> tuple[str, ...]:
    """Return the names of the suggested columns of a group."""
    return tuple(result.feature_names[j] for j in suggested_columns(result, group))
