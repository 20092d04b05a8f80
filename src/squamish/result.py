"""The verdict on every column and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

import numpy as np
from numpy.typing import NDArray

from squamish.evidence import CrossfitEvidence, PaperEvidence

STRONG, WEAK, IRRELEVANT = 2, 1, 0
CLASS_NAMES = {STRONG: "strong", WEAK: "weak", IRRELEVANT: "irrelevant"}
_HEADINGS = {
    STRONG: "Cannot do without (strong)",
    WEAK: "Informative, but replaceable (weak)",
    IRRELEVANT: "No sign of use (irrelevant)",
}
_MEANINGS = {
    STRONG: "removing it alone makes the best model worse",
    WEAK: "informative, but others can replace it",
    IRRELEVANT: "no evidence that it tells anything about the target",
}

# A weak column without a substitute: it is informative, but too little to be missed.
_NO_SUBSTITUTE = "(none found: what it adds is too little to prove)"


@dataclass(frozen=True, eq=False)
class RelevanceResult:
    """What was decided, about what, and on which grounds.

    Attributes
    ----------
    feature_names : tuple of str
        The columns, in the order of the table.
    classes : ndarray of int
        The class of every column: 2 strong, 1 weak, 0 irrelevant.
    evidence : CrossfitEvidence or PaperEvidence
        What the method looked at.
    method : str
        The method, with every parameter that is not at its default.
    task : {"classification", "regression"}
        What kind of target was explained.
    n_samples : int
        Number of rows.
    seconds : float
        How long the fit took.
    notes : tuple of str
        What a user should know about the table, such as a possible leak.
    """

    feature_names: tuple[str, ...]
    classes: NDArray[np.int64]
    evidence: CrossfitEvidence | PaperEvidence
    method: str
    task: str
    n_samples: int
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def strong(self) -> tuple[str, ...]:
        """The columns that nothing else can replace."""
        return self._names_of(STRONG)

    @property
    def weak(self) -> tuple[str, ...]:
        """The columns that are informative, but that others can replace."""
        return self._names_of(WEAK)

    @property
    def irrelevant(self) -> tuple[str, ...]:
        """The columns that tell nothing about the target."""
        return self._names_of(IRRELEVANT)

    @property
    def substitutes(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """For every weak column, the columns or sets of columns that replace it.

        Empty for ``method="paper"``, which does not tell.
        """
        found: dict[int, tuple[tuple[int, ...], ...]] = getattr(self.evidence, "substitutes", {})
        return {
            self.feature_names[j]: tuple(self._named(columns) for columns in sets)
            for j, sets in sorted(found.items())
        }

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The weak columns that replace each other. Empty for ``method="paper"``."""
        return tuple(self._named(group) for group in getattr(self.evidence, "groups", ()))

    def __repr__(self) -> str:
        return (
            f"{len(self.strong)} strong, {len(self.weak)} weak, "
            f"{len(self.irrelevant)} irrelevant of {len(self.classes):,} features; "
            f"{self.task}, {self.n_samples:,} rows; {self.method}, {self.seconds:.1f} s"
        )

    def __str__(self) -> str:
        """Return the verdict in a few lines that need no explanation."""
        strong, weak, irrelevant = ((h, self._names_of(c)) for c, h in _HEADINGS.items())
        groups = [("  these replace each other", group) for group in self.groups if len(group) > 1]
        notes = [("Note", (note,)) for note in self.notes]
        lines = [strong, weak, *groups, irrelevant, *notes]
        width = max(len(heading) for heading, _ in lines)
        return "\n".join(
            fill(
                ", ".join(" ".join(name.split()) for name in names) or "(none)",
                initial_indent=f"{heading:{width}}  ",
                subsequent_indent=" " * (width + 2),
                width=100,
                break_on_hyphens=False,
                break_long_words=False,
            )
            for heading, names in lines
        )

    def to_markdown(self) -> str:
        """Return the verdict as a page of Markdown: counts, then the columns of each class.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.result import RelevanceResult
        >>> result = RelevanceResult(
        ...     ("age", "noise"), np.array([2, 0]), None, "PaperMethod()", "regression", 90, 1.0
        ... )
        >>> print(result.to_markdown())
        # Which columns matter
        <BLANKLINE>
        1 strong, 0 weak, 1 irrelevant of 2 features; regression, 90 rows; PaperMethod(), 1.0 s
        <BLANKLINE>
        | class | meaning | columns |
        |---|---|---|
        | strong | removing it alone makes the best model worse | age |
        | weak | informative, but others can replace it | (none) |
        | irrelevant | no evidence that it tells anything about the target | noise |
        """
        rows = [
            f"| {CLASS_NAMES[c]} | {meaning} | {_markdown_list(self._names_of(c))} |"
            for c, meaning in _MEANINGS.items()
        ]
        head = ["# Which columns matter", "", repr(self), ""]
        head += [line for note in self.notes for line in (f"Note: {note}", "")]
        tail = [
            f"| {_markdown_list((name,))} | "
            f"{' or '.join(map(_markdown_list, sets)) or _NO_SUBSTITUTE} |"
            for name, sets in self.substitutes.items()
        ]
        if tail:
            tail = ["", "| weak column | can be replaced by |", "|---|---|", *tail]
        return "\n".join([*head, "| class | meaning | columns |", "|---|---|---|", *rows, *tail])

    def _named(self, columns: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self.feature_names[j] for j in columns)

    def _names_of(self, relevance_class: int) -> tuple[str, ...]:
        return tuple(self.feature_names[j] for j in np.flatnonzero(self.classes == relevance_class))


def _markdown_list(names: tuple[str, ...]) -> str:
    """Join names for a cell of a Markdown table, which a bar or a line break would end."""
    safe = (" ".join(name.replace("|", r"\|").split()) for name in names)
    return ", ".join(safe) or "(none)"
