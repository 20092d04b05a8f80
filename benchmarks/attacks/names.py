"""Hostile names of columns: nothing that is printed or written obeys them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from attacks.command import run
from attacks.outcome import Outcome

HOSTILE = (
    "\x1b[2J\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b31mC1",
    "a\nb\r\nc",
    "\u202ereversed",
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@sum",
    "\tx",
    "*",
    "^.*$",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}",
    "$(touch hacked)",
    '"; drop',
    "[bold red]rich[/]",
    "x" * 5_000,
    "nul\x00l",
)


def attempt(seed: int, folder: Path) -> Outcome:
    """Give columns and the file hostile names, and look at all that is printed and written."""
    rng = np.random.default_rng(seed)
    names = rng.choice(HOSTILE, int(rng.integers(2, 7)), replace=False).tolist()
    _write_table(rng, names, folder / "table.csv")
    target = names[0]
    commands: list[list[object]] = [
        ["fit", "table.csv", "--target", target, "--drop", names[1], "--out", "one"]
        if len(names) > 2
        else ["fit", "table.csv", "--target", target, "--out", "one"],
        ["fit", "table.csv", "--target", target[:-1] + "?", "--out", "none"],
        ["report", "one/result.json", "--out", "page.md"],
        ["compare", "one/result.json", "one/result.json"],
        ["compare", "one/result.json", "one/result.json", "--json"],
    ]
    if "\x00" in target:  # no argument can hold it
        return Outcome("no such argument")
    for command in commands:
        if any("\x00" in str(word) for word in command):
            continue
        ended = run(command, folder)
        # Progress is one line a stage; the rest is judged like any other command.
        printed = ended.out + ended.err
        bad = next((c for c in printed if not (c.isprintable() or c == "\n")), "")
        if bad or ended.code not in (0, 2):
            return Outcome("fault", f"{command[0]} code {ended.code} {bad!r} {ended.err[-200:]!r}")
        if command[-1] == "--json" and ended.code == 0:
            json.loads(ended.out)
    return Outcome("names stay names") if not (fault := _fault(folder)) else Outcome("fault", fault)


def _write_table(rng: np.random.Generator, names: list[str], path: Path) -> None:
    rows = np.column_stack([rng.integers(0, 2, 60), rng.standard_normal((60, len(names) - 1))])
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows.tolist()])


def _fault(folder: Path) -> str:
    """Say what in the files of a verdict obeys a name."""
    if (folder / "hacked").exists():
        return "a command in a name was run"
    if not (folder / "one").exists():
        return ""
    page = (folder / "one" / "report.html").read_text(encoding="utf-8")
    if "<script>alert" in page or "<img src=x" in page:
        return "the report holds markup of a name"
    with open(folder / "one" / "features.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["feature"][:1] in set("=+-@\t\r\n"):
                return f"features.csv holds {row['feature']!r}"
    return ""
