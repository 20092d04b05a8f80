"""A Dask cluster of processes on this machine, each of which can be killed or stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# Seconds that a scheduler has to start.
START = 60


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
