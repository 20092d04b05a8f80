"""The columns of a table as rows of the page, and the numbers of their pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from squamish.arrays import Array
from squamish.evidence.relevance import CLASS_NAMES
from squamish.report import wording

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

# The most substitutes in a row.
MOST_SETS = 3


@dataclass(frozen=True)
class Bar:
    """From the least to the most that a column is worth, as percentages of the widest bar."""

    start: float
    width: float


@dataclass(frozen=True)
class Row:
    """A column of the table as the page shows it; numbers are None if there are none."""

    name: str
    relevance: str
    group: str
    substitutes: str
    effect: float | None
    cost: str
    most: str
    most_value: float | None
    bar: Bar | None
    p: float | None
    importance: float | None
    missing: float
    dtype: str
    why: str
    close: bool
    through: bool
    minimal: bool
    undecided: bool
    half_samples: str


def row(result: RelevanceResult, j: int) -> Row:
    """Describe a column."""
    evidence, name = result.evidence, result.feature_names[j]
    worth = evidence.worth.columns.get(j)
    return Row(
        name=name,
        relevance=CLASS_NAMES[int(result.classes[j])],
        group=wording.group(result, j),
        substitutes=wording.replacement(result, j, most=MOST_SETS),
        effect=known(evidence.cost[j]),
        cost=wording.cost(result, j),
        most=wording.most(result, j),
        most_value=None if worth is None else known(worth.most),
        bar=bar(result, j),
        p=known(evidence.p_removal[j]),
        importance=known(evidence.importance[j]),
        missing=result.columns.missing[j],
        dtype=result.columns.dtypes[j],
        why=wording.explain(result, j),
        close=name in result.borderline,
        through=j in evidence.associations,
        minimal=bool(evidence.minimal[j]),
        undecided=bool(evidence.undecided[j]),
        half_samples=wording.in_half_samples(result, j),
    )


def bar(result: RelevanceResult, j: int) -> Bar | None:
    """Draw what a column is worth beside the one that is worth most; None if it is nothing."""
    columns = result.evidence.worth.columns
    widest = max((found.most for found in columns.values()), default=0.0)
    if j not in columns or not columns[j].most > 0:
        return None
    least, most = (100 * value / widest for value in (columns[j].least, columns[j].most))
    return Bar(round(min(least, 98.0), 1), round(max(most - least, 2.0), 1))


def figures(result: RelevanceResult, order: list[int]) -> dict[str, Any]:
    """Collect what the page draws for a column when it is asked for its evidence."""
    evidence = result.evidence
    rounds, shadows = evidence.importance_rounds, evidence.shadow_rounds
    low, high = evidence.removal_null
    bounds = evidence.removal_interval[: 2 if evidence.has_intervals else 0]
    removal = np.vstack([evidence.removal_loss, bounds])
    return {
        "threshold": known(evidence.importance_threshold),
        "shadow": _five_numbers(shadows.ravel()) if shadows.size else None,
        "null": [known(low), known(high)],
        "interval": evidence.has_intervals,
        "real": [_five_numbers(rounds[:, j]) if len(rounds) else None for j in order],
        "removal": [[known(v) for v in removal[:, j]] for j in order],
    }


def _five_numbers(values: Array) -> list[float] | None:
    measured = values[~np.isnan(values)]
    if len(measured) == 0:
        return None
    return [known(v) or 0.0 for v in np.quantile(measured, [0, 0.25, 0.5, 0.75, 1])]


def known(value: float) -> float | None:
    """Round for the page; None for what is not known."""
    return None if not np.isfinite(value) else float(f"{value:.3g}")
