"""Who replaces whom, as a map: where the columns and arrows are, without drawing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from squamish.errors import InputError
from squamish.report.capping import check_cap, left_out
from squamish.report.wording.names import shorten
from squamish.report.wording.worth import suggested_columns

if TYPE_CHECKING:
    from squamish.evidence import Evidence
    from squamish.evidence.interface import Sets
    from squamish.result.result import RelevanceResult

# In larger groups only the arrows from and to the representative are drawn.
MOST_LINKED = 8
# The most substitutes outside of its group that are drawn for a column.
MOST_OUTSIDE = 4
# The widest map, and the widths of small and of other letters, where a row is 1 high.
MAP_WIDTH, LETTER, WIDE_LETTER = 60.0, 0.33, 0.48


class Node(NamedTuple):
    """A column on the map: its place, the side of its label, and whether it is a guest.

    A guest replaces members of the group without being one of them: it is strong, or a
    member of another group.
    """

    column: int
    x: float
    y: float
    side: int
    representative: bool
    guest: bool


class Edge(NamedTuple):
    """An arrow from a node to one that replaces it, alone or together with others."""

    source: int
    target: int
    together: bool
    mutual: bool


class Ring(NamedTuple):
    """A group on the map: title, centre and radii; without a width there is no ring."""

    title: str
    x: float
    y: float
    rx: float
    ry: float


@dataclass(frozen=True)
class RedundancyLayout:
    """Where everything is on the map of substitutes.

    Attributes
    ----------
    width, height : float
        Size of the map. A row of text is 1 high, and y grows downwards.
    nodes : tuple of Node
        The columns. A guest is there once for each group that it replaces members of.
    edges : tuple of Edge
        The arrows, between positions in ``nodes``.
    rings : tuple of Ring
        The groups, in the order of their numbers; columns without a substitute come last.
    notes : tuple of str
        What is left out.
    """

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    rings: tuple[Ring, ...]
    notes: tuple[str, ...]


def redundancy_layout(result: RelevanceResult, max_features: int | None = 60) -> RedundancyLayout:
    """Place weak columns and their substitutes on a map, without drawing it.

    Parameters
    ----------
    result : RelevanceResult
        The verdict.
    max_features : int or None
        The most weak columns, some of each group; None for all.

    Returns
    -------
    RedundancyLayout
        Columns, arrows and groups. The same result always gives the same map.
    """
    circles, notes = _circles(result, max_features)
    left, right = (_label_width(result, circles, side) for side in (0, 1))
    rx = max(circle.rx for circle in circles)
    width = left + 2 * rx + right
    heights = [0.0] * max(1, min(len(circles), int(MAP_WIDTH // width)))
    nodes: list[Node] = []
    edges: list[Edge] = []
    rings: list[Ring] = []
    for circle in circles:
        # Each goes where there is most room; the first of several.
        place = int(np.argmin(heights))
        rings.append(circle.ring(place * width + left + rx, heights[place]))
        heights[place] += 2 * circle.ry + 2.4
        edges += circle.edges(len(nodes))
        nodes += circle.nodes(rings[-1])
    size = width * len(heights), max(heights)
    return RedundancyLayout(*size, tuple(nodes), tuple(edges), tuple(rings), notes)


@dataclass(frozen=True)
class _Circle:
    """The columns of a ring, members before guests, and who is replaced by whom."""

    title: str
    columns: tuple[int, ...]
    n_members: int = 0
    representatives: frozenset[int] = frozenset()
    arrows: dict[tuple[int, int], bool] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return (len(self.columns) + 1) // 2

    @property
    def ry(self) -> float:
        return 0.65 * self.n_rows + 0.35

    @property
    def rx(self) -> float:
        return float(np.clip(1.2 * self.ry, 2.5, 5))

    def ring(self, x: float, top: float) -> Ring:
        """Draw the ring below its title, if it has members."""
        return Ring(self.title, x, top + 1.6 + self.ry, self.rx if self.n_members else 0, self.ry)

    def nodes(self, ring: Ring) -> list[Node]:
        """Place the columns left and right on the ring in even rows, so that labels fit.

        Lines between points of an ellipse stay in it, where no label is.
        """
        nodes = []
        for i, column in enumerate(self.columns):
            side, dy = (1 if i % 2 else -1), (i // 2 - (self.n_rows - 1) / 2) * 1.3
            dx = max(ring.rx * np.sqrt(1 - (dy / ring.ry) ** 2), 1)
            place = float(ring.x + side * dx), float(ring.y + dy), side
            guest = 0 < self.n_members <= i
            nodes.append(Node(column, *place, column in self.representatives, guest))
        return nodes

    def edges(self, first: int) -> list[Edge]:
        """Join arrows that lead both ways; ``first`` is the position of the first node."""
        position = {column: first + i for i, column in enumerate(self.columns)}
        edges = []
        for (j, k), together in self.arrows.items():
            mutual = self.arrows.get((k, j)) == together
            if not mutual or position[j] < position[k]:
                edges.append(Edge(position[j], position[k], together, mutual))
        return edges


def _label_width(result: RelevanceResult, circles: Sequence[_Circle], side: int) -> float:
    columns = {k for circle in circles for k in circle.columns[side::2]}
    names = [shorten(result.feature_names[k]) for k in columns]
    small = [sum(c.isascii() and not c.isupper() for c in name) for name in names]
    widths = [
        LETTER * n + WIDE_LETTER * (len(name) - n) for name, n in zip(names, small, strict=True)
    ]
    return 1.5 + max(widths, default=0)


def _circles(
    result: RelevanceResult, max_features: int | None
) -> tuple[list[_Circle], tuple[str, ...]]:
    """Choose the columns and the arrows of every group."""
    evidence = result.evidence
    check_cap(max_features)
    if not evidence.tells_substitutes:
        raise InputError(
            f"there are no substitutes to draw: method={evidence.kind!r} does not tell them"
        )
    if not evidence.groups:
        raise InputError("there are no substitutes to draw: no column is weak")
    suggested = [suggested_columns(result, number) for number in range(len(evidence.groups))]
    pairs = zip(evidence.groups, suggested, strict=True)
    ordered = [[*best, *(j for j in group if j not in best)] for group, best in pairs]
    shown = _shown(ordered, evidence.substitutes, max_features)
    n_groups = sum(len(group) > 1 for group in ordered)
    n_shown = sum(len(group) > 1 and group[0] in shown for group in ordered)
    notes = left_out(sum(map(len, ordered)), len(shown), "weak columns")
    if n_shown < n_groups:
        notes.append(f"{n_shown} of {n_groups} groups are shown, the largest ones")
    circles, alone, complete = [], [], True
    for number, group in enumerate(ordered):
        members = [j for j in group if j in shown]
        if not any(evidence.substitutes.get(j) for j in group):
            alone += members
        elif members:
            arrows, all_drawn = _arrows(evidence, members, group)
            complete &= all_drawn
            guests = dict.fromkeys(k for _, k in arrows if k not in group)
            more = f" ({len(group) - len(members)} more)" if len(members) < len(group) else ""
            best = frozenset(suggested[number] if len(group) > 1 else ())
            title, columns = f"group {number + 1}{more}", (*members, *guests)
            circles.append(_Circle(title, columns, len(members), best, arrows))
    if alone:
        circles.append(_Circle("no substitute found", tuple(alone)))
    if not complete:
        notes.append("Some arrows are left out; result.substitutes has all")
    return circles, tuple(notes)


def _shown(
    groups: Sequence[Sequence[int]], substitutes: Mapping[int, Sets], most: int | None
) -> set[int]:
    """Choose columns: what has an arrow in each group, the largest first, then others, in turn.

    A column of a group without another one that it has an arrow to would be a lone dot.
    """
    first = sorted((g for g in groups if len(g) > 1), key=len, reverse=True)
    alone = [(g[0],) for g in groups if len(g) == 1]
    others = sorted((rank, j) for g in groups for rank, j in enumerate(g))
    units = [*(_linked(g, substitutes) for g in first), *alone, *((j,) for _, j in others)]
    shown: set[int] = set()
    for wanted in units:
        unit = [j for j in wanted if j not in shown]
        room = len(unit) if most is None else most - len(shown)
        if room >= len(unit) or not shown:
            shown.update(unit[:room])
    return shown


def _linked(group: Sequence[int], substitutes: Mapping[int, Sets]) -> tuple[int, ...]:
    """Return a column of a group, the first if it can be, and what replaces it there."""
    found = [
        (len(own), rank, (j, *own))
        for rank, j in enumerate(group)
        for replacing in substitutes.get(j, ())
        if (own := tuple(k for k in replacing if k in group))
    ]
    return min(found)[2] if found else tuple(group[:2])


def _arrows(
    evidence: Evidence, members: Sequence[int], group: Sequence[int]
) -> tuple[dict[tuple[int, int], bool], bool]:
    """Choose the arrows of a group, and tell whether these are all between what is shown.

    The value of an arrow is whether its end replaces only together with others.
    """
    hidden = set(group).difference(members)
    arrows: dict[tuple[int, int], bool] = {}
    complete = True
    for j in members:
        sets = [s for s in evidence.substitutes.get(j, ()) if hidden.isdisjoint(s)]
        outside = [s for s in sets if not set(s) <= set(group)]
        chosen = [s for s in sets if s not in outside[MOST_OUTSIDE:]]
        if len(members) > MOST_LINKED and j != members[0]:
            chosen = [s for s in chosen if members[0] in s] or chosen[:1]
        complete &= len(chosen) == len(sets)
        for s in sorted(chosen, key=len):
            for k in s:
                arrows.setdefault((j, k), len(s) > 1)
    return arrows, complete
