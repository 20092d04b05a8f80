"""What the next column buys, as a picture of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from squamish.report import wording
from squamish.report.wording.names import shorten

if TYPE_CHECKING:
    from squamish.evidence.worth import PathStep
    from squamish.result.result import RelevanceResult

# The size of the picture in pixels, and its margins: left, right, top, bottom.
WIDTH, HEIGHT = 440.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 14.0, 22.0, 38.0
# Longer paths are drawn on a logarithmic scale, so that the first columns have room.
LONGEST_LINEAR = 16
# The least share that is drawn; a set may predict worse than the constant.
LOWEST = -0.25
# The most rows of the table below.
MOST_STEPS = 40
# What a size of four digits takes on the axis.
WIDEST_SIZE = 34.0
ROUND_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True)
class Dot:
    """A size of the path: where it is, its interval, and what is said of it."""

    x: float
    y: float
    low: float
    high: float
    said: str
    minimal: bool


@dataclass(frozen=True)
class Tick:
    """A mark of an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Path:
    """The picture: dots, axes, a line through the dots, and the same as a table."""

    dots: tuple[Dot, ...]
    line: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    label: str
    steps: tuple[wording.Step, ...]
    n_steps_left_out: int

    @property
    def minimal(self) -> Dot | None:
        """The dot of the minimal set."""
        return next((dot for dot in self.dots if dot.minimal), None)


@dataclass(frozen=True)
class _Scale:
    """From sizes and shares to pixels."""

    largest: int
    lowest: float
    highest: float

    def x(self, size: float) -> float:
        if self.largest == 1:
            return (LEFT + WIDTH - RIGHT) / 2
        at = (size - 1) / (self.largest - 1)
        if self.largest > LONGEST_LINEAR:
            at = log(size) / log(self.largest)
        # A dot does not stand on the axis.
        return round(LEFT + 10 + at * (WIDTH - LEFT - RIGHT - 20), 1)

    def y(self, share: float) -> float:
        at = (np.clip(share, self.lowest, self.highest) - self.lowest) / (
            self.highest - self.lowest
        )
        return round(float(HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM)), 1)


def draw_path(result: RelevanceResult) -> Path:
    """Place the sizes that were fitted."""
    gain, path = result.gain, result.evidence.worth.path
    fitted = [step for step in path if not np.isnan(step.growth)]
    told = wording.steps(result)
    lows = [1 - step.high / gain for step in fitted]
    highs = [1 - step.low / gain for step in fitted]
    lowest = max(min([0.0, *lows]), LOWEST)
    scale = _Scale(len(path), lowest, max([1.0, *highs]))
    dots = tuple(_dot(scale, step, gain, words) for step, words in zip(fitted, told, strict=True))
    shown = told if len(told) <= MOST_STEPS else _around_minimal(told)
    return Path(
        dots,
        " ".join(f"{dot.x},{dot.y}" for dot in dots),
        tuple(Tick(scale.x(size), f"{size:,}") for size in _sizes(scale)),
        tuple(Tick(scale.y(k / 4), f"{25 * k}%") for k in range(5)),
        _label(told),
        tuple(shown),
        len(told) - len(shown),
    )


def _dot(scale: _Scale, step: PathStep, gain: float, words: wording.Step) -> Dot:
    interval = f" ({words.interval})" if words.interval else ""
    plural = "s keep" if step.size > 1 else " keeps"
    return Dot(
        scale.x(step.size),
        scale.y(1 - step.growth / gain),
        scale.y(1 - step.high / gain),
        scale.y(1 - step.low / gain),
        f"{step.size} column{plural} {words.kept}{interval}: {shorten(words.change, 120)}",
        words.minimal,
    )


def _sizes(scale: _Scale) -> Sequence[int]:
    """Choose the sizes that are named on the axis; none may cover the largest."""
    largest = scale.largest
    if largest <= LONGEST_LINEAR:
        step = 1 if largest <= LONGEST_LINEAR / 2 else 2
        return [*range(1, largest - step + 1, step), largest]
    end = scale.x(largest) - WIDEST_SIZE
    return [*(size for size in ROUND_SIZES if scale.x(min(size, largest)) < end), largest]


def _around_minimal(told: list[wording.Step]) -> list[wording.Step]:
    """Choose the first steps, up to beyond the minimal set if there is room for them."""
    place = next((i for i, step in enumerate(told) if step.minimal), 0)
    start = max(0, min(place + 5, len(told)) - MOST_STEPS)
    return told[start : start + MOST_STEPS]


def _label(told: list[wording.Step]) -> str:
    """Say what the picture shows, for whoever cannot see it."""
    minimal = next((step for step in told if step.minimal), None)
    end = "" if minimal is None else f" to {minimal.kept} for the minimal set of {minimal.size}"
    return (
        f"Share of the gain that every number of columns keeps, from {told[0].kept} for "
        f"{told[0].size}{end}; the table below says the same"
    )
