"""What the next column buys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.errors import InputError
from squamish.evidence.relevance import STRONG
from squamish.report.plots.drawing import dot_handle, finish, line_handle, new_axes
from squamish.report.plots.style import COLOURS, FONT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult

# Longer paths are drawn on a logarithmic scale, so that the first columns have room.
LONGEST_LINEAR = 16
# The height of the picture in rows of text.
ROWS = 14


def draw_path(result: RelevanceResult, ax: Axes | None) -> Axes:
    """Draw the share of the gain that the best set of every size keeps."""
    path, gain = result.evidence.worth.path, result.gain
    if not path:
        raise InputError(f"there is no path to draw: {no_search(result)}")
    steps = [step for step in path if not np.isnan(step.growth)]
    sizes = np.array([step.size for step in steps])
    kept, low, high = (
        1 - np.array([getattr(step, name) for step in steps]) / gain
        for name in ("growth", "high", "low")
    )
    ax = new_axes(ax, ROWS)
    ax.plot(sizes, kept, color=INK, linewidth=1, marker="o", markersize=4, zorder=2)
    ax.vlines(sizes, low, high, colors=INK, linewidth=1.2)
    handles = [line_handle("95% interval")]
    minimal = {*np.flatnonzero(result.evidence.minimal).tolist()}
    chosen = [i for i, step in enumerate(steps) if {*step.columns} == minimal]
    if chosen:
        style: dict[str, Any] = {
            "s": 60,
            "color": COLOURS[STRONG],
            "edgecolor": "white",
            "zorder": 3,
        }
        ax.scatter(sizes[chosen], kept[chosen], **style)
        label = f"minimal set: {len(minimal)} columns, {kept[chosen[0]]:.1%}"
        handles.insert(0, dot_handle(label, STRONG, markersize=7))
    _scale(ax, len(path))
    return finish(ax, "What the next column buys", [], handles)


def no_search(result: RelevanceResult) -> str:
    """Say why small sets were not searched."""
    if not (result.classes > 0).any():
        return "no column is relevant"
    return f"method {result.evidence.kind!r} or its time did not let small sets be searched"


def _scale(ax: Axes, largest: int) -> None:
    """Name some of the sizes, and write shares as percentages."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter, ScalarFormatter

    if largest > LONGEST_LINEAR:
        ax.set_xscale("log")
        ticks = [size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500) if size * 1.3 < largest]
        ax.set_xticks([*ticks, largest])
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.minorticks_off()
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_ylim(min(0, ax.get_ylim()[0]))
    ax.grid(axis="y", linewidth=0.4)
    ax.tick_params(labelsize=FONT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("number of columns", fontsize=FONT + 1)
    ax.set_ylabel("share of the gain that is kept", fontsize=FONT + 1)
