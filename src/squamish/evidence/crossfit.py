"""What the verdict of the default method rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.evidence.association import Association
from squamish.evidence.consistency import Shape, wrong_associations, wrong_size
from squamish.evidence.decisions import Decision, above_effect, at_level
from squamish.evidence.gaps import Gaps
from squamish.evidence.interface import Evidence, Obstacle
from squamish.evidence.spreading import spread_fields, spread_values
from squamish.evidence.survival import Prognosis
from squamish.evidence.vocabulary import Vocabulary
from squamish.evidence.worth import Worth
from squamish.statistics.multiplicity import ErrorRate
from squamish.statistics.rows_needed import Z_INTERVAL, growth_to_level, growth_to_limit

_COLUMNS = (
    "Removal costs: how much of what the model gains, over a constant prediction or over what is "
    "adjusted for alone, the best model without the column loses, on rows it has not seen. The "
    "p-value is that of the test of strength, corrected for the number of columns; where a refit "
    "had to agree it is the larger of both. Importance: gain in boosted trees on a logarithmic "
    "scale, shared by columns that are correlated; by itself it decides nothing."
)


@dataclass(frozen=True, eq=False)
class CrossfitEvidence(Evidence):
    """What the verdict rests on, one entry for each column of the table.

    Attributes
    ----------
    proof : tuple of str
        The test that did most to make the column relevant: "marginal", "product", "partial",
        "shadow", "association", "useful", "model" or "trees"; empty if it is not relevant.
    proof_p_values : dict of str to ndarray
        The p-value of every column in every test of relevance; 1 if not tested.
    p_relevant : ndarray of float
        The tests of a column itself, which are all of these but "association", combined (Cauchy)
        and corrected for the number of columns, as ``error_rate`` says; NaN for a column that does
        not vary.
    removal_loss : ndarray of float
        How much larger the out-of-sample loss of the best model without the column is: that of a
        refit (LOCO), or, where next to nothing is lost, that of the model averaged over draws of
        the column given the others, which does not use it either; NaN if it was not measured. In
        results of older versions it is ``tested_loss``.
    removal_interval : ndarray of shape (2, n_features)
        95% confidence interval of ``removal_loss``.
    p_removal : ndarray of float
        One-sided p-value of the draw, or that of the refit, where it decided and is larger,
        corrected for the number of columns that were tested (Holm); NaN if not tested.
    effect : ndarray of float
        ``removal_loss`` as a share of what the model gains over the constant prediction, or over
        what is adjusted for. It cannot exceed 1: without a column there is that prediction still.
    explained : ndarray of float
        R2 of the column given the others, out of sample: in a line, and where a refit was made
        also in steps or a smooth curve.
    substitutes : dict of int to tuple of tuples of int
        For every weak column, the columns or sets of columns that replace it.
    groups : tuple of tuples of int
        Weak columns that replace each other.
    representatives : tuple of tuples of int
        The column of each group that tells most on its own, or the columns, if several are
        one feature.
    minimal : ndarray of bool
        The smallest set found, strong columns included, whose loss is larger than that of all
        relevant columns by no more than ``min_effect`` of the gain. If no sets were searched, and
        in results of older versions, it is ``cover``.
    leaks : tuple of int
        Columns that alone tell the target almost perfectly.
    learner : str
        The learner that did best on the relevant columns; one that the user brought by the call
        that makes it, shortened.
    loss, minimal_loss, constant_loss : float
        Its out-of-sample loss, that on the minimal set, and that of the constant prediction, or of
        the best one by what is adjusted for.
        That on the minimal set is of sets that were searched and chosen on other rows.
    n_fits : int
        How many models were fitted.
    importance_rounds : ndarray of shape (n_rounds, n_features)
        Gain of each column in boosted trees, on a logarithmic scale, where one column stands
        for all that are correlated with it. NaN, or without a round, if it was not measured.
    shadow_rounds : ndarray of shape (n_rounds, n_shadows)
        The same of permuted columns.
    importance_threshold : float
        Mean gain beyond which a column is told from permuted ones at ``alpha``, corrected
        for the number of columns; NaN if none is, since permuted columns all gain the same.
    alpha, min_effect : float
        What the p-values and the effect were compared with.
    undecided : ndarray of bool
        Columns whose class could still change: the time was used up before.
    n_tested : int
        How many rows the models were tested on: all, or a sample of very many.
    detectable : float
        About the least ``effect`` that so many rows show with a probability of 95%, or the
        ``power`` that was asked for if that is less; NaN if the model gains nothing.
    error_rate : {"fwer", "fdr"}
        What ``alpha`` bounds: the probability of any false column (p-values are corrected by Holm),
        or the expected share of false columns (Benjamini and Hochberg).
    associations : dict of int to Association
        For every column whose proof is "association", what it is relevant through. Results of
        squamish 0.1 do not have it: the p-value of the association was part of ``p_relevant``.
    least_effect : float
        What ``effect`` was compared with: ``min_effect`` as a share of what the model gains or of
        what it leaves unexplained, if that is less, given as a share of what it gains. NaN if
        nothing was tested, and in results of squamish 0.1, which compared with ``min_effect``.
    small : tuple of int
        Weak columns that certainly add something to all others, but less than ``least_effect``.
    all_loss : float
        The out-of-sample loss of the best learner on all columns; NaN if it was not measured: if
        nothing is relevant, of more than 5,000 columns, and in results of squamish 0.1.
    tested_loss : ndarray of float or None
        The growth of the loss that the test of strength looked at: when the column is drawn anew
        given the others (conditional feature importance), or without it (LOCO) where a refit
        decided. None in results of older versions, where it is ``removal_loss``.
    cover : ndarray of bool or None
        A set that covers all relevant columns, each of which is in it or replaced by it: the strong
        columns and the representatives of the groups, more where it takes more to replace the rest,
        none where strong columns do. None in results of older versions, where it is ``minimal``.
    worth : Worth
        The path of sets, what the minimal one can be exchanged for, and what columns and groups are
        worth; empty in results of older versions.
    prognosis : Prognosis or None
        How well predicted risks order times, for ``task="survival"``; None if nothing was
        predicted.
    gaps : dict of int to Gaps
        For every relevant column of numbers with gaps, whether these tell something; empty in
        results of older versions.
    """

    proof: tuple[str, ...]
    proof_p_values: dict[str, Array]
    p_relevant: Array
    removal_loss: Array
    removal_interval: Array
    p_removal: Array
    effect: Array
    explained: Array
    substitutes: dict[int, tuple[tuple[int, ...], ...]]
    groups: tuple[tuple[int, ...], ...]
    representatives: tuple[tuple[int, ...], ...]
    minimal: Mask
    leaks: tuple[int, ...]
    learner: str
    loss: float
    minimal_loss: float
    constant_loss: float
    n_fits: int
    importance_rounds: Array
    shadow_rounds: Array
    importance_threshold: float
    alpha: float
    min_effect: float
    undecided: Mask
    n_tested: int
    detectable: float
    error_rate: ErrorRate = "fwer"
    associations: dict[int, Association] = field(default_factory=dict)
    least_effect: float = np.nan
    small: tuple[int, ...] = ()
    all_loss: float = np.nan
    tested_loss: Array | None = None
    cover: Mask | None = None
    worth: Worth = field(default_factory=Worth)
    prognosis: Prognosis | None = None
    gaps: dict[int, Gaps] = field(default_factory=dict)

    kind: ClassVar[str] = "crossfit"
    renamed: ClassVar[Mapping[str, str]] = {"p_value": "p_removal"}
    shapes: ClassVar[Mapping[str, Shape]] = {
        "p_relevant": ("d",),
        "removal_loss": ("d",),
        "removal_interval": (2, "d"),
        "p_removal": ("d",),
        "effect": ("d",),
        "explained": ("d",),
        "minimal": ("d",),
        "importance_rounds": (None, "d"),
        "shadow_rounds": (None, None),
        "undecided": ("d",),
        "tested_loss": ("d",),
        "cover": ("d",),
    }

    @cached_property
    def importance(self) -> Array:
        """Mean importance of every column; NaN if it was not measured."""
        if len(self.importance_rounds) == 0:
            return np.full(len(self.proof), np.nan)
        return np.asarray(self.importance_rounds.mean(axis=0))

    @property
    def removal_null(self) -> tuple[float, float]:
        """Costs of a removal that are too small to matter."""
        reach = self._least_share * max(self.constant_loss - self.loss, 0.0)
        return -reach, reach

    @property
    def _least_share(self) -> float:
        """What ``effect`` was compared with; results of squamish 0.1 do not tell it."""
        return self.min_effect if np.isnan(self.least_effect) else self.least_effect

    @property
    def cost(self) -> Array:
        """The effect of every removal."""
        return self.effect

    @property
    def tested_effect(self) -> Array:
        """What the test of strength looked at, as a share of what the model gains."""
        if self.tested_loss is None:
            return self.effect
        gain = self.constant_loss - self.loss
        return self.tested_loss / (gain if gain > 0 else np.nan)

    @property
    def told_by_gaps(self) -> Mapping[int, Gaps]:
        """For relevant columns with gaps, whether these tell something."""
        return self.gaps

    @property
    def covering(self) -> Mask:
        """Whether a column is in the set that covers all relevant ones."""
        return self.minimal if self.cover is None else self.cover

    @cached_property
    def _p_decided(self) -> Array:
        """The p-value that decided on relevance: of the column itself, or of its association."""
        p = self.p_relevant.copy()
        for j, through in self.associations.items():
            p[j] = through.p_value
        return p

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Relevant by all proofs together; strong by a removal that certainly costs enough."""
        to_relevant, to_sure, to_effect = self._growths
        relevant = at_level(self._p_decided, self.alpha, to_relevant)
        sure = at_level(self.p_removal, self.alpha, to_sure)
        costly = above_effect(self.tested_effect, self._least_share, to_effect)
        return (
            Decision("relevant or not", (relevant,)),
            Decision("strong or weak", (sure, costly)),
        )

    def obstacle(self, j: int) -> Obstacle:
        """Say why a weak column is not strong.

        Every criterion of the test of strength that was not met is one, the proof first. What met
        all of them and is not strong was overruled by a refit.
        """
        known = super().obstacle(j)
        if known:
            return known
        if not self.p_removal[j] <= self.alpha:
            return "unproven"
        if j in self.small:
            return "small"
        return "refit" if self.tested_effect[j] > self._least_share else "little"

    @cached_property
    def _growths(self) -> tuple[Array, Array, Array]:
        """By what factors rows have to grow for clear decisions, by every criterion."""
        gain = self.constant_loss - self.loss
        low, high = self.removal_interval
        # The effect that was tested comes from the same rows and the same model as the removal.
        errors = (high - low) / (2 * Z_INTERVAL * (gain if gain > 0 else np.nan))
        return (
            growth_to_level(self._p_decided, self.alpha, self.error_rate),
            growth_to_level(self.p_removal, self.alpha, self.error_rate),
            growth_to_limit(self.tested_effect, errors, self._least_share),
        )

    def spread(self, feature: Indices) -> CrossfitEvidence:
        """Return the evidence for the columns of a table, given the feature of each.

        A column without a feature (-1) was not judged.
        """
        places: dict[int, list[int]] = {}
        for column, f in enumerate(feature.tolist()):
            places.setdefault(f, []).append(column)

        def columns(features: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(sorted(column for f in features for column in places[f]))

        # Columns that are alone come last.
        order = sorted(
            range(len(self.groups)),
            key=lambda g: (len(self.groups[g]) == 1, min(columns(self.groups[g]))),
        )
        return replace(
            self,
            **spread_fields(self, feature),
            proof=tuple(self.proof[f] if f >= 0 else "" for f in feature),
            proof_p_values={
                name: spread_values(p, feature, 1.0) for name, p in self.proof_p_values.items()
            },
            substitutes={
                j: tuple(columns(group) for group in sets)
                for f, sets in self.substitutes.items()
                for j in columns((f,))
            },
            groups=tuple(columns(self.groups[g]) for g in order),
            representatives=tuple(columns(self.representatives[g]) for g in order),
            leaks=columns(self.leaks),
            small=columns(self.small),
            associations={
                j: replace(through, columns=columns(through.columns))
                for f, through in self.associations.items()
                for j in columns((f,))
            },
            worth=self.worth.spread(columns, order),
            gaps={j: own for f, own in self.gaps.items() for j in columns((f,))},
        )

    def inconsistencies(self, n_columns: int, weak: Sequence[int]) -> Iterator[str]:
        """Say what does not fit together; every proof has a p-value for every column."""
        yield from super().inconsistencies(n_columns, weak)
        yield from self.worth.inconsistencies(n_columns, len(self.groups))
        if self.prognosis is not None:
            yield from self.prognosis.inconsistencies()
        for name, p in self.proof_p_values.items():
            yield from wrong_size(f"evidence.proof_p_values.{name}", p.shape, ("d",), n_columns)
        yield from wrong_associations(self.proof, self.associations)

    @property
    def _sure(self) -> str:
        """Say what the proofs of relevant columns have to reach."""
        if self.error_rate == "fdr":
            return (
                "its dependence on the target is proven, with a share of at most "
                f"{self.alpha:g} of false proofs to be expected among all of them."
            )
        return (
            "all proofs of its dependence on the target together leave less than "
            f"{self.alpha:g} for chance, over all columns."
        )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Losses out of sample, and how much they grow without a column."""
        untested = np.isnan(self.p_relevant).all()
        return Vocabulary(
            score="out-of-sample {loss_name}",
            score_scale="{loss_scale}",
            cost_heading="removal costs",
            proven=(
                "It is relevant because {reason} "
                "(p = {p:.2g}, all proofs together, corrected for the number of columns)"
            ),
            associated=(
                "It is relevant through {partner}, with which it has a correlation of "
                "{correlation:.2f} in size (p = {p_association:.2g}). Its own tests together have "
                "p = {p:.2g}, corrected for the number of columns: that it is relevant hangs on "
                "{partner}"
            ),
            unproven=(
                "None of the tests tells it from a column of noise (p = {p:.2g} for all of them "
                f"together, corrected for the number of columns; {self.alpha:g} is the limit)"
            ),
            removal=(
                "Without it, the loss of the best model {grows} "
                "(95% interval {low:.2g} to {high:.2g}; test that it adds something: p = {p:.2g})"
            ),
            small=(
                "That it adds something to all others is certain, but it is small: less than the "
                f"{self.min_effect:.1%} of what the model gains, or leaves, that count as strong"
            ),
            little=(
                "It seems to add something to all others, but less than the "
                f"{self.min_effect:.1%} of what the model gains, or leaves, that count as strong"
            ),
            overruled=(
                "It is not strong, as a model that is fitted without it loses too little: what the "
                "others tell of it makes up for most"
            ),
            untested="it is not in the minimal set",
            removal_axis="growth of the loss without the column ({loss_unit})",
            removal_null=f"too little to matter (under {self.min_effect:.1%} of gain or loss)",
            no_removals="no column is relevant",
            importance_axis="importance (gain in boosted trees, ln(1 + 100 * gain per row))",
            no_importances=(
                "no column varies" if untested else "not measured if rows have weights or groups"
            ),
            columns=_COLUMNS,
            reading=(
                f"A column is relevant if {self._sure} "
                "What is clearly correlated with a column that is certain is relevant through it. "
                "A relevant column is strong if the prediction on rows the model has not seen "
                "loses something without it, with the same certainty, and if that costs at least "
                f"{self.min_effect:.1%} of what the model gains at all, or of what it leaves "
                "unexplained, if that is less. "
                "Irrelevant means that nothing was found in these rows, not that nothing is there."
            ),
        )
