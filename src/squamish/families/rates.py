"""What targets have in common that are events at a rate: times until one, and counts of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

import numpy as np
from scipy import optimize

from squamish.arrays import Array, Indices
from squamish.families.family import LEAST_CALIBRATED, ProfiledFamily, Target
from squamish.families.poisson import RateRows, fit_rates, fit_wide_rates

# Linear predictors are bounded at this distance from their middle, where rates are a thousandth, or
# a thousand times, what they are there: as unlikely as probabilities of classes may get.
FARTHEST = float(np.log(1000.0))
# A piece of the baseline has so many events, which tell the logarithm of its rate to 0.22, or is
# joined with the next one.
LEAST_EVENTS = 20
# Up to so many coefficients, Newton's method is worth its matrix.
MOST_NEWTON = 500
# Where nothing is expected, logarithms are bounded.
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Rates(ProfiledFamily):
    """Events at a rate that is a baseline times the exponential of a linear predictor.

    A prediction of a row is its rate in every piece of the baseline.

    Attributes
    ----------
    most_expected : float
        More events that are expected of a row count as so many: no row decides a test.
    baseline : ndarray of shape (n_pieces,)
        The rate in every piece where the linear predictor is in its middle.
    middle : float
        The mean of the linear predictors that it was fitted to.
    """

    most_expected: ClassVar[float] = np.inf

    baseline: Array = field(default_factory=lambda: np.ones(1))
    middle: float = 0.0

    @abstractmethod
    def events(self, y: Target) -> Array:
        """Return how many events every row has."""

    @abstractmethod
    def exposures(self, y: Target) -> Array:
        """Return how long every row was exposed in each piece."""

    def pieces(self, y: Target) -> Indices:
        """Return the piece in which every row has its events; there is only one by default."""
        return np.zeros(len(y), dtype=np.intp)

    def events_of_pieces(self, y: Target, weights: Array | None) -> Array:
        """Return how many events every piece has."""
        events = self.events(y)
        counted = events if weights is None else weights * events
        return np.asarray(np.bincount(self.pieces(y), counted, len(self.baseline)), np.float64)

    def dispersion(self, y: Target) -> float:
        """Return how many times as much events vary as they would one by one; 1 or more."""
        return 1.0

    def expected(self, prediction: Array, y: Target) -> Array:
        """Return how many events are expected of rows, until they had theirs or were lost."""
        return np.asarray(np.einsum("...nk,nk->...n", prediction, self.exposures(y)))

    def is_trainable(self, y: Target, train: Indices) -> bool:
        """Tell whether there is an event."""
        return bool(self.events(y[train]).any())

    def constant(self, y: Target, weights: Array | None = None) -> Array:
        """Return the rates of all rows."""
        return self._baseline_of(np.ones(len(y)), y, weights)

    def residuals(self, prediction: Array, y: Target) -> Array:
        """Return events minus those that are expected (martingale residuals)."""
        return self.errors(prediction, y)

    def errors(self, prediction: Array, y: Target) -> Array:
        """Return events minus those that are expected, as far as single rows may go."""
        expected = np.minimum(self.expected(prediction, y), self.most_expected)
        return (self.events(y) - expected)[..., np.newaxis]

    def predictors(self, prediction: Array) -> Array:
        """Return the mean logarithm of the rates in all pieces."""
        logs = np.log(np.maximum(prediction, TINY))
        return np.asarray(logs.mean(axis=-1, keepdims=True))

    def calibrated_errors(self, replaced: Array, y: Target, shares: Array | None = None) -> Array:
        """Return errors of rates that are shrunk to where they are best.

        Logarithms of rates are shrunk to their mean by the slope of a Poisson regression on them:
        expected events are no line of anything, being longer for who is observed longer.
        """
        events = self.events(y)
        if shares is not None:
            replaced = np.einsum("sn,sn...->n...", shares, replaced)[np.newaxis]
        expected = self.expected(replaced, y)
        total = float(events.sum())
        if total >= LEAST_CALIBRATED:
            mean = replaced.mean(axis=0)
            slope = _slope(self.predictors(mean)[:, 0], self.expected(mean, y), events)
            predictor = self.predictors(replaced)[..., 0]
            away = predictor - predictor.mean(axis=-1, keepdims=True)
            expected = expected * np.exp((slope - 1) * away)
            sums = np.maximum(expected.sum(axis=-1, keepdims=True), TINY)
            expected = expected * (total / sums)
        errors = (events - np.minimum(expected, self.most_expected))[..., np.newaxis]
        return errors if shares is None else np.asarray(errors[0])

    def n_predictors(self, y: Target) -> int:
        """Return one."""
        return 1

    def strengths(self, n_terms: Literal["linear", "quadratic"]) -> tuple[float, ...]:
        """Return decades, from heavy penalties to next to none; lower where terms are many.

        An event tells four times as much of the logarithm of a rate as a row of the logarithm of
        odds: coefficients are smaller than those of classes, and penalties a step heavier.
        """
        return (0.01, 0.1, 1.0, 10.0) if n_terms == "linear" else (0.001, 0.01, 0.1, 1.0)

    def fit_linear(
        self, Z: Array, y: Target, strength: float, weights: Array | None
    ) -> tuple[Array, Array]:
        """Fit a regression of rates; the baseline stands for an intercept.

        Where events come in clusters, each says less: the penalty grows with their dispersion.
        """
        rows = self.rate_rows(y, weights)
        fit = fit_rates if Z.shape[1] <= MOST_NEWTON else fit_wide_rates
        return np.zeros(1), fit(Z, rows, strength / self.dispersion(y))[np.newaxis]

    def rate_rows(self, y: Target, weights: Array | None) -> RateRows:
        """Return events and exposures in pieces that have enough events."""
        totals = self.events_of_pieces(y, weights)
        starts = joined_pieces(totals)
        w = np.ones(len(y)) if weights is None else weights
        exposures = np.add.reduceat(self.exposures(y), starts, axis=1)
        return RateRows(
            w * self.events(y),
            np.searchsorted(starts, self.pieces(y), side="right") - 1,
            w[:, np.newaxis] * exposures,
            np.add.reduceat(totals, starts),
        )

    def profiled(self, scores: Array, y: Target, weights: Array | None) -> Self:
        """Return the family with the baseline that fits linear predictors best."""
        predictor = scores[..., 0]
        middle = float(np.average(predictor, weights=weights))
        ratios = _ratios(predictor - middle)
        return replace(self, baseline=self._baseline_of(ratios, y, weights), middle=middle)

    def link(self, scores: Array) -> Array:
        """Return the rate in every piece."""
        return np.asarray(_ratios(scores - self.middle) * self.baseline)

    def derivatives(self, scores: Array, y: Target) -> tuple[Array, Array]:
        """Return expected events minus those that were, and expected events."""
        expected = self.expected(self.link(scores), y)
        return expected - self.events(y), expected

    def _baseline_of(self, ratios: Array, y: Target, weights: Array | None) -> Array:
        """Return events over exposures, in pieces that have enough events."""
        totals = self.events_of_pieces(y, weights)
        exposed = (ratios if weights is None else weights * ratios) @ self.exposures(y)
        starts = joined_pieces(totals)
        joined = np.add.reduceat(totals, starts), np.add.reduceat(exposed, starts)
        # Without any event there is less than one.
        rates = np.maximum(joined[0], 0.5) / np.maximum(joined[1], TINY)
        return np.repeat(rates, np.diff([*starts, len(totals)]))


def joined_pieces(totals: Array) -> list[int]:
    """Return where pieces begin that have enough events each, unless all have too few.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families.rates import joined_pieces
    >>> joined_pieces(np.array([30.0, 15.0, 15.0, 40.0, 3.0]))
    [0, 1, 3]
    """
    starts, n_events = [0], 0.0
    for piece, total in enumerate(totals.tolist()):
        if n_events >= LEAST_EVENTS:
            starts.append(piece)
            n_events = 0.0
        n_events += total
    # What is left over at the end belongs to the last piece.
    return starts if n_events >= LEAST_EVENTS or len(starts) == 1 else starts[:-1]


def _ratios(away: Array) -> Array:
    return np.asarray(np.exp(np.clip(away, -FARTHEST, FARTHEST)))


def _slope(predictor: Array, expected: Array, events: Array) -> float:
    """Return the slope, from 0 to 1, of a Poisson regression on the logarithms of rates.

    1 leaves rates as they are, but for a common factor.
    """
    away = predictor - predictor.mean()
    if np.ptp(away) < TINY:
        return 1.0
    base = expected * np.exp(-away)
    wanted = float(events @ away) / float(events.sum())

    def beyond(slope: float) -> float:
        weights = base * np.exp(slope * away)
        return float(weights @ away) / max(float(weights.sum()), TINY) - wanted

    if beyond(0.0) >= 0:
        return 0.0
    return 1.0 if beyond(1.0) <= 0 else float(optimize.brentq(beyond, 0.0, 1.0, xtol=1e-4))
