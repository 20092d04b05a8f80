"""Count tables of pure noise in which a column is called relevant.

    python benchmarks/false_positives.py [--runs 250] [--mixed-runs 100] [--alphas 0.01 0.05]
                                         [--jobs -1] [--outcomes]

Tables of many shapes, some with a column or two only, with normal, skewed, binary and mostly
constant columns and rare flags, and targets of many kinds, none of which has to do with any
column. Then mixed tables of numbers, numbers with gaps, and categories of 2 to 1,000 levels,
whose rows count the same, have weights, or belong to groups. The family-wise error is the share
of tables with even one relevant column; it should be near alpha or below.

With --outcomes, the same of times and counts (results/false_positives_outcomes.md): times that are
lost at random, or by a column that tells nothing else, counts that come in clusters, with and
without exposures, and the times of real tables in random order.
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

from concordance import OF_R, of_r
from markdown import share
from squamish import CrossfitMethod, RelevanceSelector
from squamish.families import Task
from squamish.table.times import PAIRS

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
        return bool(selector.fit(X, y).relevance_classes_.any())


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
        return bool(
            selector.fit(
                X, y, **({argument: draw(rng, n)} if draw else {})
            ).relevance_classes_.any()
        )


LOST_BY = ("normal", "skewed", "binary", "mostly constant", "rare flag")
# Rows are lost so much more often by a standard deviation of a column: e^1.5 is 4.5 times.
LOST, LEAST_ROWS = 1.5, 100
OUTCOMES_OUT = OUT.with_name("false_positives_outcomes.md")


def times(rng: np.random.Generator, by: NDArray[np.float64], censored: float) -> NDArray[Any]:
    """Draw times that nothing tells anything of; how soon rows are lost, ``by`` does."""
    event, lost = rng.exponential(size=len(by)), rng.exponential(size=len(by)) / np.exp(by)
    scale = np.quantile(event / lost, 1 - censored)
    y = np.empty(len(by), dtype=PAIRS)
    y["event"], y["time"] = event <= scale * lost, np.minimum(event, scale * lost)
    return y


def is_wrong_on_times(by: str, direction: float, run: int, alpha: float) -> bool:
    """Fit one table of noise in which a column of a kind tells who is lost."""
    rng = np.random.default_rng([run, len(by), int(direction > 0), int(direction < 0)])
    n, d = SHAPES[run % len(SHAPES)]
    X = noise(rng, max(n, LEAST_ROWS), d)
    x = X[:, LOST_BY.index(by)] if by in LOST_BY else np.zeros(len(X))
    z = np.clip((x - x.mean()) / max(x.std(), 1e-9), -3, 3)
    return _is_wrong(X, times(rng, direction * LOST * z, 0.6), run, alpha)


def is_wrong_on_counts(kind: str, run: int, alpha: float) -> bool:
    """Fit one table of noise with counts of a kind."""
    rng = np.random.default_rng([run, len(kind)])
    n, d = SHAPES[run % len(SHAPES)]
    exposure = rng.exponential(size=n) + 0.1
    means = {
        "counts": np.full(n, 1.0),
        "counts in clusters": 2 * rng.gamma(0.5, 2, n),
        "clusters, with exposures": 2 * exposure * rng.gamma(1, 1, n),
    }[kind]
    given = {"exposure": exposure} if kind.endswith("exposures") else {}
    return _is_wrong(noise(rng, n, d), rng.poisson(means), run, alpha, task="counts", **given)


def _is_wrong(X: Any, y: Any, run: int, alpha: float, task: Any = None, **given: Any) -> bool:
    method = CrossfitMethod(alpha=alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = RelevanceSelector(method, task=task, random_state=run, n_jobs=1)
        return bool(selector.fit(X, y, **given).relevance_classes_.any())


def audited(name: str, n_shuffles: int, alpha: float) -> tuple[int, int]:
    """Shuffle the times of a real table; return in how many a column is relevant, and of how many.

    Events stay with their times.
    """
    X, y = of_r(name)
    selector = RelevanceSelector(CrossfitMethod(alpha=alpha), random_state=0, n_jobs=1)
    found = selector.audit(X, y, n_shuffles=n_shuffles)
    return found.n_found, found.n_shuffles


def outcomes(runs: int, alphas: list[float], parallel: Parallel) -> None:
    """Write the page of times and counts."""
    head = ["| target | alpha | tables | with a false relevant column | rate | 95% interval |"]
    lines = [
        "# Relevant columns in times and counts that nothing tells anything of\n",
        f"{runs} tables of each kind, of the sizes and columns of [false positives]"
        f"(false_positives.md), times with {LEAST_ROWS} rows or more and 60% lost. Where a column "
        f"tells who is lost, rows are lost {np.exp(LOST):.1f} times as often by a standard "
        "deviation of it, in one direction or the other.\n",
        f"Made by `python benchmarks/false_positives.py --outcomes --runs {runs} --alphas "
        f"{' '.join(map(str, alphas))}`.\n",
        *head,
        "|---|---|---|---|---|---|",
    ]
    jobs: list[tuple[str, Any, tuple[Any, ...]]] = [
        ("times, lost at random", is_wrong_on_times, ("nothing", 0.0))
    ]
    jobs += [
        (f"times, lost {word} by a {kind} column", is_wrong_on_times, (kind, sign))
        for kind in LOST_BY
        for word, sign in (("sooner", 1.0), ("later", -1.0))
    ]
    kinds = ("counts", "counts in clusters", "clusters, with exposures")
    jobs += [(kind, is_wrong_on_counts, (kind,)) for kind in kinds]
    for name, function, arguments in jobs:
        for alpha in alphas:
            found = parallel(delayed(function)(*arguments, run, alpha) for run in range(runs))
            lines.append(rate(name, alpha, found))
            print(lines[-1], flush=True)
            OUTCOMES_OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in OF_R:
        alpha = max(alphas)
        wrong, n = audited(name, runs, alpha)
        lines.append(rate(f"{name}, shuffled", alpha, [True] * wrong + [False] * (n - wrong)))
        print(lines[-1], flush=True)
    OUTCOMES_OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


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
    parser.add_argument("--outcomes", action="store_true", help="times and counts instead")
    options = parser.parse_args()
    if options.outcomes:
        outcomes(options.runs, options.alphas, Parallel(n_jobs=options.jobs))
        return
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
