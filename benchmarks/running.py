"""Let many contestants judge the same tables: in turns, in time, each in its own environment."""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

import numpy as np

from designs import UNKNOWN, Truth, load
from hidimstat_tests import TESTS as HIDIMSTAT
from journal import FAILED, TOO_LONG, Journal, Progress, Row
from scoring import METRICS, score
from squamish.evidence.relevance import STRONG, WEAK

Names = list[str]
# The name of a kind of tables, and the seed that draws one.
Table = tuple[str, int]

HERE = Path(__file__).parent
KEY = ("contestant", "problem", "seed")
MEASURED = (*METRICS, "called strong", "called weak", "selected", "accuracy", "seconds", "status")
# The environments of peers, whose pins conflict, and that of networks, which draws their tables
# as well; all others run where this runs.
HOMES = {
    "FRI": "fri",
    "BorutaPy RF": "boruta",
    "BorutaPy LightGBM": "boruta",
    "Leshy": "arfs",
    "GrootCV": "arfs",
    "powershap": "powershap",
    "networks": "networks",
    "survival": "survival",
    **dict.fromkeys(HIDIMSTAT, "hidimstat"),
}


def environment(contestant: str) -> Path:
    """Return the Python that runs a contestant; its environment is made if it is not there."""
    if contestant not in HOMES:
        return Path(sys.executable)
    home = HERE.parent / ".venv-race" / HOMES[contestant]
    python, requirements = home / "bin" / "python", HERE / "environments" / f"{home.name}.txt"
    stamp = home / "installed.txt"
    if not stamp.exists() or stamp.read_bytes() != requirements.read_bytes():
        print(f"making the environment of {home.name}", file=sys.stderr, flush=True)
        base = getattr(sys, "_base_executable", sys.executable)
        subprocess.run([base, "-m", "venv", "--clear", "--without-pip", home], check=True)
        pip = [base, "-m", "pip", "--python", python, "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "-r", requirements], check=True)
        stamp.write_bytes(requirements.read_bytes())
    return python


def absent(contestants: Iterable[str], jobs: int) -> set[str]:
    """Return who cannot run, and say so: they are asked again next time.

    Environments are made side by side, since each waits for downloads most of the time.
    """

    def is_there(names: Names) -> bool:
        try:
            environment(names[0])
        except subprocess.CalledProcessError:
            print(f"NOT IN THE RACE: {', '.join(names)}, could not be installed", file=sys.stderr)
            return False
        return True

    homes: dict[str, Names] = {}
    for name in sorted(contestants):
        homes.setdefault(HOMES.get(name, ""), []).append(name)
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(is_there, homes.values()))
    pairs = zip(homes.values(), found, strict=True)
    return {name for names, there in pairs if not there for name in names}


class Processes:
    """A process for every environment, which judges one table after the other.

    Parameters
    ----------
    limit : float
        Seconds after which a verdict is not waited for any longer.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.processes: dict[Path, subprocess.Popen[bytes]] = {}

    def ask(self, contestant: str, table: Path, seed: int) -> dict[str, Any]:
        """Return what a contestant answers, or ``{"error": ...}``."""
        python = environment(contestant)
        if python not in self.processes:
            # A session of its own: an interrupt of this process is not one of a fit.
            self.processes[python] = subprocess.Popen(
                [python, HERE / "contestants.py", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        process = self.processes[python]
        assert process.stdin is not None
        assert process.stdout is not None
        question = {"contestant": contestant, "table": str(table), "seed": seed}
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass
        if not select.select([process.stdout], [], [], self.limit)[0]:
            self._end(python)
            return {"error": f"{TOO_LONG}{self.limit:g} s"}
        answer = process.stdout.readline()
        if not answer:
            self._end(python)
            return {"error": f"the process ended with code {process.returncode}"}
        return dict(json.loads(answer))

    def end(self) -> None:
        """End all processes, whatever they do."""
        for python in list(self.processes):
            self._end(python)

    def _end(self, python: Path) -> None:
        process = self.processes.pop(python)
        process.kill()
        process.communicate()


@dataclass(eq=False)
class Race:
    """Every contestant judges every table, unless the journal says that it did.

    The contestants take turns on a table, in random order, so that whatever else the machine
    does hits all alike; several tables are judged at the same time. Who takes too long is not
    asked again about other tables of the kind.

    Attributes
    ----------
    journal : Journal
        Where the results go.
    contestants : sequence of str
        Who takes part.
    limit : float
        Seconds that a verdict may take.
    jobs : int
        How many tables are judged at the same time.
    whole : bool
        Whether a table that somebody has still to judge is judged by all others again, so that
        their times can be compared.
    """

    journal: Journal
    contestants: Sequence[str]
    limit: float
    jobs: int
    whole: bool = False

    def missing(self, tables: Iterable[Table]) -> dict[Table, Names]:
        """Return who has still to judge which table."""
        rows, too_long = self.journal.rows(), self._too_long()
        done = {
            (row["contestant"], row["problem"], row["seed"])
            for row in rows
            if not str(row["status"]).startswith(TOO_LONG)
        }
        found = {
            (problem, seed): [
                name
                for name in self.contestants
                if (name, problem, seed) not in done and (name, problem) not in too_long
            ]
            for problem, seed in tables
        }
        return {table: names for table, names in found.items() if names}

    def _too_long(self) -> set[tuple[str, str]]:
        """Return who took too long on one table, of which kind, with as much time as now."""
        return {
            (str(row["contestant"]), str(row["problem"]))
            for row in self.journal.rows()
            if str(row["status"]).startswith(TOO_LONG)
            and float(str(row["status"]).split()[1]) >= self.limit
        }

    def _asked(self, tables: Iterable[Table]) -> dict[Table, Names]:
        """Return who is asked about which table, of those that can run."""
        missing, late = self.missing(tables), self._too_long()
        needed = {name for names in missing.values() for name in names}
        left_out = absent(self.contestants if self.whole and needed else needed, self.jobs)
        asked = {}
        for table, names in missing.items():
            there = [name for name in names if name not in left_out]
            if there and self.whole:
                able = (name for name in self.contestants if name not in left_out)
                there = [name for name in able if (name, table[0]) not in late]
            if there:
                asked[table] = there
        return asked

    def run(self, tables: Iterable[Table]) -> None:
        """Judge tables, given by name and seed."""
        asked = self._asked(tables)
        self._progress = Progress(sum(map(len, asked.values())))
        self._waiting = SimpleQueue[tuple[Table, Names]]()
        for table, names in asked.items():
            random.Random(str(table)).shuffle(names)
            self._waiting.put((table, names))
        self._stopped = Event()
        self._crew = [Processes(self.limit) for _ in range(self.jobs)]
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                for _ in pool.map(self._work, self._crew):
                    pass
            except BaseException:
                self._stopped.set()
                for processes in self._crew:
                    processes.end()
                raise

    def _work(self, processes: Processes) -> None:
        """Judge one table after the other, as long as there are some."""
        try:
            while not self._stopped.is_set():
                self._judge(processes, *self._waiting.get_nowait())
        except Empty:
            pass
        finally:
            processes.end()

    def _judge(self, processes: Processes, table: Table, names: Names) -> None:
        """Let some contestants judge one table, and write down what they say."""
        problem, seed = table
        truth = load(problem, seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.npz"
            np.savez(path, X=truth.X, y=truth.y, task=truth.task)
            for name in names:
                if (name, problem) in self._too_long():
                    self._progress.step(f"{name}, {problem}, seed {seed}: not asked")
                    continue
                answer = processes.ask(name, path, seed)
                if self._stopped.is_set():
                    return
                row = rate(answer, truth)
                self.journal.add({"contestant": name, "problem": problem, "seed": seed, **row})
                took = answer.get("error") or f"{answer['seconds']:.1f} s"
                self._progress.step(f"{name}, {problem}, seed {seed}: {took}")


def incomplete(races: Iterable[tuple[Race, Iterable[Table]]]) -> str:
    """Say how many runs are still to be done, if some are."""
    n = sum(len(names) for race, tables in races for names in race.missing(tables).values())
    return f"**Not complete: {n} runs are still to be done.**\n" if n else ""


def rate(answer: dict[str, Any], truth: Truth) -> Row:
    """Compare an answer with the truth."""
    if "error" in answer:
        late = answer["error"].startswith(TOO_LONG)
        status = answer["error"] if late else f"{FAILED}: {answer['error'].splitlines()[0]}"
        return {**dict.fromkeys(MEASURED, np.nan), "status": status}
    in_three = truth.in_three and answer["classes"] is not None
    verdict = np.array(answer["classes"] if in_three else answer["selected"], dtype=np.int64)
    known = truth.classes != UNKNOWN
    metrics = {
        # Who does not tell strong from weak is not rated for it.
        name: value if in_three or name.startswith("relevant") else np.nan
        for name, value in score(truth.classes[known], verdict[known]).items()
    }
    accuracy = np.nan if answer["accuracy"] is None else answer["accuracy"]
    return {
        **metrics,
        "called strong": int(np.sum(verdict[known] == STRONG)) if in_three else np.nan,
        "called weak": int(np.sum(verdict[known] == WEAK)) if in_three else np.nan,
        "selected": int(np.sum(answer["selected"])),
        "accuracy": accuracy,
        "seconds": answer["seconds"],
        "status": "",
    }
