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
from squamish.report.wording.names import shorten

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
    labels, what = _labels(runs)
    ax.set_xticks(range(len(runs)), labels, rotation=90 if max(map(len, labels)) > 3 else 0)
    ax.set_xlabel(what)
    notes = [f"{differ.sum()} of {len(differ)} columns have more than one class", *notes]
    return finish(ax, f"Classes in {len(runs)} runs", notes, handles)


def _labels(runs: Sequence[RelevanceResult]) -> tuple[list[str], str]:
    """Name runs by what tells them apart, and say what that is."""
    said = {
        "seed": ["?" if run.provenance.seed is None else str(run.provenance.seed) for run in runs],
        "method": [run.method for run in runs],
        "task": [str(run.task) for run in runs],
        "data": [run.provenance.data for run in runs],
        "target": [run.provenance.target for run in runs],
        "rows": [f"{run.n_samples:,}" for run in runs],
        "version": [run.provenance.versions.get("squamish", "?") for run in runs],
    }
    differ = {name: values for name, values in said.items() if len(set(values)) > 1}
    if not differ:
        return [str(number + 1) for number in range(len(runs))], "number of the run"
    if len(differ) == 1:
        (what,) = differ
        return [shorten(value) for value in differ[what]], f"{what} of the run"
    told = [[f"{name} {shorten(v)}" for v in values] for name, values in differ.items()]
    return [", ".join(row) for row in zip(*told, strict=True)], "run"


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
