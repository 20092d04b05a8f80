"""Shadows: columns in random order, against which the gains of real ones are held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.models.learners import train_trees
from squamish.statistics.pairs import in_groups
from squamish.statistics.tails import exponential_tail_p_values, exponential_tail_quantile
from squamish.table.table import Table

Array = NDArray[np.float64]

# Trees on more groups than this take measures against their number.
FEW_GROUPS = 5000


@dataclass(frozen=True, eq=False)
class ShadowGains:
    """Gains of columns and of their shadows in boosted trees, on a logarithmic scale.

    Attributes
    ----------
    real : ndarray of shape (n_sets, n_rounds, n_groups)
        Gain of the one column that stood for each group in a round.
    null : ndarray of shape (n_sets, n_rounds, n_groups)
        Gain of its shadow.
    group : ndarray of int of shape (n_columns,)
        The group of every column.
    """

    real: Array
    null: Array
    group: NDArray[np.intp]

    @classmethod
    def of(cls, sets: Sequence[Array], groups: NDArray[np.intp]) -> ShadowGains:
        """Put together what `shadow_set` measured."""
        gains = np.stack(sets)
        half = gains.shape[-1] // 2
        return cls(gains[..., :half], gains[..., half:], np.unique(groups, return_inverse=True)[1])

    @property
    def p_values(self) -> Array:
        """Test the mean gain of every column's group against the shadows."""
        p = exponential_tail_p_values(self.real.mean(axis=1).mean(axis=0), self._luck)
        return p[self.group]

    def threshold(self, p: float) -> float:
        """Return the mean gain that shadows exceed with probability ``p``."""
        return exponential_tail_quantile(self._luck, p)

    @staticmethod
    def in_rounds(gains: Array) -> Array:
        """Join the rounds of all sets. Digits beyond these are luck, and would swell a file."""
        return gains.reshape(-1, gains.shape[-1]).round(4)

    @property
    def _luck(self) -> Array:
        """What shadows gain by luck: the means of the rounds that share the same shadows."""
        return np.concatenate(self.null.mean(axis=1))


def shadow_set(
    table: Table, groups: NDArray[np.intp], rng: np.random.Generator, n_rounds: int
) -> Array:
    """Measure the gain in boosted trees of columns and of permuted columns, the shadows.

    Each round takes one column of every group, so that copies do not share their gain.
    Shadows are whole rows in another order, which keeps their correlations, and they stay
    the same for the rounds of a set: a fresh permutation in each round would lack the
    lasting luck of a real irrelevant column. Returns an array of shape
    (n_rounds, 2 * n_groups), the shadows in its second half.
    """
    members = list(in_groups(groups))
    rows = rng.permutation(len(table.y))
    gains = np.zeros((n_rounds, 2 * len(members)))
    # Of many columns, the digits that trees do not need would take twice the memory.
    kind = np.float64 if len(members) <= FEW_GROUPS else np.float32
    for gain in gains:
        pick = np.array([rng.choice(m) for m in members])
        order = rng.permutation(2 * len(members))
        place = np.argsort(order)
        both = np.empty((len(rows), len(order)), dtype=kind)
        both[:, place[: len(pick)]] = table.X[:, pick]
        both[:, place[len(pick) :]] = table.X[np.ix_(rows, pick)]
        gain[order] = np.log1p(100 * _gain(both, table, rng) / len(table.y))
    return gains


def _gain(X: NDArray[np.floating[Any]], table: Table, rng: np.random.Generator) -> Array:
    # Of many columns, coarse histograms.
    lean: dict[str, Any] = {} if X.shape[1] <= 2 * FEW_GROUPS else {"max_bin": 31}
    booster = train_trees(
        X,
        table.y,
        table.task,
        n_trees=60,
        feature_fraction=0.3,
        bagging_fraction=0.632,
        bagging_freq=1,
        enable_bundle=False,
        feature_pre_filter=False,
        seed=int(rng.integers(2**31)),
        **lean,
    )
    return booster.feature_importance("gain").astype(float)
