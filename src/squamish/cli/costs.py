"""What measurements cost: a file with a column and its cost in every line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from squamish.errors import InputError, legible

if TYPE_CHECKING:
    from squamish import RelevanceResult
    from squamish.result.signatures import Cheapest

Costs = Annotated[
    Path | None,
    typer.Option(
        help="CSV of columns and what they cost; prints the cheapest set that predicts as well. "
        "What is not named costs nothing."
    ),
]
# A first line like this names what follows.
HEAD = ("column", "cost")
# The most bytes of a file of costs: a name and a number for more columns than any table has.
LARGEST = 100_000_000


def read_costs(path: Path, names: Sequence[str]) -> dict[str, float]:
    """Read the costs of some columns of a table.

    Parameters
    ----------
    path : Path
        CSV: a name and a number of 0 or more in every line, perhaps below ``column,cost``.
    names : sequence of str
        The columns that there are.

    Raises
    ------
    InputError
        If a line is anything else; it names the line.
    """
    costs: dict[str, float] = {}
    known = {*names}
    try:
        for number, row in enumerate(csv.reader(_text(path).splitlines(keepends=True)), start=1):
            if not row or (number == 1 and tuple(cell.strip().lower() for cell in row) == HEAD):
                continue
            name, cost = _entry(row, f"line {number} of --costs, {path.name!r},", known)
            if name in costs:
                raise InputError(f"--costs, {path.name!r}, names {legible(name)!r} twice")
            costs[name] = cost
    except csv.Error as error:
        raise InputError(f"--costs, {path.name!r}, cannot be read: {error}") from None
    return costs


def in_words(least: Cheapest) -> str:
    """Say which of the sets that predict as well costs least."""
    return f"The cheapest costs {least.cost:,.10g}: {', '.join(least.columns)}"


def cheapest_of(result: RelevanceResult, costs: dict[str, float]) -> str:
    """Say which signature of a result costs least, if they were searched."""
    if result.evidence.worth.formula is None:
        return "There is no cheapest signature: they were not searched, for want of time or columns"
    return in_words(result.signatures.cheapest(costs))


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"--costs, {path.name!r}, is too large for a list of costs")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"--costs, {str(path)!r}, cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"--costs, {path.name!r}, is no UTF-8 text") from None


def _entry(row: Sequence[str], where: str, names: set[str]) -> tuple[str, float]:
    """Read a line, which is about a column of the table."""
    if len(row) != 2:
        raise InputError(f"{where} has {len(row)} fields; it must have a column and its cost")
    # Spaces may be part of a name, and those after a comma may not.
    name = row[0] if row[0] in names else row[0].strip()
    if name not in names:
        from squamish.report.wording import no_such_column

        raise InputError(f"{where} is wrong: {no_such_column(name, sorted(names))}")
    try:
        cost = float(row[1])
    except ValueError:
        cost = -1.0
    if not 0 <= cost < float("inf"):
        given = legible(row[1].strip())
        raise InputError(
            f"{where} has {given!r} for {legible(name)!r}; a cost must be a number of 0 or more"
        )
    return name, cost
