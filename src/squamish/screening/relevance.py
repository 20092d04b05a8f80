"""Which features are relevant: the tests combined (Cauchy), and corrected for features (Holm)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit
from squamish.screening.association import associated_features
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
    """

    p_values: Mapping[str, Array]
    proofs: tuple[str, ...]

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


def decide(fit: CrossFit, before: Relevance, found: Mapping[str, Array], alpha: float) -> Relevance:
    """Take in what tests found, and what is associated with features that are relevant then.

    A feature that was relevant before stays so.
    """
    outcome = _with_proofs(Relevance({**before.p_values, **found}, before.proofs), alpha)
    n_known = len(before.relevant)
    while len(outcome.relevant) > n_known:
        n_known, relevant = len(outcome.relevant), outcome.relevant
        p = associated_features(fit, relevant)
        # What is relevant by its own tests needs none by others.
        p[relevant] = outcome.p_values["association"][relevant]
        p_values = {**outcome.p_values, "association": p}
        outcome = _with_proofs(Relevance(p_values, outcome.proofs), alpha)
    return outcome


def _with_proofs(outcome: Relevance, alpha: float) -> Relevance:
    """Name the test that did most for each feature that is relevant."""
    best = np.argmin([outcome.p_values[name] for name in TESTS], axis=0)
    is_relevant = holm(outcome.combined) <= alpha
    proofs = tuple(
        known or (TESTS[best[j]] if is_relevant[j] else "")
        for j, known in enumerate(outcome.proofs)
    )
    return Relevance(outcome.p_values, proofs)
