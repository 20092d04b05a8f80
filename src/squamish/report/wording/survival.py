"""How well risks are told, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult


def concordance(result: RelevanceResult) -> str:
    """Say in what share of pairs the order is right; nothing if no risks were predicted."""
    prognosis = result.evidence.prognosis
    if prognosis is None or np.isnan(prognosis.concordance):
        return ""
    return (
        f"Out-of-sample concordance {prognosis.concordance:.3f} (standard error "
        f"{prognosis.error:.3f}): of two rows, who has the event first has the larger predicted "
        f"risk in {prognosis.concordance:.0%} of the pairs of which that is known; 50% is chance"
    )


def thirds(result: RelevanceResult) -> list[str]:
    """Say how many rows and events each third has, the lowest risk first."""
    prognosis = result.evidence.prognosis
    if prognosis is None:
        return []
    names = {1: ["all rows"], 2: ["lower risk", "higher risk"]}.get(
        len(prognosis.thirds), ["lowest third of the risk", "middle third", "highest third"]
    )
    return [
        f"{name}: {curve.n_rows:,} rows, {curve.n_events:,} events"
        for name, curve in zip(names, prognosis.thirds, strict=True)
    ]
