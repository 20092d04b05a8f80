"""Attack squamish in every way that is listed in ``attacks``, and count what comes of it.

    python benchmarks/stress.py [--seconds 600] [--attempts N] [--only kills flips] [--out DIR]

It goes on where it was stopped: attempts are numbered, and what came of those before is in
``stress.json``. Exit code 1 means that there was a fault; each is on the page, with the number that
repeats it: ``python benchmarks/stress.py --only tables --repeat 4711``.
"""

from __future__ import annotations

import os

# One thread for each process, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from attacks import ATTACKS
from attacks.command import load
from attacks.outcome import Outcome
from markdown import table

OUT = Path(__file__).parent / "results"
# The longest that an attempt may take, in seconds.
LONGEST = 300
# The most faults that are kept of an attack.
MOST_FAULTS = 50


@dataclass
class Tally:
    """What came of the attempts of an attack so far: how many, of which kinds, with what faults."""

    done: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def count(self, seed: int, outcome: Outcome) -> None:
        """Take in what came of an attempt."""
        self.done += 1
        self.kinds[outcome.kind] = self.kinds.get(outcome.kind, 0) + 1
        if outcome.fault and len(self.faults) < MOST_FAULTS:
            self.faults[str(seed)] = outcome.fault


def attempted(name: str, seed: int) -> Outcome:
    """Try an attack once, in a folder of its own; one that does not end is a fault."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"no end after {LONGEST} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LONGEST)
    try:
        with TemporaryDirectory() as folder:
            return ATTACKS[name].attempt(seed, Path(folder))
    except Exception as error:
        return Outcome("fault", f"{type(error).__name__}: {error}"[:300])
    finally:
        signal.alarm(0)


def attack(name: str, tally: Tally, until: float, attempts: int | None, jobs: int) -> None:
    """Try an attack until the time is used up, or it was tried often enough."""
    last = min(
        ATTACKS[name].goal, tally.done + (ATTACKS[name].goal if attempts is None else attempts)
    )
    while tally.done < last and time.monotonic() < until:
        # A process that dies takes its pool along.
        with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=load) as pool:
            while tally.done < last and time.monotonic() < until:
                seeds = range(tally.done, min(tally.done + ATTACKS[name].portion * jobs, last))
                try:
                    outcomes = list(pool.map(attempted, [name] * len(seeds), seeds))
                except BrokenProcessPool:
                    died = Outcome("fault", f"a process died, in {seeds[0]} to {seeds[-1]}")
                    outcomes = [died] * len(seeds)
                for seed, outcome in zip(seeds, outcomes, strict=True):
                    tally.count(seed, outcome)
                if any("a process died" in outcome.fault for outcome in outcomes):
                    break


def read(path: Path) -> dict[str, Tally]:
    """Read what came of attempts before."""
    known = json.loads(path.read_text()) if path.exists() else {}
    return {name: Tally(**known.get(name, {})) for name in ATTACKS}


def page(tallies: dict[str, Tally]) -> str:
    """Lay out what came of all attempts."""
    lines = [
        [name, ATTACKS[name].what, f"{t.done:,} of {ATTACKS[name].goal:,}", str(n_faults(t))]
        for name, t in tallies.items()
    ]
    parts = [
        "# Attacks\n\nMade by `make stress` (`benchmarks/stress.py`), which goes on where it was "
        "stopped.\n",
        table(["attack", "what is tried, and what must come of it", "attempts", "faults"], lines),
    ]
    for name, t in tallies.items():
        kinds = sorted(t.kinds.items(), key=lambda kind: -kind[1])
        counts = [[kind, f"{n:,}"] for kind, n in kinds]
        parts.append(f"## {name}\n\n{table(['what came of it', 'attempts'], counts)}")
        faults = [[seed, fault.replace("|", "\\|")] for seed, fault in t.faults.items()]
        parts += [table(["attempt", "fault"], faults)] if faults else []
    return "\n".join(parts)


def n_faults(tally: Tally) -> int:
    """Count the attempts that ended in a fault."""
    return Counter(tally.kinds)["fault"] + sum(
        n for kind, n in tally.kinds.items() if kind.endswith(": fault")
    )


def stress(
    names: Iterable[str], seconds: float, attempts: int | None, jobs: int, out: Path
) -> dict[str, Tally]:
    """Try attacks in turns, an equal share of the time each, and write what came of them."""
    out.mkdir(parents=True, exist_ok=True)
    tallies, names = read(out / "stress.json"), list(names)
    for place, name in enumerate(names):
        left = seconds / (len(names) - place)
        begun = time.monotonic()
        attack(name, tallies[name], begun + left, attempts, jobs)
        seconds -= time.monotonic() - begun
        known = {name: asdict(tally) for name, tally in tallies.items()}
        (out / "stress.json").write_text(json.dumps(known, indent=1) + "\n")
        (out / "stress.md").write_text(page(tallies))
        t = tallies[name]
        print(f"{name}: {t.done:,} of {ATTACKS[name].goal:,}, {n_faults(t)} faults", flush=True)
    return tallies


def main() -> None:
    """Attack, and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="for all attacks together")
    parser.add_argument(
        "--attempts", type=int, help="of each attack; all up to its goal if not given"
    )
    parser.add_argument("--only", nargs="*", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--repeat", type=int, help="print what comes of this attempt, and stop")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    if given.repeat is not None:
        load()
        for name in given.only:
            print(name, attempted(name, given.repeat))
        return
    tallies = stress(given.only, given.seconds, given.attempts, given.jobs, given.out)
    sys.exit(int(any(n_faults(tally) for tally in tallies.values())))


if __name__ == "__main__":
    main()
