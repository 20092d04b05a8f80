"""Finished runs as lines of a CSV file, so that a benchmark that was stopped goes on there."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from time import perf_counter

Row = dict[str, str | float]
# How the status of a run that took too long begins, and that of one that failed.
TOO_LONG, FAILED = "over ", "failed"


class Journal:
    """A CSV file that grows by a line for every finished run.

    Parameters
    ----------
    path : Path
        Lines that are there already are kept.
    key : sequence of str
        The columns that name a run.
    measured : sequence of str
        The other columns.
    """

    def __init__(self, path: Path, key: Sequence[str], measured: Sequence[str]) -> None:
        self.path, self.key, self.fields = path, tuple(key), (*key, *measured)
        self._lock = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        header = ",".join(self.fields)
        # A line was being written when the last run was stopped.
        whole = text[: text.rfind("\n") + 1] or header + "\n"
        if whole.splitlines()[0] != header:
            raise ValueError(f"{path} has other columns than {header}; move it away")
        if whole != text:
            path.write_text(whole, encoding="utf-8")

    def rows(self) -> list[Row]:
        """Read all lines; the last one of each run."""
        with self._lock, self.path.open(newline="", encoding="utf-8") as file:
            rows: list[Row] = [
                {field: _number_or_text(value) for field, value in row.items()}
                for row in csv.DictReader(file)
            ]
        return list({tuple(row[field] for field in self.key): row for row in rows}.values())

    def done(self) -> set[tuple[str | float, ...]]:
        """Return the names of the runs that are there."""
        return {tuple(row[field] for field in self.key) for row in self.rows()}

    def settled(self, seconds: float) -> set[tuple[str | float, ...]]:
        """Return the names of the runs that need no other try with so much time.

        Over the limit, as their status says, is an answer unless there is more time now.
        """
        return {
            tuple(row[field] for field in self.key)
            for row in self.rows()
            if not str(row["status"]).startswith(TOO_LONG)
            or float(str(row["status"]).split()[1]) >= seconds
        }

    def add(self, row: Row) -> None:
        """Write a line, at once."""
        with self._lock, self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, self.fields, lineterminator="\n").writerow(row)


def _number_or_text(value: str) -> str | float:
    try:
        return float(value)
    except ValueError:
        return value


class Progress:
    """Says of every finished run which one it was, how many are left, and for how long."""

    def __init__(self, total: int) -> None:
        self.total, self.n, self.begin = total, 0, perf_counter()
        self._lock = Lock()

    def step(self, what: str) -> None:
        """Count one."""
        with self._lock:
            self.n += 1
            left = (perf_counter() - self.begin) / self.n * (self.total - self.n)
            print(
                f"{self.n} of {self.total}, about {left / 60:.0f} min left: {what}",
                file=sys.stderr,
                flush=True,
            )
