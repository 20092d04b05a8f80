"""Measure error rates and power of the default method on tables with signals of known class.

    python benchmarks/error_rates.py [--tables 20] [--designs PREFIX ...] [--alphas 0.01 0.1]
                                     [--rates fwer fdr] [--jobs 2] [--out benchmarks/results]

Every table is judged at every alpha, with alpha as bound of the family-wise error and of the false
discovery rate. Every fit is a line of error_rates.csv, and a run that was stopped goes on there;
error_rates.md is made from it, by a run with --tables 0 as well. Delete lines to judge again.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from designs import UNKNOWN
from error_rates_page import KINDS, page
from journal import Journal, Progress, Row
from signal_designs import DESIGNS, EITHER, Drawn
from squamish import CrossfitMethod, RelevanceSelector
from squamish.evidence.relevance import STRONG
from squamish.statistics.multiplicity import ErrorRate

RESULTS = Path(__file__).parent / "results"
RATES = get_args(ErrorRate)
COUNTS = ("present", "absent", "called", "found", "false")
MEASURED = (*(f"{count} {kind}" for kind in KINDS for count in COUNTS), "seconds")


class Fit(NamedTuple):
    """A table to be judged: the number of a draw of a design, and what alpha bounds."""

    design: str
    table: int
    rate: ErrorRate
    alpha: float


def draw(design: str, table: int) -> Drawn:
    """Draw a table of a design, its columns in random order."""
    rng = np.random.default_rng([zlib.crc32(design.encode()), table])
    X, y, truth = DESIGNS[design](rng)
    order = rng.permutation(len(truth))
    return X[:, order.tolist()], y, truth[order]


def judge(fit: Fit) -> Row:
    """Judge a table, and count what is right and wrong."""
    X, y, truth = draw(fit.design, fit.table)
    method = CrossfitMethod(alpha=fit.alpha, error_rate=fit.rate)
    selector = RelevanceSelector(method, random_state=fit.table, n_jobs=1)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classes = selector.fit(X, y).relevance_classes_
    seconds = round(time.process_time() - begin, 2)
    return {**fit._asdict(), **counts(truth, classes), "seconds": seconds}


def counts(truth: NDArray[np.int64], verdict: NDArray[np.int64]) -> Row:
    """Count columns that are relevant, are called so, both, or only called so; strong ones too."""
    row: Row = {}
    for kind, least in KINDS.items():
        known = (truth != UNKNOWN) & ((truth != EITHER) | (least != STRONG))
        is_so, called = truth[known] >= least, verdict[known] >= least
        counted = (is_so, ~is_so, called, is_so & called, ~is_so & called)
        for name, columns in zip(COUNTS, counted, strict=True):
            row[f"{name} {kind}"] = int(columns.sum())
    return row


def wanted(
    n_tables: int, prefixes: Sequence[str], rates: Sequence[ErrorRate], alphas: Sequence[float]
) -> Iterator[Fit]:
    """Yield all fits, a table of every design before the next one of any."""
    chosen = [design for design in DESIGNS if design.startswith(tuple(prefixes))]
    if not chosen:
        raise ValueError(f"no design begins with {' or '.join(prefixes)}; see signal_designs.py")
    for table in range(n_tables):
        for design in chosen:
            for rate in rates:
                for alpha in alphas:
                    yield Fit(design, table, rate, alpha)


def run(journal: Journal, fits: Iterator[Fit], jobs: int) -> None:
    """Make the fits that are missing, and write down every one as soon as it is done."""
    done = journal.done()
    missing = [fit for fit in fits if fit not in done]
    progress = Progress(len(missing))
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for row in parallel(delayed(judge)(fit) for fit in missing):
        journal.add(row)
        progress.step("{design}, table {table}, {rate} {alpha}: {seconds} s".format(**row))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=20, help="tables of each design")
    parser.add_argument("--designs", nargs="+", default=[""], help="how names of designs begin")
    parser.add_argument("--alphas", type=float, nargs="+", default=[0.01, 0.1])
    parser.add_argument("--rates", nargs="+", choices=RATES, default=RATES, help="what it bounds")
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    return parser.parse_args()


def main() -> None:
    """Judge what is missing, and write the page."""
    options = arguments()
    journal = Journal(options.out / "error_rates.csv", Fit._fields, MEASURED)
    fits = wanted(options.tables, options.designs, options.rates, options.alphas)
    run(journal, fits, options.jobs)
    text = "\n".join(page(journal.rows()))
    (options.out / "error_rates.md").write_text(text, encoding="utf-8")
    print(f"see {options.out / 'error_rates.md'}")


if __name__ == "__main__":
    main()
