"""Learners, and their losses out of sample."""
