"""Let contestants say which columns the nodes of networks need, in whatever environment they need.

    ENVIRONMENT/bin/python benchmarks/network_fits.py --contestants NAME ... --tables FILE ...
        --journal FILE [--step 2] [--limit N] [--jobs 2] [--seconds 300]

Every fit is a line of the journal, and those that are there are not repeated.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import time
import warnings
from collections.abc import Iterable
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from journal import FAILED, TOO_LONG, Journal, Progress, Row
from limited import Ending, answers
from network_rivals import CONTESTANTS, contestants
from network_tables import ALPHA, NetworkTable

KEY = ("contestant", "network", "rows", "seed", "target")
MEASURED = (
    "columns",
    "members",
    "detectable",
    "detectable by ratio",
    "detectable given all",
    "called",
    "hits",
    "detectable hits",
    "false",
    "seconds",
    "status",
)
# Every second node, by name, is a target.
STEP = 2
# How much of a message is kept.
MOST_CHARACTERS = 160


class Fit(NamedTuple):
    """A target to be judged: by whom, and in which table."""

    contestant: str
    table: str
    target: str

    @property
    def key(self) -> tuple[str | float, ...]:
        """What names it in a journal."""
        network, n_rows, seed = Path(self.table).stem.rsplit("-", 2)
        return self.contestant, network, float(n_rows), float(seed), self.target


def fits(names: Iterable[str], tables: Iterable[Path], step: int, limit: int | None) -> list[Fit]:
    """Return all fits; contestants take turns on a target, so that other load hits all alike."""
    found, names = [], list(names)
    for path in tables:
        table = NetworkTable.load(path)
        able = set(contestants(table.is_discrete))
        found += [
            Fit(name, str(path), target)
            for target in table.targets(step)[:limit]
            for name in names
            if name in able
        ]
    return found


def missing(journal: Journal, wanted: Iterable[Fit], seconds: float) -> list[Fit]:
    """Return the fits that are not done: over the limit is done, unless there is more time now."""
    done = journal.settled(seconds)
    return [fit for fit in wanted if fit.key not in done]


def judge(contestant: str, table: str, target: str) -> Row:
    """Let a contestant judge a target; seconds are those of a processor."""
    rows = NetworkTable.load(Path(table))
    X, y, others = rows.split(target)
    called, status = np.zeros(len(others), dtype=bool), ""
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            called[others] = CONTESTANTS[contestant](X, y, ALPHA)
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        status = f"{FAILED}: {message[:MOST_CHARACTERS]}"
    seconds = round(time.process_time() - begin, 2)
    return {**rate(rows, target, called), "seconds": seconds, "status": status}


def rate(table: NetworkTable, target: str, called: NDArray[np.bool_]) -> Row:
    """Compare what is called with the Markov blanket; false calls are named."""
    row = table.nodes.tolist().index(target)
    truth, detectable = table.blanket[row], table.detectable[row]
    return {
        "columns": len(truth) - 1,
        "members": int(truth.sum()),
        "detectable": int(detectable.sum()),
        "detectable by ratio": int(table.detectable_by_ratio[row].sum()),
        "detectable given all": int(table.detectable_given_all[row].sum()),
        "called": int(called.sum()),
        "hits": int((called & truth).sum()),
        "detectable hits": int((called & detectable).sum()),
        "false": " ".join(table.nodes[called & ~truth]),
    }


def line(fit: Fit, answer: Row | Ending, seconds: float) -> Row:
    """Put what came of a fit in a line of the journal; who gave no answer called nothing."""
    if isinstance(answer, Ending):
        table = NetworkTable.load(Path(fit.table))
        nothing = rate(table, fit.target, np.zeros(len(table.nodes), dtype=bool))
        over = f"{TOO_LONG}{seconds:g} s"
        status = over if answer.over_the_limit else f"{FAILED}: {answer}"
        answer = {**nothing, "seconds": nan, "status": status}
    return {**dict(zip(KEY, fit.key, strict=True)), **answer}


def run(journal: Journal, wanted: Iterable[Fit], *, jobs: int, seconds: float) -> None:
    """Judge what is missing in several processes, and write down what comes of it."""
    todo = missing(journal, wanted, seconds)
    progress = Progress(len(todo))
    for fit, answer in answers(judge, todo, jobs=jobs, limit=seconds):
        row = line(fit, answer, seconds)
        journal.add(row)
        told = f"{row['hits']} of {row['members']}, false: {row['false'] or '-'} {row['status']}"
        name = f"{fit.contestant}, {Path(fit.table).stem}, {fit.target}"
        progress.step(f"{name}: {told.rstrip()}")


def main() -> None:
    """Judge what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--contestants", nargs="+", required=True, choices=CONTESTANTS)
    parser.add_argument("--tables", nargs="+", required=True, type=Path)
    parser.add_argument("--journal", required=True, type=Path)
    parser.add_argument("--step", type=int, default=STEP)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    journal = Journal(options.journal, KEY, MEASURED)
    wanted = fits(options.contestants, options.tables, options.step, options.limit)
    run(journal, wanted, jobs=options.jobs, seconds=options.seconds)


if __name__ == "__main__":
    main()
