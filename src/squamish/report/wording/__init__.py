"""Verdicts in words: a line, a few lines, a page, and sentences about one column."""

from __future__ import annotations

from squamish.report.wording.explanation import explain
from squamish.report.wording.markdown import markdown_page
from squamish.report.wording.names import alternatives, listed, no_such_column
from squamish.report.wording.notebook import notebook_html
from squamish.report.wording.rows import cost, cost_heading, group, ordered, replacement
from squamish.report.wording.summary import (
    duration,
    method_name,
    one_line,
    scale,
    score,
    score_of_all,
    verdict,
)

__all__ = [
    "alternatives",
    "cost",
    "cost_heading",
    "duration",
    "explain",
    "group",
    "listed",
    "markdown_page",
    "method_name",
    "no_such_column",
    "notebook_html",
    "one_line",
    "ordered",
    "replacement",
    "scale",
    "score",
    "score_of_all",
    "verdict",
]
