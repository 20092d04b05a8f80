"""How often every column had which class in half of the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from squamish.report.frames import Library


@dataclass(frozen=True)
class Counts:
    """In how many half-samples a column was what.

    Attributes
    ----------
    strong, weak, irrelevant : int
        In how many it had this class; together all half-samples that were judged.
    minimal : int
        In how many it was in the minimal set.
    """

    strong: int
    weak: int
    irrelevant: int
    minimal: int

    @property
    def judged(self) -> int:
        """In how many half-samples it was judged."""
        return self.strong + self.weak + self.irrelevant

    @property
    def is_constant(self) -> bool:
        """Whether it had the same class in all."""
        return max(self.strong, self.weak, self.irrelevant) == self.judged


@dataclass(frozen=True)
class Stability:
    """The verdicts of the same method on half-samples.

    Half of the rows show less than all of them: a column that is strong in the verdict and weak in
    many half-samples is one that it takes all these rows to tell, not one that is wrong.

    Attributes
    ----------
    n_asked : int
        How many half-samples were asked for.
    n_finished : int
        How many were judged: all, unless the time was used up or some could not be.
    columns : dict of str to Counts
        How often every column had which class, in the order of the table.
    notes : tuple of str
        Which half-samples are missing, and why.

    References
    ----------
    R. Shah, R. Samworth: "Variable selection with error control: another look at stability
    selection", Journal of the Royal Statistical Society B 75 (2013).

    Examples
    --------
    >>> from squamish import RelevanceSelector
    >>> from squamish.datasets import make_linear
    >>> problem = make_linear(300, n_strong=2, group_sizes=[2], n_irrelevant=2, random_state=0)
    >>> result = RelevanceSelector(stability=4, random_state=0).fit(problem.X, problem.y).result_
    >>> result.stability.columns["0"]
    Counts(strong=4, weak=0, irrelevant=0, minimal=4)
    """

    n_asked: int
    n_finished: int
    columns: dict[str, Counts] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with a row for each column of the table.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"} or None
            Which library's frame; None takes the first of these that is installed.

        Returns
        -------
        data frame
            feature, and in how many half-samples it was strong, weak, irrelevant, and in the
            minimal set.
        """
        from squamish.report.frames import stability_frame

        return stability_frame(self, library)

    def inconsistencies(self, names: Sequence[str]) -> Iterator[str]:
        """Say what does not fit together, or to a table with these columns."""
        if not 0 <= self.n_finished <= self.n_asked:
            yield "stability.n_finished must be from 0 to stability.n_asked"
        if tuple(self.columns) != tuple(names):
            yield "stability.columns must have an entry for each column, in their order"
        for name, counts in self.columns.items():
            least = min(counts.strong, counts.weak, counts.irrelevant, counts.minimal)
            if least < 0 or counts.judged != self.n_finished or counts.minimal > self.n_finished:
                yield f"stability.columns.{name} does not add up to stability.n_finished"

    def __repr__(self) -> str:
        if not self.n_finished:
            return f"none of {self.n_asked} half-samples was judged"
        n_constant = sum(counts.is_constant for counts in self.columns.values())
        strong = [counts for counts in self.columns.values() if counts.strong]
        always = sum(counts.strong == self.n_finished for counts in strong)
        share = f" of {self.n_asked}" if self.n_finished < self.n_asked else ""
        return (
            f"in {self.n_finished}{share} half-samples {n_constant:,} of {len(self.columns):,} "
            f"columns had the same class each time; of {len(strong):,} that were strong in any, "
            f"{always or 'none'} so in all"
        )

    def __str__(self) -> str:
        text = repr(self)
        return f"{text[0].upper()}{text[1:]}."
