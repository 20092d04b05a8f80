"""Attacks on squamish: each tries one thing, again and again, that must not break it.

An attack is a file in this folder with a function ``attempt(seed, folder)``, and a line in
``ATTACKS``. An attempt with the same seed does the same; it has the folder to itself, runs in a
process of its own, and returns what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attacks import clusters, flips, kills, names, tables
from attacks.outcome import Outcome


@dataclass(frozen=True)
class Attack:
    """What is tried, and how often it should be.

    Attributes
    ----------
    what : str
        What is tried, and what must come of it.
    goal : int
        Attempts that are enough.
    attempt : callable
        Tries it once, given a seed and an empty folder.
    portion : int
        Attempts of every process between two looks at the clock, some seconds long.
    """

    what: str
    goal: int
    attempt: Callable[[int, Path], Outcome]
    portion: int = 1


ATTACKS = {
    "kills": Attack(
        "a fit with a checkpoint is killed twice at random times, then ended: identical evidence",
        1_000,
        kills.attempt,
    ),
    "flips": Attack(
        "one bit is flipped in a file that is read: one clear line, or what it says is accepted",
        10_000,
        flips.attempt,
        portion=4,
    ),
    "tables": Attack(
        "a random table of odd values, types and names: a verdict, or an error of our own",
        100_000,
        tables.attempt,
        portion=50,
    ),
    "names": Attack(
        "hostile names of columns and files: nothing that is printed or written obeys them",
        500,
        names.attempt,
    ),
    "clusters": Attack(
        "workers or the scheduler of a cluster are killed, frozen or replaced: identical evidence",
        100,
        clusters.attempt,
    ),
}
