"""Conditional sampling: new values of a column from its distribution given all other columns.

A draw is the prediction from the others plus the residual of a random row, as in conditional
randomisation with an estimated model of the column (E. Candes, Y. Fan, L. Janson and J. Lv:
"Panning for gold", JRSS B 80, 2018). It is right where residuals do not depend on the others,
which `squamish.importance.imputation.depends_on_others` asks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit
from squamish.models.learners import View


@dataclass(frozen=True, eq=False)
class Support:
    """What values the parts of a unit can take.

    Attributes
    ----------
    low, high : ndarray of shape (n_parts,)
        The two values of a part that has only two; NaN for other parts.
    gap : ndarray of int of shape (n_parts,)
        For a part with missing values, the place in the unit of the part that tells where.
    exclusive : ndarray of int of shape (n_parts,)
        Parts with the same number are levels of one category; -1 for others.
    """

    low: Array
    high: Array
    gap: Indices
    exclusive: Indices


def support_of(fit: CrossFit, view: View, unit: Indices) -> Support:
    """Return what values the parts of a unit can take."""
    X = fit.matrix(view, 0)[:, unit]
    low, high = X.min(axis=0), X.max(axis=0)
    two = ((low == X) | (high == X)).all(axis=0) & (unit < len(fit.parts.feature))
    unknown = np.full(len(fit.feature) - len(fit.parts.feature), -1)
    gap = np.append(fit.parts.gap, unknown)[unit]
    return Support(
        np.where(two, low, np.nan),
        np.where(two, high, np.nan),
        np.where(np.isin(gap, unit), np.searchsorted(unit, gap), -1),
        np.append(fit.parts.exclusive, unknown)[unit],
    )


def draw(
    predicted: Array,
    residuals: Array,
    n_draws: int,
    rng: np.random.Generator,
    support: Support | None = None,
) -> Array:
    """Draw new values: the prediction from the other columns plus the residual of any row.

    A part with two values gets one of them, with the predicted value for a probability, and
    a category one of its levels; what is drawn as missing has no value.
    Returns an array of shape (n_draws, n_samples, n_columns).
    """
    rows = rng.integers(0, len(residuals), (n_draws, len(predicted)))
    drawn: Array = predicted + residuals[rows]
    if support is None:
        return drawn
    two = np.flatnonzero(~np.isnan(support.low))
    low, high = support.low[two], support.high[two]
    probability = np.clip((predicted[:, two] - low) / (high - low), 0, 1)
    levels = _draw_levels(probability, support.exclusive[two], n_draws, rng)
    # The very values, so that a gap is known by them.
    drawn[:, :, two] = np.where(levels > 0, high, low)
    for part in np.flatnonzero(support.gap >= 0):
        missing = drawn[:, :, support.gap[part]] == support.high[support.gap[part]]
        drawn[:, :, part][missing] = 0.0
    return drawn


def _draw_levels(
    probability: Array, exclusive: Indices, n_draws: int, rng: np.random.Generator
) -> Array:
    """Draw zeros and ones with these probabilities; of exclusive ones exactly one is 1."""
    uniform = rng.random((n_draws, *probability.shape))
    out = (uniform < probability).astype(float)
    for number in np.unique(exclusive[exclusive >= 0]):
        block = exclusive == number
        if block.sum() == 1:
            continue
        shares = probability[:, block] + 1e-9
        reached = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        first = uniform[:, :, [np.argmax(block)]]
        level = (first > reached).sum(axis=2, keepdims=True)
        out[:, :, block] = level == np.arange(block.sum())
    return out
