"""What came of an attempt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What came of an attempt: what kind of end it had, and what is wrong with that, if anything.

    Attributes
    ----------
    kind : str
        A few words, the same for all ends of the kind; they are counted.
    fault : str
        What must not be; empty if all is well.
    """

    kind: str
    fault: str = ""
