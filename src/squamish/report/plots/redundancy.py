"""The map of substitutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from squamish.evidence.relevance import STRONG, WEAK
from squamish.report.plots.drawing import (
    dot_handle,
    finish,
    font_size,
    line_handle,
    new_axes,
    short_names,
)
from squamish.report.plots.style import BAND_COLOUR, COLOURS, FONT, MARKERS, ROW
from squamish.report.redundancy_map import Edge, Node, RedundancyLayout, Ring, redundancy_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult


def draw_redundancy(result: RelevanceResult, ax: Axes | None, max_features: int | None) -> Axes:
    """Draw the map of substitutes: an arrow leads from a column to what replaces it."""
    layout = redundancy_layout(result, max_features)
    ax = new_axes(ax, layout.height, max(layout.width * ROW, 6))
    ax.set(xlim=(0, layout.width), ylim=(layout.height, 0))
    ax.axis("off")
    for ring in layout.rings:
        _draw_ring(ax, ring)
    for edge in layout.edges:
        _draw_edge(ax, layout.nodes[edge.source], layout.nodes[edge.target], edge)
    size = font_size(ax, layout.height)
    names = short_names(result, [node.column for node in layout.nodes])
    for node, name in zip(layout.nodes, names, strict=True):
        _draw_node(ax, node, name, int(result.classes[node.column]), size)
    return finish(ax, "Which columns replace which", layout.notes, _map_legend(result, layout))


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
    handles = [dot_handle("weak", WEAK)]
    if any(node.representative for node in layout.nodes):
        handles.append(dot_handle("weak, suggested for its group", WEAK, markersize=8))
    guests = {int(result.classes[node.column]) for node in layout.nodes if node.guest}
    for c, text in ((STRONG, "strong"), (WEAK, "weak, of another group")):
        if c in guests:
            handles.append(dot_handle(text, c, markerfacecolor="white"))
    kinds = {edge.together for edge in layout.edges}
    if False in kinds:
        handles.append(line_handle("is replaced by"))
    if True in kinds:
        handles.append(line_handle("is replaced by these together", "--"))
    return handles
