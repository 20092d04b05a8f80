"""What columns are worth: small sets and their losses, what stands in for what, and shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import prod

Columns = tuple[int, ...]


@dataclass(frozen=True)
class PathStep:
    """The best set of a size that the search found.

    Attributes
    ----------
    size : int
        How many features it has.
    columns : tuple of int
        Their columns.
    growth, low, high : float
        How much larger the out-of-sample loss is than that of all relevant columns, and its 95%
        interval; NaN of a size that was passed over.
    """

    size: int
    columns: Columns
    growth: float
    low: float
    high: float


@dataclass(frozen=True)
class Alternative:
    """What can stand in a slot.

    Attributes
    ----------
    columns : tuple of int
        One column, or several that stand in together.
    growth : float
        How much larger the out-of-sample loss is than that of the minimal set.
    high : float
        The upper bound of that, at the error of the formula.
    """

    columns: Columns
    growth: float
    high: float


@dataclass(frozen=True)
class Slot:
    """A place in the minimal set that one of several alternatives takes.

    Attributes
    ----------
    alternatives : tuple of Alternative
        What can stand there; the first one does so in the minimal set.
    is_complete : bool
        Whether all were tested that could stand there; there may be more otherwise.
    """

    alternatives: tuple[Alternative, ...]
    is_complete: bool


@dataclass(frozen=True)
class Formula:
    """All minimal sets that predict as well: some columns, and one alternative of each slot.

    Attributes
    ----------
    fixed : tuple of int
        The columns that are in all of them.
    slots : tuple of Slot
        Places with a choice.
    margin : float
        By how much the loss may be larger.
    error : float
        The probability that an alternative is accepted that costs more than that.
    n_checked, n_as_good : int
        How many sets, drawn at random from all others, were fitted anew, and how many of these have
        a loss that is larger by no more than the margin.
    """

    fixed: Columns
    slots: tuple[Slot, ...]
    margin: float
    error: float
    n_checked: int
    n_as_good: int

    @property
    def count(self) -> int:
        """How many sets there are."""
        return prod(len(slot.alternatives) for slot in self.slots)

    @property
    def named(self) -> Iterator[Columns]:
        """All that it names."""
        yield self.fixed
        for slot in self.slots:
            yield from (alternative.columns for alternative in slot.alternatives)


@dataclass(frozen=True)
class Necessity:
    """What models owe to a column, or to a group of them, as shares of the gain.

    Attributes
    ----------
    least : float
        What its removal costs: what it adds to all others.
    most : float
        What it adds where nothing is there that could stand in for it.
    low, high : float
        The lower bound of ``least`` and the upper one of ``most``, each with 97.5% confidence.
    """

    least: float
    most: float
    low: float
    high: float

    @property
    def rank(self) -> tuple[float, float]:
        """What columns are ordered by: a least that is above zero for certain, then the most."""
        return (self.least if self.low > 0 else 0.0, self.most)


@dataclass(frozen=True)
class Worth:
    """What was measured of sets and columns once the classes were decided.

    Attributes
    ----------
    path : tuple of PathStep
        The best sets found, from one feature to all relevant ones.
    formula : Formula or None
        What the minimal set can be exchanged for; None if that was not searched.
    columns : dict of int to Necessity
        What each relevant column is worth.
    groups : tuple of Necessity
        What each group is worth as a whole.
    """

    path: tuple[PathStep, ...] = ()
    formula: Formula | None = None
    columns: dict[int, Necessity] = field(default_factory=dict)
    groups: tuple[Necessity, ...] = ()

    def spread(self, columns: Callable[[Columns], Columns], order: Iterable[int]) -> Worth:
        """Return the same of the columns of some features, with groups in another order."""
        return Worth(
            tuple(replace(step, columns=columns(step.columns)) for step in self.path),
            None if self.formula is None else _spread_formula(self.formula, columns),
            {j: found for f, found in self.columns.items() for j in columns((f,))},
            tuple(self.groups[g] for g in order) if self.groups else (),
        )

    def inconsistencies(self, n_columns: int, n_groups: int) -> Iterator[str]:
        """Say what is about columns or groups that are not there, or has no order."""
        named = [step.columns for step in self.path]
        named += [] if self.formula is None else list(self.formula.named)
        if any(
            not 0 <= j < n_columns for columns in [*named, tuple(self.columns)] for j in columns
        ):
            yield "evidence.worth is about columns that are not there"
        sizes = [step.size for step in self.path]
        if sizes != list(range(1, len(sizes) + 1)):
            yield "evidence.worth.path must have an entry for every size, in ascending order"
        if self.formula is not None and not all(slot.alternatives for slot in self.formula.slots):
            yield "evidence.worth.formula has a slot without alternatives"
        if len(self.groups) not in (0, n_groups):
            yield "evidence.worth.groups must have an entry for each group"


def _spread_formula(formula: Formula, columns: Callable[[Columns], Columns]) -> Formula:
    def spread(slot: Slot) -> Slot:
        there = (replace(a, columns=columns(a.columns)) for a in slot.alternatives)
        return replace(slot, alternatives=tuple(there))

    slots = tuple(spread(slot) for slot in formula.slots)
    return replace(formula, fixed=columns(formula.fixed), slots=slots)
