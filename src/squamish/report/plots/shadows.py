"""Importances in all rounds, beside those of permuted columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from squamish.arrays import Array
from squamish.evidence.relevance import CLASS_NAMES
from squamish.report.plots.drawing import (
    choose_rows,
    finish,
    name_rows,
    new_axes,
    patch_handle,
    short_names,
)
from squamish.report.plots.importances import check_measured, use_logarithms
from squamish.report.plots.style import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult

SHADOW_COLOUR = "white"


class _Box(NamedTuple):
    """The importances of a column, or of shadows, in all rounds."""

    median: float
    name: str
    colour: str
    values: Array


def draw_shadows(result: RelevanceResult, ax: Axes | None, max_features: int | None) -> Axes:
    """Draw the importances in all rounds as boxes, beside those of permuted columns."""
    check_measured(result.evidence)
    rounds, shadows = result.evidence.importance_rounds, result.evidence.shadow_rounds
    medians = np.full(len(result.classes), np.nan)
    measured = ~np.isnan(rounds).all(axis=0)
    medians[measured] = np.nanmedian(rounds[:, measured], axis=0)
    rows, notes = choose_rows(result, medians, max_features)
    ax = new_axes(ax, len(rows) + 3)
    boxes = [
        _Box(float(medians[j]), name, COLOURS[int(result.classes[j])], rounds[:, j])
        for j, name in zip(rows, short_names(result, rows), strict=True)
    ]
    boxes = sorted([*boxes, *_shadow_boxes(shadows)], key=lambda box: -box.median)
    _draw_boxes(ax, boxes)
    name_rows(ax, [box.name for box in boxes])
    ax.set_xlabel(result.evidence.vocabulary.importance_axis)
    use_logarithms(ax, np.nanmax(rounds[:, rows], axis=0), float(np.median(shadows.max(axis=1))))
    handles = [
        patch_handle(CLASS_NAMES[c], COLOURS[c]) for c in COLOURS if c in result.classes[rows]
    ]
    handles.append(patch_handle("permuted columns (shadows)", SHADOW_COLOUR))
    return finish(ax, f"Importances in {len(rounds)} rounds", notes, handles)


def _shadow_boxes(shadows: Array) -> Iterator[_Box]:
    for name, summary in (("largest", np.max), ("mean", np.mean), ("least", np.min)):
        values = summary(shadows, axis=1)
        yield _Box(float(np.median(values)), f"{name} shadow", SHADOW_COLOUR, values)


def _draw_boxes(ax: Axes, boxes: Sequence[_Box]) -> None:
    drawn = ax.boxplot(
        [box.values[~np.isnan(box.values)] for box in boxes],
        positions=range(len(boxes)),
        orientation="horizontal",
        widths=0.6,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": INK},
        flierprops={"markersize": 3, "markeredgecolor": INK},
    )
    for patch, box in zip(drawn["boxes"], boxes, strict=True):
        patch.set(facecolor=box.colour, edgecolor=INK)
