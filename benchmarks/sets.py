"""Minimal sets, signatures and necessity on tables where they are known, and what they cost.

    python benchmarks/sets.py [--tables 20] [--madelon 5] [--jobs -1] [--out results]

A run that was stopped goes on where it was: every table is a line of sets.csv.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import time
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed

from journal import Journal, Row
from markdown import share, table, with_error
from sets_tables import DESIGNS, Known, draw
from squamish import RelevanceResult, RelevanceSelector
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.methods import crossfit
from squamish.worth.measure import measure_worth

HERE = Path(__file__).parent
KEY = ("design", "seed")
MEASURED = (
    "size",
    "true_size",
    "is_minimal",
    "count",
    "true_count",
    "listed",
    "listed_minimal",
    "checked",
    "as_good",
    "kept",
    "kept_by_five",
    "columns",
    "covered",
    "agreeing",
    "seconds",
    "seconds_worth",
)
# Of very many signatures so many are looked at.
MOST_LISTED = 1000


class _Stopwatch:
    """Adds up the processor time of the stage that measures worth."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, *arguments: Any) -> Any:
        start = time.process_time()
        try:
            return measure_worth(*arguments)
        finally:
            self.seconds += time.process_time() - start


def judge(design: str, seed: int) -> Row:
    """Fit a table, and compare sets and shares with the truth."""
    known = draw(design, seed)
    watch = _Stopwatch()
    start = time.process_time()
    with warnings.catch_warnings(), patch.object(crossfit, "measure_worth", watch):
        warnings.simplefilter("ignore")
        result = RelevanceSelector(random_state=0, n_jobs=1).fit(known.X, known.y).result_
    seconds = time.process_time() - start
    times: Row = {"seconds": round(seconds, 3), "seconds_worth": round(watch.seconds, 3)}
    name: Row = {"design": design, "seed": seed}
    return name | _sets(known, result) | _shares(known, result) | times


def _sets(known: Known, result: RelevanceResult) -> Row:
    minimal, signatures = result.select("minimal"), result.signatures
    listed = list(islice(signatures, MOST_LISTED))
    path = dict(zip(result.path["size"], result.path["kept"], strict=True))
    lost = (result.evidence.minimal_loss - result.evidence.loss) / result.gain
    return {
        "size": len(minimal),
        "true_size": known.size if known.slots else np.nan,
        "is_minimal": int(known.is_minimal(minimal)) if known.slots else np.nan,
        "count": signatures.count,
        "true_count": known.count if known.slots else np.nan,
        "listed": len(listed),
        "listed_minimal": sum(map(known.is_minimal, listed)) if known.slots else np.nan,
        "checked": signatures.n_checked,
        "as_good": signatures.n_as_good,
        "kept": round(1 - lost, 4),
        "kept_by_five": round(float(path.get(5, np.nan)), 4),
    }


def _shares(known: Known, result: RelevanceResult) -> Row:
    """Count the columns whose interval covers the truth, and whose region is their class."""
    necessity, names = result.necessity, result.feature_names
    covered = [
        necessity[name].low <= least + 1e-9 and most - 1e-9 <= necessity[name].high
        for name, (least, most) in known.shares.items()
        if name in necessity
    ]
    regions = [_region(necessity[name].low, necessity[name].most) for name in names if necessity]
    agreeing = [r == c for r, c in zip(regions, result.classes.tolist(), strict=False)]
    return {
        "columns": len(names),
        "covered": sum(covered) if covered else np.nan,
        "agreeing": sum(agreeing),
    }


def _region(low: float, most: float) -> int:
    """Return the class that an interval lies in."""
    if low > 0:
        return STRONG
    return WEAK if most > 0 else IRRELEVANT


def page(rows: list[Row]) -> str:
    """Lay out what was found."""
    known = [row for row in rows if row["true_size"] == row["true_size"]]
    header = [
        "design", "tables", "of the true size", "a true minimal set", "count exact",
        "listed sets that are minimal", "checked anew: as good", "kept", "time with / without",
    ]  # fmt: skip
    return "\n".join(
        [
            "# Sets",
            "",
            "Tables whose minimal sets are known (`sets_tables.py`), with default settings. *Kept* "
            "is the share of the gain of all relevant columns that minimal sets keep whose columns "
            "and size were chosen on other rows. *Time* is processor time of the fit over that of "
            "the same fit without the stage that measures worth. Made by `python "
            "benchmarks/sets.py`.",
            "",
            table(header, _designs(known)),
            "",
            "## MADELON's kind",
            "",
            "2,600 rows, twenty columns that span five dimensions, 480 of noise.",
            "",
            table(
                ["seed", "minimal", "kept", "kept by the best five found", "signatures"],
                _madelon(row for row in rows if row["design"] == "MADELON"),
            ),
            "",
            "## Necessity",
            "",
            *_necessity(rows),
            "",
        ]
    )


def _designs(rows: list[Row]) -> Iterator[list[str]]:
    for design in DESIGNS:
        own = [row for row in rows if row["design"] == design]
        if own:
            yield [design, *_figures(own)]
    if rows:
        yield ["all", *_figures(rows)]


def _figures(rows: list[Row]) -> list[str]:
    n = len(rows)
    sizes = sum(row["size"] == row["true_size"] for row in rows)
    counts = sum(row["count"] == row["true_count"] for row in rows)
    ratios = [
        _number(row, "seconds") / (_number(row, "seconds") - _number(row, "seconds_worth"))
        for row in rows
    ]
    return [
        str(n),
        f"{sizes / n:.2f}",
        f"{_sum(rows, 'is_minimal') / n:.2f}",
        f"{counts / n:.2f}",
        f"{_sum(rows, 'listed_minimal') / _sum(rows, 'listed'):.3f}",
        f"{_sum(rows, 'as_good'):.0f} of {_sum(rows, 'checked'):.0f}",
        with_error([_number(row, "kept") for row in rows], 3),
        f"{np.exp(np.mean(np.log(ratios))):.2f}",
    ]


def _madelon(rows: Iterable[Row]) -> Iterator[list[str]]:
    for row in rows:
        yield [
            f"{row['seed']:.0f}",
            f"{row['size']:.0f}",
            f"{row['kept']:.3f}",
            f"{row['kept_by_five']:.3f}",
            f"{row['count']:,.0f}",
        ]


def _necessity(rows: list[Row]) -> Iterator[str]:
    gaussian = [row for row in rows if row["design"] == "Gaussian"]
    if gaussian:
        covered, columns = _sum(gaussian, "covered"), _sum(gaussian, "columns")
        told, interval = share(round(covered), round(columns))
        yield (
            "Linear targets of correlated columns, some of them copied, with and without noise: "
            "the interval from the lower bound of the least to the upper bound of the most covers "
            f"what the population owes to a column for {told} of {columns:.0f} columns in "
            f"{len(gaussian)} tables ({interval}, 95%)."
        )
        yield ""
    agreeing, columns = _sum(rows, "agreeing"), _sum(rows, "columns")
    yield (
        "Strong by it (a lower bound of the least above 0), weak (a most above 0) and irrelevant "
        f"agree with the verdict for {agreeing / columns:.4f} of {columns:,.0f} columns of all "
        "designs."
    )


def _number(row: Row, column: str) -> float:
    return float(row[column])


def _sum(rows: Iterable[Row], column: str) -> float:
    return float(np.nansum([_number(row, column) for row in rows]))


def main() -> None:
    """Judge what is not in the journal yet, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--madelon", type=int, default=5, help="tables of MADELON's kind")
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS))
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    journal = Journal(options.out / "sets.csv", KEY, MEASURED)
    wanted = [
        (design, seed)
        for design in options.designs
        for seed in range(options.madelon if design == "MADELON" else options.tables)
    ]
    missing = [pair for pair in wanted if pair not in journal.done()]
    jobs = (delayed(judge)(design, seed) for design, seed in missing)
    for row in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(jobs):
        journal.add(row)
        print(row["design"], row["seed"], flush=True)
    (options.out / "sets.md").write_text(page(journal.rows()), encoding="utf-8")


if __name__ == "__main__":
    main()
