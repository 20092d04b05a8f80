"""What all pictures share: axes, rows with names, marks and legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.evidence.relevance import CLASS_NAMES
from squamish.report.capping import check_cap, left_out
from squamish.report.plots.style import (
    BAND_COLOUR,
    COLOURS,
    FONT,
    INK,
    LEAST_FONT,
    MARKERS,
    ROW,
    TALLEST,
)
from squamish.report.wording.names import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult


def choose_rows(
    result: RelevanceResult,
    values: Array,
    max_features: int | None,
    what: str = "measured",
    first: Mask | None = None,
) -> tuple[Indices, list[str]]:
    """Choose the columns to draw, the most relevant first, and say what is left out."""
    check_cap(max_features)
    known = np.flatnonzero(~np.isnan(values))
    first = np.zeros(len(values), dtype=bool) if first is None else first
    order = np.lexsort((-values[known], -result.classes[known], ~first[known]))
    rows = known[order][:max_features]
    notes = left_out(len(known), len(rows), "columns")
    if len(known) < len(values):
        notes.append(f"{len(values) - len(known):,} of {len(values):,} columns were not {what}")
    return rows, notes


def new_axes(ax: Axes | None, n_rows: float, width: float = 8.0) -> Axes:
    """Return the axes to draw on, new ones with room for so many rows if there are none."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install 'squamish[plots]'"
        ) from None
    if ax is None:
        height = min(ROW * n_rows + 1.6, TALLEST)
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def font_size(ax: Axes, n_rows: float) -> float:
    """Return the size of labels that fits into the rows, if it can still be read."""
    box = ax.get_window_extent()
    points = box.height / ax.figure.dpi * 72
    return float(np.clip(0.75 * points / n_rows, LEAST_FONT, FONT))


def short_names(result: RelevanceResult, rows: Iterable[int]) -> list[str]:
    """Return short names of columns, without letters that the font does not have."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    letters: set[int] = set()
    for family in FontProperties().get_family():
        letters.update(get_font(findfont(FontProperties(family=[family]))).get_charmap())
    names = [shorten(result.feature_names[j]) for j in rows]
    return ["".join(c if ord(c) in letters else "?" for c in name) for name in names]


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name the rows, the first one on top, and leave out what is not needed of the frame."""
    n = len(names)
    size = font_size(ax, n)
    ax.set_yticks(range(n), names, fontsize=size, parse_math=False, usetex=False)
    ax.set_ylim(n - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=FONT)
    ax.xaxis.label.set_fontsize(FONT + 1)
    ax.spines[["top", "right"]].set_visible(False)


def draw_dots(ax: Axes, result: RelevanceResult, rows: Indices, x: Array) -> list[Any]:
    """Draw a dot in every row, and return what the legend shows of them."""
    handles = []
    for c, colour in COLOURS.items():
        own = np.flatnonzero(result.classes[rows] == c)
        if len(own):
            style: dict[str, Any] = {"color": colour, "marker": MARKERS[c], "label": CLASS_NAMES[c]}
            handles.append(ax.scatter(x[own], own, s=26, zorder=3, **style))
    return handles


def draw_band(ax: Axes, limits: tuple[float, float], label: str) -> Any:
    """Draw which values mean nothing, and return what the legend shows of it."""
    return ax.axvspan(*limits, color=BAND_COLOUR, zorder=0, label=label)


def dot_handle(label: str, c: int, **style: Any) -> Any:
    """Return a mark for the legend."""
    from matplotlib.lines import Line2D

    default: dict[str, Any] = {"color": COLOURS[c], "markersize": 5, "linestyle": ""}
    return Line2D([], [], label=label, marker=MARKERS[c], **default | style)


def line_handle(label: str, style: Any = "-") -> Any:
    """Return a line for the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, linewidth=1.2, linestyle=style, label=label)


def patch_handle(label: str, colour: str) -> Any:
    """Return a box for the legend."""
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, edgecolor=INK, label=label)


def finish(ax: Axes, title: str, notes: Sequence[str], handles: Sequence[Any]) -> Axes:
    """Write the title with what is left out, and the legend between it and the picture."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(handles=handles, ncols=2, fontsize=FONT, frameon=False, **place)
    pad = 14 * ((len(handles) + 1) // 2) + 8
    ax.set_title("\n".join([title, *notes]), loc="left", fontsize=FONT + 1, pad=pad)
    return ax
