"""The result as one HTML page that needs nothing else: no server, no network, no library."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.arrays import Array
from squamish.evidence.relevance import CLASS_NAMES, IRRELEVANT, MEANINGS
from squamish.report import wording
from squamish.report.capping import check_cap
from squamish.report.redundancy_map import redundancy_layout
from squamish.report.wording.names import shorten

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most substitutes in a row, close calls, cards of groups, names in a card, nodes in the map.
MOST_SETS, MOST_CLOSE, MOST_CARDS, MOST_MEMBERS, MOST_NODES = 3, 20, 60, 30, 60
# The most names of a minimal set.
MOST_MINIMAL = 200


@dataclass(frozen=True)
class Row:
    """A column of the table as the page shows it; numbers are None if there are none."""

    name: str
    relevance: str
    group: str
    substitutes: str
    effect: float | None
    cost: str
    p: float | None
    importance: float | None
    missing: float
    dtype: str
    why: str
    close: bool
    through: bool
    minimal: bool
    undecided: bool


@dataclass(frozen=True)
class Card:
    """A group of interchangeable columns."""

    number: int
    members: tuple[str, ...]
    left_out: int
    representative: tuple[str, ...]
    others: tuple[str, ...]


def html_page(result: RelevanceResult, max_features: int | None = 2000) -> str:
    """Write the page.

    Parameters
    ----------
    result : RelevanceResult
        What it is about.
    max_features : int or None
        The most columns in its table; None for all.

    Returns
    -------
    str
        The page. Whatever comes from the table, such as names, is escaped.
    """
    check_cap(max_features)
    others = np.flatnonzero(result.classes == IRRELEVANT).tolist()
    order = [*wording.ordered(result), *others][:max_features]
    cards = _cards(result)
    close = list(result.borderline.items())
    return _template().render(
        result=result,
        counts=[(CLASS_NAMES[c], len(result.names_of(c)), MEANINGS[c]) for c in MEANINGS],
        line=wording.one_line(result),
        facts=_facts(result),
        rows=[_row(result, j) for j in order],
        n_left_out=len(result.classes) - len(order),
        close=close[:MOST_CLOSE],
        n_close_left_out=max(len(close) - MOST_CLOSE, 0),
        cards=cards[:MOST_CARDS],
        n_cards_left_out=max(len(cards) - MOST_CARDS, 0),
        map=_map(result) if cards else None,
        minimal=result.select("minimal")[:MOST_MINIMAL],
        n_minimal=len(result.select("minimal")),
        cost_heading=wording.cost_heading(result),
        evidence=_figures(result, order),
        words=result.evidence.vocabulary,
        style=_file("style.css"),
        script=_file("script.js"),
    )


def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise ImportError("the report needs Jinja2: pip install 'squamish[report]'") from None
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters["number"] = _number
    return environment.from_string(_file("page.html"))


def _file(name: str) -> str:
    return files("squamish.report").joinpath(name).read_text(encoding="utf-8")


def _number(value: float | None) -> str:
    """Write a number short enough for a table."""
    if value is None or np.isnan(value):
        return ""
    tiny = value != 0 and abs(value) < 1e-4
    return f"{value:.1e}" if tiny else f"{float(f'{value:.2g}'):,.10g}"


def _row(result: RelevanceResult, j: int) -> Row:
    evidence, name = result.evidence, result.feature_names[j]
    return Row(
        name=name,
        relevance=CLASS_NAMES[int(result.classes[j])],
        group=wording.group(result, j),
        substitutes=wording.replacement(result, j, most=MOST_SETS),
        effect=_known(evidence.cost[j]),
        cost=wording.cost(result, j),
        p=_known(evidence.p_value[j]),
        importance=_known(evidence.importance[j]),
        missing=result.columns.missing[j],
        dtype=result.columns.dtypes[j],
        why=wording.explain(result, j),
        close=name in result.borderline,
        through=j in evidence.associations,
        minimal=bool(evidence.minimal[j]),
        undecided=bool(evidence.undecided[j]),
    )


def _cards(result: RelevanceResult) -> list[Card]:
    """Describe the groups with a choice: members, the suggested one, who else replaces them."""
    cards = []
    for g, members in enumerate(result.interchangeable):
        replacing = {
            name for member in members for names in result.substitutes[member] for name in names
        }
        others = sorted(replacing - set(members))
        cards.append(
            Card(
                number=g + 1,
                members=members[:MOST_MEMBERS],
                left_out=max(len(members) - MOST_MEMBERS, 0),
                representative=result.representatives[g],
                others=tuple(others[:MOST_MEMBERS]),
            )
        )
    return cards


def _map(result: RelevanceResult) -> dict[str, Any]:
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


def _facts(result: RelevanceResult) -> list[tuple[str, str]]:
    """List what was done, to what, and how to do it again."""
    origin, evidence = result.provenance, result.evidence
    facts = {
        "Data": origin.data,
        "Size": f"{result.n_samples:,} rows, {len(result.classes):,} columns",
        "Target": " \N{EN DASH} ".join(x for x in (origin.target, origin.target_summary) if x),
        "Task": result.task,
        "Method": wording.method_name(result),
        "Learner": evidence.learner,
        "Score": f"{wording.score(result)}{wording.scale(result)}",
        "With all columns": wording.score_of_all(result),
        "Cost": f"{evidence.n_fits:,} models, {wording.duration(result)}",
        "Seed": "none given" if origin.seed is None else str(origin.seed),
        "Made": origin.created.replace("T", " ").replace("+00:00", " UTC"),
        "Versions": ", ".join(f"{name} {version}" for name, version in origin.versions.items()),
    }
    return [(name, value) for name, value in facts.items() if value]


def _figures(result: RelevanceResult, order: list[int]) -> dict[str, Any]:
    """Collect what the page draws for a column when it is asked for its evidence."""
    evidence = result.evidence
    rounds, shadows = evidence.importance_rounds, evidence.shadow_rounds
    low, high = evidence.removal_null
    bounds = evidence.removal_interval[: 2 if evidence.has_intervals else 0]
    removal = np.vstack([evidence.removal_loss, bounds])
    return {
        "threshold": _known(evidence.importance_threshold),
        "shadow": _five_numbers(shadows.ravel()) if shadows.size else None,
        "null": [_known(low), _known(high)],
        "interval": evidence.has_intervals,
        "real": [_five_numbers(rounds[:, j]) if len(rounds) else None for j in order],
        "removal": [[_known(v) for v in removal[:, j]] for j in order],
    }


def _five_numbers(values: Array) -> list[float] | None:
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return None
    return [_known(v) or 0.0 for v in np.quantile(known, [0, 0.25, 0.5, 0.75, 1])]


def _known(value: float) -> float | None:
    """Round for the page; None for what is not known."""
    return None if not np.isfinite(value) else float(f"{value:.3g}")
