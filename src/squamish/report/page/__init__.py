"""The result as one HTML page that needs nothing else: no server, no network, no library."""

from __future__ import annotations

import base64
import json
import zlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.evidence.relevance import CLASS_NAMES, IRRELEVANT, MEANINGS
from squamish.report import wording
from squamish.report.capping import check_cap
from squamish.report.page.groups import cards, substitutes_map
from squamish.report.page.keep import choices, what_to_keep
from squamish.report.page.rows import figures, row
from squamish.report.page.survival import draw_survival

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most close calls, cards of groups, and names of a minimal set that was not searched.
MOST_CLOSE, MOST_CARDS, MOST_MINIMAL = 20, 60, 200
# The most columns that are explained in plain text, 1.5 kB each; the explanations of others are
# packed, which takes a tenth of the room, and a script unpacks them.
MOST_EXPLAINED = 100


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
    rows = [row(result, j) for j in order]
    groups, close = cards(result), list(result.borderline.items())
    return str(
        _environment()
        .get_template("page.html")
        .render(
            result=result,
            counts=[(CLASS_NAMES[c], len(result.names_of(c)), MEANINGS[c]) for c in MEANINGS],
            line=wording.one_line(result),
            without_judged=wording.without_judged(result),
            facts=_facts(result),
            keep=what_to_keep(result),
            rows=rows,
            n_explained=MOST_EXPLAINED,
            packed=_packed([row.why for row in rows[MOST_EXPLAINED:]]),
            n_left_out=len(result.classes) - len(order),
            close=close[:MOST_CLOSE],
            n_close=len(close),
            cards=groups[:MOST_CARDS],
            n_cards_left_out=max(len(groups) - MOST_CARDS, 0),
            survival=draw_survival(result),
            map=substitutes_map(result) if groups else None,
            minimal=result.select("minimal")[:MOST_MINIMAL],
            n_minimal=len(result.select("minimal")),
            cost_heading=wording.cost_heading(result),
            half_sample_heading=wording.half_sample_heading(result),
            evidence={**figures(result, order), "signatures": choices(result)},
            words=result.evidence.vocabulary,
            style=_file("style.css"),
            script=_file("script.js"),
            explorer=_file("explorer.js"),
        )
    )


def _packed(texts: list[str]) -> str:
    """Pack texts for the script of the page; nothing if there are none."""
    data = zlib.compress(json.dumps(texts).encode(), 9)
    return base64.b64encode(data).decode() if texts else ""


def _environment() -> Any:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise ImportError("the report needs Jinja2: pip install 'squamish[report]'") from None
    environment = Environment(
        loader=FunctionLoader(_file),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["number"] = _number
    return environment


def _file(name: str) -> str:
    return files("squamish.report.page").joinpath(name).read_text(encoding="utf-8")


def _number(value: float | None) -> str:
    """Write a number short enough for a table."""
    if value is None or np.isnan(value):
        return ""
    tiny = value != 0 and abs(value) < 1e-4
    return f"{value:.1e}" if tiny else f"{float(f'{value:.2g}'):,.10g}"


def _facts(result: RelevanceResult) -> list[tuple[str, str]]:
    """List what was done, to what, and how to do it again."""
    origin, evidence = result.provenance, result.evidence
    facts = {
        "Data": origin.data,
        "Size": f"{result.n_samples:,} rows, {len(result.classes):,} columns",
        "Target": " \N{EN DASH} ".join(x for x in (origin.target, origin.target_summary) if x),
        "Task": result.task,
        "Adjusted for": ", ".join(result.adjusted_for),
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
