"""Count tables of pure noise in which a column is called relevant.

    python benchmarks/false_positives.py [--runs 250] [--alphas 0.01 0.05] [--jobs -1]

Tables of many shapes, with normal, skewed, binary and mostly constant columns, and targets of
many kinds, none of which has to do with any column. The family-wise error is the share of
tables with even one relevant column; it should be near alpha or below.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from squamish import CrossfitMethod, RelevanceSelector

OUT = Path(__file__).parent / "results" / "false_positives.md"
SHAPES = ((60, 10), (100, 30), (200, 20), (150, 60), (80, 150))
Draw = Callable[[np.random.Generator, int], NDArray[Any]]
TARGETS: dict[str, Draw] = {
    "two classes": lambda rng, n: rng.integers(0, 2, n),
    "four classes": lambda rng, n: rng.integers(0, 4, n),
    "six positives": lambda rng, n: (np.arange(n) < 6).astype(int),
    "normal amounts": lambda rng, n: rng.standard_normal(n),
    "heavy-tailed amounts": lambda rng, n: rng.standard_t(1.5, n),
}


def noise(rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
    """Draw columns of four kinds in equal shares."""
    kinds = (
        rng.standard_normal((n, d)),
        rng.exponential(size=(n, d)) ** 2,
        rng.integers(0, 2, (n, d)).astype(float),
        np.where(rng.random((n, d)) < 0.9, 0.0, rng.standard_normal((n, d))),
    )
    kind = np.arange(d) % len(kinds)
    return np.column_stack([kinds[kind[j]][:, j] for j in range(d)])


def is_wrong(target: str, run: int, alpha: float) -> bool:
    """Fit one table of noise; tell whether any column came out relevant."""
    rng = np.random.default_rng([run, list(TARGETS).index(target)])
    n, d = SHAPES[run % len(SHAPES)]
    X, y = noise(rng, n, d), TARGETS[target](rng, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = RelevanceSelector(CrossfitMethod(alpha=alpha), random_state=run, n_jobs=1)
        return bool(selector.fit(X, y).support_.any())


def main() -> None:
    """Run the tables of noise and write the rates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=250, help="tables for each target")
    parser.add_argument("--alphas", type=float, nargs="+", default=[0.01, 0.05])
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    options = parser.parse_args()
    lines = [
        "# Relevant columns in tables of pure noise\n",
        f"{options.runs} tables for each target, of {', '.join(f'{n} x {d}' for n, d in SHAPES)}; "
        "share of tables with even one relevant column, with its 95% interval (Clopper-Pearson).\n",
        f"Made by `python benchmarks/false_positives.py --runs {options.runs}`.\n",
        "| target | alpha | tables | with a false relevant column | rate | 95% interval |",
        "|---|---|---|---|---|---|",
    ]
    for target in TARGETS:
        for alpha in options.alphas:
            wrong = sum(
                Parallel(n_jobs=options.jobs)(
                    delayed(is_wrong)(target, run, alpha) for run in range(options.runs)
                )
            )
            low, high = stats.binomtest(wrong, options.runs).proportion_ci()
            lines.append(
                f"| {target} | {alpha} | {options.runs} | {wrong} | {wrong / options.runs:.3f} "
                f"| {low:.3f} to {high:.3f} |"
            )
            print(lines[-1], flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
