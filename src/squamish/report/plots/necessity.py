"""What models owe to every column, at the least and at the most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.arrays import Indices
from squamish.errors import InputError
from squamish.evidence.relevance import CLASS_NAMES
from squamish.report.capping import check_cap, left_out
from squamish.report.plots.drawing import (
    finish,
    line_handle,
    name_rows,
    new_axes,
    patch_handle,
    short_names,
)
from squamish.report.plots.path import no_search
from squamish.report.plots.style import COLOURS, FONT, INK
from squamish.report.wording.rows import ordered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult

# A bar of no length would not be seen.
THINNEST = 0.004


def draw_necessity(result: RelevanceResult, ax: Axes | None, max_features: int | None) -> Axes:
    """Draw a bar from the least to the most for every column that is worth anything."""
    check_cap(max_features)
    worth = result.evidence.worth.columns
    if not worth:
        raise InputError(f"there is no necessity to draw: {no_search(result)}")
    everything = [j for j in ordered(result) if j in worth]
    rows = np.array(everything[:max_features], dtype=np.intp)
    ax = new_axes(ax, len(rows))
    _draw_bars(ax, result, rows)
    bold = [bool(result.evidence.minimal[j]) for j in rows]
    names = [
        f"{name} *" if chosen else name
        for name, chosen in zip(short_names(result, rows), bold, strict=True)
    ]
    name_rows(ax, names)
    _scale(ax)
    notes = left_out(len(everything), len(rows), "relevant columns")
    if any(bold):
        notes.append("* in the minimal set")
    return finish(ax, "What models owe to every column", notes, _legend(result, rows))


def _draw_bars(ax: Axes, result: RelevanceResult, rows: Indices) -> None:
    worth = [result.evidence.worth.columns[j] for j in rows.tolist()]
    least, most, low, high = (
        np.array([getattr(found, name) for found in worth])
        for name in ("least", "most", "low", "high")
    )
    colours = [COLOURS[int(c)] for c in result.classes[rows]]
    width = np.maximum(most - least, THINNEST * max(float(high.max()), THINNEST))
    ax.barh(np.arange(len(rows)), width, left=least, height=0.6, color=colours, zorder=2)
    ax.hlines(np.arange(len(rows)), low, high, colors=INK, linewidth=0.8, zorder=3)


def _scale(ax: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xlim(0)
    ax.set_xlabel("share of the gain that models owe to it, from the least to the most")
    ax.xaxis.label.set_fontsize(FONT + 1)


def _legend(result: RelevanceResult, rows: Indices) -> list[Any]:
    classes = [c for c in COLOURS if c in result.classes[rows]]
    bars = [patch_handle(CLASS_NAMES[c], COLOURS[c]) for c in classes]
    return [*bars, line_handle("bounds, each with 97.5% confidence")]
