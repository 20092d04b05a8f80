"""The importance of every column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from squamish.arrays import Array
from squamish.errors import InputError
from squamish.report.plots.drawing import (
    choose_rows,
    draw_band,
    draw_dots,
    finish,
    name_rows,
    new_axes,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.evidence import Evidence
    from squamish.result.result import RelevanceResult


def draw_importances(result: RelevanceResult, ax: Axes | None, max_features: int | None) -> Axes:
    """Draw the importance of every column, and how far that of permuted columns goes."""
    evidence = result.evidence
    check_measured(evidence)
    rows, notes = choose_rows(result, evidence.importance, max_features)
    ax = new_axes(ax, len(rows))
    low, limit = evidence.importance_null
    band = draw_band(ax, (low, limit), "expected of permuted columns")
    dots = draw_dots(ax, result, rows, evidence.importance[rows])
    name_rows(ax, short_names(result, rows))
    ax.set_xlabel(evidence.vocabulary.importance_axis)
    use_logarithms(ax, evidence.importance[rows], limit, low)
    return finish(ax, "Importance of every column", notes, [*dots, band])


def check_measured(evidence: Evidence) -> None:
    """Refuse to draw importances that were not measured."""
    if np.isnan(evidence.importance).all() or len(evidence.importance_rounds) == 0:
        reason = evidence.vocabulary.no_importances
        raise InputError(f"there are no importances to draw: {reason}")


def use_logarithms(ax: Axes, values: Array, limit: float, low: float = 0.0) -> None:
    """Take logarithms beyond the limit if what is near it could not be seen otherwise."""
    highest = float(values.max())
    if limit > 0 and highest > 20 * limit:
        ax.set_xscale("symlog", linthresh=limit)
        ax.set_xticks([0, *10 ** np.arange(np.ceil(np.log10(limit)), np.log10(highest) + 1)])
        ax.minorticks_off()
        ax.set_xlim(low - 0.2 * limit, 2 * highest)
        ax.set_xlabel(f"{ax.get_xlabel()}, logarithmic above {limit:.3g}")
