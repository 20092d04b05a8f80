"""Columns that tell something by what is missing in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gaps:
    """Whether the gaps of a relevant column tell something, and whether its values do.

    Attributes
    ----------
    p_gaps, p_values : float
        All tests of where values are missing, combined, and a test of the values that are there by
        themselves, each corrected for the number of columns and of their parts; NaN if all of these
        are the same.
    """

    p_gaps: float
    p_values: float
