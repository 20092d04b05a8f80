"""What the verdict of the paper's method rests on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.evidence.spreading import spread_values
from squamish.statistics.prediction import PredictionInterval


@dataclass(frozen=True, eq=False)
class PaperEvidence:
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

    # What the paper's method does not look for.
    substitutes: ClassVar[dict[int, tuple[tuple[int, ...], ...]]] = {}
    groups: ClassVar[tuple[tuple[int, ...], ...]] = ()
    representatives: ClassVar[tuple[tuple[int, ...], ...]] = ()
    leaks: ClassVar[tuple[int, ...]] = ()
    learner: ClassVar[str] = "random forest"

    @cached_property
    def proof(self) -> tuple[str, ...]:
        """What made every column relevant; empty if it is not."""
        return tuple("boruta" if relevant else "" for relevant in self.all_relevant)

    @cached_property
    def p_value(self) -> Array:
        """How likely the loss without the column is if nothing changes; not corrected."""
        if self.loss_interval is None:
            return np.full(len(self.removal_loss), np.nan)
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

    def spread(self, feature: Indices) -> PaperEvidence:
        """Return the evidence for the columns of a table, given the feature of each.

        A column without a feature (-1) was not judged.
        """
        return replace(
            self,
            all_relevant=spread_values(self.all_relevant, feature, False),
            minimal=spread_values(self.minimal, feature, False),
            boruta_history=spread_values(self.boruta_history, feature, np.nan),
            importances=spread_values(self.importances, feature, 0.0),
            removal_loss=spread_values(self.removal_loss, feature, np.nan),
            undecided=spread_values(self.undecided, feature, False),
        )
