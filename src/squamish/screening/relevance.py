"""Which features are relevant: tests combined, corrected for features, and what hangs on them.

A feature is relevant by itself if its own tests together say so. Their combination (Cauchy) is
corrected for the number of features (Holm), and depends on nothing that was decided before. What is
clearly correlated with such a feature is relevant through it: that is told apart, with the p-value
of the correlation, as it stands and falls with the other feature. Own tests and association share
the level (weighted Bonferroni).

All of that is family-wise. If the false discovery rate is to be bounded, further features join at
the end, by Benjamini and Hochberg: a false one among them takes nothing along.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.evidence.association import Association
from squamish.models.crossfit import CrossFit
from squamish.screening.association import partners_of
from squamish.screening.parts import of_features
from squamish.statistics.multiplicity import Level, combined_p_values, holm

# The tests of a feature itself, which all count the same in their combination: weights between half
# and twice of that change next to no verdict (benchmarks/results/sensitivity.md).
OWN_TESTS = ("marginal", "product", "partial", "shadow", "useful", "model", "trees")
ASSOCIATION = "association"
# Ways to be relevant, among which the level is shared in equal parts.
N_WAYS = len(OWN_TESTS) + 1


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
    associations : mapping of int to Association
        For features that are relevant through another one.
    """

    p_values: Mapping[str, Array]
    proofs: tuple[str, ...]
    part_p_values: Mapping[str, Array] = field(default_factory=dict)
    associations: Mapping[int, Association] = field(default_factory=dict)

    @classmethod
    def unknown(cls, n_features: int) -> Relevance:
        """Begin without a test."""
        p_values = {name: np.ones(n_features) for name in (*OWN_TESTS, ASSOCIATION)}
        return cls(p_values, ("",) * n_features)

    @cached_property
    def combined(self) -> Array:
        """The own tests of features combined, not corrected for the number of features."""
        own = combined_p_values(np.stack([self.p_values[name] for name in OWN_TESTS]))
        return np.minimum(own * N_WAYS / len(OWN_TESTS), 1.0)

    @cached_property
    def relevant(self) -> Indices:
        """The relevant features."""
        return np.flatnonzero([bool(proof) for proof in self.proofs])


class Decides(ABC):
    """Tells what is relevant by what tests found; what was relevant before stays so."""

    def __call__(
        self,
        before: Relevance,
        found: Mapping[str, Array],
        of_parts: Mapping[str, Array] | None = None,
    ) -> Relevance:
        """Take in what tests found of features, and of their parts, and decide anew."""
        parts = {**before.part_p_values, **(of_parts or {})}
        p_values = {**before.p_values, **found}
        return self._decided(before, replace(before, p_values=p_values, part_p_values=parts))

    @abstractmethod
    def _decided(self, before: Relevance, outcome: Relevance) -> Relevance:
        """Add to what was relevant before what is so by all p-values."""


@dataclass(frozen=True, eq=False)
class FamilyWise(Decides):
    """Bounds the family-wise error, and takes along what is associated with what is relevant."""

    fit: CrossFit
    alpha: float

    def _decided(self, before: Relevance, outcome: Relevance) -> Relevance:
        certain = holm(outcome.combined) <= self.alpha
        outcome, partners = _with_own_proofs(outcome, certain), np.flatnonzero(certain)
        known = np.flatnonzero(holm(before.combined) <= self.alpha)
        while len(np.setdiff1d(partners, known)):
            wider = _with_associated(self.fit, outcome, partners, self.alpha)
            added = np.setdiff1d(wider.relevant, outcome.relevant)
            known, partners, outcome = partners, np.union1d(partners, added), wider
        return outcome


@dataclass(frozen=True, eq=False)
class Discovering(Decides):
    """Adds what is relevant by itself at another error rate, and nothing along with it."""

    level: Level

    def _decided(self, before: Relevance, outcome: Relevance) -> Relevance:
        return _with_own_proofs(outcome, self.level.adjusted(outcome.combined) <= self.level.alpha)


def _with_own_proofs(outcome: Relevance, by_itself: Mask) -> Relevance:
    """Name the test that did most for each feature that is relevant by itself."""
    best = np.argmin([outcome.p_values[name] for name in OWN_TESTS], axis=0)
    proofs = tuple(
        OWN_TESTS[best[j]] if by_itself[j] else known for j, known in enumerate(outcome.proofs)
    )
    others = {j: through for j, through in outcome.associations.items() if not by_itself[j]}
    return replace(outcome, proofs=proofs, associations=others)


def _with_associated(
    fit: CrossFit, outcome: Relevance, partners: Indices, alpha: float
) -> Relevance:
    """Add what is not relevant yet and clearly correlated with any of some relevant features."""
    telling = _telling_parts(fit, outcome, partners, alpha)
    if len(telling) == 0:
        # Categories of many levels have no parts that are the same in every fold.
        return outcome
    found = partners_of(fit, telling)
    is_open = np.array([not proof for proof in outcome.proofs], dtype=bool)
    p_values = np.where(is_open, of_features(fit, found.p_values), outcome.p_values[ASSOCIATION])
    corrected = np.ones(len(is_open))
    corrected[is_open] = holm(np.minimum(p_values[is_open] * N_WAYS, 1.0))
    associations, proofs = dict(outcome.associations), list(outcome.proofs)
    for j in np.flatnonzero(is_open & (corrected <= alpha)).tolist():
        own = np.flatnonzero(fit.given.feature == j)
        best = own[found.p_values[own].argmin()]
        partner = int(fit.given.feature[found.partner[best]])
        associations[j] = Association(
            (partner,), float(found.correlation[best]), float(corrected[j])
        )
        proofs[j] = ASSOCIATION
    return replace(
        outcome,
        p_values={**outcome.p_values, ASSOCIATION: p_values},
        proofs=tuple(proofs),
        part_p_values={**outcome.part_p_values, ASSOCIATION: found.p_values},
        associations=associations,
    )


def _telling_parts(fit: CrossFit, outcome: Relevance, features: Indices, alpha: float) -> Indices:
    """Return the parts of relevant features that tell of the target themselves.

    A feature may be relevant for its values and not for its gaps: what shares its gaps is not
    associated with what it tells. The best part of a feature counts, and any that would be
    relevant by itself, corrected for the number of all parts (Bonferroni).
    """
    parts = fit.fixed_columns(features)
    if len(parts) == 0 or not outcome.part_p_values:
        return parts
    p = np.stack([of_part[parts] for of_part in outcome.part_p_values.values()])
    combined = combined_p_values(p)
    owners = fit.parts.feature[parts]
    least = np.ones(fit.table.n_features)
    np.minimum.at(least, owners, combined)
    tells = combined * len(fit.given.feature) <= alpha
    return parts[tells | (combined == least[owners])]
