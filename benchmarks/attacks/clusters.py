"""A cluster loses workers or its scheduler in the middle of a fit: the evidence is that of home.

A scheduler and two workers are processes of their own, and something happens to them at a random
moment of the fit. A fit that loses its scheduler has to say so, and goes on at home from its
checkpoint.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from attacks.local_cluster import LocalProcesses, processes
from attacks.outcome import Outcome

# Seconds that a fit waits for workers that have gone; the default would be most of an attempt.
PATIENCE = 15.0
# Seconds that a scheduler has to introduce itself, and to come back.
HANDSHAKE = 10.0
# A fit is disturbed in the middle: after the first and before the last of its tasks.
EARLIEST, LATEST = 0.05, 0.9


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


def attempt(seed: int, folder: Path) -> Outcome:
    """Disturb a fit, each in a way and at a moment of its own, and compare with one at home."""
    if find_spec("distributed") is None:
        return Outcome("distributed is not installed")
    from squamish import RelevanceSelector
    from squamish.datasets import load_preset

    rng = np.random.default_rng(seed)
    name = list(DISASTERS)[seed % len(DISASTERS)]
    problem = load_preset("Set 4", random_state=seed)
    expected = _evidence(RelevanceSelector(random_state=0).fit(problem.X, problem.y))
    with patch("squamish.execution.cluster.PATIENCE", PATIENCE), warnings.catch_warnings():
        # That a worker is given up is what is wanted here.
        warnings.simplefilter("ignore", UserWarning)
        moment = float(rng.uniform(EARLIEST, LATEST))
        ended, selector = _disturbed(DISASTERS[name], problem, moment, folder)
    if _evidence(selector) != expected:
        return Outcome("fault", f"{name}: {ended}, with other evidence")
    return Outcome(f"{name}: {ended}, with identical evidence")


def _disturbed(disaster: Disaster, problem: Any, moment: float, folder: Path) -> tuple[str, Any]:
    """Fit on a cluster to which something happens, and go on at home if that is lost.

    Returns how it ended, and the selector: "survived", or "went on at home"; or "undisturbed" if
    the fit was finished before.
    """
    from squamish import RelevanceSelector
    from squamish.errors import ClusterLost
    from squamish.execution.cluster import connected

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


def _evidence(selector: Any) -> str:
    """Return everything in a result but its time and place."""
    return str(selector.result_.to_json()).partition('"task"')[0]
