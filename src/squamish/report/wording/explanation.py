"""Sentences about one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from squamish.evidence.interface import Obstacle
from squamish.evidence.relevance import IRRELEVANT, MEANINGS, PROOFS, STRONG, WEAK
from squamish.report.wording.adjustment import together
from squamish.report.wording.names import alternatives, listed
from squamish.report.wording.rows import MOSTLY, no_substitute, stands_for
from squamish.report.wording.worth import is_needed, searched, share, suggested
from squamish.report.wording.worth_of_column import worth_sentences

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# What a weak column is that nothing replaces, by why it is not strong.
WEAK_WITHOUT: dict[Obstacle, str] = {
    "": "informative, but removing it was not found to hurt",
    "undecided": "informative, and nothing more could be told in time",
    "untested": "informative, but what its removal costs was not tested",
    "unproven": "informative, but that it adds something to all others is not proven",
    "small": "informative, but it adds only a little to all others",
    "little": "informative, but it adds too little to all others to count as strong",
    "refit": "informative, but a model without it loses too little to call it strong",
}

# Obstacles of which the sentences on the removal say all that there is to say.
SAID = ("undecided", "small", "little", "refit")


def explain(result: RelevanceResult, j: int) -> str:
    """Say in a few sentences why a column has its class."""
    name, relevance = result.feature_names[j], int(result.classes[j])
    head = {STRONG: "strongly relevant", WEAK: "weakly relevant", IRRELEVANT: "irrelevant"}
    given = (
        f"Given {together(list(map(repr, result.adjusted_for)))}, " if result.adjusted_for else ""
    )
    sentences = [f"{given}{name!r} is {head[relevance]}: {_meaning(result, j)}."]
    sentences += _relevance_sentences(result, j)
    sentences += _gap_sentences(result, j)
    if relevance != IRRELEVANT:
        sentences += _removal_sentences(result, j)
        sentences += worth_sentences(result, j)
    if relevance == WEAK and result.evidence.tells_substitutes:
        sentences += _substitute_sentences(result, j)
    if result.evidence.undecided[j]:
        sentences.append("This is a best guess: the time was used up before it was decided.")
    if name in result.borderline:
        sentences.append(f"It is a close call, {result.borderline[name]}.")
    sentences += _stability_sentences(result, name)
    return " ".join(sentences)


def _meaning(result: RelevanceResult, j: int) -> str:
    """Say what the class of a column means in its case: not every weak one has a substitute."""
    evidence, name = result.evidence, result.feature_names[j]
    if result.classes[j] != WEAK or not evidence.tells_substitutes:
        return MEANINGS[int(result.classes[j])]
    replaced = bool(result.substitutes.get(name) or stands_for(result, name))
    obstacle = evidence.obstacle(j)
    if obstacle == "small" and replaced:
        return "informative, but others can replace all but a little of it"
    return MEANINGS[WEAK] if replaced or evidence.explained[j] > MOSTLY else WEAK_WITHOUT[obstacle]


def _stability_sentences(result: RelevanceResult, name: str) -> list[str]:
    """Say in how many half-samples a column had which class."""
    stability = result.stability
    if stability is None or not stability.n_finished:
        return []
    counts = stability.columns[name]
    said = {"strong": counts.strong, "weak": counts.weak, "irrelevant": counts.irrelevant}
    classes = [f"{kind} in {n}" for kind, n in said.items() if n]
    said_minimal = f"in the minimal set in {counts.minimal or 'none'}"
    several = "s" if stability.n_finished > 1 else ""
    return [
        f"In {stability.n_finished} half-sample{several} it was "
        f"{', '.join([*classes, f'and {said_minimal}'])}."
    ]


def _relevance_sentences(result: RelevanceResult, j: int) -> list[str]:
    evidence, words = result.evidence, result.evidence.vocabulary
    proof, p = evidence.proof[j], evidence.p_relevant[j]
    if j in evidence.associations:
        return [f"{_through(result, j)}."]
    if proof:
        return [f"{words.proven.format(reason=PROOFS[proof], p=p)}."]
    if np.isnan(p) and not np.isnan(evidence.alpha):
        if result.columns.missing[j] == 1:
            return ["There was nothing to test: it holds no value in any row."]
        seen = "" if evidence.saw_all(result.n_samples) else " in the rows that were looked at"
        return [f"There was nothing to test: it has no two different values{seen}."]
    return [f"{words.unproven.format(p=p)}."] if words.unproven else []


def _gap_sentences(result: RelevanceResult, j: int) -> list[str]:
    """Say so if a column tells something by what is missing in it."""
    evidence = result.evidence
    gaps = evidence.told_by_gaps.get(j)
    if gaps is None or not gaps.p_gaps <= evidence.alpha:
        return []
    told = f"where it is missing tells something (p = {gaps.p_gaps:.2g})"
    if gaps.p_values <= evidence.alpha:
        return [f"Its gaps matter, too: {told}, and so does what is there."]
    return [
        f"It is relevant through its gaps: {told}, while by itself what is there is not told from "
        "noise."
    ]


def _through(result: RelevanceResult, j: int) -> str:
    """Say through which column another one is relevant."""
    association = result.evidence.associations[j]
    return result.evidence.vocabulary.associated.format(
        partner=listed([result.feature_names[k] for k in association.columns], quote=True),
        correlation=abs(association.correlation),
        p_association=association.p_value,
        p=result.evidence.p_relevant[j],
    )


def _removal_sentences(result: RelevanceResult, j: int) -> list[str]:
    evidence, loss = result.evidence, result.evidence.removal_loss[j]
    if np.isnan(loss):
        reason = "no time was left" if evidence.undecided[j] else evidence.vocabulary.untested
        return [f"What its removal costs was not tested: {reason}."]
    told = _removal(result, j)
    # What it is worth has a sentence of its own.
    if loss > 0 and np.isfinite(evidence.effect[j]) and j not in evidence.worth.columns:
        told += f"; that is {share(evidence.effect[j])} of what the model gains at all"
    sentences = [f"{told}."]
    tested = evidence.tested_effect[j]
    if np.isfinite(tested) and share(tested) != share(evidence.effect[j]):
        sentences.append(_in_the_test(result, j))
        if result.classes[j] == STRONG and evidence.removal_interval[0, j] <= 0:
            sentences.append(
                "The test, which looks at what every prediction loses, is the sharper of the two: "
                "what a refit loses cannot be told from nothing in so many rows."
            )
    if result.classes[j] == WEAK and (obstacle := _obstacle(result, j)):
        sentences.append(f"{obstacle}.")
    if result.classes[j] == WEAK and evidence.explained[j] > MOSTLY:
        sentences.append(f"Other columns tell {min(evidence.explained[j], 1):.0%} of it.")
    return sentences


def _in_the_test(result: RelevanceResult, j: int) -> str:
    """Say what the test of strength saw, as far as it is told from nothing."""
    tested = share(result.evidence.tested_effect[j])
    if result.evidence.obstacle(j) == "unproven":
        return (
            f"In the test of strength it seems to add {tested} of the gain, which so many rows do "
            "not tell from nothing."
        )
    return f"In the test of strength it adds {tested} of the gain."


def _obstacle(result: RelevanceResult, j: int) -> str:
    """Say why a weak column that adds something for certain, or seems to, is not strong."""
    words = result.evidence.vocabulary
    said = {"small": words.small, "little": words.little, "refit": words.overruled}
    return said.get(result.evidence.obstacle(j), "")


def _removal(result: RelevanceResult, j: int) -> str:
    evidence, loss = result.evidence, result.evidence.removal_loss[j]
    low, high = evidence.removal_interval[:, j]
    null_low, null_high = evidence.removal_null
    return evidence.vocabulary.removal.format(
        loss=loss,
        grows=f"grows by {loss:.2g}" if loss > 0 else "does not grow",
        low=low,
        high=high,
        p=evidence.p_removal[j],
        null_low=null_low,
        null_high=null_high,
    )


def _substitute_sentences(result: RelevanceResult, j: int) -> list[str]:
    name = result.feature_names[j]
    sets = result.substitutes.get(name, ())
    if not sets:
        if result.evidence.obstacle(j) in SAID or stands_for(result, name):
            return []
        return [f"What replaces it: {no_substitute(result, j)}."]
    # The tests of the minimal set are of another company, and may have another answer.
    stays = searched(result) and result.evidence.minimal[j] and not stands_for(result, name)
    start = "Among all relevant columns it can" if stays else "It can"
    sentences = [f"{start} be replaced by {alternatives(sets, quote=True, most=5)}."]
    if (number := result.group_numbers[j]) < len(result.interchangeable):
        sentences += _suggestion(result, number)
    return sentences


def _suggestion(result: RelevanceResult, number: int) -> list[str]:
    """Suggest a column of a group, unless the minimal set does without all of them."""
    if not is_needed(result, number):
        return ["None of its group is in the minimal set."]
    return [f"Of its group, {listed(suggested(result, number), quote=True)} is suggested."]
