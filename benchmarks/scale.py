"""Measure time and memory of large tables, speed-up by cores, and what a cluster costs and gives.

    python benchmarks/scale.py [--quick] [--only wide tall doubled cores cluster]

Every fit runs in a process of its own, one after the other, and nothing else should run. The
memory is the peak of the process during the fit, less what it had before, beside that of the
table itself. Writes results/scale.md; parts that are not measured keep their tables.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from designs import Truth, co_expressed, correlated, long, mixed, preset

OUT = Path(__file__).parent / "results" / "scale.md"


class Sizes(NamedTuple):
    """A table of correlated blocks: rows, columns, classes, and the share of relevant columns."""

    rows: int = 1000
    columns: int = 20
    classes: int = 2
    relevant: float = 0.25


# Tables of which one size is doubled, and doubled again.
BASE = Sizes()
DOUBLED = {
    what: {
        f"{what}: {factor * value:g}": BASE._replace(**{what: factor * value})
        for factor in (1, 2, 4)
    }
    for what, value in BASE._asdict().items()
}

SHAPES: dict[str, Callable[[], Truth]] = {
    **{f"200 x {d:,}": partial(co_expressed, d) for d in (1000, 5000, 20_000, 100_000)},
    **{f"{n:,} x 50": partial(long, n) for n in (10_000, 20_000, 50_000, 200_000, 1_000_000)},
    "Set 8": partial(preset, "Set 8", 1),
    "NL 4": partial(preset, "NL 4", 1),
    "ames": partial(mixed, "ames", 0),
    "cells": partial(mixed, "cells", 0),
    **{
        name: partial(correlated, *sizes)
        for some in DOUBLED.values()
        for name, sizes in some.items()
    },
}
CORES = ["Set 8", "NL 4", "ames", "cells", "20,000 x 50", "200 x 20,000"]
WIDE = [name for name in SHAPES if name.startswith("200 x")]
TALL = [name for name in SHAPES if name.endswith("x 50")]


def measure(shape: str, n_jobs: int, where: str) -> dict[str, Any]:
    """Fit one table, in this process, and tell what it took."""
    from squamish import RelevanceSelector

    truth = SHAPES[shape]()
    X, y, relevant = truth.X, truth.y, truth.relevant
    megabytes = X.nbytes / 2**20
    selector = RelevanceSelector(random_state=0, n_jobs=n_jobs)
    if where == "turns":
        return _in_turns(X, y, n_jobs)
    if where.startswith("cluster"):
        return _on_a_cluster(selector, X, y, int(where.removeprefix("cluster")))
    with tempfile.TemporaryDirectory() as folder, _logged_calls(where == "log") as calls:
        table: Any = X
        if where == "file":
            import polars as pl

            pl.DataFrame(X).write_parquet(Path(folder, "table.parquet"))
            table = pl.scan_parquet(Path(folder, "table.parquet"))
        del X, truth
        _warm_up()
        before, start, used = _memory(), perf_counter(), process_time()
        selector.fit(table, y)
        seconds, peak = perf_counter() - start, _memory("VmHWM") - before
        used = process_time() - used
    found, evidence = selector.support_, selector.result_.evidence
    right, n_found = int(np.sum(found & relevant)), int(np.sum(found))
    return {
        "seconds": seconds,
        "used": used,
        "table": megabytes,
        "peak": peak,
        "precision": right / max(n_found, 1),
        "recall": right / int(np.sum(relevant)),
        "fits": evidence.n_fits,
        "tested": evidence.n_tested,
        "detectable": evidence.detectable,
        "calls": calls,
    }


def _in_turns(X: Any, y: Any, n_jobs: int) -> dict[str, Any]:
    """Fit with one job and with more in turns, and return the median times of both."""
    from squamish import RelevanceSelector

    times: dict[int, list[float]] = {1: [], n_jobs: []}
    begin = perf_counter()
    while perf_counter() - begin < 60 or len(times[n_jobs]) < 2:
        for jobs, found in times.items():
            start = perf_counter()
            RelevanceSelector(random_state=0, n_jobs=jobs).fit(X, y)
            found.append(perf_counter() - start)
    one, more = (float(np.median(found)) for found in times.values())
    return {"seconds": one, "parallel": more, "fits": len(times[1])}


def _warm_up() -> None:
    """Load everything that a fit needs, and forget how much memory was used so far."""
    from squamish import RelevanceSelector
    from squamish.datasets import make_linear

    problem = make_linear(100, n_strong=2, group_sizes=[2], n_irrelevant=2, random_state=0)
    RelevanceSelector(random_state=0, n_jobs=2).fit(problem.X, problem.y)
    Path("/proc/self/clear_refs").write_text("5")


def _memory(what: str = "VmRSS") -> float:
    """Return the memory of this process in megabytes, or its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith(what))


@contextmanager
def _logged_calls(wanted: bool) -> Iterator[list[tuple[int, float, float]]]:
    """Note the tasks of every call, the time of all of them, and that of the longest."""
    from squamish.execution import workers as execution

    calls: list[tuple[int, float, float]] = []
    seconds: list[float] = []
    run, one = execution.Workers.run, execution._one

    def noted_run(self: Any, function: Any, shared: Any, tasks: Any, rng: Any) -> Any:
        seconds.clear()
        found = run(self, function, shared, tasks, rng)
        calls.append((len(tasks), sum(seconds), max(seconds, default=0.0)))
        return found

    def noted_one(*arguments: Any) -> Any:
        found = one(*arguments)
        seconds.append(found[2])
        return found

    if not wanted:
        yield calls
        return
    with (
        patch.object(execution.Workers, "run", noted_run),
        patch.object(execution, "_one", noted_one),
    ):
        yield calls


def _on_a_cluster(selector: Any, X: Any, y: Any, n_workers: int) -> dict[str, Any]:
    """Fit on a Dask cluster of processes on this machine; and what nothing costs there."""
    import joblib
    from distributed import Client, LocalCluster

    from squamish.execution.workers import Workers

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask", client=client),
    ):
        # The first one makes the workers load what they need.
        selector.fit(X, y)
        start = perf_counter()
        selector.fit(X, y)
        seconds = perf_counter() - start
        workers, rng = Workers(), np.random.default_rng(0)
        workers.run(_nothing, 0, range(10), rng)
        start = perf_counter()
        for _ in range(10):
            workers.run(_nothing, 0, range(2), rng)
        a_call = (perf_counter() - start) / 10
        start = perf_counter()
        workers.run(_nothing, 0, range(400), rng)
        a_task = (perf_counter() - start - a_call) / 400
        block = np.zeros(2**24)
        start = perf_counter()
        workers.run(_nothing, block, range(2 * n_workers), rng)
        sending = perf_counter() - start - a_call
        workers.close()
    return {"seconds": seconds, "call": a_call, "task": a_task, "sending": sending / 128}


def _nothing(shared: Any, task: int, rng: np.random.Generator) -> int:
    return task


def fitted(shape: str, n_jobs: int = 1, where: str = "memory") -> dict[str, Any]:
    """Measure a fit in a new process."""
    print(f"{shape}, n_jobs={n_jobs}, {where} ...", end=" ", flush=True)
    command = [sys.executable, __file__, "--one", shape, str(n_jobs), where]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"{found['seconds']:.1f} s", flush=True)
    return found


def curve(shapes: Sequence[str], *wheres: str) -> list[str]:
    """Measure tables of growing size, and tell how the time grows."""
    lines = [
        "| table | seconds | time grows as size to the power of | table, MB | peak, MB | times the "
        "table | relevant columns: precision / recall | models | rows in models | least effect "
        "shown |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for where in wheres:
        before: tuple[float, float] | None = None
        for shape in shapes:
            m = fitted(shape, where=where)
            power = ""
            if before is not None:
                growth = np.log(m["seconds"] / before[0]) / np.log(m["table"] / before[1])
                power = f"{growth:.2f}"
            before = (m["seconds"], m["table"])
            name = shape if where == "memory" else f"{shape}, Parquet"
            lines.append(
                f"| {name} | {m['seconds']:.1f} | {power} | {m['table']:.0f} | {m['peak']:.0f} | "
                f"{m['peak'] / m['table']:.1f} | {m['precision']:.2f} / {m['recall']:.2f} | "
                f"{m['fits']} | {m['tested']:,} | {m['detectable']:.2%} |"
            )
    return lines


def wide(quick: bool) -> list[str]:
    """Measure the curve over columns."""
    return [
        "Columns like gene expression: half in modules of 20, three modules drive the target, in "
        "200 rows.\n",
        *curve(WIDE[:2] if quick else WIDE, "memory"),
    ]


def tall(quick: bool) -> list[str]:
    """Measure the curve over rows, in memory and from a file."""
    return [
        "50 columns, of which 12 are relevant, one of them by a coefficient of 0.03 only. Up to "
        "50,000 rows models see all of them, of more a sample; tests without a model see all.\n",
        *curve(TALL[:1] if quick else TALL, "memory"),
        *curve(TALL[-1:], "file")[2:] * (not quick),
    ]


def doubled(quick: bool) -> list[str]:
    """Measure the cost of tables of which one size is doubled, and doubled again."""
    lines = [
        f"{BASE.rows:,} rows, {BASE.columns} columns in correlated blocks of five, a third of them "
        f"with four values, {BASE.classes} classes, and {BASE.relevant:.0%} of the columns "
        "relevant. One of these is doubled, and doubled again. Seconds of a processor.\n",
        "| what | seconds | models | relevant columns: precision / recall | time grows as size to "
        "the power of |",
        "|---|---|---|---|---|",
    ]
    for some in list(DOUBLED.values())[: 1 if quick else None]:
        before = np.nan
        for name in list(some)[: 2 if quick else None]:
            m = fitted(name)
            power = "" if np.isnan(before) else f"{np.log2(m['used'] / before):.2f}"
            before = m["used"]
            lines.append(
                f"| {name} | {m['used']:.1f} | {m['fits']} | {m['precision']:.2f} / "
                f"{m['recall']:.2f} | {power} |"
            )
    return lines


def cores(quick: bool) -> list[str]:
    """Compare one and two fits at the same time, in turns."""
    lines = [
        "Medians of so many fits each, in turns, in one process.\n",
        "| table | fits | n_jobs=1, s | n_jobs=2, s | speed-up |",
        "|---|---|---|---|---|",
    ]
    for shape in ["Set 8"] if quick else CORES:
        m = fitted(shape, 2, "turns")
        one, two = m["seconds"], m["parallel"]
        lines.append(f"| {shape} | {m['fits']} | {one:.1f} | {two:.1f} | {one / two:.2f} |")
    return lines


def cluster(quick: bool) -> list[str]:
    """Measure what a cluster costs, and say on paper how many workers pay off."""
    shapes = ["Set 8"] if quick else ["Set 8", "20,000 x 50", "200 x 20,000", "1,000,000 x 50"]
    logs = {shape: fitted(shape, 1, "log") for shape in shapes}
    lines = [
        "Dask workers are processes on the same machine of two cores; the second fit on a cluster, "
        "when workers have loaded what they need.\n",
        "| table | threads, n_jobs=1, s | 1 worker, s | 2 workers, s |",
        "|---|---|---|---|",
    ]
    costs: dict[str, Any] = {}
    for shape in shapes[:2]:
        found = [fitted(shape, 1, f"cluster{n}") for n in (1, 2)]
        costs = found[1]
        times = " | ".join(f"{f['seconds']:.1f}" for f in (logs[shape], *found))
        lines.append(f"| {shape} | {times} |")
    call, task, send = costs["call"], costs["task"], costs["sending"]
    lines += [
        f"\nHanding out tasks costs {1000 * call:.0f} ms a call and {1000 * task:.1f} ms a task; "
        f"sending the table {1000 * send:.1f} ms a megabyte, once to every worker.\n",
        "On paper, with these costs: every call takes as long as its longest task, or as all its "
        "tasks divided by the number of workers, whichever is more; what is outside of tasks stays "
        "as it is.\n",
        "| table | calls | tasks | in tasks, s | outside, s | "
        + " | ".join(f"{w} workers, s" for w in WORKERS)
        + " |",
        "|---|---|---|---|---|" + "---|" * len(WORKERS),
    ]
    for shape, m in logs.items():
        calls = m["calls"]
        work = sum(wall for _, wall, _ in calls)
        outside = m["seconds"] - work
        times = " | ".join(
            f"{outside + _on_paper(calls, w, call, task, send * m['table']):.1f}" for w in WORKERS
        )
        numbers = f"{len(calls)} | {sum(n for n, _, _ in calls)} | {work:.1f} | {outside:.1f}"
        lines.append(f"| {shape} | {numbers} | {times} |")
    return lines


WORKERS = (1, 2, 4, 8, 16)


def _on_paper(
    calls: Sequence[Sequence[float]], workers: int, call: float, task: float, sending: float
) -> float:
    """Return how long all calls would take with so many workers."""
    each = (
        max(longest, wall / workers) + call + n * task if n > 1 else wall
        for n, wall, longest in calls
    )
    return sum(each) + sending


PARTS = {"wide": wide, "tall": tall, "doubled": doubled, "cores": cores, "cluster": cluster}
TITLES = {
    "wide": "Wide",
    "tall": "Tall",
    "doubled": "Doubled",
    "cores": "All cores",
    "cluster": "A cluster",
}


def main() -> None:
    """Measure the parts that are asked for, and put their tables into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small tables; writes nothing")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        shape, n_jobs, where = options.one
        print(json.dumps(measure(shape, int(n_jobs), where)))
        return
    page = OUT.read_text() if OUT.exists() else ""
    kept = dict(re.findall(r"^## (.+?)\n\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for name in options.only:
        kept[TITLES[name]] = "\n".join(PARTS[name](options.quick)) + "\n\n"
        print(kept[TITLES[name]])
    if not options.quick:
        head = "# Scale\n\nMade by `python benchmarks/scale.py`, on two cores.\n\n"
        parts = [f"## {title}\n\n{kept[title]}" for title in TITLES.values() if title in kept]
        OUT.write_text(head + "".join(parts).rstrip() + "\n")


if __name__ == "__main__":
    main()
