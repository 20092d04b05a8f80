"""How thirds of the rows by their predicted risk survive, as a picture of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from squamish.report import wording
from squamish.report.page.path import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Tick

if TYPE_CHECKING:
    from squamish.evidence.survival import SurvivalCurve
    from squamish.result.result import RelevanceResult

# Times are marked at so many places, or a few more.
LEAST_TICKS = 4
# How thirds are drawn: from the lowest risk on.
STYLES = ("low", "middle", "high")


@dataclass(frozen=True)
class Curve:
    """A curve of steps, how it is drawn, and what is said of it."""

    points: str
    style: str
    label: str
    end: float


@dataclass(frozen=True)
class Survival:
    """The picture: curves, axes, and what it shows in words."""

    curves: tuple[Curve, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    label: str
    said: str


def draw_survival(result: RelevanceResult) -> Survival | None:
    """Place the curves; None if no risks were predicted."""
    prognosis = result.evidence.prognosis
    if prognosis is None:
        return None
    labels = wording.thirds(result)
    last = max(float(curve.times[-1]) for curve in prognosis.thirds)
    curves = tuple(
        _curve(curve, last, style, label)
        for curve, style, label in zip(prognosis.thirds, _styles(len(labels)), labels, strict=True)
    )
    return Survival(
        curves,
        tuple(Tick(_x(time, last), f"{time:,.6g}") for time in round_times(last)),
        tuple(Tick(_y(k / 4), f"{25 * k}%") for k in range(5)),
        f"Share of rows without the event over time: {'; '.join(labels)}",
        wording.concordance(result),
    )


def _styles(n: int) -> tuple[str, ...]:
    """Return how so many thirds are drawn, as equal risks may leave fewer."""
    return STYLES if n == len(STYLES) else (STYLES[0], STYLES[-1])[:n]


def round_times(last: float) -> list[float]:
    """Choose round times for an axis, the first one 0.

    Examples
    --------
    >>> from squamish.report.page.survival import round_times
    >>> round_times(4795.0)
    [0.0, 1000.0, 2000.0, 3000.0, 4000.0]
    """
    if last <= 0:
        return [0.0]
    power = 10.0 ** (len(f"{last:.0f}") if last >= 1 else 0)
    steps = (power / 10**k * f for k in range(20) for f in (1.0, 0.5, 0.2))
    step = next(s for s in steps if last / s >= LEAST_TICKS)
    return [k * step for k in range(int(last / step) + 1)]


def _curve(curve: SurvivalCurve, last: float, style: str, label: str) -> Curve:
    """Draw a step at every time: along to it, then down."""
    x, y = [_x(0.0, last)], [_y(1.0)]
    for time, share in zip(curve.times.tolist(), curve.surviving.tolist(), strict=True):
        x += [_x(time, last)] * 2
        y += [y[-1], _y(share)]
    points = " ".join(f"{a},{b}" for a, b in zip(x, y, strict=True))
    return Curve(points, style, label, y[-1])


def _x(time: float, last: float) -> float:
    return round(LEFT + time / (last or 1.0) * (WIDTH - LEFT - RIGHT), 1)


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)
