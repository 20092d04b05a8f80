"""Take workers and schedulers from under a fit, and compare the evidence with that of home.

    python benchmarks/stress_cluster.py [--rounds 6] [--seed 0]

Every round starts a Dask scheduler and two workers as processes of their own, fits with a
checkpoint, and does something to them at a random moment of the fit. A fit that loses its scheduler
has to say so and goes on at home from the same checkpoint. Whatever happens, the evidence must be
that of a fit at home.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from squamish import RelevanceSelector
from squamish.datasets import load_preset
from squamish.errors import ClusterLost
from squamish.execution.cluster import connected

# Seconds that a process has to start, and that a fit waits for those that have gone.
START, PATIENCE = 60, 15.0
# Seconds that a scheduler has to introduce itself, and to come back.
HANDSHAKE = 10.0
# A fit is disturbed in the middle: after the first and before the last of its tasks.
EARLIEST, LATEST = 0.05, 0.9


@dataclass(eq=False)
class LocalProcesses:
    """A scheduler and its workers, each a process that can be killed or stopped.

    Attributes
    ----------
    address : str
        Where the scheduler is.
    scheduler : Popen
        Its process.
    folder : str
        For files of theirs.
    workers : list of Popen
        Their processes.
    """

    address: str
    scheduler: subprocess.Popen[bytes]
    folder: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, **environment: str) -> None:
        """Start another worker, with other variables in its environment."""
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
        self.workers.append(_start("dask_worker", self.address, *options, **environment))

    def end(self) -> None:
        """Kill what is left of them."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def _start(module: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def processes(n_workers: int = 2) -> Iterator[LocalProcesses]:
    """Start a cluster of processes, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scheduler.json")
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        scheduler = _start("dask_scheduler", *options, "--scheduler-file", str(file))
        deadline = time.monotonic() + START
        address = ""
        while not address:
            if time.monotonic() > deadline or scheduler.poll() is not None:
                scheduler.kill()
                raise RuntimeError("no scheduler could be started")
            time.sleep(0.1)
            # Half of a file is none.
            text = file.read_text() if file.exists() else ""
            address = json.loads(text)["address"] if text.rstrip().endswith("}") else ""
        cluster = LocalProcesses(address, scheduler, folder)
        try:
            for _ in range(n_workers):
                cluster.add_worker()
            yield cluster
        finally:
            cluster.end()


def kill_a_worker(cluster: LocalProcesses) -> None:
    """Let one worker go on alone."""
    cluster.workers[0].kill()


def replace_all_workers(cluster: LocalProcesses) -> None:
    """Kill all workers, and start one."""
    for worker in cluster.workers:
        worker.kill()
    cluster.add_worker()


def freeze_a_worker(cluster: LocalProcesses) -> None:
    """Stop a worker: its connection stays, and it says nothing."""
    cluster.workers[0].send_signal(signal.SIGSTOP)


def add_another_version(cluster: LocalProcesses) -> None:
    """Let a worker join that has another squamish."""
    package = Path(cluster.folder, "squamish")
    package.mkdir()
    (package / "__init__.py").write_text('__version__ = "0.0"')
    cluster.add_worker(PYTHONPATH=str(cluster.folder))


def kill_the_scheduler(cluster: LocalProcesses) -> None:
    """Leave workers behind that nobody can reach."""
    cluster.scheduler.kill()


def freeze_the_scheduler(cluster: LocalProcesses) -> None:
    """Stop the scheduler: its connections stay, and it says nothing."""
    cluster.scheduler.send_signal(signal.SIGSTOP)


Disaster = Callable[[LocalProcesses], None]
DISASTERS: Mapping[str, Disaster] = {
    "a worker killed": kill_a_worker,
    "all workers replaced": replace_all_workers,
    "a worker frozen": freeze_a_worker,
    "another version joined": add_another_version,
    "the scheduler killed": kill_the_scheduler,
    "the scheduler frozen": freeze_the_scheduler,
}


def evidence(selector: RelevanceSelector) -> str:
    """Return everything in a result but its time and place."""
    return str(selector.result_.to_json()).partition('"task"')[0]


def attack(
    disaster: Disaster, problem: Any, moment: float, folder: Path
) -> tuple[str, RelevanceSelector]:
    """Fit on a cluster to which something happens, and go on at home if that is lost.

    Returns how it ended: "survived", or "went on at home"; or "undisturbed" if the fit was
    finished before.
    """
    happened: list[float] = []

    def disturb(news: Any) -> None:
        if news.share >= moment and not happened:
            happened.append(news.share)
            disaster(cluster)

    selector = RelevanceSelector(random_state=0, checkpoint=folder / "work", callback=disturb)
    with processes() as cluster:
        try:
            with connected(cluster.address, timeout=HANDSHAKE):
                selector.fit(problem.X, problem.y)
        except ClusterLost:
            at_home = RelevanceSelector(random_state=0, checkpoint=folder / "work")
            return "went on at home", at_home.fit(problem.X, problem.y)
    return ("survived" if happened else "undisturbed"), selector


def stress_cluster(rounds: int, seed: int = 0) -> Counter[str]:
    """Disturb so many fits, each in a way and at a moment of its own, and count how they end.

    Returns the counts: by what happened and how the fit ended, and "other evidence" for fits
    whose evidence was not that of home, which should be none.
    """
    import squamish.execution.cluster

    luck, counts = random.Random(seed), Counter[str]()
    problem = load_preset("Set 4", random_state=seed)
    expected = evidence(RelevanceSelector(random_state=0).fit(problem.X, problem.y))
    before = squamish.execution.cluster.PATIENCE
    squamish.execution.cluster.PATIENCE = PATIENCE
    try:
        for number in range(rounds):
            name = list(DISASTERS)[number % len(DISASTERS)]
            moment = luck.uniform(EARLIEST, LATEST)
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                # That a worker is given up is what is wanted here.
                warnings.simplefilter("ignore", UserWarning)
                ended, selector = attack(DISASTERS[name], problem, moment, Path(folder))
            counts[f"{name}: {ended}"] += 1
            counts["other evidence"] += evidence(selector) != expected
    finally:
        squamish.execution.cluster.PATIENCE = before
    return counts


def main() -> None:
    """Run the rounds that were asked for, and print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=len(DISASTERS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts = stress_cluster(given.rounds, given.seed)
    for what, count in sorted(counts.items()):
        print(f"{count:5d}  {what}")
    sys.exit(1 if counts["other evidence"] else 0)


if __name__ == "__main__":
    main()
