"""A fit with a checkpoint, killed at random times and ended, gives the same evidence."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from attacks.command import begin, end, run
from attacks.outcome import Outcome

N_KILLS = 2


def attempt(seed: int, folder: Path) -> Outcome:
    """Fit, kill, go on, and compare with a fit that was left alone."""
    rng = np.random.default_rng(seed)
    _write_table(rng, folder / "table.csv")
    command = ["fit", "table.csv", "--target", "y", "--quiet", "--seed", seed]
    begun = time.monotonic()
    alone = run([*command, "--out", "alone"], folder)
    took, n_kills = time.monotonic() - begun, 0
    for _ in range(N_KILLS):
        process = begin([*command, "--checkpoint", "work", "--out", "killed"], folder)
        time.sleep(float(rng.uniform(0.0, took)))
        os.kill(process, signal.SIGKILL)
        n_kills += end(process, folder).code != 0
    goes_on = run([*command, "--checkpoint", "work", "--out", "killed"], folder)
    if goes_on.code or alone.code:
        return Outcome("fault", (goes_on.err or alone.err)[:300])
    if _evidence(folder / "killed") != _evidence(folder / "alone"):
        return Outcome("fault", "other evidence")
    return Outcome(f"{n_kills} kills before the end: identical evidence")


def _write_table(rng: np.random.Generator, path: Path) -> None:
    n = int(rng.integers(150, 400))
    X = rng.standard_normal((n, int(rng.integers(4, 9))))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(n)
    y = (X[:, 0] + X[:, 2] + 0.5 * rng.standard_normal(n) > 0).astype(int)
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
    rows = [",".join([*map(repr, row.tolist()), str(c)]) for row, c in zip(X, y, strict=True)]
    path.write_text("\n".join([header, *rows, ""]))


def _evidence(folder: Path) -> Any:
    content = json.loads((folder / "result.json").read_text())
    return content["classes"], content["evidence"]
