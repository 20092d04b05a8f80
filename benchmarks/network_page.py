"""The page on Bayesian networks: who calls which members of the Markov blankets, and what else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import nan

from journal import Row
from markdown import number, select, table, values
from network_rivals import CONTESTANTS, OURS, contestants
from network_tables import GAUSSIAN, NETWORKS
from scoring import mean_of_defined
from squamish import __version__

INTRODUCTION = """\
squamish {version} with its default settings on tables drawn from published Bayesian networks (those
in the wheel of pgmpy; ecoli70 is Gaussian, the others are discrete). The Markov blanket of a node,
its parents, children and other parents of these, is what a model of it needs: these columns are
strongly relevant, and no others. Every second node, by name, is a target, and all other nodes are
columns. Counts are added up over targets; a target that has one value only in a table is left out,
and who gave no verdict called nothing.

Everybody has an alpha of 0.01. IAMB, HITON-MB and BAMB are those of pyCausalFS with its G2 test
(written anew, as its own goes through rows in Python); they do not correct for the number of
columns. Regression is least squares or, for discrete tables, multinomial logistic regression on
all columns with a test of each, corrected by Holm's method.

The oracle knows the network, and so both the conditional distribution of the target given its
blanket, and that without a member. "By t": the mean difference of log-likelihoods is four standard
errors or more above 0. "By ratio": the ratio of likelihoods is so large that it would occur with a
probability of at most 0.01 in any column of the target if none was needed. "Given all": the same
ratio, if the member is missing and all other columns are there, also those outside of the blanket,
which then tell of it: that is what strong means. Nothing of it is false. Learners of blankets need
not show so much: they take a column that tells nothing beside others for one that is not there.
Made by `make networks`, which goes on where it was stopped.
"""
ORACLES = {
    "oracle, by t": "detectable",
    "oracle, by ratio": "detectable by ratio",
    "oracle, given all": "detectable given all",
}


def page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the parts of the page.

    Parameters
    ----------
    rows : sequence of Row
        All fits so far.
    """
    yield "# Markov blankets of Bayesian networks\n"
    yield INTRODUCTION.format(version=__version__)
    parts: dict[str, Callable[[Sequence[Row]], str]] = {
        "F1": lambda some: number(f1(some)),
        "Precision": lambda some: number(precision(some)),
        "Recall": lambda some: number(recall(some)),
        "Recall of what the oracle detects by t": lambda some: number(recall(some, "detectable ")),
        "False calls, of all calls": _false,
    }
    for title, cell in parts.items():
        yield f"## {title}\n"
        yield _by_table(rows, cell, with_oracle=title in ("F1", "Recall"))
    yield "## Seconds of a processor for a target\n"
    yield _by_table(rows, lambda some: number(mean_of_defined(values(some, "seconds")), 1))
    yield from _named(rows)


def total(rows: Sequence[Row], column: str) -> float:
    """Add up a column of counts."""
    return sum(values(rows, column))


def precision(rows: Sequence[Row]) -> float:
    """Return the share of members in what is called; NaN if nothing is."""
    called = total(rows, "called")
    return total(rows, "hits") / called if called else nan


def recall(rows: Sequence[Row], kind: str = "") -> float:
    """Return the share of members, or of detectable ones, that are called."""
    n_members = total(rows, kind.strip() or "members")
    return total(rows, f"{kind}hits") / n_members if n_members else nan


def f1(rows: Sequence[Row]) -> float:
    """Return the F1 of calls against members, over all targets together."""
    both = total(rows, "called") + total(rows, "members")
    return 2 * total(rows, "hits") / both if both else nan


def _of_oracle(rows: Sequence[Row], column: str) -> list[Row]:
    """Return the rows as if the oracle had judged."""
    return [{**row, "called": row[column], "hits": row[column]} for row in rows]


def _false(rows: Sequence[Row]) -> str:
    called = total(rows, "called")
    n_false = called - total(rows, "hits")
    share = f" ({100 * n_false / called:.1f}%)" if called else ""
    return f"{n_false:.0f} of {called:.0f}{share}"


def _tables(rows: Sequence[Row]) -> list[tuple[str, float]]:
    """Return networks and numbers of rows, in the order of the page."""
    there = {(str(row["network"]), float(row["rows"])) for row in rows}
    return sorted(there, key=lambda table: (NETWORKS.index(table[0]), table[1]))


def _by_table(
    rows: Sequence[Row], cell: Callable[[Sequence[Row]], str], *, with_oracle: bool = False
) -> str:
    """Make a table with a line for each network and number of rows."""
    lines = []
    for network, n_rows in _tables(rows):
        here = [row for row in select(rows, network=network) if row["rows"] == n_rows]
        by_name = {name: select(here, contestant=name) for name in CONTESTANTS}
        fullest = max(by_name.values(), key=len)
        counts = [f"{len(fullest)}", f"{total(fullest, 'members'):.0f}"]
        able = contestants(is_discrete=network not in GAUSSIAN)
        cells = [
            _noted(some, cell, len(fullest)) if name in able else "-"
            for name, some in by_name.items()
        ]
        if with_oracle:
            cells += [cell(_of_oracle(fullest, column)) for column in ORACLES.values()]
        lines.append([network, f"{n_rows:,.0f}", *counts, *cells])
    header = ("network", "rows", "targets", "members", *CONTESTANTS)
    return table((*header, *ORACLES) if with_oracle else header, lines)


def _noted(rows: Sequence[Row], cell: Callable[[Sequence[Row]], str], n_targets: int) -> str:
    """Write a cell; say who judged fewer targets, and on how many there was no verdict."""
    if not rows:
        return "not run"
    without = Counter(str(row["status"]).split(":")[0] for row in rows if row["status"])
    notes = [f"{status}: {n}" for status, n in without.items()]
    if len(rows) < n_targets:
        notes.insert(0, f"{len(rows)} targets")
    return cell(rows) + (f" ({'; '.join(notes)})" if notes else "")


def _named(rows: Sequence[Row]) -> Iterator[str]:
    """Name the false calls of squamish, and what it said where it gave no verdict."""
    lines = [
        [str(row["network"]), f"{row['rows']:,.0f}", f"{row['seed']:.0f}", str(row["target"]), what]
        for row in select(rows, contestant=OURS)
        if (what := str(row["false"] or row["status"]).replace("|", "\\|"))
    ]
    if lines:
        yield "## False calls and failures of squamish\n"
        yield table(("network", "rows", "seed", "target", "false calls, or status"), lines)
