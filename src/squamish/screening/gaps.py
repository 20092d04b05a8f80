"""What the gaps of relevant features tell, apart from the values that are there.

Hypotheses
    Where values are missing, and among the rows where they are not the values, are independent of
    the target.
Statistics and null distributions
    All tests of the part that says where values are missing, combined (Cauchy); the score test of
    a feature by itself, in the rows where it is known. Bonferroni over all parts. Nothing is
    decided by them: they say of what a proof is made.
"""

from __future__ import annotations

import numpy as np

from squamish.arrays import Array, Mask
from squamish.evidence.gaps import Gaps
from squamish.models.crossfit import CrossFit
from squamish.screening.relevance import Relevance
from squamish.screening.score import single_p_values
from squamish.statistics.multiplicity import combined_p_values


def told_by_gaps(fit: CrossFit, relevance: Relevance) -> dict[int, Gaps]:
    """Test the gaps of every relevant feature that has some, and its values."""
    parts = fit.parts
    if not relevance.part_p_values or not parts.is_gap.any():
        return {}
    stacked = np.stack(list(relevance.part_p_values.values()))
    p, n_parts = combined_p_values(stacked), len(parts.feature)
    found = {}
    for j in np.intersect1d(relevance.relevant, parts.feature[parts.is_gap]).tolist():
        own = parts.feature == j
        values = [_of_values(fit, v) for v in np.flatnonzero(own & (parts.gap >= 0)).tolist()]
        found[j] = Gaps(
            min(float(p[own & parts.is_gap].min()) * n_parts, 1.0),
            min(min(values) * n_parts, 1.0) if values else np.nan,
        )
    return found


def _of_values(fit: CrossFit, part: int) -> float:
    """Test a part by itself in the rows where it is not missing."""
    known = _is_known(fit.parts.plain[:, fit.parts.gap[part]])
    table, some = fit.table, fit.parts.ranked[known, part][:, np.newaxis]
    weights = None if table.weights is None else table.weights[known]
    clusters = None if table.clusters is None else table.clusters[known]
    return float(single_p_values(some, fit.scores[known], weights, clusters)[0])


def _is_known(gap: Array) -> Mask:
    """Tell where a standardised part that says where values are missing says no."""
    return np.asarray(gap == gap.min())
