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

from squamish.arrays import Array, Indices, Mask
from squamish.evidence.gaps import Gaps
from squamish.models.crossfit import CrossFit
from squamish.screening.given import targets_given
from squamish.screening.relevance import Relevance
from squamish.screening.score import single_p_values
from squamish.statistics.multiplicity import combined_p_values


def told_by_gaps(fit: CrossFit, relevance: Relevance) -> dict[int, Gaps]:
    """Test the gaps of every relevant feature that has some, and its values."""
    parts = fit.given
    if not relevance.part_p_values or not parts.is_gap.any():
        return {}
    if fit.adjustment is None:
        rows, targets = np.arange(len(fit.table.y)), fit.scores
    else:
        rows, targets = fit.tested, targets_given(fit)
    stacked = np.stack(list(relevance.part_p_values.values()))
    p, n_parts = combined_p_values(stacked), len(parts.feature)
    found = {}
    for j in np.intersect1d(relevance.relevant, parts.feature[parts.is_gap]).tolist():
        own = parts.feature == j
        values = [
            _of_values(fit, v, rows, targets)
            for v in np.flatnonzero(own & (parts.gap >= 0)).tolist()
        ]
        found[j] = Gaps(
            min(float(p[own & parts.is_gap].min()) * n_parts, 1.0),
            min(min(values) * n_parts, 1.0) if values else np.nan,
        )
    return found


def _of_values(fit: CrossFit, part: int, rows: Indices, targets: Array) -> float:
    """Test a part by itself in those of some rows where it is not missing."""
    known = _is_known(fit.parts.plain[rows, fit.parts.gap[part]])
    table, some, targets = fit.table, rows[known], targets[known]
    weights = None if table.weights is None else table.weights[some]
    clusters = None if table.clusters is None else table.clusters[some]
    column = fit.given.ranked[some, part][:, np.newaxis]
    return float(single_p_values(column, targets, weights, clusters)[0])


def _is_known(gap: Array) -> Mask:
    """Tell where a standardised part that says where values are missing says no."""
    return np.asarray(gap == gap.min())
