"""Sentences about one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from squamish.evidence.relevance import IRRELEVANT, MEANINGS, PROOFS, STRONG, WEAK
from squamish.report.wording.names import alternatives, listed
from squamish.report.wording.rows import MOSTLY, no_substitute, share

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult


def explain(result: RelevanceResult, j: int) -> str:
    """Say in a few sentences why a column has its class."""
    name, relevance = result.feature_names[j], int(result.classes[j])
    head = {STRONG: "strongly relevant", WEAK: "weakly relevant", IRRELEVANT: "irrelevant"}
    sentences = [f"{name!r} is {head[relevance]}: {MEANINGS[relevance]}."]
    sentences += _relevance_sentences(result, j)
    if relevance != IRRELEVANT:
        sentences += _removal_sentences(result, j)
    if relevance == WEAK and result.evidence.tells_substitutes:
        sentences += _substitute_sentences(result, j)
    if result.evidence.undecided[j]:
        sentences.append("This is a best guess: the time was used up before it was decided.")
    if name in result.borderline:
        sentences.append(f"It is a close call, {result.borderline[name]}.")
    return " ".join(sentences)


def _relevance_sentences(result: RelevanceResult, j: int) -> list[str]:
    evidence, words = result.evidence, result.evidence.vocabulary
    proof, p = evidence.proof[j], evidence.p_relevant[j]
    if j in evidence.associations:
        return [f"{_through(result, j)}."]
    if proof:
        return [f"{words.proven.format(reason=PROOFS[proof], p=p)}."]
    if np.isnan(p) and not np.isnan(evidence.alpha):
        seen = "" if evidence.saw_all(result.n_samples) else " in the rows that were looked at"
        return [f"There was nothing to test: it has no two different values{seen}."]
    return [f"{words.unproven.format(p=p)}."] if words.unproven else []


def _through(result: RelevanceResult, j: int) -> str:
    """Say through which column another one is relevant."""
    association = result.evidence.associations[j]
    return result.evidence.vocabulary.associated.format(
        partner=listed([result.feature_names[k] for k in association.columns], quote=True),
        correlation=association.correlation,
        p_association=association.p_value,
        p=result.evidence.p_relevant[j],
    )


def _removal_sentences(result: RelevanceResult, j: int) -> list[str]:
    evidence, loss = result.evidence, result.evidence.removal_loss[j]
    if np.isnan(loss):
        reason = "no time was left" if evidence.undecided[j] else evidence.vocabulary.untested
        return [f"What its removal costs was not tested: {reason}."]
    told = _removal(result, j)
    if loss > 0 and np.isfinite(evidence.effect[j]):
        told += f"; that is {share(evidence.effect[j])} of what the model gains at all"
    sentences = [f"{told}."]
    if j in evidence.small:
        sentences.append(f"{evidence.vocabulary.small}.")
    if result.classes[j] == WEAK and evidence.explained[j] > MOSTLY:
        sentences.append(f"Other columns tell {min(evidence.explained[j], 1):.0%} of it.")
    return sentences


def _removal(result: RelevanceResult, j: int) -> str:
    evidence, loss = result.evidence, result.evidence.removal_loss[j]
    low, high = evidence.removal_interval[:, j]
    null_low, null_high = evidence.removal_null
    return evidence.vocabulary.removal.format(
        loss=loss,
        grows=f"grows by {loss:.2g}" if loss > 0 else "does not grow",
        low=low,
        high=high,
        p=evidence.p_value[j],
        null_low=null_low,
        null_high=null_high,
    )


def _substitute_sentences(result: RelevanceResult, j: int) -> list[str]:
    sets = result.substitutes.get(result.feature_names[j], ())
    if not sets and j in result.evidence.small:
        return []
    if not sets:
        return [f"What replaces it: {no_substitute(result, j)}."]
    number = result.group_numbers[j]
    sentences = [f"It can be replaced by {alternatives(sets, quote=True, most=5)}."]
    if number < len(result.interchangeable):
        suggested = result.representatives[number]
        sentences.append(f"Of its group, {listed(suggested, quote=True)} is suggested.")
    return sentences
