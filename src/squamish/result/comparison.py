"""What is different between two verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from squamish.errors import legible
from squamish.evidence.relevance import CLASS_NAMES
from squamish.report.wording import method_name

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The longest name that a line shows in full.
LONGEST = 200


@dataclass(frozen=True)
class Comparison:
    """What changed from one result to another.

    Attributes
    ----------
    changed : dict of str to tuple of two str
        Columns of both with another class: the class before, and after.
    n_same : int
        Number of columns of both with the same class.
    only_before, only_after : tuple of str
        Columns that only one of the two knows.
    circumstances : dict of str to tuple of two str
        What else is different: method, task, what was adjusted for, data, seed, number of rows,
        versions.
    """

    changed: dict[str, tuple[str, str]]
    n_same: int
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    circumstances: dict[str, tuple[str, str]]

    @property
    def same(self) -> bool:
        """Tell whether both have the same columns with the same classes."""
        return not (self.changed or self.only_before or self.only_after)

    def __str__(self) -> str:
        lines = [f"Same class: {self.n_same:,}. Another class: {len(self.changed):,}."]
        lines += [
            f"  {legible(name, LONGEST)}: {old} -> {new}"
            for name, (old, new) in self.changed.items()
        ]
        for names, which in ((self.only_before, "first"), (self.only_after, "second")):
            if names:
                lines.append(
                    f"Only in the {which}: {', '.join(legible(n, LONGEST) for n in names)}"
                )
        lines += [
            f"{legible(what, LONGEST)}: {legible(old, LONGEST)} -> {legible(new, LONGEST)}"
            for what, (old, new) in self.circumstances.items()
        ]
        return "\n".join(lines)


def compare(before: RelevanceResult, after: RelevanceResult) -> Comparison:
    """Tell what changed from one result to another."""
    old, new = _classes(before), _classes(after)
    both = [name for name in old if name in new]
    said = _circumstances(before), _circumstances(after)
    return Comparison(
        changed={name: (old[name], new[name]) for name in both if old[name] != new[name]},
        n_same=sum(old[name] == new[name] for name in both),
        only_before=tuple(name for name in old if name not in new),
        only_after=tuple(name for name in new if name not in old),
        circumstances={
            what: (said[0].get(what, "(none)"), said[1].get(what, "(none)"))
            for what in dict.fromkeys([*said[0], *said[1]])
            if said[0].get(what) != said[1].get(what)
        },
    )


def _classes(result: RelevanceResult) -> dict[str, str]:
    named = zip(result.feature_names, result.classes, strict=True)
    return {name: CLASS_NAMES[int(c)] for name, c in named}


def _circumstances(result: RelevanceResult) -> dict[str, str]:
    origin = result.provenance
    said = {
        "data": origin.data,
        "target": origin.target,
        "task": result.task,
        "rows": f"{result.n_samples:,}",
        "adjusted for": ", ".join(result.adjusted_for),
        "method": method_name(result),
        "seed": "" if origin.seed is None else str(origin.seed),
    }
    said |= {f"version of {name}": version for name, version in origin.versions.items()}
    return {what: value for what, value in said.items() if value}
