"""The pictures of a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from squamish.errors import InputError
from squamish.evidence.relevance import CLASS_NAMES, IRRELEVANT, STRONG, WEAK
from squamish.families import family_of
from squamish.report.capping import check_cap, left_out
from squamish.report.redundancy_map import (
    Edge,
    Node,
    RedundancyLayout,
    Ring,
    redundancy_layout,
)
from squamish.report.wording.names import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult

Array = NDArray[np.float64]

COLOURS = {STRONG: "#0b6e6e", WEAK: "#c77700", IRRELEVANT: "#8a8a8a"}
MARKERS = {STRONG: "o", WEAK: "D", IRRELEVANT: "X"}
BAND_COLOUR, INK = "#dfe3ea", "#333333"
# The height of a row in inches, and of its label in points.
ROW, FONT, LEAST_FONT = 0.2, 8.0, 4.0
# Taller pictures than this have more pixels than Agg can draw.
TALLEST = 600.0


class PlotMethods:
    """The pictures of a result. They need matplotlib.

    All of them return the axes they drew on: those they were given, or those of a new figure
    that is high enough for its rows. Strong columns are teal circles, weak ones amber
    diamonds, irrelevant ones grey crosses. A letter that the font does not have is drawn as
    a question mark; ``matplotlib.rcParams["font.family"]`` can name further fonts.
    """

    def plot_importances(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw the importance of every column, and how far that of permuted columns goes.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw, strong and weak ones first; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from squamish import RelevanceSelector
        >>> from squamish.datasets import make_linear
        >>> problem = make_linear(200, n_strong=2, group_sizes=[2], n_irrelevant=2, random_state=0)
        >>> result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
        >>> ax = result.plot_importances()
        >>> sorted(label.get_text() for label in ax.get_yticklabels())
        ['0', '1', '2', '3', '4', '5']
        >>> result.plot_redundancy().get_title(loc="left")
        'Which columns replace which'
        """
        evidence = self.evidence
        _check_measured(self)
        rows, notes = _choose(self, evidence.importance, max_features)
        ax = _axes(ax, len(rows))
        low, limit = evidence.importance_null
        band = _band(ax, (low, limit), "expected of permuted columns")
        dots = _dots(ax, self, rows, evidence.importance[rows])
        _name_rows(ax, _names(self, rows))
        ax.set_xlabel(self.evidence.vocabulary.importance_axis)
        _spread_out(ax, evidence.importance[rows], limit, low)
        return _finish(ax, "Importance of every column", notes, [*dots, band])

    def plot_removal(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw what the removal of each tested column costs, and which costs mean nothing.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw, strong and weak ones first; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on. Lines are 95% intervals; ``method="paper"`` has none.
        """
        evidence = self.evidence
        if np.isnan(evidence.removal_loss).all():
            reason = evidence.vocabulary.no_removals
            raise InputError(f"there is no removal loss to draw: {reason}")
        rows, notes = _choose(self, evidence.removal_loss, max_features, "tested")
        ax = _axes(ax, len(rows))
        handles = [_band(ax, evidence.removal_null, evidence.vocabulary.removal_null)]
        if evidence.has_intervals:
            colours = [COLOURS[int(c)] for c in self.classes[rows]]
            low, high = evidence.removal_interval[:, rows]
            ax.hlines(np.arange(len(rows)), low, high, colors=colours, linewidth=1.2)
            handles.append(_line("95% interval"))
        dots = _dots(ax, self, rows, evidence.removal_loss[rows])
        _name_rows(ax, _names(self, rows))
        ax.set_xlabel(_removal_label(self))
        return _finish(ax, "What the removal of a column costs", notes, [*dots, *handles])

    def plot_shadows(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw the importances in all rounds as boxes, beside those of permuted columns.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw, strong and weak ones first; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on. Boxes are sorted by their medians. The three of the shadows
            are their least, mean and largest importance in every round.
        """
        _check_measured(self)
        rounds, shadows = self.evidence.importance_rounds, self.evidence.shadow_rounds
        medians = np.full(len(self.classes), np.nan)
        measured = ~np.isnan(rounds).all(axis=0)
        medians[measured] = np.nanmedian(rounds[:, measured], axis=0)
        rows, notes = _choose(self, medians, max_features)
        ax = _axes(ax, len(rows) + 3)
        boxes = [
            (float(medians[j]), name, COLOURS[int(self.classes[j])], rounds[:, j])
            for j, name in zip(rows, _names(self, rows), strict=True)
        ]
        for name, summary in (("largest", np.max), ("mean", np.mean), ("least", np.min)):
            values = summary(shadows, axis=1)
            boxes.append((float(np.median(values)), f"{name} shadow", "white", values))
        boxes.sort(key=lambda box: -box[0])
        _boxes(ax, [values for *_, values in boxes], [colour for *_, colour, _ in boxes])
        _name_rows(ax, [name for _, name, *_ in boxes])
        ax.set_xlabel(self.evidence.vocabulary.importance_axis)
        _spread_out(ax, np.nanmax(rounds[:, rows], axis=0), float(np.median(shadows.max(axis=1))))
        handles = [_patch(CLASS_NAMES[c], COLOURS[c]) for c in COLOURS if c in self.classes[rows]]
        handles.append(_patch("permuted columns (shadows)", "white"))
        return _finish(ax, f"Importances in {len(rounds)} rounds", notes, handles)

    def plot_redundancy(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw the map of substitutes: an arrow leads from a column to what replaces it.

        Each group of weak columns is a ring, the suggested column in bold. Columns outside
        of the group that replace some of it stand on the lower part of the ring, hollow.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most weak columns to draw, some of each group; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        layout = redundancy_layout(self, max_features)
        ax = _axes(ax, layout.height, max(layout.width * ROW, 6))
        ax.set(xlim=(0, layout.width), ylim=(layout.height, 0))
        ax.axis("off")
        for ring in layout.rings:
            _draw_ring(ax, ring)
        for edge in layout.edges:
            _draw_edge(ax, layout.nodes[edge.source], layout.nodes[edge.target], edge)
        size = _font_size(ax, layout.height)
        names = _names(self, [node.column for node in layout.nodes])
        for node, name in zip(layout.nodes, names, strict=True):
            _draw_node(ax, node, name, int(self.classes[node.column]), size)
        return _finish(ax, "Which columns replace which", layout.notes, _map_legend(self, layout))

    def plot_stability(  # type: ignore[misc] # only results inherit
        self: RelevanceResult,
        others: Sequence[RelevanceResult],
        ax: Axes | None = None,
        *,
        max_features: int | None = 60,
    ) -> Axes:
        """Draw the classes of every column in several runs, side by side.

        Parameters
        ----------
        others : sequence of RelevanceResult
            Verdicts on the same columns, usually with other seeds.
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw: those with more than one verdict first, then strong
            and weak ones; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on: a row for each column, this result first in it.
        """
        runs = [self, *([others] if isinstance(others, PlotMethods) else others)]
        verdicts = _verdicts(runs)
        differ = verdicts.min(axis=1) != verdicts.max(axis=1)
        rows, notes = _choose(self, np.zeros(len(differ)), max_features, first=differ)
        ax = _axes(ax, len(rows), max(3.5 + 0.45 * len(runs), 5))
        handles = _cells(ax, verdicts[rows])
        _name_rows(ax, _names(self, rows))
        seeds = [run.provenance.seed for run in runs]
        labels = ["?" if seed is None else str(seed) for seed in seeds]
        ax.set_xticks(range(len(runs)), labels, rotation=90 if max(map(len, labels)) > 3 else 0)
        ax.set_xlabel("seed of the run")
        notes = [f"{differ.sum()} of {len(differ)} columns have more than one class", *notes]
        return _finish(ax, f"Classes in {len(runs)} runs", notes, handles)


def _check_measured(result: RelevanceResult) -> None:
    evidence = result.evidence
    if not (np.isnan(evidence.importance).all() or len(evidence.importance_rounds) == 0):
        return
    reason = evidence.vocabulary.no_importances
    raise InputError(f"there are no importances to draw: {reason}")


def _choose(
    result: RelevanceResult,
    values: Array,
    max_features: int | None,
    what: str = "measured",
    first: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.intp], list[str]]:
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


def _removal_label(result: RelevanceResult) -> str:
    family = family_of(result.task)
    units = {"loss_unit": family.loss_unit, "absolute_unit": family.absolute_unit}
    return result.evidence.vocabulary.removal_axis.format(**units)


def _axes(ax: Axes | None, n_rows: float, width: float = 8.0) -> Axes:
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


def _font_size(ax: Axes, n_rows: float) -> float:
    """Return the size of labels that fits into the rows, if it can still be read."""
    box = ax.get_window_extent()
    points = box.height / ax.figure.dpi * 72
    return float(np.clip(0.75 * points / n_rows, LEAST_FONT, FONT))


def _names(result: RelevanceResult, rows: Iterable[int]) -> list[str]:
    """Return short names of columns, without letters that the font does not have."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    letters: set[int] = set()
    for family in FontProperties().get_family():
        letters.update(get_font(findfont(FontProperties(family=[family]))).get_charmap())
    names = [shorten(result.feature_names[j]) for j in rows]
    return ["".join(c if ord(c) in letters else "?" for c in name) for name in names]


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name the rows, the first one on top, and leave out what is not needed of the frame."""
    n = len(names)
    size = _font_size(ax, n)
    ax.set_yticks(range(n), names, fontsize=size, parse_math=False, usetex=False)
    ax.set_ylim(n - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=FONT)
    ax.xaxis.label.set_fontsize(FONT + 1)
    ax.spines[["top", "right"]].set_visible(False)


def _spread_out(ax: Axes, values: Array, limit: float, low: float = 0.0) -> None:
    """Take logarithms beyond the limit if what is near it could not be seen otherwise."""
    highest = float(values.max())
    if limit > 0 and highest > 20 * limit:
        ax.set_xscale("symlog", linthresh=limit)
        ax.set_xticks([0, *10 ** np.arange(np.ceil(np.log10(limit)), np.log10(highest) + 1)])
        ax.minorticks_off()
        ax.set_xlim(low - 0.2 * limit, 2 * highest)
        ax.set_xlabel(f"{ax.get_xlabel()}, logarithmic above {limit:.3g}")


def _dots(ax: Axes, result: RelevanceResult, rows: NDArray[np.intp], x: Array) -> list[Any]:
    """Draw a dot in every row, and return what the legend shows of them."""
    handles = []
    for c, colour in COLOURS.items():
        own = np.flatnonzero(result.classes[rows] == c)
        if len(own):
            style: dict[str, Any] = {"color": colour, "marker": MARKERS[c], "label": CLASS_NAMES[c]}
            handles.append(ax.scatter(x[own], own, s=26, zorder=3, **style))
    return handles


def _band(ax: Axes, limits: tuple[float, float], label: str) -> Any:
    return ax.axvspan(*limits, color=BAND_COLOUR, zorder=0, label=label)


def _boxes(ax: Axes, values: Sequence[Array], colours: Sequence[str]) -> None:
    drawn = ax.boxplot(
        [v[~np.isnan(v)] for v in values],
        positions=range(len(values)),
        orientation="horizontal",
        widths=0.6,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": INK},
        flierprops={"markersize": 3, "markeredgecolor": INK},
    )
    for box, colour in zip(drawn["boxes"], colours, strict=True):
        box.set(facecolor=colour, edgecolor=INK)


def _cells(ax: Axes, verdicts: NDArray[np.int64]) -> list[Any]:
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
            handles.append(_dot(CLASS_NAMES[c], c))
    return handles


def _draw_ring(ax: Axes, ring: Ring) -> None:
    from matplotlib.patches import Ellipse

    top = ring.y - ring.ry - 0.4
    ax.text(ring.x, top, ring.title, ha="center", va="bottom", fontsize=FONT, color="#666666")
    if ring.rx:
        size = 2 * ring.rx, 2 * ring.ry
        ax.add_patch(Ellipse((ring.x, ring.y), *size, facecolor="#f4f5f8", edgecolor=BAND_COLOUR))


def _draw_edge(ax: Axes, source: Node, target: Node, edge: Edge) -> None:
    from matplotlib.patches import FancyArrowPatch

    arrow = FancyArrowPatch(
        (source.x, source.y),
        (target.x, target.y),
        arrowstyle="<|-|>" if edge.mutual else "-|>",
        # Two arrows of different kinds between the same columns must not cover each other.
        connectionstyle="arc3" if edge.mutual else "arc3,rad=0.12",
        linestyle="--" if edge.together else "-",
        mutation_scale=7,
        linewidth=0.7,
        shrinkA=5,
        shrinkB=5,
        color="#5a5a5a",
    )
    ax.add_patch(arrow)


def _draw_node(ax: Axes, node: Node, name: str, c: int, size: float) -> None:
    face, area = ("white" if node.guest else COLOURS[c]), (60 if node.representative else 26)
    ax.scatter(node.x, node.y, s=area, marker=MARKERS[c], color=face, edgecolor=COLOURS[c])
    style: dict[str, Any] = {"ha": "left" if node.side > 0 else "right", "va": "center"}
    if node.representative:
        style["fontweight"] = "bold"
    style |= {"xytext": (8 * node.side, 0), "textcoords": "offset points", "fontsize": size}
    ax.annotate(name, (node.x, node.y), parse_math=False, usetex=False, **style)


def _map_legend(result: RelevanceResult, layout: RedundancyLayout) -> list[Any]:
    """Explain what there is on the map, and nothing else."""
    handles = [_dot("weak", WEAK)]
    if any(node.representative for node in layout.nodes):
        handles.append(_dot("weak, suggested for its group", WEAK, markersize=8))
    guests = {int(result.classes[node.column]) for node in layout.nodes if node.guest}
    for c, text in ((STRONG, "strong"), (WEAK, "weak, of another group")):
        if c in guests:
            handles.append(_dot(text, c, markerfacecolor="white"))
    kinds = {edge.together for edge in layout.edges}
    if False in kinds:
        handles.append(_line("is replaced by"))
    if True in kinds:
        handles.append(_line("is replaced by these together", "--"))
    return handles


def _dot(label: str, c: int, **style: Any) -> Any:
    from matplotlib.lines import Line2D

    default: dict[str, Any] = {"color": COLOURS[c], "markersize": 5, "linestyle": ""}
    return Line2D([], [], label=label, marker=MARKERS[c], **default | style)


def _line(label: str, style: Any = "-") -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=INK, linewidth=1.2, linestyle=style, label=label)


def _patch(label: str, colour: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=colour, edgecolor=INK, label=label)


def _finish(ax: Axes, title: str, notes: Sequence[str], handles: Sequence[Any]) -> Axes:
    """Write the title with what is left out, and the legend between it and the picture."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(handles=handles, ncols=2, fontsize=FONT, frameon=False, **place)
    pad = 14 * ((len(handles) + 1) // 2) + 8
    ax.set_title("\n".join([title, *notes]), loc="left", fontsize=FONT + 1, pad=pad)
    return ax
