"""What predicted risks say of times until an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array
from squamish.evidence.consistency import wrong_numbers


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """How many rows of a group had no event yet.

    Attributes
    ----------
    n_rows, n_events : int
        How many rows there are, and how many of them had the event.
    times : ndarray of float
        Times of events, and the last time at which a row was observed; thinned if they are many.
    surviving : ndarray of float
        The share without event from each time on (Kaplan and Meier).
    """

    n_rows: int
    n_events: int
    times: Array
    surviving: Array


@dataclass(frozen=True, eq=False)
class Prognosis:
    """How well the model of the relevant columns orders times, on rows it has not seen.

    Attributes
    ----------
    concordance : float
        The share of pairs of rows in which who has the event first has the larger predicted risk
        (Harrell); 0.5 is chance.
    error : float
        Its standard error.
    thirds : tuple of SurvivalCurve
        Thirds of the rows by their predicted risk, the lowest first; fewer if many risks are equal.
    """

    concordance: float
    error: float
    thirds: tuple[SurvivalCurve, ...]

    def inconsistencies(self) -> Iterator[str]:
        """Say what does not fit together."""
        where = "evidence.prognosis"
        yield from wrong_numbers(f"{where}.concordance", [self.concordance], at_most=1)
        yield from wrong_numbers(f"{where}.error", [self.error])
        for k, curve in enumerate(self.thirds):
            if curve.times.shape != curve.surviving.shape or curve.times.ndim != 1:
                yield f"{where}.thirds[{k}] has other numbers of times and of shares"
                continue
            yield from wrong_numbers(f"{where}.thirds[{k}].times", curve.times)
            yield from wrong_numbers(f"{where}.thirds[{k}].surviving", curve.surviving, at_most=1)
            if (np.diff(curve.times) < 0).any() or (np.diff(curve.surviving) > 0).any():
                yield f"{where}.thirds[{k}] is no curve that falls with time"
