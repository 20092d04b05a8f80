"""squamish signatures: all sets of a saved result that predict as well as the minimal one."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from squamish.cli.answers import answering
from squamish.cli.costs import Costs, in_words, read_costs
from squamish.cli.options import AsJson, Saved
from squamish.cli.roles import listed
from squamish.cli.streams import say
from squamish.errors import InputError, check_range

if TYPE_CHECKING:
    from squamish import RelevanceResult
    from squamish.result.signatures import Cheapest, Signatures


def signatures(
    result: Saved,
    costs: Costs = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Only sets without these columns: one, or a,b,c; repeatable."),
    ] = None,
    most: Annotated[int, typer.Option(help="The most sets to list.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List the sets of columns that predict as well as the minimal one, and the cheapest."""
    with answering():
        from squamish import RelevanceResult

        check_range("--most", most, at_least=0, integer=True)
        saved = RelevanceResult.from_json(result)
        priced = None if costs is None else read_costs(costs, saved.feature_names)
        found = _found(saved, result, without or [])
        least = None if priced is None else found.cheapest(priced)
    content = _content(found, least, most)
    say(json.dumps(content) if as_json else "\n".join(_lines(found, least, most)))


def _found(saved: RelevanceResult, path: Path, without: list[str]) -> Signatures:
    """Return the signatures that do without some columns."""
    if saved.evidence.worth.formula is None:
        raise InputError(
            f"{path.name!r} has no signatures: method {saved.evidence.kind!r} or its time did not "
            "let them be searched"
        )
    names = listed(without, saved.feature_names)
    unknown = next((name for name in names if name not in saved.feature_names), None)
    if unknown is not None:
        from squamish.report.wording import no_such_column

        raise InputError(f"--without is wrong: {no_such_column(unknown, saved.feature_names)}")
    return saved.signatures.without(names) if names else saved.signatures


def _lines(found: Signatures, least: Cheapest | None, most: int) -> list[str]:
    """Say how many there are, which formula makes them, and how they were checked."""
    several = "signatures" if found.count > 1 else "signature"
    lines = [f"{found.count:,} {several} of {_sizes(found)} columns"]
    lines.append(f"In every one: {', '.join(found.fixed) or '(no column)'}")
    lines += [f"One of: {_alternatives(slot)}" for slot in found.slots]
    lines += _reservations(found)
    if most:
        lines.append(f"The first {min(most, found.count):,}:")
    lines += [f"  {', '.join(columns)}" for columns in islice(found, most)]
    if least is not None:
        lines.append(in_words(least))
    return lines


def _sizes(found: Signatures) -> str:
    """Say how many columns they have."""
    ends = [
        len(found.fixed) + sum(end(map(len, slot)) for slot in found.slots) for end in (min, max)
    ]
    return " to ".join(f"{n:,}" for n in dict.fromkeys(ends))


def _alternatives(slot: tuple[tuple[str, ...], ...]) -> str:
    from squamish.report.wording import alternatives

    return alternatives(slot, most=None)


def _reservations(found: Signatures) -> list[str]:
    """Say what was tested, and what was not."""
    lines = [
        f"Tested: each alternative loses less than {found.margin:.1%} of the gain, "
        f"with an error of {found.error:.0%}"
    ]
    if found.n_checked:
        lines.append(
            f"Checked: of {found.n_checked} sets drawn from all and fitted anew, "
            f"{found.n_as_good} lost no more than that"
        )
    if not found.is_complete:
        lines.append("There may be more: not all that could stand in were tested")
    return lines


def _content(found: Signatures, least: Cheapest | None, most: int) -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "count": found.count,
        "fixed": found.fixed,
        "slots": found.slots,
        "margin": found.margin,
        "error": found.error,
        "n_checked": found.n_checked,
        "n_as_good": found.n_as_good,
        "is_complete": found.is_complete,
        "signatures": list(islice(found, most)),
        "cheapest": None if least is None else asdict(least),
    }
