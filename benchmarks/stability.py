"""Count the verdicts that change with the seed, on real tables.

    python benchmarks/stability.py [--seeds 10] [--jobs -1]

The seed draws the folds, the shadows and the redraws. Every column is compared with the class
that most seeds give it.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from squamish import RelevanceSelector

OUT = Path(__file__).parent / "results" / "stability.md"
TABLES = {
    "wine": load_wine,
    "diabetes": load_diabetes,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


def verdict(table: str, seed: int) -> NDArray[np.int64]:
    """Classify the columns of a real table."""
    X, y = TABLES[table](return_X_y=True)
    return RelevanceSelector(random_state=seed, n_jobs=1).fit(X, y).relevance_classes_


def main() -> None:
    """Fit every table with every seed and write how often a verdict differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time")
    options = parser.parse_args()
    lines = [
        "# Verdicts that change with the seed\n",
        f"{options.seeds} seeds; a verdict differs if it is not the one that most seeds give the "
        "column.\n",
        f"Made by `python benchmarks/stability.py --seeds {options.seeds}`.\n",
        "| table | columns | columns with more than one verdict | differing verdicts a fit | "
        "relevant or not: differing a fit |",
        "|---|---|---|---|---|",
    ]
    for table in TABLES:
        jobs = (delayed(verdict)(table, seed) for seed in range(options.seeds))
        classes = np.array(Parallel(n_jobs=options.jobs)(jobs))
        usual = np.array([np.bincount(column).argmax() for column in classes.T])
        differs = classes != usual
        relevance = (classes > 0) != (usual > 0)
        lines.append(
            f"| {table} | {classes.shape[1]} | {differs.any(axis=0).sum()} "
            f"| {differs.sum(axis=1).mean():.1f} | {relevance.sum(axis=1).mean():.1f} |"
        )
        print(lines[-1], flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
