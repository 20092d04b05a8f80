"""Interchangeable columns on the page: a card for each group, and the map of substitutes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.evidence.relevance import CLASS_NAMES
from squamish.report import wording
from squamish.report.redundancy_map import redundancy_layout
from squamish.report.wording.names import shorten

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most names in a card, and nodes in the map.
MOST_MEMBERS, MOST_NODES = 30, 60


@dataclass(frozen=True)
class Card:
    """A group of interchangeable columns."""

    number: int
    members: tuple[str, ...]
    left_out: int
    suggested: tuple[str, ...]
    is_needed: bool
    others: tuple[str, ...]
    cost: str


def cards(result: RelevanceResult) -> list[Card]:
    """Describe the groups with a choice: members, the suggested one, who else replaces them."""
    found = []
    for g, members in enumerate(result.interchangeable):
        replacing = {
            name for member in members for names in result.substitutes[member] for name in names
        }
        others = sorted(replacing - set(members))
        worth = result.evidence.worth.groups
        found.append(
            Card(
                number=g + 1,
                members=members[:MOST_MEMBERS],
                left_out=max(len(members) - MOST_MEMBERS, 0),
                suggested=wording.suggested(result, g),
                is_needed=wording.is_needed(result, g),
                others=tuple(others[:MOST_MEMBERS]),
                cost=wording.share(worth[g].least) if worth else "",
            )
        )
    return found


def substitutes_map(result: RelevanceResult) -> dict[str, Any]:
    """Place the map of substitutes on the page, in pixels."""
    layout = redundancy_layout(result, MOST_NODES)
    nodes = [
        {
            "x": _pixels(node.x),
            "y": _pixels(node.y),
            "label": shorten(result.feature_names[node.column]),
            "label_x": _pixels(node.x) + 10 * node.side,
            "anchor": "start" if node.side > 0 else "end",
            "relevance": CLASS_NAMES[int(result.classes[node.column])],
            "suggested": node.representative,
        }
        for node in layout.nodes
    ]
    edges = []
    for edge in layout.edges:
        a, b = layout.nodes[edge.source], layout.nodes[edge.target]
        # Arrows end at the rim of a node.
        back = min(0.4 / max(np.hypot(b.x - a.x, b.y - a.y), 1e-9), 0.5)
        ends = [(a, b), (b, a)]
        x1, x2 = (_pixels(p.x + back * (q.x - p.x)) for p, q in ends)
        y1, y2 = (_pixels(p.y + back * (q.y - p.y)) for p, q in ends)
        line = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        edges.append(line | {"together": edge.together, "mutual": edge.mutual})
    return {
        "width": _pixels(layout.width),
        "height": _pixels(layout.height),
        "nodes": nodes,
        "edges": edges,
        "rings": [
            {"title": ring.title, "x": _pixels(ring.x), "title_y": _pixels(ring.y - ring.ry - 0.7)}
            for ring in layout.rings
        ],
        "notes": layout.notes,
    }


def _pixels(rows: float) -> float:
    """Turn rows of text into pixels."""
    return round(22 * rows, 1)
