"""What verdicts rest on, one kind of evidence for each method."""

from __future__ import annotations

from squamish.evidence.crossfit import CrossfitEvidence
from squamish.evidence.paper import PaperEvidence

__all__ = ["CrossfitEvidence", "Evidence", "PaperEvidence"]

Evidence = CrossfitEvidence | PaperEvidence
