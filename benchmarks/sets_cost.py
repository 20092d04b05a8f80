"""What it costs to measure worth on real tables, and whether anything is fitted twice.

python benchmarks/sets_cost.py [--tables churn ames] [--out results/sets_cost.md]
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import collection
from markdown import table
from squamish import RelevanceSelector
from squamish.methods import crossfit
from squamish.models.learners import BuiltIn
from squamish.worth import measure
from worth_nested import Source

OUT = Path(__file__).parent / "results" / "sets_cost.md"
TABLES = {
    "ames": Source("modeldata/ames", "Sale_Price"),
    "attrition": Source("modeldata/attrition", "Attrition"),
    "cells": Source("modeldata/cells", "class", without=("case",)),
    "Chicago": Source("modeldata/Chicago", "ridership", without=("date",)),
    "credit_data": Source("modeldata/credit_data", "Status"),
    "Hitters": Source("ISLR/Hitters", "Salary"),
    "meats": Source("modeldata/meats", "fat", without=("water", "protein")),
    "mlc_churn": Source("modeldata/mlc_churn", "churn"),
    "pbc": Source("survival/pbc", "status", without=("id", "time")),
}
# The stage as a function, and its parts by the functions that do them.
STAGE = "measure_worth"
PARTS = {
    "cost_removals": "removals",
    "search_small_sets": "small sets",
    "find_signatures": "signatures",
    "measure_necessity": "necessity",
}


@dataclass
class Meter:
    """Adds up processor time by part, and counts models that were fitted before.

    A model is fitted again if learner, values and target are the same; trees of fewer rounds are
    those of more rounds at an earlier time.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    fits: int = 0
    again: int = 0
    in_stage: bool = False
    # What it takes to recognise a model is not counted.
    own: float = 0.0
    known: dict[tuple[Any, ...], float] = field(default_factory=dict)

    def now(self) -> float:
        """Return the processor time, without our own."""
        return time.process_time() - self.own

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a part of the fit."""

        def wrapped(*given: Any) -> Any:
            start, self.in_stage = self.now(), True
            try:
                return function(*given)
            finally:
                self.seconds[name] = self.now() - start

        return wrapped

    def count(self, learner: BuiltIn, X: Any, y: Any) -> None:
        """Count a model, if it is one of the stage."""
        start = time.process_time()
        trees = learner.kind == "boosted"
        values = blake2b(np.ascontiguousarray(X).tobytes() + np.ascontiguousarray(y).tobytes())
        key = (learner.kind, learner.view, None if trees else learner.strength, values.digest())
        before = self.known.get(key, 0.0)
        if self.in_stage:
            self.fits += 1
            self.again += before >= learner.strength
        self.known[key] = max(before, learner.strength)
        self.own += time.process_time() - start

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch all fits of the block."""
        fit = BuiltIn.fit

        def counted(learner: BuiltIn, X: Any, y: Any, *others: Any) -> Any:
            self.count(learner, X, y)
            return fit(learner, X, y, *others)

        places = [(measure, name) for name in PARTS] + [(crossfit, STAGE)]
        with ExitStack() as stack:
            stack.enter_context(patch.object(BuiltIn, "fit", counted))
            for module, name in places:
                timed = self.timed(name, getattr(module, name))
                stack.enter_context(patch.object(module, name, timed))
            yield


class Cost(NamedTuple):
    """What a fit took, and what of it."""

    rows: int
    columns: int
    relevant: int
    learner: str
    seconds: float
    meter: Meter


def judge(name: str) -> Cost:
    """Fit a table once, and take the time."""
    source, meter = TABLES[name], Meter()
    frame = collection.read(source.name).dropna(subset=source.target)
    X = frame.drop(columns=[source.target, *source.without])
    with warnings.catch_warnings(), meter.watching():
        warnings.simplefilter("ignore")
        start = meter.now()
        fitted = RelevanceSelector(random_state=0, n_jobs=1).fit(X, frame[source.target])
        seconds = meter.now() - start
    result = fitted.result_
    n_relevant = len(result.select("relevant"))
    return Cost(len(X), X.shape[1], n_relevant, result.evidence.learner, seconds, meter)


def lines(costs: dict[str, Cost]) -> Iterator[list[str]]:
    """Yield a line for each table, and one for all."""
    ratios = [_ratio(cost) for cost in costs.values()]
    for (name, cost), ratio in zip(costs.items(), ratios, strict=True):
        meter = cost.meter
        yield [
            name,
            f"{cost.rows:,} x {cost.columns}",
            str(cost.relevant),
            cost.learner,
            f"{cost.seconds - meter.seconds[STAGE]:.1f}",
            *(f"{meter.seconds.get(part, 0):.1f}" for part in PARTS),
            f"{ratio:.2f}",
            f"{meter.again} of {meter.fits}",
        ]
    stage = sum(cost.meter.seconds[STAGE] for cost in costs.values())
    whole = sum(cost.seconds for cost in costs.values())
    fits, again = (sum(getattr(c.meter, k) for c in costs.values()) for k in ("fits", "again"))
    parts = [f"{sum(c.meter.seconds.get(p, 0) for c in costs.values()):.1f}" for p in PARTS]
    in_all = f"{whole / (whole - stage):.2f}"
    yield ["all", "", "", "", f"{whole - stage:.1f}", *parts, in_all, f"{again} of {fits}"]
    yield ["geometric mean", *[""] * 8, f"{np.exp(np.mean(np.log(ratios))):.2f}", ""]


def _ratio(cost: Cost) -> float:
    return cost.seconds / (cost.seconds - cost.meter.seconds[STAGE])


def main() -> None:
    """Judge all tables, one after the other, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=TABLES)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    costs = {}
    for name in options.tables:
        costs[name] = judge(name)
        print(name, flush=True)
    header = [
        "table", "size", "relevant", "learner", "without", *PARTS.values(), "with / without",
        "fitted before",
    ]  # fmt: skip
    options.out.write_text(
        "# What it costs to measure worth\n\n"
        "Processor seconds of a fit with default settings and one thread: without the stage that "
        "measures worth, in the parts of the stage, and how many times as long it takes with it. "
        "*Fitted before* are models of the stage whose learner, values and target were fitted "
        "before, in any stage. Made by `python benchmarks/sets_cost.py`.\n\n"
        f"{table(header, lines(costs))}",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
