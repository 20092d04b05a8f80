"""Reproduce the evaluation of the paper: every table, every figure, and what is possible at all.

    python benchmarks/paper.py [--quick] [--report] [--jobs 2] [--out benchmarks/results]

Eight systems judge the paper's twelve kinds of tables: 10 fresh ones of each linear kind, 20 of
each non-linear one. Every verdict is a line of paper.csv, and a run that was stopped goes on
there; paper.md and the figures are made from it. Delete the lines of a system to rate it anew.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import published
from figures import draw_figures
from journal import Journal, Row
from markdown import cell, number, select, table, values
from oracle import removals
from published import LINEAR, NONLINEAR, Figures
from running import KEY, MEASURED, Race, incomplete
from scoring import mean_of_defined
from squamish import __version__
from squamish.datasets import load_preset

RESULTS = Path(__file__).parent / "results"
SYSTEMS = ("ElasticNet", "FRI", "RF", "SQ", "SQ, one seed", "Boruta 0.1", "Boruta 1", "squamish")
CLASSIFIERS = ("FRI", "SQ", "SQ, one seed", "squamish")
# Variants of a system stand beside the same printed figures.
PRINTED_AS = {"SQ, one seed": "SQ"}
CLASSES = (
    ("Linear", LINEAR, published.LINEAR_CLASSES),
    ("Non-linear", NONLINEAR, published.NONLINEAR_CLASSES),
)
# Seconds for one verdict.
LIMIT = 900
# The level of the oracle's tests, for all columns of a table together.
LEVEL = 0.01
INTRODUCTION = """\
squamish {version}. Our mean ± its standard error, and in brackets what the paper prints; - means
not defined, or not printed. A mean is over the tables in which a metric is defined, a mean over
sets over those for which there are both figures. SQ is `method="paper"`, also with one seed for
all its forests (`PaperMethod(one_seed=True)`), squamish the default method, and Boruta the
all-relevant stage alone, with feature fractions of 0.1 and 1. What was chosen where the paper is
silent, and where SQ differs from what is printed, is in [the page on all benchmarks](../README.md).
Made by `make paper`.
"""


def report(rows: list[Row], state: str, n_oracle: int) -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# The evaluation of the paper, once more\n"
    yield INTRODUCTION.format(version=__version__)
    yield state
    yield "## The tables\n"
    yield _parameters()
    yield "## Linear tables\n\nTraining accuracy:\n"
    yield _beside(rows, LINEAR, "accuracy", SYSTEMS, published.TRAINING_ACCURACY)
    yield "F1 of relevant against irrelevant:\n"
    yield _beside(rows, LINEAR, "relevant F1", SYSTEMS, published.LINEAR_F1)
    yield "Seconds, one thread:\n"
    yield _beside(rows, LINEAR, "seconds", SYSTEMS, published.RUNTIME, digits=1)
    yield "## Non-linear tables\n"
    for name, metric, printed in (
        ("Precision", "relevant P", published.NONLINEAR_PRECISION),
        ("Recall", "relevant R", published.NONLINEAR_RECALL),
        ("F1", "relevant F1", published.NONLINEAR_F1),
        ("Training accuracy", "accuracy", published.NONLINEAR_ACCURACY),
    ):
        yield f"{name}:\n"
        yield _beside(rows, NONLINEAR, metric, SYSTEMS, printed)
    yield "Seconds, one thread (not in the paper):\n"
    yield _beside(rows, NONLINEAR, "seconds", SYSTEMS, {}, digits=1)
    yield "## Strong and weak\n"
    for kind, sets, figures in CLASSES:
        for metric, printed in figures.items():
            yield f"{kind} tables, {_in_words(metric)}:\n"
            yield _beside(rows, sets, metric, CLASSIFIERS, printed)
    yield (
        "Above, a precision is 0 where no column is called so although some are, and nothing is "
        "left out that is 0. The script that the authors published counts otherwise: 1 where no "
        "column is called so or none is so, and values of 0 are left out of the means. Counted in "
        "their way:\n"
    )
    yield _counted_as_they_do(rows)
    yield "## What can be detected at all\n"
    yield from _oracle(rows, n_oracle)


def _parameters() -> str:
    """Compare the generated tables with those of the paper, which prints no rows for NL."""
    lines = []
    for name, printed in published.PARAMETERS.items():
        problem = load_preset(name, random_state=0)
        ours = [len(problem.y), *(int(np.sum(problem.classes == c)) for c in (2, 1, 0))]
        lines.append([name, *map(_bracketed, map(str, ours), printed)])
    return table(("set", "rows", "strong", "weak", "irrelevant"), lines)


def _beside(
    rows: list[Row],
    sets: Sequence[str],
    metric: str,
    systems: Sequence[str],
    printed: Figures,
    digits: int = 2,
) -> str:
    """Put a metric beside the paper's: our mean, its standard error, the paper's in brackets."""
    lines = []
    for name in sets:
        found = [select(rows, contestant=system, problem=name) for system in systems]
        cells = [cell(some, values(some, metric), digits) for some in found]
        theirs = [_printed(printed, system, name) for system in systems]
        lines.append([name, *map(_bracketed, cells, theirs)])
    means = []
    for system in systems:
        ours = [
            mean_of_defined(values(select(rows, contestant=system, problem=name), metric))
            for name in sets
        ]
        theirs = [_printed(printed, system, name) for name in sets]
        means.append(_mean_beside(ours, theirs, digits))
    return table(("set", *systems), [*lines, ["mean", *means]])


def _mean_beside(ours: Sequence[float], theirs: Sequence[float], digits: int = 2) -> str:
    """Write our mean over sets, and in brackets the printed one, over the same sets."""
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if not np.isnan(a + b)]
    if not both:
        return number(mean_of_defined(ours), digits)
    mean, printed = np.mean(both, axis=0)
    return f"{mean:.{digits}f} ({printed:.{digits}f})"


def as_they_count(row: Row, metric: str) -> float:
    """Return a precision or recall of a class as the authors' script counts it.

    It is 1 if no column is called so, or none is so, and what is 0 does not count at all.
    """
    kind, which = metric.split()
    if which == "P" and row[f"called {kind}"] == 0:
        return 1.0
    value = float(row[metric])
    if np.isnan(value):
        return 1.0
    return value or np.nan


def _counted_as_they_do(rows: list[Row]) -> str:
    """Put the means of all metrics of strong and weak beside the printed ones, counted alike."""
    lines = []
    for kind, sets, figures in CLASSES:
        for metric, printed in figures.items():
            cells = []
            for system in CLASSIFIERS:
                ours = [
                    mean_of_defined([as_they_count(row, metric) for row in some])
                    for name in sets
                    for some in [select(rows, contestant=system, problem=name, status="")]
                ]
                theirs = [_printed(printed, system, name) for name in sets]
                cells.append(_mean_beside(ours, theirs))
            lines.append([f"{kind.lower()}, {_in_words(metric)}", *cells])
    return table(("mean over the sets", *CLASSIFIERS), lines)


def _printed(figures: Figures, system: str, name: str) -> float:
    """Return what the paper prints of a system and a set, if it does."""
    return figures.get((PRINTED_AS.get(system, system), name), np.nan)


def _in_words(metric: str) -> str:
    return metric.replace(" P", ": precision").replace(" R", ": recall")


def _bracketed(ours: str, printed: float) -> str:
    return ours if np.isnan(printed) else f"{ours} ({printed:g})"


def _oracle(rows: list[Row], n_seeds: int) -> Iterator[str]:
    yield (
        "The oracle knows the distribution of every class, and so the best possible model with and "
        "without each strong column and each group. Counted are those whose removal shows on the "
        f"1,000 rows of a table at a level of {LEVEL} for all its columns together: by a paired "
        "t-test of the loss of its rows, and by the ratio of the likelihoods, as few rows make "
        "most of the difference. Beside it, the share of strong columns that a system calls "
        "strong.\n"
    )
    lines = []
    for name in NONLINEAR:
        found = [removals(name, seed) for seed in range(n_seeds)]
        level = LEVEL / len(load_preset(name, random_state=0).classes)
        cells = []
        for is_group in (False, True):
            for test in ("paired_t", "likelihood_ratio"):
                p = np.concatenate([getattr(r, test)[r.is_group == is_group] for r in found])
                cells.append(f"{np.sum(p < level)} of {len(p)}" if len(p) else "-")
        cells.append(number(float(np.mean([r.accuracy for r in found]))))
        recalls = [
            number(mean_of_defined(values(select(rows, contestant=s, problem=name), "strong R")))
            for s in CLASSIFIERS
        ]
        lines.append([name, *cells, *recalls])
    tests = ("paired t", "likelihood ratio")
    header = ["set", *(f"strong, {t}" for t in tests), *(f"groups, {t}" for t in tests)]
    yield table(
        [*header, "accuracy of the oracle", *(f"strong recall, {s}" for s in CLASSIFIERS)], lines
    )


def main() -> None:
    """Run what is missing, and write tables and figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one table of two kinds")
    parser.add_argument("--report", action="store_true", help="of what is done, without a run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tables at a time")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args()
    tables = [(name, seed) for seed in range(10) for name in LINEAR]
    tables += [(name, seed) for seed in range(20) for name in NONLINEAR]
    if options.quick:
        tables = [("Set 3", 0), ("NL 2", 0)]
    journal = Journal(options.out / "paper.csv", KEY, MEASURED)
    race = Race(journal, SYSTEMS, LIMIT, options.jobs)
    if not options.report:
        race.run(tables)
    state = incomplete([(race, tables)])
    text = "\n".join(report(journal.rows(), state, 2 if options.quick else 20))
    (options.out / "paper.md").write_text(text, encoding="utf-8")
    draw_figures(options.out / "figures", n_repeats=2 if options.quick else 10)
    print(f"see {options.out / 'paper.md'}")


if __name__ == "__main__":
    main()
