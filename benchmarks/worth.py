"""Measure what a selection is worth: columns found where they are known, and prediction.

    python benchmarks/worth.py [--parts chamma real madelon nested] [--tables 10]
                               [--contestants squamish] [--quick] [--jobs 2] [--seconds 600]
                               [--out benchmarks/results]

Parts: chamma, designs of Chamma, Engemann and Thirion, beside hidimstat, which runs in an
environment of its own; real, real columns with targets made from five of them, beside regressions;
madelon, 20 of 500 columns, all replaceable; nested, cross-validated prediction with what was
selected on real tables, beside a lasso and RFECV. Every fit is a line of worth.csv or
worth_nested.csv, and a run that was stopped goes on there; worth.md is made from both, by a run
with --parts alone as well. Delete lines to judge again.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
from pathlib import Path

import worth_fits as known
import worth_nested as nested
from hidimstat_tests import TESTS
from journal import Journal
from worth_fits import OURS, REGRESSION
from worth_page import page
from worth_tables import CHAMMA, MADELON, REAL

RESULTS = Path(__file__).parent / "results"
NESTED = "nested"
# Of each part a table that takes seconds, and of the rivals the fastest.
QUICK_TABLES = ("linear", "wine", MADELON)
QUICK_CONTESTANTS = (OURS, REGRESSION, "CFI, lasso")
QUICK_NESTED = ("wine", "diabetes")


def wanted_fits(options: argparse.Namespace) -> list[known.Fit]:
    """Return the fits of the parts with known columns."""
    found = [
        fit
        for part in (CHAMMA, REAL, MADELON)
        if part in options.parts
        for fit in known.fits(part, options.tables or known.N_TABLES.get(part, 1))
        if fit.contestant in options.contestants
    ]
    if not options.quick:
        return found
    return [
        fit
        for fit in found
        if fit.table in QUICK_TABLES and fit.seed == 0 and fit.contestant in QUICK_CONTESTANTS
    ]


def wanted_nested(options: argparse.Namespace) -> list[nested.Fit]:
    """Return the questions of the nested part."""
    if NESTED not in options.parts:
        return []
    return nested.fits(QUICK_NESTED) if options.quick else nested.fits()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = (CHAMMA, REAL, MADELON, NESTED)
    everybody = (OURS, REGRESSION, *TESTS)
    parser.add_argument(
        "--parts", nargs="*", default=parts, choices=parts, help="what to measure; none: page only"
    )
    parser.add_argument("--tables", type=int, help="tables of each design; default: 10, MADELON 5")
    parser.add_argument(
        "--contestants", nargs="+", default=everybody, choices=everybody, metavar="NAME"
    )
    parser.add_argument("--quick", action="store_true", help="a few small tables of each part")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits at the same time")
    parser.add_argument("--seconds", type=float, default=600, help="processor time of one fit")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    return parser.parse_args()


def main() -> None:
    """Judge what is missing, and write the page."""
    options = arguments()
    journal = Journal(options.out / "worth.csv", known.KEY, known.MEASURED)
    predictions = Journal(options.out / "worth_nested.csv", nested.KEY, nested.MEASURED)
    limits = {"jobs": options.jobs, "seconds": options.seconds}
    absent = known.run(journal, wanted_fits(options), **limits)
    nested.run(predictions, wanted_nested(options), **limits)
    text = "\n".join(page(journal.rows(), predictions.rows(), absent))
    (options.out / "worth.md").write_text(text, encoding="utf-8")
    print(f"see {options.out / 'worth.md'}")


if __name__ == "__main__":
    main()
