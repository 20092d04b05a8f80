"""The command line as a user meets it, without the wait for what it loads.

Processes that try attacks load everything once, and every command runs in a fork of them. No
function of polars may be called before: its threads do not survive a fork.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attacks.outcome import Outcome

# A command that takes so many seconds hangs.
LONGEST = 120.0
# Where a command prints to.
PRINTED = (".out.txt", ".err.txt")


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed; the code of a signal is negative."""

    code: int
    out: str
    err: str

    def fault(self) -> str:
        """Say what is wrong with how it ended, if anything is."""
        printed = self.out + self.err
        obeyed = next((c for c in printed if not (c.isprintable() or c == "\n")), "")
        if obeyed:
            return f"printed {obeyed!r}"
        if self.code == 0:
            return ""
        lines = self.err.splitlines()
        if self.code not in (2, 3) or len(lines) != 1 or not self.err.startswith("squamish: "):
            return f"code {self.code}, {len(lines)} lines: {' / '.join(lines[-2:])[:300]}"
        # Code 3 also stands for mistakes of our own, with a line that says so.
        return self.err if "mistake in squamish itself" in self.err else ""


def load() -> None:
    """Load what commands need, without a call of it; what compiled code prints is not shown."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    import polars  # noqa: F401

    import squamish.cli.commands
    import squamish.result.result
    import squamish.selector
    import squamish.table.files  # noqa: F401


def begin(arguments: Sequence[object], folder: Path) -> int:
    """Begin a command in a folder, and return the number of its process."""
    sys.stdout.flush()
    sys.stderr.flush()
    for name in PRINTED:
        # One that is killed at once has printed nothing, which is known then.
        (folder / name).write_bytes(b"")
    process = os.fork()
    if process:
        return process
    try:
        os.chdir(folder)
        for stream, name in enumerate(PRINTED, start=1):
            os.dup2(os.open(name, os.O_WRONLY), stream)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(  # noqa: SIM115
            2, "w", encoding="utf-8", errors="backslashreplace", closefd=False
        )
        sys.argv = ["squamish", *map(str, arguments)]
        from squamish.cli import main

        main()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))
    finally:
        os._exit(99)


def end(process: int, folder: Path) -> Ended:
    """Wait for a command; one that hangs is ended."""
    begun = time.monotonic()
    while True:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            break
        if time.monotonic() - begun > LONGEST:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.005)
    texts = [(folder / name).read_text(encoding="utf-8", errors="replace") for name in PRINTED]
    return Ended(os.waitstatus_to_exitcode(status), *texts)


def run(arguments: Sequence[object], folder: Path) -> Ended:
    """Run a command in a folder, to its end."""
    return end(begin(arguments, folder), folder)


def judged(ended: Ended, accepted: str = "accepted") -> Outcome:
    """Tell what came of a command that had to take what it was given, or to refuse it."""
    if fault := ended.fault():
        return Outcome("fault", fault)
    kinds = {0: accepted, 2: "refused in one line", 3: "crash, answered in one line"}
    return Outcome(kinds[ended.code])
