"""Statistics that know no tables."""
