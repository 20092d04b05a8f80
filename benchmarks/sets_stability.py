"""How much minimal sets and signatures hang on the seed, and on the rows.

    python benchmarks/sets_stability.py [--seeds 5] [--halves 10] [--jobs -1]

Real tables are judged with several seeds, and halves of their rows with one.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from markdown import table
from squamish import RelevanceSelector
from worth_nested import load

OUT = Path(__file__).parent / "results" / "sets_stability.md"
TABLES = ("wine", "breast cancer", "diabetes", "Hitters", "bdims", "car_prices")


class Sets(NamedTuple):
    """What a fit found."""

    minimal: frozenset[str]
    kept: float
    signatures: int


def judge(name: str, seed: int, half: int | None = None) -> Sets:
    """Judge a table, or a random half of its rows."""
    X, y, task = load(name)
    if half is not None:
        rows = np.sort(np.random.default_rng(half).permutation(len(y))[: len(y) // 2])
        X, y = X.iloc[rows], y[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = RelevanceSelector(task=task, random_state=seed, n_jobs=1).fit(X, y).result_
    lost = (result.evidence.minimal_loss - result.evidence.loss) / result.gain
    return Sets(frozenset(result.select("minimal")), 1 - lost, result.signatures.count)


def overlap(found: Sequence[Sets]) -> float:
    """Return the mean overlap of two minimal sets (Jaccard)."""
    pairs = combinations([one.minimal for one in found], 2)
    return float(np.mean([len(a & b) / max(len(a | b), 1) for a, b in pairs]))


def lines(names: Sequence[str], found: Sequence[Sequence[Sets]]) -> Iterator[list[str]]:
    """Yield a line for each table."""
    for name, own in zip(names, found, strict=True):
        sizes = [len(one.minimal) for one in own]
        counts = [one.signatures for one in own]
        kept = [one.kept for one in own]
        yield [
            name,
            f"{min(sizes)} to {max(sizes)}",
            f"{overlap(own):.2f}",
            f"{min(kept):.3f} to {max(kept):.3f}",
            f"{min(counts):,} to {max(counts):,}",
            f"{np.median(counts):,.0f}",
        ]


def main() -> None:
    """Judge all tables, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--halves", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    jobs = [(name, seed, None) for name in TABLES for seed in range(options.seeds)]
    halves = [(name, 0, half) for name in TABLES for half in range(options.halves)]
    found = Parallel(n_jobs=options.jobs)(delayed(judge)(*job) for job in [*jobs, *halves])
    by_seed = [found[k : k + options.seeds] for k in range(0, len(jobs), options.seeds)]
    by_half = [found[k : k + options.halves] for k in range(len(jobs), len(found), options.halves)]
    header = ["table", "minimal set", "overlap", "kept", "signatures", "median"]
    options.out.write_text(
        "# Minimal sets over seeds and rows\n\n"
        "*Overlap* is the mean Jaccard index of two minimal sets, *kept* the share of the gain of "
        "all relevant columns that minimal sets keep whose columns and size were chosen on other "
        "rows. Made by `python benchmarks/sets_stability.py`.\n\n"
        f"## {options.seeds} seeds\n\n{table(header, lines(TABLES, by_seed))}\n"
        f"## {options.halves} random halves of the rows\n\n{table(header, lines(TABLES, by_half))}",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
