"""How well a verdict agrees with the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK

METRICS = (
    "relevant P",
    "relevant R",
    "relevant F1",
    "strong P",
    "strong R",
    "weak P",
    "weak R",
    "exact",
)


def score(truth: NDArray[np.int64], verdict: NDArray[np.int64]) -> dict[str, float]:
    """Compare two vectors of classes; NaN where a metric is not defined.

    ``exact`` is the share of columns whose class is exactly right. A recall is not defined
    if the truth has no such column. A precision is not defined if neither truth nor verdict
    has one; it is 0 if only the truth has.
    """
    relevant = _precision_recall(truth != IRRELEVANT, verdict != IRRELEVANT)
    strong = _precision_recall(truth == STRONG, verdict == STRONG)
    weak = _precision_recall(truth == WEAK, verdict == WEAK)
    total = sum(relevant)
    f1 = 2 * relevant[0] * relevant[1] / total if total else total
    exact = float(np.mean(truth == verdict))
    return dict(zip(METRICS, (*relevant, f1, *strong, *weak, exact), strict=True))


def _precision_recall(truth: NDArray[np.bool_], verdict: NDArray[np.bool_]) -> tuple[float, float]:
    hits = float(np.sum(truth & verdict))
    n_true, n_called = float(truth.sum()), float(verdict.sum())
    precision = hits / n_called if n_called else (0.0 if n_true else np.nan)
    return precision, hits / n_true if n_true else np.nan


def mean_of_defined(values: Sequence[float]) -> float:
    """Mean over the values that are defined; NaN if none is."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan
