"""From what a user passes to a verdict: reading, sampling, judging, notes."""
