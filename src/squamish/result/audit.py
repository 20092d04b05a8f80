"""What an audit found: how often a table with a shuffled target has a relevant column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil, log
from typing import TYPE_CHECKING, Any

from scipy import stats

from squamish.errors import legible

if TYPE_CHECKING:
    from squamish.report.frames import Library

FORMAT, VERSION = "squamish-audit", 1
CONFIDENCE = 0.95
# The most columns and proofs that a sentence names.
MOST_NAMED = 5


@dataclass(frozen=True)
class Shuffle:
    """What was found with the target in one random order; all of it is false.

    Attributes
    ----------
    number : int
        Which shuffle it is, from 0. It is the same whatever the number of shuffles.
    seed : int
        What the order and the fit were drawn with.
    proofs : mapping of str to str
        The columns that were called relevant, and what made each so.
    strong : tuple of str
        Those that were called strong.
    """

    number: int
    seed: int
    proofs: Mapping[str, str]
    strong: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """How often a fit finds something where there is nothing to find.

    Attributes
    ----------
    shuffles : tuple of Shuffle
        What was found with every shuffled target.
    level : float or None
        In what share of such tables the method promises to find something at most: its
        ``alpha``. None if it promises nothing.
    method : str
        The method, with every parameter that is not at its default.
    n_unfinished : int
        Number of shuffles that there was no time for.
    seconds : float
        How long the audit took.
    notes : tuple of str
        What a user should know about the shuffled targets.

    Examples
    --------
    >>> from squamish.result.audit import Audit, Shuffle
    >>> found = [Shuffle(k, seed=k, proofs={"age": "shadow"} if k == 7 else {}) for k in range(100)]
    >>> audit = Audit(tuple(found), level=0.01)
    >>> audit
    1 of 100 shuffled targets gave a relevant column (0.0% to 5.4%, 95%); alpha = 0.01 promises \
at most 1%
    >>> audit.n_found, audit.false_columns
    (1, {'age': {'shadow': 1}})
    """

    shuffles: tuple[Shuffle, ...]
    level: float | None = None
    method: str = ""
    n_unfinished: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def n_shuffles(self) -> int:
        """Number of shuffled targets that were judged."""
        return len(self.shuffles)

    @property
    def n_found(self) -> int:
        """Number of those with any relevant column."""
        return sum(bool(shuffle.proofs) for shuffle in self.shuffles)

    @property
    def n_strong_found(self) -> int:
        """Number of those with any strong column."""
        return sum(bool(shuffle.strong) for shuffle in self.shuffles)

    @property
    def interval(self) -> tuple[float, float]:
        """95% confidence interval of the share with any relevant column (Clopper-Pearson)."""
        if not self.shuffles:
            return 0.0, 1.0
        test = stats.binomtest(self.n_found, self.n_shuffles)
        found = test.proportion_ci(CONFIDENCE, method="exact")
        return float(found.low), float(found.high)

    @cached_property
    def false_columns(self) -> dict[str, dict[str, int]]:
        """How often every column was called relevant by which proof; the most frequent first."""
        counts: dict[str, Counter[str]] = {}
        for shuffle in self.shuffles:
            for name, proof in shuffle.proofs.items():
                counts.setdefault(name, Counter())[proof] += 1
        often = sorted(counts, key=lambda name: -counts[name].total())
        return {name: dict(counts[name].most_common()) for name in often}

    @property
    def exceeds_level(self) -> bool:
        """Whether more is found than promised, and chance alone does not explain it."""
        return self.level is not None and self.interval[0] > self.level

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with a row for each shuffle.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"} or None
            Which library's frame; None takes the first of these that is installed.

        Returns
        -------
        data frame
            shuffle (its number), seed, n_relevant and n_strong (columns), relevant (their
            names) and proofs (what made each so, in the same order).
        """
        from squamish.report.frames import audit_frame

        return audit_frame(self, library)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers, text, lists and dicts, as JSON can hold."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "summary": str(self),
            "method": self.method,
            "level": self.level,
            "n_shuffles": self.n_shuffles,
            "n_unfinished": self.n_unfinished,
            "n_found": self.n_found,
            "n_strong_found": self.n_strong_found,
            "interval": list(self.interval),
            "false_columns": self.false_columns,
            "notes": list(self.notes),
            "seconds": self.seconds,
            "shuffles": [asdict(s) | {"strong": list(s.strong)} for s in self.shuffles],
        }

    def __repr__(self) -> str:
        if not self.shuffles:
            return f"none of {self.n_unfinished} shuffled targets was judged: the time was used up"
        low, high = self.interval
        promise = (
            "the method promises no level"
            if self.level is None
            else f"alpha = {self.level:g} promises at most {_percent(self.level)}"
        )
        return (
            f"{self.n_found} of {self.n_shuffles} shuffled targets gave a relevant column "
            f"({low:.1%} to {high:.1%}, {CONFIDENCE:.0%}); {promise}"
        )

    def __str__(self) -> str:
        sentences = [
            repr(self),
            *self._on_time(),
            *self._on_columns(),
            *self._on_level(),
            *self.notes,
        ]
        return "\n".join(f"{text[0].upper()}{text[1:]}." for text in sentences)

    def _on_time(self) -> list[str]:
        if not (self.shuffles and self.n_unfinished):
            return []
        return [f"there was no time for {self.n_unfinished} more"]

    def _on_columns(self) -> list[str]:
        """Name the false columns."""
        if not self.n_found:
            return []
        named = [
            f"{legible(name)} ({sum(proofs.values())} by {' and '.join(proofs)})"
            for name, proofs in list(self.false_columns.items())[:MOST_NAMED]
        ]
        left = len(self.false_columns) - len(named)
        more = f" and {left} more" if left else ""
        strong = f"; {self.n_strong_found} gave a strong one" if self.n_strong_found else ""
        return [f"falsely relevant: {', '.join(named)}{more}{strong}"]

    def _on_level(self) -> list[str]:
        """Say whether the promise is kept, and what to do if it is not."""
        if self.level is None or not self.shuffles:
            return []
        if self.exceeds_level:
            proofs = Counter(p for shuffle in self.shuffles for p in shuffle.proofs.values())
            proof, n_false = proofs.most_common(1)[0]
            return [
                "that is more than promised on this table: fit and audit it again with a smaller "
                f"alpha, and doubt columns whose proof is {proof!r}, which {n_false} of "
                f"{proofs.total()} false ones have"
            ]
        if self.interval[1] <= self.level:
            return ["the promise is kept on this table"]
        # So many without a finding have an interval that ends at the level.
        least = ceil(log((1 - CONFIDENCE) / 2) / log(1 - self.level))
        return [
            "nothing speaks against the promise; to show that it is kept on this table takes "
            f"{least} shuffles or more"
        ]


def _percent(share: float) -> str:
    return f"{100 * share:g}%"
