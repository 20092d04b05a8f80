"""Tests of relevance, one file each."""
