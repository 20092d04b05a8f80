"""The page on the worth of selections: known columns found, and what is predicted with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import isnan, nan

import numpy as np

from hidimstat_tests import FDR, TESTS
from journal import Row
from markdown import cell, number, select, share, table, values, with_error
from network_tables import ALPHA
from published import CHAMMA_POWER
from squamish import __version__
from worth_fits import OURS, REGRESSION
from worth_nested_page import mean_seconds, on_prediction
from worth_tables import CHAMMA, CLUSTERS, MADELON, RDATASETS, REAL, REAL_KINDS, SKLEARN

INTRODUCTION = f"""\
squamish {__version__} with its default settings (a family-wise alpha of {ALPHA}), one thread.
Seconds are those of a processor; behind ± are standard errors, intervals are those of Clopper and
Pearson (95%). Who gave no verdict called nothing. Made by `make worth`, which goes on where it was
stopped.
"""
ON_CHAMMA = f"""\
The five designs of Chamma, Engemann and Thirion (2023): 1,000 rows of ten blocks of five columns
with an autoregressive correlation of 0.8, 20 signals with effects of 0.5, 1, 2 or 3 in size, a
signal-to-noise ratio of 3.6. Power is the share of the signals that are called strong. AUC is that
of telling signals from all other columns by what the removal of a column costs: for squamish the
effect (the loss that is added, as a share of what the model gains), with columns that were not
tested, because they are irrelevant, last; for CFI and LOCO the mean importance over folds, for
knockoffs their statistic W.

CFI, LOCO and knockoffs are those of hidimstat 0.4 with its defaults: five folds, boosted trees or a
lasso of scikit-learn. "At {ALPHA}" is a family-wise error (Holm) for all but knockoffs, which have
a false discovery rate of {FDR}; "uncorrected" is hidimstat's own selection, a p-value below 0.05.
What is printed is the power of CPI around a deep network, at an uncorrected 0.05.
"""
ON_REAL = """\
Real columns, from scikit-learn and from packages of R, and a target that is made from five of them,
drawn by the name of the table: a sum (linear), a sum of curves (additive), or two products and one
column by itself (interaction), as an amount or cut into two classes at the median. The five tell
80% of the variance. Columns that others tell with an R2 above 0.99 (all others in a line, in
logarithms or in trees, or one of them by its levels or ranks) are not among the five, so that each
is strong; all other columns are not. Regression is least squares or logistic regression on all
columns, with a test of each, corrected by Holm's method at 0.01; it is right about what is linear
only.
"""
ON_MADELON = """\
`make_classification(2600, 500, n_informative=5, n_redundant=15)`, columns in random order, with two
clusters for each class, and with sixteen as in MADELON. Twenty columns are relevant, each is a
linear function of five others, so that none is strong, and five would do. The loss is that of the
best learner, out of sample, on all relevant columns and on the minimal set.
"""


def page(
    rows: Sequence[Row], nested_rows: Sequence[Row], absent: Collection[str] = ()
) -> Iterator[str]:
    """Yield the parts of the page.

    Parameters
    ----------
    rows, nested_rows : sequence of Row
        All fits so far.
    absent : collection of str
        Who could not be installed.
    """
    yield "# What a selection is worth\n"
    yield INTRODUCTION
    if absent:
        yield f"**Could not be installed here: {'; '.join(sorted(absent))}.**\n"
    sections = {
        CHAMMA: ("Signals among correlated columns", ON_CHAMMA, _chamma),
        REAL: ("Real columns, simulated targets", ON_REAL, _real),
        MADELON: ("Everything replaceable", ON_MADELON, _madelon),
    }
    for part, (title, text, lay_out) in sections.items():
        some = select(rows, part=part)
        if some:
            yield f"## {title}\n"
            yield text
            yield from lay_out(some)
    if nested_rows:
        yield from on_prediction(nested_rows)


def _total(rows: Iterable[Row], column: str) -> float:
    return float(np.nansum(values(rows, column)))


def _shares(rows: Sequence[Row], found: str, present: str = "present") -> list[float]:
    return [float(row[found]) / float(row[present]) if row[present] else nan for row in rows]


def _wrong(rows: Sequence[Row], column: str = "false") -> str:
    """Count tables with any false column."""
    known = [value for value in values(rows, column) if not isnan(value)]
    return f"{sum(value > 0 for value in known)} of {len(known)}" if known else "-"


def _chamma(rows: Sequence[Row]) -> Iterator[str]:
    lines = []
    for model, printed in CHAMMA_POWER.items():
        here = select(rows, table=model)
        if not here:
            continue
        lines += [[model, *_rival(name, select(here, contestant=name))] for name in (OURS, *TESTS)]
        lines.append(
            [model, "CPI, deep network (printed)", *4 * ["-"], f"{printed:.3f}", *4 * ["-"]]
        )
    header = (
        "design",
        "who",
        "tables",
        f"power at {ALPHA}",
        "tables with a false column",
        "false columns",
        "power, uncorrected",
        "tables with a false column, uncorrected",
        "share of other columns called, uncorrected",
        "AUC",
        "seconds",
    )
    yield table(header, lines)


def _rival(name: str, rows: Sequence[Row]) -> list[str]:
    """Write what one contestant did in one design."""
    if not rows:
        return [name, "not run", *8 * ["-"]]
    others = sum(float(row["columns"]) - float(row["present"]) for row in rows)
    uncorrected = _shares(rows, "uncorrected found")
    type_one = _total(rows, "uncorrected false") / others
    return [
        name,
        f"{len(rows)}",
        cell(rows, _shares(rows, "found"), 3),
        _wrong(rows),
        f"{_total(rows, 'false'):.0f}",
        with_error(uncorrected, 3),
        _wrong(rows, "uncorrected false"),
        "-" if np.isnan(uncorrected).all() else number(type_one, 3),
        with_error(values(rows, "AUC"), 3),
        mean_seconds(rows),
    ]


def _real(rows: Sequence[Row]) -> Iterator[str]:
    lines = []
    for kind in REAL_KINDS:
        for name in (OURS, REGRESSION):
            some = select(rows, kind=kind, contestant=name)
            if some:
                n_wrong = sum(float(row["false"]) > 0 for row in some)
                lines.append(
                    [
                        kind,
                        name,
                        f"{len(some)}",
                        cell(some, _shares(some, "found"), 3),
                        f"{_total(some, 'false'):.0f}",
                        f"{n_wrong}",
                        *share(n_wrong, len(some)),
                        mean_seconds(some),
                    ]
                )
    header = (
        "target",
        "who",
        "tables",
        "found of the five",
        "false columns",
        "tables with any",
        "share",
        "95% interval",
        "seconds",
    )
    yield table(header, lines)
    yield "### Table by table\n"
    yield table(("table", "rows", "columns", *_real_columns()), _by_table(rows))
    yield from _false(rows)


def _real_columns() -> list[str]:
    return [*REAL_KINDS, *(f"{kind} ({REGRESSION})" for kind in REAL_KINDS[:2])]


def _by_table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Yield how many of the five were found, and what is false besides, by squamish first."""
    for name in (*SKLEARN, *RDATASETS):
        here = select(rows, table=name)
        if here:
            cells = [_found(select(here, kind=kind, contestant=OURS)) for kind in REAL_KINDS]
            cells += [_found(select(here, kind=k, contestant=REGRESSION)) for k in REAL_KINDS[:2]]
            yield [name, f"{here[0]['rows']:,.0f}", f"{here[0]['columns']:.0f}", *cells]


def _found(rows: Sequence[Row]) -> str:
    if not rows:
        return "not run"
    false = f", {_total(rows, 'false'):.0f} false" if _total(rows, "false") else ""
    status = "".join(f" ({str(row['status']).split(':')[0]})" for row in rows if row["status"])
    return f"{_total(rows, 'found'):.0f}{false}{status}"


def _false(rows: Sequence[Row]) -> Iterator[str]:
    """Name the false calls of squamish, and what it said where it gave no verdict."""
    lines = [
        [str(row["table"]), str(row["kind"]), what]
        for row in select(rows, contestant=OURS)
        if (what := str(row["false names"] or row["status"]).replace("|", "\\|"))
    ]
    if lines:
        yield "### False calls and failures of squamish\n"
        yield table(("table", "target", "false calls, or status"), lines)


def _madelon(rows: Sequence[Row]) -> Iterator[str]:
    lines = []
    for kind in CLUSTERS:
        some = select(rows, kind=kind)
        if some:
            lines.append(
                [
                    kind,
                    f"{len(some)}",
                    cell(some, values(some, "relevant found"), 1),
                    f"{_total(some, 'relevant false'):.0f}",
                    f"{_total(some, 'called'):.0f}",
                    *(
                        with_error(values(some, name), digits)
                        for name, digits in (
                            ("minimal", 1),
                            ("minimal loss", 3),
                            ("loss", 3),
                            ("constant loss", 3),
                        )
                    ),
                    mean_seconds(some),
                ]
            )
    header = (
        "classes",
        "tables",
        "relevant found, of 20",
        "others called relevant",
        "called strong",
        "columns of the minimal set",
        "its loss",
        "loss of all relevant columns",
        "loss of a constant",
        "seconds",
    )
    yield table(header, lines)
