"""The classes of every column in several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from squamish.errors import InputError
from squamish.evidence.relevance import CLASS_NAMES
from squamish.report.plots.drawing import (
    choose_rows,
    dot_handle,
    finish,
    name_rows,
    new_axes,
    short_names,
)
from squamish.report.plots.style import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult


def draw_stability(
    runs: Sequence[RelevanceResult], ax: Axes | None, max_features: int | None
) -> Axes:
    """Draw the classes of every column in several runs, side by side."""
    verdicts = _verdicts(runs)
    differ = verdicts.min(axis=1) != verdicts.max(axis=1)
    rows, notes = choose_rows(runs[0], np.zeros(len(differ)), max_features, first=differ)
    ax = new_axes(ax, len(rows), max(3.5 + 0.45 * len(runs), 5))
    handles = _draw_cells(ax, verdicts[rows])
    name_rows(ax, short_names(runs[0], rows))
    seeds = [run.provenance.seed for run in runs]
    labels = ["?" if seed is None else str(seed) for seed in seeds]
    ax.set_xticks(range(len(runs)), labels, rotation=90 if max(map(len, labels)) > 3 else 0)
    ax.set_xlabel("seed of the run")
    notes = [f"{differ.sum()} of {len(differ)} columns have more than one class", *notes]
    return finish(ax, f"Classes in {len(runs)} runs", notes, handles)


def _verdicts(runs: Sequence[RelevanceResult]) -> NDArray[np.int64]:
    """Return the class of every column in every run."""
    names = runs[0].feature_names
    if len(runs) == 1:
        raise InputError("others is empty; it must hold the result of another run or more")
    for run in runs[1:]:
        different = set(names).symmetric_difference(run.feature_names)
        if different:
            name = min(different)
            where = "this result" if name in names else "one of the others"
            raise InputError(f"the runs have different columns: {name!r} is only in {where}")
    known = [dict(zip(run.feature_names, run.classes, strict=True)) for run in runs]
    return np.array([[classes[name] for classes in known] for name in names])


def _draw_cells(ax: Axes, verdicts: NDArray[np.int64]) -> list[Any]:
    """Draw a cell for each column and run, coloured and marked by class."""
    from matplotlib.colors import ListedColormap

    colours = ListedColormap([COLOURS[c] for c in sorted(COLOURS)])
    edges = [np.arange(n + 1) - 0.5 for n in verdicts.shape]
    ax.pcolormesh(
        edges[1], edges[0], verdicts, cmap=colours, vmin=0, vmax=2, edgecolors="white", linewidth=1
    )
    handles = []
    for c in COLOURS:
        rows, runs = np.nonzero(verdicts == c)
        if len(rows):
            ax.scatter(runs, rows, s=16, linewidths=0, color="white", marker=MARKERS[c])
            handles.append(dot_handle(CLASS_NAMES[c], c))
    return handles
