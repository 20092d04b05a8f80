"""What the next column buys: the steps of the path in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult


@dataclass(frozen=True)
class Step:
    """A size of the path as people read it.

    Attributes
    ----------
    size : int
        How many columns.
    kept, interval : str
        The share of the gain that they keep, and its 95% interval.
    change : str
        Who comes in, and who goes, beside the set of the size before.
    minimal : bool
        Whether it is the minimal set.
    """

    size: int
    kept: str
    interval: str
    change: str
    minimal: bool


def steps(result: RelevanceResult) -> list[Step]:
    """Return the sizes that were fitted, ascending.

    Who comes in at a size that was passed over is named with the next one.
    """
    names, gain = result.feature_names, result.gain
    minimal = {*np.flatnonzero(result.evidence.minimal).tolist()}
    before: set[int] = set()
    found = []
    for step in result.evidence.worth.path:
        if np.isnan(step.growth):
            continue
        own = {*step.columns}
        change = [f"+ {names[j]}" for j in sorted(own - before)]
        change += [f"- {names[j]}" for j in sorted(before - own)]
        low, high = 1 - step.high / gain, 1 - step.low / gain
        interval = f"{low:.1%} to {high:.1%}" if step.size < len(result.evidence.worth.path) else ""
        found.append(
            Step(
                step.size,
                f"{1 - step.growth / gain:.1%}",
                interval,
                ", ".join(change),
                own == minimal,
            )
        )
        before = own
    return found
