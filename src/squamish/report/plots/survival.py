"""How thirds of the rows by their predicted risk survive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.errors import InputError
from squamish.report import wording
from squamish.report.plots.drawing import finish, new_axes
from squamish.report.plots.style import COLOURS, FONT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult

# The height of the picture in rows of text, and what tells curves apart beside their colours.
ROWS = 14
DASHES = ("-", "--", ":")


def draw_survival(result: RelevanceResult, ax: Axes | None) -> Axes:
    """Draw the share of rows without an event over time, for thirds of the predicted risk."""
    prognosis = result.evidence.prognosis
    if prognosis is None:
        raise InputError(f"there is no survival to draw: {_reason(result)}")
    ax = new_axes(ax, ROWS)
    handles = []
    named = zip(prognosis.thirds, wording.thirds(result), strict=True)
    for (curve, label), colour, dash in zip(named, COLOURS.values(), DASHES, strict=False):
        times = np.append(0.0, curve.times)
        shares = np.append(1.0, curve.surviving)
        style: dict[str, Any] = {
            "color": colour,
            "linestyle": dash,
            "linewidth": 1.6,
            "label": label,
        }
        handles += ax.step(times, shares, where="post", **style)
    _scale(ax)
    note = f"out-of-sample concordance {prognosis.concordance:.3f}"
    return finish(ax, "Survival by predicted risk", [note], handles)


def _reason(result: RelevanceResult) -> str:
    if result.task != "survival":
        return f"the task is {result.task!r}"
    return "no column is relevant, or there was no time for a model"


def _scale(ax: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_ylim(0, 1.02)
    ax.set_xlim(left=0)
    ax.grid(axis="y", linewidth=0.4)
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("time", fontsize=FONT + 1)
    ax.set_ylabel("share without the event", fontsize=FONT + 1)
