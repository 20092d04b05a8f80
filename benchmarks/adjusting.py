"""Adjust for what confounds: false findings, and power beside least squares on the true model.

    python benchmarks/adjusting.py [--tables 200] [--rows 300] [--shapes line curve step centre]
                                   [--jobs -1] [--out results] [--quick]

Tables in which age, or a centre, explains columns and target along lines, along different curves,
by a jump or by levels (`squamish.datasets.make_confounded`). Given it, four columns that it
explains and two columns of noise tell nothing: the family-wise error is the share of tables in
which any of these six is called relevant. Two columns and a pair of copies have effects of their
own. Their power is compared with that of the test that knows the model: least squares, or logistic
regression, on the true function of age and all columns but the second copy, with Holm at the same
level. It goes on where it was stopped.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone

from journal import Journal, Row
from markdown import select, share, table, values
from squamish import RelevanceSelector
from squamish.datasets import Problem, make_confounded
from squamish.datasets.confounded import N_CENTRES, OF_TARGET, Shape
from squamish.families import Task
from squamish.families.logistic import fit_logistic
from squamish.statistics.multiplicity import holm

ALPHA = 0.01
SHAPES: tuple[Shape, ...] = ("line", "curve", "step", "centre")
TASKS: tuple[Task, ...] = ("regression", "classification")
# Effects that least squares finds in about half of the tables of 300 rows.
EFFECT: dict[Task, float] = {"regression": 0.2, "classification": 0.25}
# Tables that are judged without adjusting, too: what there is to adjust for shows in all of them.
N_UNADJUSTED = 20
MEASURED = ("false", "unadjusted", "strong_0", "strong_1", "group0", "strong", "by model", "status")
Floats = NDArray[np.float64]


def draw(shape: Shape, task: Task, rows: int, seed: int) -> Problem:
    """Draw a table."""
    return make_confounded(rows, shape=shape, task=task, effect=EFFECT[task], random_state=seed)


def judge(shape: Shape, task: Task, rows: int, seed: int) -> Row:
    """Judge a table with adjusting, some without, and by the true model."""
    problem = draw(shape, task, rows, seed)
    names = np.array(problem.feature_names)
    confounded = np.char.startswith(names, "confounded")
    null = confounded | np.char.startswith(names, "irrelevant")
    selector = RelevanceSelector(
        categorical_features=[0] if shape == "centre" else None, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adjusted = clone(selector).set_params(adjust_for=problem.adjust_for)
        classes = adjusted.fit(problem.X, problem.y).relevance_classes_
        plain = np.full(len(names), np.nan)
        if seed < N_UNADJUSTED:
            plain = selector.fit(problem.X, problem.y).relevance_classes_
    known = dict(zip(names, classes, strict=True))
    by_model = found_by_model(problem, shape)
    return {
        "shape": shape,
        "task": task,
        "rows": rows,
        "seed": seed,
        "false": int((classes[null] > 0).any()),
        "unadjusted": float(np.mean(plain[confounded] > 0)) if seed < N_UNADJUSTED else np.nan,
        "strong_0": int(known["strong_0"] > 0),
        "strong_1": int(known["strong_1"] > 0),
        "group0": int(known["group0_0"] > 0 or known["group0_1"] > 0),
        "strong": (int(known["strong_0"] == 2) + int(known["strong_1"] == 2)) / 2,
        "by model": by_model,
        "status": "",
    }


def found_by_model(problem: Problem, shape: Shape) -> float:
    """Return the share of the three effects that a test in the true model finds."""
    names, z = problem.feature_names, problem.X[:, 0]
    judged = [j for j in range(1, len(names)) if names[j] != "group0_1"]
    if shape == "centre":
        known = (z[:, np.newaxis] == np.arange(1, N_CENTRES)).astype(float)
    else:
        known = OF_TARGET[shape](z)[:, np.newaxis]
    Z = np.column_stack([problem.X[:, judged], known])
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    test = least_squares if problem.task == "regression" else logistic
    p = holm(test(Z, problem.y)[: len(judged)])
    own = [k for k, j in enumerate(judged) if names[j].startswith(("strong", "group"))]
    return float(np.mean(p[own] <= ALPHA))


def least_squares(Z: Floats, y: NDArray[np.generic]) -> Floats:
    """Return p-values of Student's t."""
    A = np.column_stack([Z, np.ones(len(Z))])
    inverse = np.linalg.inv(A.T @ A)
    beta = inverse @ A.T @ y
    freedom = len(A) - A.shape[1]
    error = np.sqrt(np.square(y - A @ beta).sum() / freedom * np.diag(inverse))
    return np.asarray(2 * stats.t.sf(np.abs(beta / error), freedom)[:-1])


def logistic(Z: Floats, y: NDArray[np.generic]) -> Floats:
    """Return p-values of Wald's test, with a penalty that is next to none."""
    intercept, coef = fit_logistic(Z, np.asarray(y, dtype=np.intp), 1e6, None)
    p = 1 / (1 + np.exp(-intercept[0] - Z @ coef[0]))
    A = np.column_stack([Z, np.ones(len(Z))])
    covariance = np.linalg.inv(A.T @ (A * (p * (1 - p))[:, np.newaxis]))
    return np.asarray(2 * stats.norm.sf(np.abs(coef[0]) / np.sqrt(np.diag(covariance)[:-1])))


def figures(rows: list[Row]) -> list[str]:
    """Write what was found in tables of a kind: errors, then power."""
    n_false = int(sum(values(rows, "false")))
    plain = [v for v in values(rows, "unadjusted") if not np.isnan(v)]
    found = [float(np.mean(values(rows, name))) for name in ("strong_0", "strong_1", "group0")]
    return [
        str(n_false),
        *share(n_false, len(rows)),
        f"{np.mean(plain):.2f}" if plain else "-",
        *(f"{x:.2f}" for x in [*found, float(np.mean(found)), np.mean(values(rows, "by model"))]),
    ]


def page(rows: list[Row], command: str) -> str:
    """Write what was found."""
    kinds = sorted({(str(r["shape"]), str(r["task"]), float(r["rows"])) for r in rows})
    lines = []
    for shape, task, n in kinds:
        some = [r for r in select(rows, shape=shape, task=task) if r["rows"] == n]
        lines.append([f"{shape}, {task}", f"{n:.0f}", str(len(some)), *figures(some)])
    lines.append(["all", "", str(len(rows)), *figures(rows)])
    header = [
        "relation to what is adjusted for, task",
        "rows",
        "tables",
        "with a false relevant column",
        "rate",
        "95% interval",
        "confounded columns relevant without adjusting",
        "found: related to it",
        "found: unrelated",
        "found: either of two copies",
        "power",
        "power by the true model",
    ]
    return (
        "# Adjusting for what confounds\n\n"
        "Tables in which age, or a centre, explains five of ten columns and the target; given it, "
        "six columns tell nothing (four confounded, two of noise), and three effects are left. "
        "False relevant columns at alpha = 0.01, family-wise, with Clopper and Pearson's interval; "
        "power as the share of the effects that are found, beside that of least squares or "
        "logistic regression on the true function of the adjustment and all columns but the "
        "second copy, with Holm at the same level.\n\n"
        f"Made by `{command}`.\n\n" + table(header, lines)
    )


def main() -> None:
    """Judge the tables, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=200, help="tables of each kind")
    parser.add_argument("--rows", type=int, default=300, help="rows of a table")
    parser.add_argument("--shapes", nargs="+", default=SHAPES, choices=SHAPES)
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    parser.add_argument("--out", default=str(Path(__file__).parent / "results"), help="folder")
    parser.add_argument("--quick", action="store_true", help="four tables of each kind")
    options = parser.parse_args()
    n_tables = 4 if options.quick else options.tables
    out = Path(options.out)
    journal = Journal(out / "adjusting.csv", ("shape", "task", "rows", "seed"), MEASURED)
    parallel = Parallel(n_jobs=options.jobs, return_as="generator_unordered")
    for shape in options.shapes:
        for task in TASKS:
            done = journal.done()
            seeds = [
                s
                for s in range(n_tables)
                if (shape, task, float(options.rows), float(s)) not in done
            ]
            for row in parallel(delayed(judge)(shape, task, options.rows, s) for s in seeds):
                journal.add(row)
            print(f"{shape}, {task}: {len(seeds)} tables", flush=True)
    command = f"python benchmarks/adjusting.py --tables {n_tables} --rows {options.rows}"
    (out / "adjusting.md").write_text(page(journal.rows(), command), encoding="utf-8")


if __name__ == "__main__":
    main()
