"""The shadow test: whether boosted trees gain more from a column than from permuted columns.

Hypothesis
    The column is exchangeable with its shadow, a copy in random order.
Statistic
    The mean logarithmic gain over rounds, with one column of every correlated group at a time, so
    that copies do not share their gain. Gains are read on the rows that the trees were trained
    on, for columns and shadows alike.
Null distribution
    The gains of all shadows, and beyond their range an exponential tail.
Validity
    Exchangeable rows, and columns whose gains by chance are alike.
Literature
    M. Kursa, W. Rudnicki: "Feature selection with the Boruta package", Journal of Statistical
    Software 36 (2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family
from squamish.models.trees import train_trees
from squamish.statistics.pairs import in_groups
from squamish.statistics.tails import exponential_tail_p_values, exponential_tail_quantile

# Sets of shadows, and the rounds of each; fewer once trees would see more groups than this in all,
# which takes minutes.
SHADOW_SETS, SHADOW_ROUNDS, MOST_SHADOWS = 4, 3, 24_000
# Trees of a round. Each sees a share of the columns, so that the strongest do not hide the others,
# and as many rows as a bootstrap has different ones (1 - 1/e).
N_TREES, COLUMN_SHARE, ROW_SHARE = 60, 0.3, 0.632
# Trees on more groups than this take measures against their number: single precision and coarse
# histograms.
FEW_GROUPS, COARSE_BINS = 5000, 31
# Gains are compared as log(1 + 100 gain per row): in multiples, and 0 for what is never used.
GAIN_UNIT = 100


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
    group: Indices

    @classmethod
    def of(cls, sets: Sequence[Array], groups: Indices) -> ShadowGains:
        """Put together what `shadow_set` measured."""
        gains = np.stack(sets)
        half = gains.shape[-1] // 2
        return cls(gains[..., :half], gains[..., half:], np.unique(groups, return_inverse=True)[1])

    @property
    def p_values(self) -> Array:
        """Test the mean gain of every column's group against the shadows."""
        p = exponential_tail_p_values(self.real.mean(axis=1).mean(axis=0), self._null)
        return p[self.group]

    def threshold(self, p: float) -> float:
        """Return the mean gain that shadows exceed with probability ``p``."""
        return exponential_tail_quantile(self._null, p)

    @property
    def shadows_in_rounds(self) -> Array:
        """Gains of the shadows, a row for each round of all sets."""
        return _in_rounds(self.null)

    def features_in_rounds(self, feature: Indices, n_features: int) -> Array:
        """Return the gains of features, those of their best parts; NaN for one without parts."""
        gains = _in_rounds(self.real)[:, self.group]
        out = np.full((len(gains), n_features), np.nan)
        for part, f in enumerate(feature):
            out[:, f] = np.fmax(out[:, f], gains[:, part])
        return out

    @property
    def _null(self) -> Array:
        """What shadows gain: the means of the rounds that share the same shadows."""
        return np.concatenate(self.null.mean(axis=1))


def _in_rounds(gains: Array) -> Array:
    """Join the rounds of all sets. Digits beyond these are chance, and would swell a file."""
    return gains.reshape(-1, gains.shape[-1]).round(4)


def n_sets_and_rounds(n_groups: int) -> tuple[int, int]:
    """Return how many sets of shadows there are, and how many rounds each has."""
    n_rounds = SHADOW_ROUNDS if n_groups * SHADOW_SETS * SHADOW_ROUNDS <= MOST_SHADOWS else 1
    return int(np.clip(MOST_SHADOWS // (n_groups * n_rounds), 1, SHADOW_SETS)), n_rounds


def shadow_set(
    X: Array,
    y: NDArray[Any],
    family: Family,
    groups: Indices,
    rng: np.random.Generator,
    n_rounds: int,
) -> Array:
    """Measure the gain in boosted trees of columns and of permuted columns, the shadows.

    Each round takes one column of every group, so that copies do not share their gain.
    Shadows are whole rows in another order, which keeps their correlations, and they stay
    the same for the rounds of a set: a fresh permutation in each round would lack the
    lasting chance of a real irrelevant column. Returns an array of shape
    (n_rounds, 2 * n_groups), the shadows in its second half.
    """
    members = list(in_groups(groups))
    rows = rng.permutation(len(y))
    gains = np.zeros((n_rounds, 2 * len(members)))
    # Of many columns, the digits that trees do not need would take twice the memory.
    kind = np.float64 if len(members) <= FEW_GROUPS else np.float32
    for gain in gains:
        pick = np.array([rng.choice(m) for m in members])
        order = rng.permutation(2 * len(members))
        place = np.argsort(order)
        both = np.empty((len(rows), len(order)), dtype=kind)
        both[:, place[: len(pick)]] = X[:, pick]
        both[:, place[len(pick) :]] = X[np.ix_(rows, pick)]
        gain[order] = np.log1p(GAIN_UNIT * _gain(both, y, family, rng) / len(y))
    return gains


def _gain(
    X: NDArray[np.floating[Any]], y: NDArray[Any], family: Family, rng: np.random.Generator
) -> Array:
    lean: dict[str, Any] = {} if X.shape[1] <= 2 * FEW_GROUPS else {"max_bin": COARSE_BINS}
    trees = train_trees(
        X,
        y,
        family,
        N_TREES,
        feature_fraction=COLUMN_SHARE,
        bagging_fraction=ROW_SHARE,
        bagging_freq=1,
        enable_bundle=False,
        feature_pre_filter=False,
        seed=int(rng.integers(2**31)),
        **lean,
    )
    return trees.gains()
