"""How much verdicts hang on the constants of the method: each halved and doubled.

    python benchmarks/sensitivity.py [--jobs 2] [--only NAME ...]

Every constant that bears on a decision is changed by itself, and all problems of known truth but
the slowest, and a few real tables, are judged again. results/sensitivity.md lists how many columns
got another class than with the committed constants, how many became right and wrong where the
truth is known, and how the number of models changed. A run that was stopped goes on where it was:
every finished line is kept in results/sensitivity.csv.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import importlib
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed

import squamish
from journal import Journal, Progress, Row
from squamish import RelevanceSelector, __version__
from squamish.datasets import PRESETS, PROBLEMS, load_problem
from unchanged import REAL

RESULTS = Path(__file__).parent / "results"
COLUMNS = ("changed", "became right", "became wrong", "models")
KEY = ("constant", "value", "seed")
# These take two thirds of the time of all problems.
TOO_SLOW = (
    "modules 200 x 3,000",
    "Set 8",
    "NL 3",
    "NL 4",
    "5,000 rows",
    "network",
    "five classes",
    "NL 2",
)
REAL_TABLES = (
    "pbc, bilirubin (gaps)",
    "survey, sex (categories, gaps)",
    "mpg, highway (many levels)",
)


REMOVED = (
    "No constant changes a verdict whose truth is known. Numbers that nothing else asks for are "
    "gone since they were measured so: weights of the seven tests of relevance (one verdict of a "
    "real table changed, with one of them doubled), of ranks and bins, of a column and its square, "
    "and a least skewness. The others stay for a reason that is beside them: level or power on "
    "tables that are not among these, such as rare classes and heavy tails, or cost."
)
# For every table the classes, the truth if it is known, and the number of models.
Verdicts = list[tuple[Any, Any, int]]


def _scaled(value: Any, factor: float) -> Any:
    """Multiply a number, whole ones staying whole and at least 1."""
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def _share(value: float, factor: float) -> float:
    """Multiply the odds of a share, which stays one."""
    odds = factor * value / (1 - value)
    return odds / (1 + odds)


@dataclass(frozen=True)
class Constant:
    """A constant of a module, and how it is halved and doubled."""

    module: str
    name: str
    change: Callable[[Any, float], Any] = _scaled

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


def _of(module: str, *names: str, change: Callable[[Any, float], Any] = _scaled) -> list[Constant]:
    return [Constant(module, name, change) for name in names]


CONSTANTS = [
    *_of("screening.association", "CLEAR", change=_share),
    *_of("screening.marginal", "MOST_BINS", "LEAST_IN_BIN"),
    *_of("screening.partial", "LEAST_FREEDOM", "FREEDOM_PER_COLUMN"),
    *_of("screening.residual", "LEAST_DIRECTION", "MOST_DIRECTIONS", change=_share),
    *_of("screening.levels", "N_ORDERS"),
    *_of("screening.shadow", "SHADOW_SETS", "SHADOW_ROUNDS", "N_TREES", "GAIN_UNIT"),
    *_of("screening.shadow", "COLUMN_SHARE", "ROW_SHARE", change=_share),
    *_of("screening.in_models", "SOME_SIGN", "CLEAR_SIGN", change=_share),
    *_of("screening.selection", "MOST_ROUNDS"),
    *_of("screening.validity", "NEARLY_CONSTANT", "MOSTLY_ONE_VALUE", change=_share),
    *_of("screening.validity", "FEW", "FEW_OF_TWO"),
    *_of("statistics.counts", "LEAST_EXPECTED"),
    *_of("statistics.counts", "ABOUT_EQUAL", change=_share),
    *_of("statistics.correlation", "FEW_ROWS"),
    *_of("statistics.correlation", "REPEATED", change=_share),
    *_of("statistics.multiplicity", "NO_EVIDENCE", change=_share),
    *_of("statistics.tails", "TAIL_SHARE", change=_share),
    *_of("statistics.tails", "LEAST_TAIL"),
    *_of("statistics.correlation_groups", "GROUP_CORRELATION", change=_share),
    *_of("families.amounts", "OUTER_FENCE", "LEAST_SHARE"),
    *_of("families.classes", "LEAST_PROBABILITY"),
    *_of("models.race", "DROPS_OUT", "AS_GOOD", "CONTENDING", "PAYS"),
    *_of("models.single_index", "N_PIECES", "LEAST_GAIN"),
    *_of("models.trees", "LEARNING_RATE", "N_LEAVES", "LEAST_IN_LEAF", "N_BINS"),
    *_of("models.kernel_ridge", "MOST_LANDMARKS"),
    *_of("importance.conditional", "DRAWS", "DRAWS_OF_TREES", "LEAST_CALIBRATED"),
    *_of("importance.context", "MOST_CONTEXT"),
    *_of("importance.regression", "BEATS_MEAN", change=_share),
    *_of("importance.imputation", "MUCH", change=_share),
    *_of("importance.imputation", "MOST_CHECKED", "TREES_TO_CHECK", "TREES_TO_IMPUTE"),
    *_of("importance.strength", "R2_FOR_REFIT", "VETO", "LEAST_OF_DRAW", change=_share),
    *_of("redundancy.substitutes", "ENOUGH", "LEAST", change=_share),
    *_of("redundancy.substitutes", "MOST_NEAR", "LARGEST_SET"),
    *_of("table.parts", "LEAST_ROWS", "MOST_LEVELS", "MOST_JOINED", "SMOOTHING"),
]


@contextmanager
def _changed(constant: Constant, factor: float) -> Iterator[Any]:
    """Change a constant wherever it was imported to."""
    for module in pkgutil.walk_packages(squamish.__path__, "squamish."):
        if not module.name.startswith(("squamish.cli", "squamish.report.terminal")):
            importlib.import_module(module.name)
    old = getattr(sys.modules[f"squamish.{constant.module}"], constant.name)
    new = constant.change(old, factor)
    holders = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("squamish.") and vars(module).get(constant.name) is old
    ]
    patches = [patch.object(module, constant.name, new) for module in holders]
    for one in patches:
        one.start()
    try:
        yield new
    finally:
        for one in patches:
            one.stop()


def judge_all(seed: int) -> Verdicts:
    """Judge all tables, without a word of warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(_verdicts(seed))


def _verdicts(seed: int) -> Iterator[tuple[Any, Any, int]]:
    for problem in (*PRESETS, *PROBLEMS):
        if problem not in TOO_SLOW:
            truth = load_problem(problem, shuffle=True, random_state=seed)
            selector = RelevanceSelector(random_state=seed, n_jobs=1).fit(truth.X, truth.y)
            yield selector.relevance_classes_, truth.classes, selector.result_.evidence.n_fits
    for name in REAL_TABLES:
        settings, data, rows = REAL[name]()
        selector = RelevanceSelector(random_state=seed, n_jobs=1, **settings).fit(*data, **rows)
        yield selector.relevance_classes_, None, selector.result_.evidence.n_fits


def compare(constant: Constant, factor: float, seed: int, before: Verdicts) -> Row:
    """Judge all tables with a changed constant, and count what is different."""
    with _changed(constant, factor) as new:
        after = judge_all(seed)
    counts = np.zeros(3)
    for (old, truth, _), (found, _, _) in zip(before, after, strict=True):
        differ = old != found
        counts[0] += differ.sum()
        if truth is not None:
            counts[1:] += (differ & (found == truth)).sum(), (differ & (old == truth)).sum()
    models = sum(f for *_, f in after) / sum(f for *_, f in before) - 1
    row: Row = {"constant": str(constant), "value": _written(new), "seed": seed}
    return row | dict(zip(COLUMNS, [*counts.tolist(), models], strict=True))


def _written(value: Any) -> str:
    return f"{max(value.values()) if isinstance(value, dict) else value:.3g}"


def _committed(constant: Constant) -> str:
    module = importlib.import_module(f"squamish.{constant.module}")
    return _written(getattr(module, constant.name))


def tables(rows: list[Row], before: Verdicts) -> Iterator[str]:
    """Yield the lines of the report."""
    n_columns, n_tables = sum(len(classes) for classes, *_ in before), len(before)
    yield "# How much verdicts hang on constants\n"
    yield (
        f"squamish {__version__}: every constant that bears on a decision, halved and doubled by "
        f"itself (of shares, their odds). {n_columns:,} columns of "
        f"{n_tables} tables are judged again: all problems of accuracy.md but {len(TOO_SLOW)} slow "
        f"ones, seed 0, and {len(REAL_TABLES)} real ones, whose truth is not known. Models: change "
        "of their number.\n"
    )
    yield "Made by `python benchmarks/sensitivity.py`, which goes on where it was stopped.\n"
    yield f"{REMOVED}\n"
    yield f"| constant | committed | tried | {' | '.join(COLUMNS)} |"
    yield "|---|---|---|---|---|---|---|"
    for constant in CONSTANTS:
        for row in rows:
            if row["constant"] == str(constant):
                counts = [f"{float(row[name]):.0f}" for name in COLUMNS[:3]]
                yield (
                    f"| {constant} | {_committed(constant)} | {row['value']} | "
                    f"{' | '.join(counts)} | {float(row['models']):+.0%} |"
                )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[""], help="how names of constants begin")
    options = parser.parse_args()
    journal = Journal(RESULTS / "sensitivity.csv", KEY, COLUMNS)
    done = {key[0] for key in journal.done()}
    wanted = [c for c in CONSTANTS if str(c).startswith(tuple(options.only)) and str(c) not in done]
    progress = Progress(2 * len(wanted))
    parallel = Parallel(n_jobs=options.jobs, return_as="generator_unordered")
    tasks = [(constant, factor) for constant in wanted for factor in (0.5, 2.0)]
    before = judge_all(0)
    for row in parallel(delayed(compare)(*task, 0, before) for task in tasks):
        journal.add(row)
        progress.step("{constant} = {value}: {changed} changed".format(**row))
    page = "\n".join([*tables(journal.rows(), before), ""])
    (RESULTS / "sensitivity.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
