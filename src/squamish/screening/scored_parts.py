"""Parts of columns as scores and in bins, by what a sample of their values looks like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from squamish.arrays import Array, Indices
from squamish.screening.marginal import bin_cuts
from squamish.statistics.scores import atom_shares, skewness
from squamish.table.parts import Part, parts_of
from squamish.table.table import Table

# Points that describe the distribution of a column: scores in between are off by 0.02 at most
# within two standard deviations.
N_KNOTS = 501


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """A part of a column, and how its values become scores and bins.

    Attributes
    ----------
    part : Part
        How it is made of the column.
    knots, quantiles : ndarray
        Values, and the normal quantiles of their ranks; empty for a part with two values.
    cuts : ndarray of shape (n_bins - 1,)
        Between which values the bins are cut.
    mean, scale : float
        By which scores are centred and scaled.
    centre : float
        The mean of the values, which stands for those that are missing.
    skew, atom : float
        Skewness of the scores, and the share of the most common value.
    """

    part: Part
    knots: Array
    quantiles: Array
    cuts: Array
    mean: float
    scale: float
    centre: float
    skew: float
    atom: float

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.cuts) + 1

    def scores(self, x: Array) -> Array:
        """Return the scores of some rows of the column, standardised as in the sample."""
        return (_raw_scores(self.part, self.knots, self.quantiles, x) - self.mean) / self.scale

    def bins(self, x: Array) -> Indices:
        """Return the bin of some rows of the column."""
        values = self.part.values(x)
        return np.searchsorted(self.cuts, np.where(np.isnan(values), self.centre, values))


def score_parts(sample: Table, n_bins: int) -> list[ScoredPart]:
    """Tell the parts of all columns, and how they are scored, from a sample of rows.

    Categories of many levels have none.
    """
    out = []
    for j, x in enumerate(sample.X.T):
        out += [_scored(part, x, n_bins) for part in parts_of(x, j, sample.is_category[j]) or ()]
    return out


def _scored(part: Part, x: Array, n_bins: int) -> ScoredPart:
    values = part.values(x)
    known = values[~np.isnan(values)]
    knots = quantiles = np.zeros(0)
    if not part.has_two_values:
        knots = np.unique(np.quantile(known, np.linspace(0, 1, N_KNOTS)))
        ordered = np.sort(known)
        rank = sum(np.searchsorted(ordered, knots, side=side) for side in ("left", "right")) / 2
        quantiles = stats.norm.ppf(np.clip(rank, 0.5, len(known) - 0.5) / len(known))
    raw = _raw_scores(part, knots, quantiles, x)
    filled = np.where(np.isnan(values), known.mean(), values)
    return ScoredPart(
        part,
        knots,
        quantiles,
        bin_cuts(filled[:, np.newaxis], n_bins)[:, 0],
        float(raw.mean()),
        max(float(raw.std()), 1e-12),
        float(known.mean()),
        float(skewness(raw[:, np.newaxis])[0]),
        float(atom_shares(raw[:, np.newaxis])[0]),
    )


def _raw_scores(part: Part, knots: Array, quantiles: Array, x: Array) -> Array:
    """Return what a part tells of rows: whether they have it, or the score of their value."""
    values = part.values(x)
    if part.has_two_values:
        return values
    return np.where(np.isnan(values), 0.0, np.interp(values, knots, quantiles))
