"""What the removal of each column costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.arrays import Indices
from squamish.errors import InputError
from squamish.families import family_of
from squamish.report.plots.drawing import (
    choose_rows,
    draw_band,
    draw_dots,
    finish,
    line_handle,
    name_rows,
    new_axes,
    short_names,
)
from squamish.report.plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult


def draw_removal(result: RelevanceResult, ax: Axes | None, max_features: int | None) -> Axes:
    """Draw what the removal of each tested column costs, and which costs mean nothing."""
    evidence, words = result.evidence, result.evidence.vocabulary
    if np.isnan(evidence.removal_loss).all():
        raise InputError(f"there is no removal loss to draw: {words.no_removals}")
    rows, notes = choose_rows(result, evidence.removal_loss, max_features, "tested")
    ax = new_axes(ax, len(rows))
    handles = [draw_band(ax, evidence.removal_null, words.removal_null)]
    if evidence.has_intervals:
        handles.append(_draw_intervals(ax, result, rows))
    dots = draw_dots(ax, result, rows, evidence.removal_loss[rows])
    name_rows(ax, short_names(result, rows))
    family = family_of(result.task)
    units = {"loss_unit": family.loss_unit, "absolute_unit": family.absolute_unit}
    ax.set_xlabel(words.removal_axis.format(**units))
    return finish(ax, "What the removal of a column costs", notes, [*dots, *handles])


def _draw_intervals(ax: Axes, result: RelevanceResult, rows: Indices) -> Any:
    """Draw the intervals, and return what the legend shows of them."""
    colours = [COLOURS[int(c)] for c in result.classes[rows]]
    low, high = result.evidence.removal_interval[:, rows]
    ax.hlines(np.arange(len(rows)), low, high, colors=colours, linewidth=1.2)
    return line_handle("95% interval")
