"""Doing work: workers, clusters, checkpoints, progress. Knows no tables."""
