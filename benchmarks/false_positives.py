"""Count tables of pure noise in which a column is called relevant.

    python benchmarks/false_positives.py [--runs 250] [--mixed-runs 100] [--alphas 0.01 0.05]
                                         [--jobs -1]

Tables of many shapes, some with a column or two only, with normal, skewed, binary and mostly
constant columns and rare flags, and targets of many kinds, none of which has to do with any
column. Then mixed tables of numbers, numbers with gaps, and categories of 2 to 1,000 levels,
whose rows count the same, have weights, or belong to groups. The family-wise error is the share
of tables with even one relevant column; it should be near alpha or below.
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
import polars as pl
from joblib import Parallel, delayed
from numpy.typing import NDArray

from markdown import share
from squamish import CrossfitMethod, RelevanceSelector
from squamish.families import Task

OUT = Path(__file__).parent / "results" / "false_positives.md"
Shapes = tuple[tuple[int, int], ...]
SHAPES: Shapes = ((60, 10), (100, 30), (200, 20), (150, 60), (80, 150))
NARROW: Shapes = ((60, 1), (40, 2), (60, 3), (150, 5), (100, 8))
Draw = Callable[[np.random.Generator, int], NDArray[Any]]
TARGETS: dict[str, Draw] = {
    "two classes": lambda rng, n: rng.integers(0, 2, n),
    "four classes": lambda rng, n: rng.integers(0, 4, n),
    "six positives": lambda rng, n: (np.arange(n) < 6).astype(int),
    "normal amounts": lambda rng, n: rng.standard_normal(n),
    "heavy-tailed amounts": lambda rng, n: rng.standard_t(1.5, n),
    "amounts, mostly zero": lambda rng, n: np.where(
        np.arange(n) < n / 10, rng.exponential(size=n), 0
    ),
    "five ordered classes": lambda rng, n: rng.integers(0, 5, n),
    "ordered classes, one of nine tenths": lambda rng, n: np.searchsorted(
        [0.9, 0.95], (np.arange(n) + 0.5) / n
    ),
}
# Targets that are not what they seem.
TASKS: dict[str, Task] = {name: "ordinal" for name in TARGETS if "ordered classes" in name}


def noise(rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
    """Draw columns of five kinds in equal shares."""
    kinds = (
        rng.standard_normal((n, d)),
        rng.exponential(size=(n, d)) ** 2,
        rng.integers(0, 2, (n, d)).astype(float),
        np.where(rng.random((n, d)) < 0.9, 0.0, rng.standard_normal((n, d))),
        (rng.random((n, d)) < 0.05).astype(float),
    )
    kind = np.arange(d) % len(kinds)
    return np.column_stack([kinds[kind[j]][:, j] for j in range(d)])


def is_wrong(target: str, run: int, alpha: float, shapes: Shapes) -> bool:
    """Fit one table of noise; tell whether any column came out relevant."""
    rng = np.random.default_rng([run, list(TARGETS).index(target)])
    n, d = shapes[run % len(shapes)]
    X, y = noise(rng, n, d), TARGETS[target](rng, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method, task = CrossfitMethod(alpha=alpha), TASKS.get(target)
        selector = RelevanceSelector(method, task=task, random_state=run, n_jobs=1)
        return bool(selector.fit(X, y).support_.any())


ROWS: dict[str, Draw | None] = {
    "alike": None,
    "weighted": lambda rng, n: rng.exponential(size=n),
    "in groups of four": lambda rng, n: rng.integers(0, n // 4, n),
}


def mixed_noise(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """Draw numbers, numbers with gaps, and categories of few and of many levels."""
    columns: dict[str, NDArray[Any]] = {}
    for few, many in zip((2, 3, 5, 8, 12, 13), (15, 25, 40, 80, 300, 1000), strict=True):
        columns[f"number {few}"] = rng.standard_normal(n)
        missing = rng.random(n) < rng.uniform(0.03, 0.6)
        columns[f"gaps {few}"] = np.where(missing, np.nan, rng.exponential(size=n))
        columns[f"{few} levels"] = rng.integers(0, few, n).astype(str)
        columns[f"{many} levels"] = rng.integers(0, many, n).astype(str)
    return pl.DataFrame(columns)


def is_wrong_on_mixed(target: str, rows: str, run: int, alpha: float) -> bool:
    """Fit one mixed table of noise; tell whether any column came out relevant."""
    rng = np.random.default_rng([run, list(TARGETS).index(target), list(ROWS).index(rows)])
    n = (80, 150, 300)[run % 3]
    X, y = mixed_noise(rng, n), TARGETS[target](rng, n)
    draw, argument = ROWS[rows], "sample_weight" if rows == "weighted" else "groups"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method, task = CrossfitMethod(alpha=alpha), TASKS.get(target)
        selector = RelevanceSelector(method, task=task, random_state=run, n_jobs=1)
        return bool(selector.fit(X, y, **({argument: draw(rng, n)} if draw else {})).support_.any())


def rate(name: str, alpha: float, found: list[bool]) -> str:
    """Return a line of the table: how many of the runs went wrong, with an interval."""
    wrong, runs = sum(found), len(found)
    return f"| {' | '.join([name, str(alpha), str(runs), str(wrong), *share(wrong, runs)])} |"


def main() -> None:
    """Run the tables of noise and write the rates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=250, help="tables for each target")
    parser.add_argument("--mixed-runs", type=int, default=100, help="mixed tables for each")
    parser.add_argument("--alphas", type=float, nargs="+", default=[0.01, 0.05])
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    options = parser.parse_args()
    lines = [
        "# Relevant columns in tables of pure noise\n",
        f"{options.runs} tables for each target; share of tables with even one relevant column, "
        "with its 95% interval (Clopper-Pearson).\n",
        f"Made by `python benchmarks/false_positives.py --runs {options.runs} "
        f"--mixed-runs {options.mixed_runs}`.",
    ]
    parallel = Parallel(n_jobs=options.jobs)
    for shapes in (SHAPES, NARROW):
        lines += [
            f"\n## Tables of {', '.join(f'{n} x {d}' for n, d in shapes)}\n",
            "| target | alpha | tables | with a false relevant column | rate | 95% interval |",
            "|---|---|---|---|---|---|",
        ]
        for target in TARGETS:
            for alpha in options.alphas:
                runs = range(options.runs)
                found = parallel(delayed(is_wrong)(target, run, alpha, shapes) for run in runs)
                lines.append(rate(target, alpha, found))
                print(lines[-1], flush=True)
    lines += [
        "\n## Mixed tables\n",
        f"{options.mixed_runs} tables each, of 80, 150 or 300 rows and 24 columns: numbers, "
        "numbers with gaps, categories of 2 to 1,000 levels.\n",
        "| target, rows | alpha | tables | with a false relevant column | rate | 95% interval |",
        "|---|---|---|---|---|---|",
    ]
    for target in TARGETS:
        for rows in ROWS:
            alpha, runs = max(options.alphas), range(options.mixed_runs)
            found = parallel(delayed(is_wrong_on_mixed)(target, rows, run, alpha) for run in runs)
            lines.append(rate(f"{target}, {rows}", alpha, found))
            print(lines[-1], flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
