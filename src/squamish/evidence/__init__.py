"""What verdicts rest on."""

from squamish.evidence.evidence import CrossfitEvidence, Evidence, PaperEvidence

__all__ = ["CrossfitEvidence", "Evidence", "PaperEvidence"]
