"""Columns that are relevant through others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Association:
    """Why a column is relevant through another one.

    Attributes
    ----------
    columns : tuple of int
        What it is correlated with: a relevant column, or several if these are one feature.
    correlation : float
        Of normal scores; its sign tells nothing, and is there in results of older versions only.
    p_value : float
        Of that correlation, corrected for all that could be associated, and with what.
    """

    columns: tuple[int, ...]
    correlation: float
    p_value: float


def columns_carrying(j: int, associations: Mapping[int, Association]) -> tuple[int, ...]:
    """Return the columns that a column is relevant through in the end, and that need no others.

    Examples
    --------
    >>> from squamish.evidence.association import Association, columns_carrying
    >>> chain = {2: Association((1,), 0.8, 1e-9), 1: Association((0,), 0.9, 1e-12)}
    >>> columns_carrying(2, chain)
    (0,)
    """
    columns: tuple[int, ...] = (j,)
    while columns[0] in associations:
        columns = associations[columns[0]].columns
    return columns
