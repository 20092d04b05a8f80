"""Verdicts in words: a line, a few lines, a page, and sentences about one column."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from squamish.evidence import CrossfitEvidence, PaperEvidence
from squamish.evidence.relevance import (
    CLASS_NAMES,
    HEADINGS,
    IRRELEVANT,
    MEANINGS,
    PROOFS,
    STRONG,
    WEAK,
)

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most names that a notebook shows of each class.
MOST_NAMES = 40


def counts(result: RelevanceResult) -> str:
    """Count the columns of each class.

    Weak columns that no other weak one replaces are alone.
    """
    n_groups = len(result.interchangeable)
    alone = len(result.groups) - n_groups
    grouped = f" in {n_groups} {'group' if n_groups == 1 else 'groups'}" if n_groups else ""
    if alone:
        grouped += f"{' and' if n_groups else ','} {alone} alone"
    return (
        f"{len(result.strong):,} strong, {len(result.weak):,} weak{grouped}, "
        f"{len(result.irrelevant):,} irrelevant of {len(result.classes):,}"
    )


def score(result: RelevanceResult) -> str:
    """Say how good the best model is."""
    evidence = result.evidence
    if isinstance(evidence, CrossfitEvidence):
        loss = "log loss" if result.task == "classification" else "squared error"
        return (
            f"out-of-sample {loss} {_short(evidence.loss)} vs {_short(evidence.constant_loss)} "
            "for the constant"
        )
    if evidence.loss_interval is None:
        return "no model"
    return f"loss on the training rows {_short(evidence.loss_interval.samples.mean())}"


def _short(loss: float) -> str:
    return f"{loss:.2f}" if abs(loss) >= 0.01 else f"{loss:.1g}"


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
    name = "paper" if isinstance(result.evidence, PaperEvidence) else "crossfit"
    settings = result.method[result.method.find("(") :]
    return name if settings in ("()", "") else f"{name}{settings}"


def duration(result: RelevanceResult) -> str:
    """Say how long the fit took."""
    return f"{result.seconds:.1f} s" if result.seconds < 10 else f"{result.seconds:,.0f} s"


def verdict(result: RelevanceResult) -> str:
    """Say the verdict in a few lines that need no explanation."""
    strong, weak, irrelevant = ((h, result.names_of(c)) for c, h in HEADINGS.items())
    groups = [("  these replace each other", group) for group in result.interchangeable]
    notes = [("Note", (note,)) for note in result.notes]
    lines = [strong, weak, *groups, irrelevant, *notes]
    width = max(len(heading) for heading, _ in lines)
    return "\n".join(
        fill(
            ", ".join(map(printable, names)) or "(none)",
            initial_indent=f"{heading:{width}}  ",
            subsequent_indent=" " * (width + 2),
            width=100,
            break_on_hyphens=False,
            break_long_words=False,
        )
        for heading, names in lines
    )


def printable(text: str) -> str:
    r"""Keep line breaks and control characters of a name from spoiling what is printed.

    Examples
    --------
    >>> from squamish.report.wording import printable
    >>> printable("bright \x1b[31mred\nline")
    'bright [31mred line'
    """
    kept = (" " if c.isspace() else c for c in text if c.isspace() or c.isprintable())
    return " ".join("".join(kept).split())


def explain(result: RelevanceResult, j: int) -> str:
    """Say in a few sentences why a column has its class."""
    name, relevance = result.feature_names[j], int(result.classes[j])
    head = {STRONG: "strongly relevant", WEAK: "weakly relevant", IRRELEVANT: "irrelevant"}
    sentences = [f"{name!r} is {head[relevance]}: {MEANINGS[relevance]}."]
    sentences += _relevance_sentences(result, j)
    if relevance != IRRELEVANT:
        sentences += _removal_sentences(result, j)
    if relevance == WEAK and isinstance(result.evidence, CrossfitEvidence):
        sentences += _substitute_sentences(result, j)
    if result.evidence.undecided[j]:
        sentences.append("This is a best guess: the time was used up before it was decided.")
    if name in result.borderline:
        sentences.append(f"It is a close call, {result.borderline[name]}.")
    return " ".join(sentences)


def _relevance_sentences(result: RelevanceResult, j: int) -> list[str]:
    evidence = result.evidence
    proof = evidence.proof[j]
    if isinstance(evidence, PaperEvidence):
        return [f"It is relevant because {PROOFS[proof]}."] if proof else []
    p = f"p = {evidence.p_relevant[j]:.2g}"
    if proof:
        return [
            f"It is relevant because {PROOFS[proof]} "
            f"({p}, all proofs together, corrected for the number of columns)."
        ]
    if np.isnan(evidence.p_relevant[j]):
        seen = " in the rows that were looked at" if evidence.n_tested < result.n_samples else ""
        return [f"There was nothing to test: it has no two different values{seen}."]
    return [
        f"None of the tests tells it from a column of noise ({p} for all of them together, "
        f"corrected for the number of columns; {evidence.alpha:g} is the limit)."
    ]


def _removal_sentences(result: RelevanceResult, j: int) -> list[str]:
    evidence = result.evidence
    loss = evidence.removal_loss[j]
    if np.isnan(loss):
        reason = "it is not in the minimal set" if not evidence.undecided[j] else "no time was left"
        return [f"What its removal costs was not tested: {reason}."]
    if isinstance(evidence, PaperEvidence):
        low, high = evidence.removal_null
        return [
            f"Without it the loss of the forest is {loss:.3g}; {low:.3g} to {high:.3g} is expected "
            "when nothing of importance is removed."
        ]
    low, high = evidence.removal_interval[:, j]
    grows = f"grows by {loss:.2g}" if loss > 0 else "does not grow"
    told = (
        f"Without what it alone tells, the loss {grows} (95% interval {low:.2g} to {high:.2g}, "
        f"p = {evidence.p_value[j]:.2g})"
    )
    if loss > 0 and np.isfinite(evidence.effect[j]):
        told += f"; that is {cost(result, j)} of what the model gains at all"
    sentences = [f"{told}."]
    if result.classes[j] == WEAK and evidence.explained[j] > 0.5:
        sentences.append(f"Other columns tell {min(evidence.explained[j], 1):.0%} of it.")
    return sentences


def _substitute_sentences(result: RelevanceResult, j: int) -> list[str]:
    sets = result.substitutes.get(result.feature_names[j], ())
    if not sets:
        return [f"What replaces it: {no_substitute(result, j)}."]
    number = result.group_numbers[j]
    sentences = [f"It can be replaced by {alternatives(sets, quote=True, most=5)}."]
    if number < len(result.interchangeable):
        suggested = result.representatives[number]
        sentences.append(f"Of its group, {listed(suggested, quote=True)} is suggested.")
    return sentences


def no_substitute(result: RelevanceResult, j: int) -> str:
    """Say why a weak column has no substitutes; empty for the method that does not tell."""
    if isinstance(result.evidence, PaperEvidence):
        return ""
    if result.evidence.explained[j] > 0.5:
        return "all others together, no small set of them"
    return "nothing in particular, but what it adds is too little to prove"


def cost(result: RelevanceResult, j: int) -> str:
    """Say what a removal costs: a share of what the model gains, or the loss without it."""
    evidence = result.evidence
    if isinstance(evidence, PaperEvidence):
        return "" if np.isnan(evidence.removal_loss[j]) else f"{evidence.removal_loss[j]:.3g}"
    effect = evidence.effect[j]
    if np.isnan(effect):
        return ""
    # A model that is kept can be misled by a redrawn column, and lose more than it gained.
    return "over 100%" if effect > 1 else f"{max(effect, 0):.1%}"


def listed(names: Sequence[str], quote: bool = False) -> str:
    """Join names that belong together."""
    return " + ".join(repr(name) if quote else name for name in names)


def alternatives(sets: Sequence[Sequence[str]], quote: bool = False, most: int | None = 10) -> str:
    """Join sets of which any will do.

    Examples
    --------
    >>> from squamish.report.wording import alternatives
    >>> alternatives([["bmi"], ["weight", "height"]])
    'bmi or weight + height'
    """
    shown = [listed(names, quote) for names in sets[:most]]
    left = len(sets) - len(shown)
    more = [f"{left} other{'s' if left > 1 else ''}"] if left else []
    return " or ".join([*shown, *more])


def no_such_column(name: str, columns: Sequence[str]) -> str:
    """Say that there is no such column, and which ones come near.

    Examples
    --------
    >>> from squamish.report.wording import no_such_column
    >>> no_such_column("hight", ["age", "height"])
    "there is no column 'hight'; did you mean 'height'?"
    """
    near = difflib.get_close_matches(name, columns, n=3)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else f"the columns are {', '.join(columns[:20])}{', ...' if len(columns) > 20 else ''}"
    )
    return f"there is no column {name!r}; {hint}"


def markdown(result: RelevanceResult) -> str:
    """Write the verdict as a page of Markdown: counts, the relevant columns, the others."""
    lines = ["# Which columns matter", "", _cell(one_line(result)), ""]
    for note in result.notes:
        lines += [f"Note: {_cell(note)}", ""]
    lines += ["| class | meaning | columns |", "|---|---|---|"]
    for c, meaning in MEANINGS.items():
        lines.append(
            f"| {CLASS_NAMES[c]} | {meaning} | {_cell(', '.join(result.names_of(c)) or '(none)')} |"
        )
    heads = ["column", "class", "group", cost_heading(result), "p", "can be replaced by"]
    lines += ["", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for j in ordered(result):
        p = result.evidence.p_value[j]
        cells = [
            result.feature_names[j],
            CLASS_NAMES[int(result.classes[j])],
            group(result, j),
            cost(result, j),
            "" if np.isnan(p) else f"{p:.2g}",
            replacement(result, j),
        ]
        lines.append(f"| {' | '.join(map(_cell, cells))} |")
    close = [f"| {_cell(name)} | {reason} |" for name, reason in result.borderline.items()]
    if close:
        lines += ["", "| close call | what was close |", "|---|---|", *close]
    return "\n".join([*lines, ""])


def group(result: RelevanceResult, j: int) -> str:
    """Return the number of a column's group, if there is a choice in it."""
    number = result.group_numbers.get(j, len(result.groups))
    return str(number + 1) if number < len(result.interchangeable) else ""


def cost_heading(result: RelevanceResult) -> str:
    """Name what `cost` says."""
    return "loss without it" if isinstance(result.evidence, PaperEvidence) else "removal costs"


def replacement(result: RelevanceResult, j: int, most: int = 10) -> str:
    """Say what replaces a weak column, or why nothing is named; empty for others."""
    if result.classes[j] != WEAK:
        return ""
    sets = result.substitutes.get(result.feature_names[j], ())
    return alternatives(sets, most=most) or no_substitute(result, j)


def ordered(result: RelevanceResult) -> list[int]:
    """Return the relevant columns: strong ones by what they cost, weak ones by their groups."""
    costs = getattr(result.evidence, "effect", result.evidence.removal_loss)
    strong = np.flatnonzero(result.classes == STRONG).tolist()
    weak = np.flatnonzero(result.classes == WEAK).tolist()
    return [
        *sorted(strong, key=lambda j: -costs[j]),
        *sorted(weak, key=lambda j: result.group_numbers.get(j, -1)),
    ]


def _cell(text: str) -> str:
    """Keep names from meaning something in Markdown: the end of a cell, emphasis, a link."""
    # An underscore within a word means nothing, and would be ugly to read with a backslash.
    text = re.sub(r"[\\`*\[~|]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", printable(text))
    return re.sub(r"&(?=#?\w+;)", "&amp;", text).replace("<", "&lt;")


def notebook_html(result: RelevanceResult) -> str:
    """Write the verdict as a small table for notebooks."""
    rows = []
    for relevance, heading in HEADINGS.items():
        names = result.names_of(relevance)
        shown = ", ".join(f"<bdi>{escape(name)}</bdi>" for name in names[:MOST_NAMES])
        left = len(names) - MOST_NAMES
        more = f" and {left:,} more (<code>.to_frame()</code> has all)" if left > 0 else ""
        rows.append(
            f'<tr><th scope="row" style="text-align:left;vertical-align:top">{heading}</th>'
            f'<td style="text-align:left">{shown or "(none)"}{more}</td></tr>'
        )
    for group in result.interchangeable:
        members = ", ".join(f"<bdi>{escape(name)}</bdi>" for name in group[:MOST_NAMES])
        rows.append(
            '<tr><td style="text-align:left;vertical-align:top">these replace each other</td>'
            f'<td style="text-align:left">{members}{", ..." * (len(group) > MOST_NAMES)}</td></tr>'
        )
    notes = "".join(f"<p>Note: {escape(note)}</p>" for note in result.notes)
    return (
        f"<div><p>{escape(one_line(result))}</p><table><tbody>{''.join(rows)}</tbody></table>"
        f"{notes}</div>"
    )
