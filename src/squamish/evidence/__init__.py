"""What verdicts rest on: one kind of evidence for each method, behind one interface."""

from __future__ import annotations

from squamish.evidence.crossfit import CrossfitEvidence
from squamish.evidence.interface import Evidence
from squamish.evidence.paper import PaperEvidence

__all__ = ["KINDS", "CrossfitEvidence", "Evidence", "PaperEvidence"]

# Every kind by its name, as saved results give it.
KINDS: dict[str, type[Evidence]] = {cls.kind: cls for cls in (CrossfitEvidence, PaperEvidence)}
