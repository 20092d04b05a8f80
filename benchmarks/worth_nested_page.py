"""The section on nested cross-validation: what selections lose or gain beside all columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan

import numpy as np

import worth_nested as nested
from journal import Row
from markdown import cell, number, select, table, values, with_error
from scoring import mean_of_defined

ON_NESTED = f"""\
Five outer folds. Columns are selected in the training part of each, and a fresh learner is fitted
to the selected columns of the same part: boosted trees (LightGBM), or a linear model with an L2
penalty chosen in folds. Scores are those of the fold: R2, or for classes the share of the log loss
of constant probabilities that is saved. Cells are the difference to the score with all columns,
with its standard error over folds, and in brackets the mean number of columns; **worse** marks what
is worse by more than one standard error. Of tables with more than {nested.MOST_ROWS:,} rows so many
are drawn. Relevant, minimal and strong are selections of squamish; lasso is LassoCV or
logistic regression with an L1 penalty; RFECV eliminates columns of a forest one by one.
"""

ON_COUNTS = """\
Over the tables above, for each learner. By the rule of one standard error (Breiman and others), a
selection is as good if its mean score is within one standard error of the score of all columns.
The stricter count is by the standard error of the difference, fold by fold, which is **worse**
above. Columns are the mean share of all columns that is kept.
"""
COUNTED = (
    "selection",
    *(
        f"{who}: {what}"
        for who in (nested.BOOSTED, nested.LINEAR)
        for what in ("as good", "strict")
    ),
    "columns",
)


def mean_seconds(rows: Sequence[Row]) -> str:
    """Write the mean time of fits."""
    return number(mean_of_defined(values(rows, "seconds")), 1)


def on_prediction(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the section, with a table for each learner."""
    yield "## Prediction with the selected columns\n"
    yield ON_NESTED
    names = [name for some in nested.SELECTIONS.values() for name in some]
    there = [name for name in nested.TABLES if select(rows, table=name)]
    for learner in (nested.BOOSTED, nested.LINEAR):
        lines = []
        for name in there:
            here = select(rows, table=name)
            base = {row["fold"]: float(row[learner]) for row in select(here, selection=nested.ALL)}
            cells = [_difference(select(here, selection=s), base, learner) for s in names[1:]]
            everything = f"{with_error(list(base.values()), 3)} ({here[0]['columns']:.0f})"
            size = f"{name}, {here[0]['rows']:,.0f} rows, {here[0]['task']}"
            lines.append([size, everything, *cells])
        yield f"### Scored by {learner}\n"
        yield table(("table", *names), lines)
    yield "### How often a selection is as good\n"
    yield ON_COUNTS
    yield table(COUNTED, counts(rows, there, names[1:]))
    yield "### Seconds of a selection\n"
    yield table(
        ("table", *names[1:]),
        (
            [name, *(mean_seconds(select(rows, table=name, selection=s)) for s in names[1:])]
            for name in there
        ),
    )


def counts(rows: Sequence[Row], tables: Sequence[str], names: Sequence[str]) -> Iterator[list[str]]:
    """Yield for each selection in how many tables it is as good as all columns."""
    for name in names:
        line = [name]
        for learner in (nested.BOOSTED, nested.LINEAR):
            found = [_beside_all(rows, table_name, name, learner) for table_name in tables]
            known = [(base, paired) for base, paired in found if paired]
            within = [np.mean(paired) >= -_error(base) for base, paired in known]
            strict = [not is_worse(paired) for _, paired in known]
            line += [f"{sum(within)} of {len(known)}", f"{sum(strict)} of {len(known)}"]
        sizes = [
            (float(row["selected"]), float(row["columns"])) for row in select(rows, selection=name)
        ]
        shares = [kept / all_ for kept, all_ in sizes if not isnan(kept)]
        yield [*line, f"{np.mean(shares):.0%}" if shares else "-"]


def _beside_all(
    rows: Sequence[Row], name: str, selection: str, learner: str
) -> tuple[list[float], list[float]]:
    """Return the scores of all columns, and how a selection differs, fold by fold."""
    here = select(rows, table=name)
    base = {row["fold"]: float(row[learner]) for row in select(here, selection=nested.ALL)}
    paired = [
        float(row[learner]) - base.get(row["fold"], nan)
        for row in select(here, selection=selection)
    ]
    return list(base.values()), [value for value in paired if not isnan(value)]


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def is_worse(differences: Sequence[float]) -> bool:
    """Tell whether the mean difference is below zero by more than its standard error."""
    if len(differences) < 2:
        return False
    return bool(np.mean(differences) < -_error(differences))


def _difference(rows: Sequence[Row], base: dict[str | float, float], learner: str) -> str:
    """Write how a selection differs from all columns, fold by fold."""
    paired = [float(row[learner]) - base.get(row["fold"], nan) for row in rows]
    defined = [value for value in paired if not isnan(value)]
    if not rows:
        return "not run"
    mark = " **worse**" if is_worse(defined) else ""
    size = number(mean_of_defined(values(rows, "selected")), 1)
    return f"{cell(rows, paired, 3)} ({size}){mark}"
