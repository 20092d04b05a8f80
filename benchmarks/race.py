"""Race today's selectors on the same tables: who is right, and who is fast.

    python benchmarks/race.py [--quick] [--only race designs] [--jobs 2] [--limit 300]
                              [--out benchmarks/results]

Every peer runs in an environment of its own, which is made when it is needed. Every verdict is
a line of race.csv, and a run that was stopped goes on there; race.md and race.svg are made from
it. Delete the lines of a contestant to let it run again.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from designs import MIXED, REAL, TABLES
from figures import save
from journal import Journal, Row
from markdown import cell, number, select, table, values, with_error
from published import DESIGNS, LINEAR, NONLINEAR
from running import KEY, MEASURED, Race, incomplete
from scoring import mean_of_defined
from squamish import __version__

RESULTS = Path(__file__).parent / "results"
OURS = "squamish"
CONTESTANTS = (
    OURS,
    "BorutaPy RF",
    "BorutaPy LightGBM",
    "Leshy",
    "GrootCV",
    "powershap",
    "FRI",
    "RF",
    "ElasticNet",
)
LARGE = [name for name in TABLES if name[0].isdigit()]
# How many tables of each kind.
SEEDS = {
    **dict.fromkeys((*LINEAR, *NONLINEAR), 2),
    **dict.fromkeys(REAL, 2),
    **dict.fromkeys(MIXED, 1),
    **dict.fromkeys(LARGE, 1),
}
DESIGN_SEEDS = {"Degenhardt, m = 10": 30, "Degenhardt, m = 50": 30, "Friedman 1": 100}
INTRODUCTION = """\
squamish {version}, every contestant with the settings that its authors recommend, in one thread,
on the same tables in turns. F1 is that of relevant against irrelevant columns; seconds are a ratio
to ours on the same table, so that a number above 1 is slower than squamish. Who took longer than
a limit on one table was not asked about others of the kind; "failed" is an error. On real tables,
columns in random order are irrelevant, those that depend on the target beyond doubt are relevant,
and so are their copies; other columns are not rated. Of ames, cells, mlc_churn, credit_data and pbc
(R packages modeldata and survival) categories are numbered and gaps filled, as most peers take
numbers alone, and five columns in random order are added; squamish and BorutaPy around LightGBM
judged these five once more, in turns, since squamish also measures what columns are worth, and
seconds of others there are from a run before, when the machine was faster by a quarter. Made by
`make race`.
"""


def report(rows: list[Row], designs: list[Row], state: str) -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# The race\n"
    yield INTRODUCTION.format(version=__version__)
    yield state
    for title, metric, digits in (
        ("F1 of relevant columns", "relevant F1", 2),
        ("Precision", "relevant P", 2),
        ("Recall", "relevant R", 2),
        ("Share of columns whose class is exactly right, of three", "exact", 3),
    ):
        yield f"## {title}\n"
        yield _metric(rows, metric, digits)
    yield "## Seconds, as a ratio to squamish\n"
    yield _ratios(rows)
    yield "![F1 and time of every contestant](race.svg)\n"
    yield "## Published designs\n"
    yield (
        "Sensitivity and share of false findings among what is selected, in per cent, beside the "
        "figures that the authors of shadowVIMP print (100 repeats).\n"
    )
    yield _designs(designs)


def _kinds(rows: list[Row]) -> list[str]:
    there = {row["problem"] for row in rows}
    return [name for name in SEEDS if name in there]


def _metric(rows: list[Row], metric: str, digits: int) -> str:
    lines = []
    for problem in _kinds(rows):
        found = [select(rows, problem=problem, contestant=name) for name in CONTESTANTS]
        lines.append([problem, *(cell(some, values(some, metric), digits) for some in found)])
    return table(("table", *CONTESTANTS), lines)


def _ratios(rows: list[Row]) -> str:
    lines = []
    for problem in _kinds(rows):
        ours = select(rows, problem=problem, contestant=OURS)
        seconds = mean_of_defined(values(ours, "seconds"))
        cells = [f"{number(seconds, 1)} s"]
        for name in CONTESTANTS[1:]:
            some = select(rows, problem=problem, contestant=name)
            cells.append(cell(some, ratios(ours, some), 1))
        lines.append([problem, *cells])
    return table(("table", *CONTESTANTS), lines)


def ratios(ours: list[Row], theirs: list[Row]) -> list[float]:
    """Divide their seconds by ours, table by table."""
    mine = {row["seed"]: float(row["seconds"]) for row in ours}
    return [float(row["seconds"]) / mine.get(row["seed"], np.nan) for row in theirs]


def _designs(rows: list[Row]) -> str:
    lines = []
    for design, others in DESIGNS.items():
        some = select(rows, problem=design, status="")
        if not some:
            continue
        sensitivity = [100 * value for value in values(some, "relevant R")]
        # Where nothing is selected, nothing is false.
        false = [
            100 * (1 - float(row["relevant P"])) * (float(row["selected"]) > 0) for row in some
        ]
        name = f"squamish, {len(some)} repeats"
        lines.append([design, name, with_error(sensitivity, 1), with_error(false, 1)])
        lines += [[design, who, f"{a:g}", f"{b:g}"] for who, (a, b) in others.items()]
    return table(("design", "method", "sensitivity, %", "false findings, %"), lines)


def draw(rows: list[Row], path: Path) -> None:
    """Draw F1 against time for every contestant, averaged over the tables it finished."""
    points = [(*place, name) for name in CONTESTANTS if (place := _place(rows, name))]
    figure, axis = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    height = before = 0.0
    for f1, time, n_kinds, name in sorted(points):
        axis.scatter(time, f1, color="#0b6e6e" if name == OURS else "#8a8a8a", zorder=2)
        # Names are kept apart where points are close.
        height = max(f1, height + 0.03) if 0.25 < time / max(before, 1e-9) < 4 else f1
        before = time
        label = f"{name} ({n_kinds} of {len(_kinds(rows))} kinds)"
        axis.text(1.08 * time, height, label, fontsize=8, va="center")
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    axis.set(
        xlim=(low, 4 * high),
        xlabel="seconds as a ratio to squamish, geometric mean over the tables finished in time",
        ylabel="mean F1 of relevant columns",
    )
    axis.grid(alpha=0.3)
    save(figure, path)


def _place(rows: list[Row], name: str) -> tuple[float, float, int] | None:
    """Return F1 and time of a contestant, and on how many kinds of tables."""
    some = select(rows, contestant=name, status="")
    took = [
        ratio
        for problem in _kinds(some)
        for ratio in ratios(
            select(rows, problem=problem, contestant=OURS, status=""),
            select(some, problem=problem),
        )
    ]
    if not took:
        return None
    time = float(np.exp(np.nanmean(np.log(took))))
    return mean_of_defined(values(some, "relevant F1")), time, len(_kinds(some))


def main() -> None:
    """Run what is missing, and write tables and the figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one table of two kinds")
    parser.add_argument(
        "--only", nargs="*", default=["race", "designs"], help="parts to run; none: report only"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tables at a time")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one verdict")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the results")
    options = parser.parse_args()
    seeds = {"Set 3": 1, "wine": 1} if options.quick else SEEDS
    design_seeds = {"Friedman 1": 2} if options.quick else DESIGN_SEEDS
    journal = Journal(options.out / "race.csv", KEY, MEASURED)
    designs = Journal(options.out / "designs.csv", KEY, MEASURED)
    # All kinds once before any of them twice.
    most = max(seeds.values())
    tables = [(name, seed) for seed in range(most) for name, n in seeds.items() if seed < n]
    parts = {
        "race": (Race(journal, CONTESTANTS, options.limit, options.jobs, whole=True), tables),
        "designs": (
            Race(designs, [OURS], options.limit, options.jobs),
            [(name, seed) for name, n in design_seeds.items() for seed in range(n)],
        ),
    }
    for name in options.only:
        race, some = parts[name]
        race.run(some)
    text = "\n".join(report(journal.rows(), designs.rows(), incomplete(parts.values())))
    (options.out / "race.md").write_text(text, encoding="utf-8")
    draw(journal.rows(), options.out / "race")
    print(f"see {options.out / 'race.md'}")


if __name__ == "__main__":
    main()
