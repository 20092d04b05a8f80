"""Rate the methods on problems with known truth: accuracy, models fitted, seconds.

    python benchmarks/accuracy.py [--methods crossfit paper] [--problems presets families]
                                  [--seeds 20] [--jobs -1]

Every seed gives a fresh table with its columns in random order. Each fit runs in one thread.
Every finished fit is a line of results/accuracy.csv; a run that was stopped goes on there, and
lines of other methods or seeds are kept. The tables in results/accuracy.md are made from it.
Boruta is the first stage of method="paper", rated by itself.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from journal import Journal, Progress, Row
from scoring import METRICS, mean_of_defined, score
from squamish import RelevanceSelector, __version__
from squamish.datasets import ORDERED, OUTCOMES, PRESETS, PROBLEMS, load_problem
from squamish.evidence import PaperEvidence

RESULTS = Path(__file__).parent / "results"
COLUMNS = (*METRICS, "fits", "seconds")
KEY = ("method", "problem", "seed")
FAMILIES = {"presets": PRESETS, "families": PROBLEMS, "ordered": ORDERED, "outcomes": OUTCOMES}
# What the order of classes is worth: the same tables without it.
UNORDERED = "crossfit, order ignored"
# Boruta's shadows double 3,000 columns: a single fit takes longer than all others together.
TOO_SLOW = {("paper", "modules 200 x 3,000")}


def rate(method: str, problem: str, seed: int) -> list[Row]:
    """Fit one table and compare the verdict with the truth."""
    truth = load_problem(problem, shuffle=True, random_state=seed)
    known, task = method, truth.task
    if method == UNORDERED:
        known, task = "crossfit", "classification"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = RelevanceSelector(known, task=task, random_state=seed, n_jobs=1)
        selector.fit(truth.X, truth.y)
    evidence, seconds = selector.result_.evidence, selector.result_.seconds
    verdicts: dict[str, tuple[NDArray[np.int64], float, float]] = {
        method: (selector.relevance_classes_, evidence.n_fits, seconds)
    }
    if isinstance(evidence, PaperEvidence):
        confirmed = evidence.all_relevant.astype(np.int64)
        verdicts["Boruta"] = (confirmed, len(evidence.boruta_history), np.nan)
    rows: list[Row] = []
    for name, (classes, fits, took) in verdicts.items():
        row: Row = {"method": name, "problem": problem, "seed": seed, "fits": fits, "seconds": took}
        row.update(score(truth.classes, classes))
        rows.append(row)
    return rows


def run(tasks: list[tuple[str, str, int]], journal: Journal, jobs: int) -> None:
    """Run what is missing, and write every result as soon as it is there."""
    done = journal.done()
    missing = [task for task in tasks if task not in done and task[:2] not in TOO_SLOW]
    progress = Progress(len(missing))
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for rows in parallel(delayed(rate)(*task) for task in missing):
        for row in rows:
            journal.add(row)
        progress.step("{method}, {problem}, seed {seed}".format(**rows[0]))


def tables(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "# Accuracy and cost on problems with known truth\n"
    yield (
        f"squamish {__version__}, columns shuffled, one thread for each fit. P and R are precision "
        "and recall; exact is the share of columns whose class is exactly right; - means not "
        "defined. A metric is averaged over the seeds in which it is defined. Fits are models; "
        "seconds depend on the machine, so compare them within a table only. Boruta is the first "
        'stage of method="paper" by itself and tells no strong from weak.\n'
    )
    yield "Made by `make benchmark`, which goes on where it was stopped.\n"
    yield from _summary(rows)
    methods = list(dict.fromkeys(str(row["method"]) for row in rows))
    for method in methods:
        yield f"\n## {method}\n"
        yield f"| problem | seeds | {' | '.join(COLUMNS)} |"
        yield "|---" * (len(COLUMNS) + 2) + "|"
        by_problem = _by(rows, "problem", method)
        for problem in (*PRESETS, *PROBLEMS, *ORDERED, *OUTCOMES):
            if problem in by_problem:
                yield _line(problem, len(by_problem[problem]), _average(by_problem[problem]))


def _summary(rows: list[Row]) -> Iterator[str]:
    groups = {
        "Sets 1-8": PRESETS[:8],
        "NL 1-4": PRESETS[8:],
        "other families": PROBLEMS,
        "ordered classes": ORDERED,
        "times and counts": OUTCOMES,
    }
    yield "## Means\n"
    yield f"| problems | method | {' | '.join(COLUMNS)} |"
    yield "|---" * (len(COLUMNS) + 2) + "|"
    for name, problems in groups.items():
        for method in dict.fromkeys(str(row["method"]) for row in rows):
            by_problem = _by(rows, "problem", method)
            means = [_average(by_problem[p]) for p in problems if p in by_problem]
            if means:
                yield _line(name, method, _average(means))
    totals = {
        method: sum(
            mean_of_defined([float(row["seconds"]) for row in found])
            for problem, found in _by(rows, "problem", method).items()
            if problem in PRESETS
        )
        for method in ("crossfit", "paper")
    }
    if all(totals.values()):
        ratio = totals["crossfit"] / totals["paper"]
        yield (
            "\nSeconds for one table of each of the 12 presets: crossfit "
            f"{totals['crossfit']:.1f}, paper {totals['paper']:.1f}; ratio {ratio:.2f}."
        )


def _by(rows: Iterable[Row], field: str, method: str) -> dict[str, list[Row]]:
    out = defaultdict(list)
    for row in rows:
        if row["method"] == method:
            out[str(row[field])].append(row)
    return out


def _average(rows: Iterable[Row]) -> Row:
    rows = list(rows)
    return {column: mean_of_defined([float(row[column]) for row in rows]) for column in COLUMNS}


def _line(name: str, second: object, row: Row) -> str:
    cells = [_cell(column, float(row[column])) for column in COLUMNS]
    return f"| {' | '.join([name, str(second), *cells])} |"


def _cell(column: str, value: float) -> str:
    if value != value:
        return "-"
    return {"fits": f"{value:.0f}", "seconds": f"{value:.2f}"}.get(column, f"{value:.3f}")


def _methods(methods: list[str], problem: str) -> list[str]:
    """Rate the method of the paper on classes and amounts, and the default without an order."""
    if problem in OUTCOMES:
        return [method for method in methods if method != "paper"]
    if problem not in ORDERED:
        return methods
    return [*(m for m in methods if m != "paper"), *({UNORDERED} if "crossfit" in methods else ())]


def main() -> None:
    """Run the benchmark and write its tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", default=["crossfit", "paper"])
    parser.add_argument(
        "--problems", nargs="+", default=["presets", "families", "ordered", "outcomes"]
    )
    parser.add_argument("--seeds", type=int, default=20, help="tables for each problem")
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    options = parser.parse_args()
    problems = [p for name in options.problems for p in FAMILIES.get(name, (name,))]
    tasks = [
        (method, problem, seed)
        for seed in range(options.seeds)
        for problem in problems
        for method in _methods(options.methods, problem)
    ]
    journal = Journal(RESULTS / "accuracy.csv", KEY, COLUMNS)
    run(tasks, journal, options.jobs)
    text = "\n".join(tables(journal.rows()))
    (RESULTS / "accuracy.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
