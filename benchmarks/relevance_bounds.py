"""Necessity beside FRI's relevance bounds, and beside model class reliance.

    python benchmarks/relevance_bounds.py [--seeds 2]

FRI runs on linear tables of the paper, in its environment of the race. Its bounds are the least and
the largest weight of a standardised column in linear models that are nearly as good; ours are
shares of the gain.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).parent / "results" / "relevance_bounds.md"
SETS = ("Set 1", "Set 2", "Set 3", "Set 4", "Set 5", "Set 6", "Set 7")
CLASSES = {2: "strong", 1: "weak", 0: "irrelevant"}
# In FRI's own process, this file is called with this and the tables.
INSIDE = "--inside"


def relevance_bounds(tables: Path) -> list[Any]:
    """Run FRI on the tables of a file, in its own environment."""
    from fri import FRI, ProblemName
    from sklearn.preprocessing import StandardScaler

    found = []
    with np.load(tables) as file:
        for k in range(len(file.files) // 2):
            search = FRI(
                ProblemName.CLASSIFICATION,
                loss_slack=0.1,
                w_l1_slack=0.1,
                n_probe_features=50,
                n_param_search=50,
                random_state=0,
                n_jobs=1,
            )
            search.fit(StandardScaler().fit_transform(file[f"X{k}"]), file[f"y{k}"])
            classes = np.asarray(search.relevance_classes_).tolist()
            found.append([np.asarray(search.interval_).tolist(), classes])
    return found


def _ask_fri(problems: Sequence[Any]) -> list[Any]:
    """Hand tables to FRI, and return its bounds and classes."""
    from running import environment

    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables.npz"
        arrays = {f"X{k}": p.X for k, p in enumerate(problems)}
        np.savez(tables, **arrays, **{f"y{k}": p.y for k, p in enumerate(problems)})
        command = [str(environment("FRI")), __file__, INSIDE, str(tables)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return list(json.loads(answer.splitlines()[-1]))


def _lines(names: Sequence[str], problems: Sequence[Any]) -> Iterator[list[str]]:
    """Yield a line for each class of each set: means of bounds, and how many classes are right."""
    from squamish import RelevanceSelector

    ours = []
    for problem in problems:
        result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
        necessity = [result.necessity[name] for name in result.feature_names]
        ours.append(np.array([[n.low, n.least, n.most, n.high] for n in necessity]))
    theirs = _ask_fri(problems)
    for name in dict.fromkeys(names):
        some = [k for k, own in enumerate(names) if own == name]
        truth = np.concatenate([problems[k].classes for k in some])
        bounds = np.concatenate([np.array(theirs[k][0]) for k in some])
        called = np.concatenate([np.array(theirs[k][1]) for k in some])
        shares = np.concatenate([ours[k] for k in some])
        regions = np.where(shares[:, 0] > 0, 2, np.where(shares[:, 2] > 0, 1, 0))
        for c, label in CLASSES.items():
            own = truth == c
            if own.any():
                low, high = bounds[own].mean(axis=0)
                least, most = shares[own][:, 1:3].mean(axis=0)
                yield [
                    name,
                    label,
                    f"{low:.2f} to {high:.2f}",
                    f"{np.mean(called[own] == c):.2f}",
                    f"{least:.2f} to {most:.2f}",
                    f"{np.mean(regions[own] == c):.2f}",
                ]


def main() -> None:
    """Compare both, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    import class_reliance
    from markdown import table
    from squamish.datasets import load_preset

    warnings.simplefilter("ignore")
    names = [name for name in SETS for _ in range(options.seeds)]
    problems = [load_preset(name, random_state=k % options.seeds) for k, name in enumerate(names)]
    header = ["table", "true class", "FRI: bounds", "class right", "necessity", "region right"]
    text = (
        "# Necessity beside FRI's relevance bounds\n\n"
        f"{options.seeds} tables of each of the paper's linear sets; means over columns. FRI's "
        "bounds are weights of standardised columns in linear models that are nearly as good "
        "(slacks of 0.1), necessity is a share of the gain, from the least to the most. A region "
        "is strong if the lower bound of the least is above 0, weak if the most is. "
        "Made by `python benchmarks/relevance_bounds.py`.\n\n"
        + table(header, _lines(names, problems))
        + "\n\n## Beside model class reliance\n\n"
        "Forests are grown on every set of columns of three small tables (`class_reliance.py`); "
        "those within a hundredth of the gain of the best are the class. Reliance is the growth of "
        "a forest's loss when a column is shuffled, from the least to the most in the class, as a "
        "share of the gain. It can exceed 1, as a shuffled column misleads a model that knew "
        "nothing of it, and counts what correlated columns would make up for after a refit; "
        "necessity is what refits lose, so it cannot.\n\n"
        + table(class_reliance.HEADER, class_reliance.lines())
    )
    options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        warnings.simplefilter("ignore")
        print(json.dumps(relevance_bounds(Path(sys.argv[2]))))
    else:
        main()
