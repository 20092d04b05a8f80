"""Times until an event, of which some are only known to be longer (right-censored).

A time is known by its order alone: how much of the risk of all rows, by Nelson and Aalen's
estimate, had passed by then. On that scale events of all rows come at a rate of 1, and rates of a
model differ from that only as rows with high rates leave first, so that a baseline of a few pieces
does what Breslow's does with one for every event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from squamish.arrays import Array, Indices
from squamish.errors import InputError
from squamish.families.family import Target, Task
from squamish.families.rates import Rates

# Pieces of the baseline: between them, an eighth of all rows has its event if none is lost.
N_PIECES = 8
STARTS = -np.log(1 - np.arange(N_PIECES) / N_PIECES)
LENGTHS = np.append(np.diff(STARTS), np.inf)
# Surviving, and an event at its time, count as at least as likely as one in a thousand, as classes
# do: single rows cannot decide a test. Rates count from a 32nd to 32 times that of all rows, and
# the time of an event as known to a 32nd of the mean one, so that no loss is negative.
MOST_LOSS = float(np.log(1000.0))
HIGHEST = float(np.sqrt(1000.0))


@dataclass(frozen=True, eq=False)
class Times(Rates):
    """Times, positive for events and negative for rows that were lost before theirs."""

    task: ClassVar[Task] = "survival"
    loss_name: ClassVar[str] = "log loss of times"
    loss_unit: ClassVar[str] = "log loss of times in nats"
    absolute_unit: ClassVar[str] = ""
    has_classes: ClassVar[bool] = False
    is_censored: ClassVar[bool] = True
    most_expected: ClassVar[float] = MOST_LOSS

    baseline: Array = field(default_factory=lambda: np.ones(N_PIECES))

    def encode(self, values: Target) -> Target:
        """Return times as they are: only their order counts."""
        return values.astype(np.float64)

    def labels(self, values: Target) -> tuple[str, ...]:
        """Return none."""
        return ()

    def summarise(self, values: Target) -> str:
        """Say how many events there are, and how long times are.

        Examples
        --------
        >>> import numpy as np
        >>> from squamish.families import family_of
        >>> family_of("survival").summarise(np.array([2.0, -3.0, 4.5]))
        '2 events in 3 rows, times from 2 to 4.5'
        """
        times, n_events = np.abs(values), int(np.sum(values > 0))
        low, high = (f"{time:,.4g}" for time in (times.min(), times.max()))
        return f"{n_events:,} events in {len(values):,} rows, times from {low} to {high}"

    def check(self, y: Target, labels: tuple[str, ...]) -> None:
        """Refuse targets with less than two events, or without an order of them."""
        n_events = int(np.sum(y > 0))
        if n_events < 2:
            raise InputError(
                f"y has {'one event' if n_events else 'no event'} in {len(y)} rows; there must be "
                "2 or more, so that one can be predicted from the others"
            )
        first = y[y > 0].min()
        if y[y > 0].max() == first and np.abs(y).max() <= first:
            raise InputError(
                f"y has all its events at time {first:g}, and nobody is observed for longer: "
                "there is no order of times to tell anything of"
            )

    def prepared(self, y: Target) -> Target:
        """Return how much of the risk of all rows had passed at each time."""
        times, is_event = np.abs(y), y > 0
        distinct, codes = np.unique(times, return_inverse=True)
        n_events = np.bincount(codes, weights=is_event, minlength=len(distinct))
        n_at_risk = np.cumsum(np.bincount(codes, minlength=len(distinct))[::-1])[::-1]
        risk = np.cumsum(n_events / n_at_risk)[codes]
        return np.where(is_event, risk, -risk)

    def events(self, y: Target) -> Array:
        """Return 1 for an event."""
        return (y > 0).astype(np.float64)

    def exposures(self, y: Target) -> Array:
        """Return how much of the risk in each piece had passed."""
        return np.clip(np.abs(y)[:, np.newaxis] - STARTS, 0.0, LENGTHS)

    def pieces(self, y: Target) -> Indices:
        """Return the piece in which every time ends."""
        return np.searchsorted(STARTS[1:], np.abs(y))

    def scores(self, y: Target) -> Array:
        """Return the scores of the log-rank test: events minus the risk that had passed."""
        return (self.events(y) - np.abs(y))[:, np.newaxis]

    def score_variances(self, y: Target) -> Array:
        """Return the risk that had passed, which is the variance of a martingale.

        With as much again on average, so that one event does not count for much where a few rows
        were observed for a moment.
        """
        return np.abs(y) + np.abs(y).mean()

    def strata(self, y: Target) -> Indices:
        """Tell events from rows that were lost."""
        return (y > 0).astype(np.intp)

    def most_folds(self, y: Target) -> int:
        """Return the number of events."""
        return int(np.sum(y > 0))

    def splitter(self, n_folds: int, seed: int, *, grouped: bool) -> Any:
        """Return a splitter that keeps the share of events."""
        kind = StratifiedGroupKFold if grouped else StratifiedKFold
        return kind(n_folds, shuffle=True, random_state=seed)

    def losses(self, prediction: Array, y: Target) -> Array:
        """Return minus the logarithm of the likelihood of surviving so long, and of the event."""
        ends = np.broadcast_to(self.pieces(y)[:, np.newaxis], (*prediction.shape[:-1], 1))
        rate = np.take_along_axis(prediction, ends, axis=-1)[..., 0] / HIGHEST
        surviving = np.minimum(self.expected(prediction, y), MOST_LOSS)
        return surviving - self.events(y) * np.log(np.clip(rate, np.exp(-MOST_LOSS), 1.0))

    def score_variance(self, loss: float) -> float:
        """Return a half, as for classes: losses are logarithms of likelihoods."""
        return 0.5
