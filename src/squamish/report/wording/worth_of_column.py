"""Sentences on what a column is worth, and on its place beside the minimal set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from squamish.report.wording.names import alternatives, listed
from squamish.report.wording.worth import searched, share

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult


def worth_sentences(result: RelevanceResult, j: int) -> Iterator[str]:
    """Say what a relevant column is worth, alone and with its group, and about the minimal set."""
    measured = result.evidence.worth
    if j in measured.columns:
        yield _bounds(result, j)
    if measured.groups and (group := result.group_numbers.get(j)) is not None:
        members = result.groups[group]
        if len(members) > 1:
            named = ", ".join(map(repr, members[:5]))
            left = f" and {len(members) - 5} more" if len(members) > 5 else ""
            cost = share(measured.groups[group].least)
            yield f"The removal of its whole group ({named}{left}) costs {cost} of the gain."
    if searched(result):
        yield _membership(result, j)


def _bounds(result: RelevanceResult, j: int) -> str:
    found = result.evidence.worth.columns[j]
    least, at_most = share(found.least), share(found.most)
    bounds = f"97.5% confidence bounds {share(found.low)} and {share(found.high)}"
    if least == at_most:
        return f"Models owe it {least} of the gain, at the least and at the most ({bounds})."
    return (
        f"Models owe it {least} of the gain at the least, which is what its removal costs, and "
        f"{at_most} at the most, where nothing stands in for it ({bounds})."
    )


def _membership(result: RelevanceResult, j: int) -> str:
    if result.evidence.minimal[j]:
        return _inside(result, j)
    alone, with_others = _taken(result, j)
    if alone:
        return (
            f"It is not in the minimal set, but can stand in there for {alternatives(alone, True)}."
        )
    if with_others:
        partners, own = with_others[0]
        return (
            f"It is not in the minimal set, but with {listed(partners, quote=True)} it can stand "
            f"in there for {listed(own, quote=True)}."
        )
    return "It is not in the minimal set, which is enough without it."


def _inside(result: RelevanceResult, j: int) -> str:
    name = result.feature_names[j]
    if result.evidence.worth.formula is None:
        return "It is in the minimal set."
    for own, *others in result.signatures.slots:
        if name in own:
            what = "it" if len(own) == 1 else listed(own, quote=True)
            named = alternatives(others, quote=True, most=5)
            return f"It is in the minimal set; {named} can stand in for {what} there."
    return "It is in the minimal set, where nothing was proven to stand in for it."


def _taken(
    result: RelevanceResult, j: int
) -> tuple[list[tuple[str, ...]], list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """Return whose places a column can take by itself, and with which others."""
    name, alone, with_others = result.feature_names[j], [], []
    for own, *others in result.signatures.slots:
        for names in others:
            if name in names:
                come = tuple(n for n in names if n not in own)
                gone = tuple(n for n in own if n not in names)
                partners = tuple(n for n in come if n != name)
                if partners:
                    with_others.append((partners, gone))
                else:
                    alone.append(gone)
    return list(dict.fromkeys(alone)), with_others
