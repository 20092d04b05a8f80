"""Verdicts in words: a line, a few lines, a page, and sentences about one column."""

from __future__ import annotations

from squamish.report.wording.adjustment import without_judged
from squamish.report.wording.explanation import explain
from squamish.report.wording.markdown import markdown_page
from squamish.report.wording.names import alternatives, listed, no_such_column
from squamish.report.wording.notebook import notebook_html
from squamish.report.wording.path import Step, steps
from squamish.report.wording.rows import (
    UNDECIDED,
    class_name,
    cost,
    cost_heading,
    group,
    half_sample_heading,
    in_half_samples,
    ordered,
    replacement,
    rows_that_decide,
)
from squamish.report.wording.summary import (
    duration,
    method_name,
    one_line,
    scale,
    score,
    score_of_all,
    verdict,
)
from squamish.report.wording.survival import concordance, thirds
from squamish.report.wording.worth import (
    exchange,
    is_needed,
    keep,
    most,
    places,
    searched,
    share,
    signatures,
    stand_ins,
    suggested,
    suggested_columns,
    together,
    worth_of,
)

__all__ = [
    "UNDECIDED",
    "Step",
    "alternatives",
    "class_name",
    "concordance",
    "cost",
    "cost_heading",
    "duration",
    "exchange",
    "explain",
    "group",
    "half_sample_heading",
    "in_half_samples",
    "is_needed",
    "keep",
    "listed",
    "markdown_page",
    "method_name",
    "most",
    "no_such_column",
    "notebook_html",
    "one_line",
    "ordered",
    "places",
    "replacement",
    "rows_that_decide",
    "scale",
    "score",
    "score_of_all",
    "searched",
    "share",
    "signatures",
    "stand_ins",
    "steps",
    "suggested",
    "suggested_columns",
    "thirds",
    "together",
    "verdict",
    "without_judged",
    "worth_of",
]
