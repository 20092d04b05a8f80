"""What the verdict of the paper's method rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.evidence.association import Association
from squamish.evidence.consistency import Shape
from squamish.evidence.decisions import Decision, at_level
from squamish.evidence.interface import Evidence, Sets
from squamish.evidence.spreading import spread_fields, spread_values
from squamish.evidence.vocabulary import Vocabulary
from squamish.evidence.worth import Worth
from squamish.statistics.multiplicity import ErrorRate
from squamish.statistics.prediction import PredictionInterval


@dataclass(frozen=True, eq=False)
class PaperEvidence(Evidence):
    """Everything the paper's method looked at, one entry for each column of the table.

    Attributes
    ----------
    all_relevant : ndarray of bool
        The set A, found by Boruta.
    minimal : ndarray of bool
        The set M: importance above the upper bound of ``importance_interval``, and in A.
    boruta_history : ndarray of shape (n_rounds, n_features)
        Importances in Boruta's rounds; NaN once a column was rejected.
    boruta_shadows : ndarray of shape (n_rounds, 3)
        Least, mean and largest importance of the permuted columns in Boruta's rounds.
    importances : ndarray of float
        Gain of every column in the forest that selects M; 0 for a constant column.
    importance_interval : PredictionInterval or None
        Gains expected of an irrelevant feature. None if no column varies.
    loss_interval : PredictionInterval or None
        Losses expected of forests on A when nothing of importance changes. None if A is
        empty.
    removal_loss : ndarray of float
        Loss of the forest on A without the column; NaN if it was not tested (not in M).
    n_fits : int
        How many forests were fitted.
    undecided : ndarray of bool
        Columns whose class could still change: the time was used up before.
    """

    all_relevant: Mask
    minimal: Mask
    boruta_history: Array
    boruta_shadows: Array
    importances: Array
    importance_interval: PredictionInterval | None
    loss_interval: PredictionInterval | None
    removal_loss: Array
    n_fits: int
    undecided: Mask

    kind: ClassVar[str] = "paper"
    tells_substitutes: ClassVar[bool] = False
    has_intervals: ClassVar[bool] = False
    cost_is_share: ClassVar[bool] = False
    shapes: ClassVar[Mapping[str, Shape]] = {
        "removal_loss": ("d",),
        "minimal": ("d",),
        "all_relevant": ("d",),
        "boruta_history": (None, "d"),
        "boruta_shadows": (None, 3),
        "importances": ("d",),
        "undecided": ("d",),
    }
    learner: ClassVar[str] = "random forest"

    # What the paper's method does not look for, and does not measure.
    substitutes: ClassVar[dict[int, Sets]] = {}
    groups: ClassVar[Sets] = ()
    representatives: ClassVar[Sets] = ()
    leaks: ClassVar[tuple[int, ...]] = ()
    small: ClassVar[tuple[int, ...]] = ()
    associations: ClassVar[dict[int, Association]] = {}
    alpha: ClassVar[float] = np.nan
    error_rate: ClassVar[ErrorRate] = "fwer"
    minimal_loss: ClassVar[float] = np.nan
    all_loss: ClassVar[float] = np.nan
    constant_loss: ClassVar[float] = np.nan
    n_tested: ClassVar[int] = 0
    detectable: ClassVar[float] = np.nan
    worth: ClassVar[Worth] = Worth()
    prognosis: ClassVar[None] = None

    @property
    def p_relevant(self) -> Array:
        """Not measured: Boruta counts rounds."""
        return self._unmeasured[0]

    @property
    def effect(self) -> Array:
        """Not measured: losses are compared with what is expected, not with a gain."""
        return self._unmeasured[0]

    @property
    def explained(self) -> Array:
        """Not measured: no column is predicted from the others."""
        return self._unmeasured[0]

    @property
    def removal_interval(self) -> Array:
        """Not measured: there is one loss without each column."""
        return self._unmeasured

    @cached_property
    def _unmeasured(self) -> Array:
        return np.full((2, len(self.removal_loss)), np.nan)

    @property
    def loss(self) -> float:
        """Mean loss of the forests on A when nothing of importance changes."""
        return float(self.loss_interval.samples.mean()) if self.loss_interval else np.nan

    @cached_property
    def proof(self) -> tuple[str, ...]:
        """What made every column relevant; empty if it is not."""
        return tuple("boruta" if relevant else "" for relevant in self.all_relevant)

    @cached_property
    def p_removal(self) -> Array:
        """How likely the loss without the column is if nothing changes; not corrected."""
        if self.loss_interval is None:
            return self._unmeasured[0]
        return self.loss_interval.p_values(self.removal_loss)

    @property
    def importance(self) -> Array:
        """Importance of every column in the forest that selects the minimal set."""
        return self.importances

    @property
    def importance_threshold(self) -> float:
        """Importance that an irrelevant column hardly exceeds."""
        return self.importance_interval.upper if self.importance_interval else np.nan

    @property
    def importance_null(self) -> tuple[float, float]:
        """Importances that are expected of an irrelevant column."""
        low = self.importance_interval.lower if self.importance_interval else 0.0
        return low, self.importance_threshold

    @property
    def importance_rounds(self) -> Array:
        """Importances in Boruta's rounds."""
        return self.boruta_history

    @property
    def shadow_rounds(self) -> Array:
        """Least, mean and largest importance of the permuted columns in Boruta's rounds."""
        return self.boruta_shadows

    @property
    def removal_null(self) -> tuple[float, float]:
        """Losses expected when nothing of importance is removed."""
        interval = self.loss_interval
        return (interval.lower, interval.upper) if interval else (np.nan, np.nan)

    @property
    def cost(self) -> Array:
        """The loss without every column."""
        return self.removal_loss

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Strong by a loss above the interval; there is no limit to how relevant a column is."""
        level = self.loss_interval.p if self.loss_interval else np.nan
        return (Decision("strong or weak", (at_level(self.p_removal, level),)),)

    def spread(self, feature: Indices) -> PaperEvidence:
        """Return the evidence for the columns of a table, given the feature of each.

        A column without a feature (-1) was not judged.
        """
        importances = spread_values(self.importances, feature, 0.0)
        return replace(self, **spread_fields(self, feature) | {"importances": importances})

    def inconsistencies(self, n_columns: int, weak: Sequence[int]) -> Iterator[str]:
        """Say what does not fit together; an interval comes from two samples or more."""
        yield from super().inconsistencies(n_columns, weak)
        for name in ("importance_interval", "loss_interval"):
            interval = getattr(self, name)
            if interval is not None and (interval.samples.ndim != 1 or len(interval.samples) < 2):
                yield f"evidence.{name} has too few samples"

    @property
    def vocabulary(self) -> Vocabulary:
        """Losses on the training rows, and what is expected of them."""
        return _VOCABULARY


_VOCABULARY = Vocabulary(
    score="loss on the training rows",
    score_scale="{absolute_scale}",
    cost_heading="loss without it",
    proven="It is relevant because {reason}",
    associated="",
    unproven="",
    removal=(
        "Without it the loss of the forest is {loss:.3g}; {null_low:.3g} to {null_high:.3g} is "
        "expected when nothing of importance is removed"
    ),
    small="",
    untested="it is not in the minimal set",
    removal_axis="mean error without the column ({absolute_unit})",
    removal_null="expected if nothing is lost",
    no_removals="no column is in the minimal set",
    importance_axis="importance (gain in the forest, summed over all splits)",
    no_importances="no column varies",
    columns=(
        "Loss without it: that of the forest, on the rows it was trained on; the p-value is not "
        "corrected for the number of columns. Importance: gain in the forest."
    ),
    reading=(
        "This is the method of the paper: Boruta finds the relevant columns, and a column is "
        "strong if the loss of a forest without it, on the rows it was trained on, is above what "
        "is expected when nothing of importance is removed. It does not tell what replaces a weak "
        "column."
    ),
)
