"""Which features are relevant: the tests combined (Cauchy), and corrected for features (Holm)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit
from squamish.screening.association import association_p_values_of
from squamish.screening.parts import of_features
from squamish.statistics.multiplicity import combined_p_values, holm

# The tests, which all count the same in the combination: weights between half and twice of that
# change next to no verdict (benchmarks/results/sensitivity.md).
TESTS = ("marginal", "product", "partial", "shadow", "association", "useful", "trees")


@dataclass(frozen=True, eq=False)
class Relevance:
    """What is known of the relevance of every feature.

    Attributes
    ----------
    p_values : mapping of str to ndarray of shape (n_features,)
        The p-value of every feature in every test; 1 if not tested.
    proofs : tuple of str
        For a relevant feature, the test that did most to make it so; else empty.
    part_p_values : mapping of str to ndarray of shape (n_parts,)
        The p-value of every part of a feature, in tests of parts.
    """

    p_values: Mapping[str, Array]
    proofs: tuple[str, ...]
    part_p_values: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def unknown(cls, n_features: int) -> Relevance:
        """Begin without a test."""
        return cls({name: np.ones(n_features) for name in TESTS}, ("",) * n_features)

    @cached_property
    def combined(self) -> Array:
        """The tests combined, not corrected for the number of features."""
        return combined_p_values(np.stack([self.p_values[name] for name in TESTS]))

    @cached_property
    def relevant(self) -> Indices:
        """The relevant features."""
        return np.flatnonzero([bool(proof) for proof in self.proofs])


def decide(
    fit: CrossFit,
    before: Relevance,
    found: Mapping[str, Array],
    alpha: float,
    of_parts: Mapping[str, Array] | None = None,
) -> Relevance:
    """Take in what tests found, and what is associated with features that are relevant then.

    A feature that was relevant before stays so. ``found`` is about features, ``of_parts`` about
    their parts.
    """
    parts = {**before.part_p_values, **(of_parts or {})}
    outcome = Relevance({**before.p_values, **found}, before.proofs, parts)
    outcome = _with_proofs(outcome, alpha)
    n_known = len(before.relevant)
    while len(outcome.relevant) > n_known:
        n_known, relevant = len(outcome.relevant), outcome.relevant
        of_part = association_p_values_of(fit, _telling_parts(fit, outcome, alpha))
        p = of_features(fit, of_part)
        # What is relevant by its own tests needs none by others.
        p[relevant] = outcome.p_values["association"][relevant]
        p_values = {**outcome.p_values, "association": p}
        parts = {**outcome.part_p_values, "association": of_part}
        outcome = _with_proofs(Relevance(p_values, outcome.proofs, parts), alpha)
    return outcome


def _telling_parts(fit: CrossFit, outcome: Relevance, alpha: float) -> Indices:
    """Return the parts of relevant features that tell of the target themselves.

    A feature may be relevant for its values and not for its gaps: what shares its gaps is not
    associated with what it tells. The best part of a feature counts, and any that would be
    relevant by itself, corrected for the number of all parts (Bonferroni).
    """
    parts = fit.fixed_columns(outcome.relevant)
    if len(parts) == 0 or not outcome.part_p_values:
        return parts
    p = np.stack([of_part[parts] for of_part in outcome.part_p_values.values()])
    combined = combined_p_values(p)
    owners = fit.parts.feature[parts]
    least = np.ones(fit.table.n_features)
    np.minimum.at(least, owners, combined)
    tells = combined * len(fit.parts.feature) <= alpha
    return parts[tells | (combined == least[owners])]


def _with_proofs(outcome: Relevance, alpha: float) -> Relevance:
    """Name the test that did most for each feature that is relevant."""
    best = np.argmin([outcome.p_values[name] for name in TESTS], axis=0)
    is_relevant = holm(outcome.combined) <= alpha
    proofs = tuple(
        known or (TESTS[best[j]] if is_relevant[j] else "")
        for j, known in enumerate(outcome.proofs)
    )
    return Relevance(outcome.p_values, proofs, outcome.part_p_values)
