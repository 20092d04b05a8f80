"""What models owe to every column, at the least and at the most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from squamish.evidence.worth import Necessity

if TYPE_CHECKING:
    from squamish.report.frames import Library


@dataclass(frozen=True, eq=False)
class NecessityTable(Mapping[str, Necessity]):
    """For every column, the least and the most that models owe to it, as shares of the gain.

    A mapping from names to `squamish.evidence.worth.Necessity`, those first that are needed most.
    An irrelevant column has zeros: nothing was found that any model owes to it.

    Attributes
    ----------
    columns : dict of str to Necessity
        Of every column; empty if it was not measured.
    groups : dict of tuple of str to Necessity
        Of every group of several columns that replace each other, as a whole.

    Examples
    --------
    >>> from squamish import RelevanceSelector
    >>> from squamish.datasets import make_linear
    >>> problem = make_linear(300, n_strong=2, group_sizes=[3], n_irrelevant=2, random_state=0)
    >>> necessity = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_.necessity
    >>> strong, weak, noise = necessity["0"], necessity["2"], necessity["6"]
    >>> strong.least > 0, weak.least < 0.01 < weak.most, noise.most
    (True, True, 0.0)
    """

    columns: dict[str, Necessity]
    groups: dict[tuple[str, ...], Necessity] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Necessity:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with a row for each column, and for each group after them."""
        from squamish.report.frames import necessity_frame

        return necessity_frame(self, library)

    def __repr__(self) -> str:
        return f"NecessityTable({len(self.columns)} columns, {len(self.groups)} groups)"
