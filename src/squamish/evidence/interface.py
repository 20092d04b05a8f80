"""What the evidence of any method offers to results, reports and notes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.errors import warn_caller
from squamish.evidence.association import Association
from squamish.evidence.consistency import Shape, wrong_groups, wrong_proofs, wrong_size
from squamish.evidence.decisions import Decision
from squamish.evidence.gaps import Gaps
from squamish.evidence.survival import Prognosis
from squamish.evidence.vocabulary import Vocabulary
from squamish.evidence.worth import Worth
from squamish.statistics.multiplicity import ErrorRate

Sets = tuple[tuple[int, ...], ...]
# Why a weak column is not strong: the time was used up, it was not tested, that it adds something
# is not proven, it certainly adds something but little, it seems to add something but too little to
# count, or a refit without it loses too little. Empty if nothing tells.
Obstacle = Literal["", "undecided", "untested", "unproven", "small", "little", "refit"]


class Evidence(ABC):
    """What a verdict rests on.

    A kind of evidence is a frozen dataclass whose fields are what its method looked at; they are
    what is saved. All that is told of a verdict is asked of this interface, never of a kind: what
    a method does not measure is NaN or empty, and what it calls things is in its vocabulary. A new
    method brings a new kind, with a line in ``squamish.evidence.KINDS``, and nothing else.

    Attributes
    ----------
    kind : str
        Its name in saved results and in lines that name the method.
    tells_substitutes : bool
        Whether the method looks for what replaces a weak column.
    has_intervals : bool
        Whether ``removal_loss`` is a growth with an interval; otherwise it is the loss itself.
    cost_is_share : bool
        Whether ``cost`` is a share of what the model gains; otherwise it is a loss.
    shapes : mapping of str to tuple
        The shape of every field that is an array.
    renamed : mapping of str to str
        What fields were called in files of older versions, and what they are called now.
    """

    kind: ClassVar[str]
    tells_substitutes: ClassVar[bool] = True
    has_intervals: ClassVar[bool] = True
    cost_is_share: ClassVar[bool] = True
    shapes: ClassVar[Mapping[str, Shape]]
    renamed: ClassVar[Mapping[str, str]] = {}

    # Some kinds have these as fields and others compute them. A field cannot override a property,
    # so there are none of them when the program runs; mypy refuses a kind that lacks one.
    if TYPE_CHECKING:

        @property
        @abstractmethod
        def proof(self) -> tuple[str, ...]:
            """What made every column relevant, a key of PROOFS; empty if it is not."""

        @property
        @abstractmethod
        def p_relevant(self) -> Array:
            """P-value of the relevance of every column; NaN if it was not tested."""

        @property
        @abstractmethod
        def associations(self) -> dict[int, Association]:
            """For every column that is relevant through another one, why."""

        @property
        @abstractmethod
        def alpha(self) -> float:
            """What ``p_relevant`` was compared with; NaN if a method has no such p-values."""

        @property
        @abstractmethod
        def removal_loss(self) -> Array:
            """What the removal of every column costs, or leaves; NaN if it was not tested."""

        @property
        @abstractmethod
        def removal_interval(self) -> Array:
            """95% confidence interval of ``removal_loss``: lower bounds, then upper ones."""

        @property
        @abstractmethod
        def removal_null(self) -> tuple[float, float]:
            """Values of ``removal_loss`` that mean nothing."""

        @property
        @abstractmethod
        def p_removal(self) -> Array:
            """P-value of the removal of every column; NaN if it was not tested."""

        @property
        @abstractmethod
        def effect(self) -> Array:
            """Cost of a removal as a share of what the model gains over the constant."""

        @property
        @abstractmethod
        def small(self) -> tuple[int, ...]:
            """Weak columns that certainly add something, but less than counts."""

        @property
        @abstractmethod
        def explained(self) -> Array:
            """Share of every column's variance that the other columns explain."""

        @property
        @abstractmethod
        def substitutes(self) -> dict[int, Sets]:
            """For every weak column, the columns or sets of columns that replace it."""

        @property
        @abstractmethod
        def groups(self) -> Sets:
            """Weak columns that replace each other."""

        @property
        @abstractmethod
        def representatives(self) -> Sets:
            """The suggested column of each group, or the columns, if several are one feature."""

        @property
        @abstractmethod
        def minimal(self) -> Mask:
            """Whether a column is in the minimal set."""

        @property
        @abstractmethod
        def worth(self) -> Worth:
            """What sets and columns are worth; empty if it was not measured."""

        @property
        def prognosis(self) -> Prognosis | None:
            """How well predicted risks order times; None if there are none."""

        @property
        @abstractmethod
        def undecided(self) -> Mask:
            """Whether the class of a column could still change: the time was used up before."""

        @property
        @abstractmethod
        def leaks(self) -> tuple[int, ...]:
            """Columns that alone tell the target almost perfectly."""

        @property
        @abstractmethod
        def learner(self) -> str:
            """What the model is."""

        @property
        @abstractmethod
        def loss(self) -> float:
            """Loss of the model on the relevant columns; NaN if there is none."""

        @property
        @abstractmethod
        def minimal_loss(self) -> float:
            """Loss of the model on the minimal set; NaN if it was not measured."""

        @property
        @abstractmethod
        def all_loss(self) -> float:
            """Loss of the best model on all columns; NaN if it was not measured."""

        @property
        @abstractmethod
        def error_rate(self) -> ErrorRate:
            """What alpha bounds, if there is one."""

        @property
        @abstractmethod
        def constant_loss(self) -> float:
            """Loss of the constant prediction; NaN if it was not measured."""

        @property
        @abstractmethod
        def n_fits(self) -> int:
            """How many models were fitted."""

        @property
        @abstractmethod
        def n_tested(self) -> int:
            """How many rows the models were tested on; 0 if the method always takes all."""

        @property
        @abstractmethod
        def detectable(self) -> float:
            """About the least ``effect`` that so many rows show; NaN if it is not known."""

        @property
        @abstractmethod
        def importance(self) -> Array:
            """Importance of every column in a model; NaN if it was not measured."""

        @property
        @abstractmethod
        def importance_rounds(self) -> Array:
            """The same in every round, a row each."""

        @property
        @abstractmethod
        def shadow_rounds(self) -> Array:
            """Importances of permuted columns, or a summary of them, in every round."""

        @property
        @abstractmethod
        def importance_threshold(self) -> float:
            """Importance that an irrelevant column hardly exceeds; NaN if it is not known."""

    @property
    @abstractmethod
    def cost(self) -> Array:
        """What tables name as the cost of a removal; NaN if it is not known."""

    @property
    def p_value(self) -> Array:
        """The name of ``p_removal`` in version 0.1."""
        warn_caller("p_value is deprecated since 0.2: it is p_removal", FutureWarning)
        return self.p_removal

    @property
    def tested_effect(self) -> Array:
        """What the test of strength looked at, as a share of what the model gains."""
        return self.effect

    @property
    def told_by_gaps(self) -> Mapping[int, Gaps]:
        """For relevant columns with gaps, whether these tell something; empty if nothing tells."""
        return {}

    @property
    def covering(self) -> Mask:
        """Whether a column is in a set that covers all relevant ones."""
        return self.minimal

    @property
    @abstractmethod
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided on every column, in this order, and by which limits."""

    @property
    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """How the method calls what it measured."""

    @property
    def importance_null(self) -> tuple[float, float]:
        """Importances that are expected of permuted columns."""
        return 0.0, self.importance_threshold

    def obstacle(self, j: int) -> Obstacle:
        """Say why a weak column is not strong; nothing if nothing tells."""
        if self.undecided[j]:
            return "undecided"
        return "untested" if np.isnan(self.removal_loss[j]) else ""

    def close_call(self, j: int) -> str:
        """Say what was close in the first decision on a column that was; nothing if none was."""
        return next(filter(None, (decision.close_call(j) for decision in self.decisions)), "")

    def growth(self, j: int) -> float:
        """Return by what factor rows have to grow to make a close decision on a column clear.

        NaN if no decision on it was close, or if nothing tells.
        """
        factors = (decision.growth(j) for decision in self.decisions if decision.close_call(j))
        return next(factors, np.nan)

    def saw_all(self, n_rows: int) -> bool:
        """Tell whether models were tested on all rows, and not on a sample of them."""
        return not 0 < self.n_tested < n_rows

    @abstractmethod
    def spread(self, feature: Indices) -> Self:
        """Return the evidence for the columns of a table, given the feature of each.

        A column without a feature (-1) was not judged.
        """

    def inconsistencies(self, n_columns: int, weak: Sequence[int]) -> Iterator[str]:
        """Say what does not fit together, or to a table of so many columns with these weak ones."""
        yield from wrong_size("evidence.proof", (len(self.proof),), ("d",), n_columns)
        for name, expected in self.shapes.items():
            values = getattr(self, name)
            # What older results do not have is None.
            if values is not None:
                yield from wrong_size(f"evidence.{name}", values.shape, expected, n_columns)
        yield from wrong_proofs(self.proof)
        if self.tells_substitutes:
            yield from wrong_groups(self, n_columns, weak)
