"""The whole verdict in a line, or in a few."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from squamish.errors import legible
from squamish.evidence.relevance import HEADINGS
from squamish.families import family_of
from squamish.report.wording.adjustment import without_judged
from squamish.report.wording.rows import names_by_worth
from squamish.report.wording.worth import searched, stand_ins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from squamish.result.result import RelevanceResult

KEEP, ADJUSTED = "Keep (minimal set)", "Adjusted for (in every model)"
# The most names of a class, and the most lines of stand-ins or groups, that are read in one go.
MOST_NAMES, MOST_LINES = 40, 20
# Losses that so many digits do not tell apart are the same to any reader.
MOST_DIGITS = 6


def counts(result: RelevanceResult) -> str:
    """Count the columns of each class.

    Weak columns that no other weak one replaces are alone, beside those in groups.
    """
    n_groups = len(result.interchangeable)
    alone = len(result.groups) - n_groups
    grouped = f" in {n_groups} {'group' if n_groups == 1 else 'groups'}" if n_groups else ""
    if n_groups and alone:
        grouped += f" and {alone} alone"
    return (
        f"{len(result.strong):,} strong, {len(result.weak):,} weak{grouped}, "
        f"{len(result.irrelevant):,} irrelevant of {len(result.classes):,}"
    )


def scale(result: RelevanceResult) -> str:
    """Say how the target is scaled for the loss; nothing if it is not."""
    family = family_of(result.task)
    scales = {"loss_scale": family.loss_scale, "absolute_scale": family.absolute_scale}
    return result.evidence.vocabulary.score_scale.format(**scales)


def score(result: RelevanceResult) -> str:
    """Say how good the best model is."""
    evidence = result.evidence
    if np.isnan(evidence.loss):
        return "no model"
    name = evidence.vocabulary.score.format(loss_name=family_of(result.task).loss_name)
    own, constant = told_apart(evidence.loss, evidence.constant_loss)
    told = f"{name} {own}"
    if evidence.prognosis is not None:
        told = f"out-of-sample concordance {evidence.prognosis.concordance:.3f}, {told}"
    if np.isnan(evidence.constant_loss):
        return told
    return f"{told} vs {constant} for {without_judged(result)}"


def score_of_all(result: RelevanceResult) -> str:
    """Say how good the best model of all columns is; nothing if it was not measured."""
    loss = result.evidence.all_loss
    own, _ = told_apart(loss, result.evidence.loss)
    return "" if np.isnan(loss) else f"{family_of(result.task).loss_name} {own}"


def told_apart(loss: float, other: float) -> tuple[str, str]:
    """Write two losses with as many digits as it takes to see that they differ.

    Examples
    --------
    >>> from squamish.report.wording.summary import told_apart
    >>> told_apart(0.4, 1.0), told_apart(0.4744, 0.4731), told_apart(0.004, 0.25)
    (('0.40', '1.00'), ('0.474', '0.473'), ('0.004', '0.25'))
    """
    tried = [(_short(loss, digits), _short(other, digits)) for digits in range(2, MOST_DIGITS + 1)]
    return next((pair for pair in tried if pair[0] != pair[1]), tried[0])


def _short(loss: float, digits: int) -> str:
    return f"{loss:.{digits}f}" if abs(loss) >= 0.01 else f"{loss:.{digits - 1}g}"


def one_line(result: RelevanceResult) -> str:
    """Say everything that fits into a line."""
    seed = "" if result.provenance.seed is None else f"seed {result.provenance.seed}, "
    undecided = f" ({len(result.undecided):,} undecided)" if result.undecided else ""
    return (
        f"{counts(result)}{undecided}; {score(result)}; "
        f"{method_name(result)}, {seed}{duration(result)}"
    )


def method_name(result: RelevanceResult) -> str:
    """Name the method, with what is not at its default."""
    name = result.evidence.kind
    settings = result.method[result.method.find("(") :]
    return name if settings in ("()", "") else f"{name}{settings}"


def duration(result: RelevanceResult) -> str:
    """Say how long the fit took."""
    return f"{result.seconds:.1f} s" if result.seconds < 10 else f"{result.seconds:,.0f} s"


def verdict(result: RelevanceResult) -> str:
    """Say the verdict in a few lines that need no explanation."""
    small = tuple(result.feature_names[j] for j in result.evidence.small)
    certain = [("  certain to add something, but little", small)] if small else []
    notes = [("Note", (note,)) for note in result.notes]
    *others, irrelevant = headed(result)
    lines = [*others, *certain, irrelevant, *notes]
    width = max(len(heading) for heading, _ in lines)
    return "\n".join(
        fill(
            shown(names, lambda name: legible(name, longest=None)),
            initial_indent=f"{heading:{width}}  ",
            subsequent_indent=" " * (width + 2),
            width=100,
            break_on_hyphens=False,
            break_long_words=False,
        )
        for heading, names in lines
    )


def headed(result: RelevanceResult) -> list[tuple[str, Sequence[str]]]:
    """Say what to keep, what can stand in, and the classes, each under its heading."""
    strong, weak, irrelevant = ((h, names_by_worth(result, c)) for c, h in HEADINGS.items())
    groups = result.interchangeable
    lines = [("  these replace each other", group) for group in groups[:MOST_LINES]]
    if len(groups) > MOST_LINES:
        lines.append(("  and more groups", (f"{len(groups) - MOST_LINES:,}, in result.groups",)))
    undecided = [("  undecided for want of time", result.undecided)] if result.undecided else []
    given = [(ADJUSTED, result.adjusted_for)] if result.adjusted_for else []
    return [*given, *_kept(result), strong, weak, *lines, *undecided, irrelevant]


def shown(names: Sequence[str], written: Callable[[str], str]) -> str:
    """Write names in a line, and how many more there are."""
    left = len(names) - MOST_NAMES
    more = f" and {left:,} more, in to_frame()" if left > 0 else ""
    return (", ".join(map(written, names[:MOST_NAMES])) or "(none)") + more


def _kept(result: RelevanceResult) -> list[tuple[str, Sequence[str]]]:
    """Say what to keep, and what can stand in; nothing if small sets were not searched."""
    if not searched(result):
        return []
    lines: list[tuple[str, Sequence[str]]] = [(KEEP, result.select("minimal"))]
    if exchanged := stand_ins(result):
        left = len(exchanged) - MOST_LINES
        more = (f"and {left:,} more, in result.signatures",) if left > 0 else ()
        lines.append(("  stand-ins", (*exchanged[:MOST_LINES], *more)))
    return lines
