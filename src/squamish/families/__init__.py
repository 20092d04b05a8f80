"""Families of targets: all that differs between classes and amounts, behind one interface."""

from __future__ import annotations

from squamish.families.amounts import Amounts
from squamish.families.classes import Classes
from squamish.families.family import Family, ProfiledFamily, Task

__all__ = ["FAMILIES", "Family", "ProfiledFamily", "Task", "family_of"]

FAMILIES: dict[Task, Family] = {"classification": Classes(), "regression": Amounts()}


def family_of(task: Task) -> Family:
    """Return the family of a task.

    Examples
    --------
    >>> from squamish.families import family_of
    >>> family_of("classification").loss_name
    'log loss'
    """
    return FAMILIES[task]
