"""Families of targets: all that differs between classes, amounts, times and counts."""

from __future__ import annotations

from squamish.families.amounts import Amounts
from squamish.families.classes import Classes
from squamish.families.counts import Counts
from squamish.families.family import Family, ProfiledFamily, Task
from squamish.families.ordinal import Ordinal
from squamish.families.rates import Rates
from squamish.families.times import Times

__all__ = ["FAMILIES", "Family", "Ordinal", "ProfiledFamily", "Rates", "Task", "family_of"]

FAMILIES: dict[Task, Family] = {
    family.task: family for family in (Classes(), Amounts(), Times(), Counts(), Ordinal())
}


def family_of(task: Task) -> Family:
    """Return the family of a task.

    Examples
    --------
    >>> from squamish.families import family_of
    >>> family_of("classification").loss_name
    'log loss'
    """
    return FAMILIES[task]
