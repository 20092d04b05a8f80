"""Models of scikit-survival and its tables, in an environment of their own: it is under the GPL.

python concordance_rivals.py tables FOLDER            # write its tables as CSV
python concordance_rivals.py risks TABLE.npz RISKS.npz # cross-validated risks of every model
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sksurv import datasets
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis

TABLES = {
    "gbsg2": datasets.load_gbsg2,
    "whas500": datasets.load_whas500,
    "GSE7390": datasets.load_breast_cancer,
    "flchain": datasets.load_flchain,
}
# Trees as in its guide; a ridge that keeps Cox models of 80 columns finite.
# A forest of more rows takes hours, and gigabytes for the curves in its leaves.
MOST_ROWS = 2000
MODELS: dict[str, Callable[[], Any]] = {
    "Cox model": lambda: CoxPHSurvivalAnalysis(alpha=1.0),
    "random survival forest": lambda: RandomSurvivalForest(
        n_estimators=200, min_samples_split=10, min_samples_leaf=15, n_jobs=1, random_state=0
    ),
}


def write_tables(folder: Path) -> None:
    """Write the tables with their targets, as columns of their own."""
    for name, load in TABLES.items():
        X, y = load()
        event, time = y.dtype.names
        X.assign(**{"the event": y[event], "the time": y[time]}).to_csv(
            folder / f"{name}.csv", index=False
        )


def write_risks(table: Path, out: Path) -> None:
    """Predict every row by models of other rows."""
    given = np.load(table)
    X, fold = given["X"], given["fold"]
    y = np.empty(len(X), dtype=[("event", "?"), ("time", "<f8")])
    y["event"], y["time"] = given["event"], given["time"]
    risks: dict[str, Any] = {name: np.zeros(len(X)) for name in MODELS}
    if len(X) > MOST_ROWS:
        del risks["random survival forest"]
    for k in np.unique(fold):
        train, test = fold != k, fold == k
        scaler = StandardScaler().fit(X[train])
        for name in risks:
            model = MODELS[name]().fit(scaler.transform(X[train]), y[train])
            risks[name][test] = model.predict(scaler.transform(X[test]))
    np.savez(out, **risks)


if __name__ == "__main__":
    what, *paths = sys.argv[1:]
    if what == "tables":
        write_tables(Path(paths[0]))
    else:
        write_risks(*map(Path, paths))
