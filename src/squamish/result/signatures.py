"""All sets that predict as well as the minimal one: counted, listed, and chosen from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from squamish.errors import InputError, legible

Names = tuple[str, ...]


@dataclass(frozen=True)
class Cheapest:
    """The signature that costs least, and what it costs."""

    columns: Names
    cost: float


@dataclass(frozen=True)
class Signatures:
    """The minimal set and all that predict as well, as a formula.

    A signature has all of ``fixed``, and one alternative of every slot.

    Attributes
    ----------
    feature_names : tuple of str
        The columns, in the order of the table.
    fixed : tuple of str
        The columns that are in every signature.
    slots : tuple of tuples of tuples of str
        For every place with a choice, the alternatives, each of them one column or several; the
        first one stands in the minimal set.
    margin : float
        The share of the gain that a set which is as good may lose.
    error : float
        The probability that a test accepts an alternative that loses that much or more.
    n_checked, n_as_good : int
        Of so many sets, drawn at random and fitted anew, so many lost no more than the margin.
    is_complete : bool
        Whether all sets were tested that could stand in a slot; of very many some were not.

    Examples
    --------
    >>> from squamish import RelevanceSelector
    >>> from squamish.datasets import make_linear
    >>> problem = make_linear(300, n_strong=2, group_sizes=[3], n_irrelevant=2, random_state=0)
    >>> signatures = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_.signatures
    >>> signatures.count
    3
    >>> sorted(signatures)
    [('0', '1', '2'), ('0', '1', '3'), ('0', '1', '4')]
    >>> signatures.cheapest({"2": 10.0, "3": 1.0, "4": 5.0})
    Cheapest(columns=('0', '1', '3'), cost=1.0)
    >>> signatures.without(["3"]).count
    2
    """

    feature_names: Names
    fixed: Names
    slots: tuple[tuple[Names, ...], ...]
    margin: float
    error: float
    n_checked: int
    n_as_good: int
    is_complete: bool

    @property
    def count(self) -> int:
        """How many signatures there are, exactly."""
        return prod(len(slot) for slot in self.slots)

    def __iter__(self) -> Iterator[Names]:
        """Go through all signatures, the minimal set first, each in the order of the table."""
        for choice in product(*self.slots):
            yield self._ordered(choice)

    def __contains__(self, columns: object) -> bool:
        """Tell whether some columns are a signature, in whatever order."""
        if not isinstance(columns, Sequence | set | frozenset):
            return False
        wanted = {*columns}
        if not {*self.fixed} <= wanted:
            return False
        there = [[a for a in slot if {*a} <= wanted] for slot in self.slots]
        return any({*self._ordered(choice)} == wanted for choice in product(*there))

    def cheapest(self, costs: Mapping[str, float]) -> Cheapest:
        """Return the signature whose columns cost least together.

        Parameters
        ----------
        costs : mapping of str to float
            What the measurement of a column costs; one that is not named costs nothing.

        Returns
        -------
        Cheapest
            The columns, and the sum of their costs.
        """
        priced = self._prices(costs)

        def price(columns: Names) -> float:
            return sum(priced.get(name, 0.0) for name in columns)

        columns = self._ordered([min(slot, key=price) for slot in self.slots])
        return Cheapest(columns, price(columns))

    def without(self, columns: Sequence[str]) -> Signatures:
        """Return the signatures that do without some columns.

        Raises
        ------
        InputError
            If there is none: a column is in all of them, or a slot is left without alternatives.
        """
        names = (columns,) if isinstance(columns, str) else tuple(map(str, columns))
        self._check_names(names, "columns")
        for name in names:
            if name in self.fixed:
                raise InputError(
                    f"{legible(name)!r} is in every signature: nothing stands in for it"
                )
        slots = []
        for slot in self.slots:
            left = tuple(a for a in slot if not {*a} & {*names})
            if not left:
                shown = ", ".join(sorted({legible(name) for a in slot for name in a} & {*names}))
                raise InputError(f"every signature has one of {shown}: nothing else stands in")
            slots.append(left)
        fixed = (*self.fixed, *(n for slot in slots if len(slot) == 1 for n in slot[0]))
        open_ones = tuple(slot for slot in slots if len(slot) > 1)
        order = tuple(n for n in self.feature_names if n in fixed)
        return replace(self, fixed=order, slots=open_ones)

    def _ordered(self, choice: Sequence[Names]) -> Names:
        chosen = {*self.fixed, *(name for names in choice for name in names)}
        return tuple(name for name in self.feature_names if name in chosen)

    def _prices(self, costs: Mapping[str, float]) -> dict[str, float]:
        if not isinstance(costs, Mapping):
            raise InputError(
                f"costs is a {type(costs).__name__}; it must map names of columns to numbers"
            )
        self._check_names(tuple(map(str, costs)), "costs")
        return {str(name): _price(str(name), value) for name, value in costs.items()}

    def _check_names(self, names: Sequence[str], where: str) -> None:
        unknown = next((name for name in names if name not in self.feature_names), None)
        if unknown is not None:
            raise InputError(f"{where} names {legible(unknown)!r}, which is no column of the table")

    def __repr__(self) -> str:
        many = f"{self.count:,} signature{'' if self.count == 1 else 's'}"
        slots = f"{len(self.slots)} slot{'' if len(self.slots) == 1 else 's'}"
        checked = (
            f", {self.n_as_good} of {self.n_checked} checked as good" if self.n_checked else ""
        )
        return f"Signatures({many}: {len(self.fixed)} fixed, {slots}{checked})"


def _price(name: str, value: Any) -> float:
    try:
        price = float(value)
    except (TypeError, ValueError):
        price = -1.0
    if not 0 <= price < float("inf"):
        raise InputError(
            f"costs has {legible(repr(value))} for {legible(name)!r}; it must be a number of 0 or "
            "more"
        )
    return price
