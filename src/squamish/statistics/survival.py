"""What is measured of predicted risks: concordance with times, and survival of groups of rows.

References
----------
F. Harrell, R. Califf, D. Pryor, K. Lee and R. Rosati: "Evaluating the yield of medical tests", JAMA
247 (1982). E. Kaplan and P. Meier: "Nonparametric estimation from incomplete observations", JASA 53
(1958). Times are positive for events and negative for rows that were lost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from squamish.arrays import Array, Indices, Mask


class Concordance(NamedTuple):
    """The share of pairs in which who has the event first has the larger risk, and its error."""

    value: float
    error: float


def concordance(y: Array, risk: Array) -> Concordance:
    """Measure Harrell's concordance of predicted risks; equal risks count half.

    Pairs are those of which it is known who had the event first. The standard error is that of a
    U-statistic: every row adds what its own pairs differ from the rest. NaN if there are no pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.survival import concordance
    >>> round(concordance(np.array([1.0, 2.0, -3.0, 4.0]), np.array([3.0, 1.0, 2.0, 0.0])).value, 2)
    0.8
    """
    first = _pairs(np.abs(y), y > 0, risk, of_events=True)
    # The same pairs, each seen from who had the event later, or was lost.
    last = _pairs(-np.abs(y), y > 0, -risk, of_events=False)
    n_pairs = float(first[0].sum())
    if n_pairs == 0:
        return Concordance(np.nan, np.nan)
    value = float(first[1].sum()) / n_pairs
    of_rows = first[1] + last[1] - value * (first[0] + last[0])
    return Concordance(value, float(np.sqrt(np.square(of_rows).sum())) / n_pairs)


def _pairs(times: Array, is_event: Mask, risk: Array, *, of_events: bool) -> tuple[Array, Array]:
    """Count the pairs of every row with those of larger times, and how many have a smaller risk.

    Of events with all rows, or of all rows with events. At the same time, who was lost was still
    there when the other one had the event.
    """
    order = np.lexsort([is_event ^ of_events, times])[::-1].tolist()
    pairs, right = np.zeros(len(risk)), np.zeros(len(risk))
    seen: list[float] = []
    for (_, has_event), some in groupby(order, key=lambda i: (times[i], bool(is_event[i]))):
        rows = list(some)
        if has_event or not of_events:
            for i in rows:
                ends = bisect_left(seen, risk[i]), bisect_right(seen, risk[i])
                pairs[i], right[i] = len(seen), sum(ends) / 2
        if has_event or of_events:
            for i in rows:
                insort(seen, float(risk[i]))
    return pairs, right


class Steps(NamedTuple):
    """A curve of steps: the share of rows that is left from every time on."""

    times: Array
    surviving: Array


def kaplan_meier(y: Array) -> Steps:
    """Estimate which share of rows has had no event by the times of events, and at the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.survival import kaplan_meier
    >>> kaplan_meier(np.array([1.0, -2.0, 3.0, -4.0])).surviving.tolist()
    [0.75, 0.375, 0.375]
    """
    times, is_event = np.abs(y), y > 0
    distinct, n_events = np.unique(times[is_event], return_counts=True)
    n_at_risk = len(y) - np.searchsorted(np.sort(times), distinct)
    surviving = np.asarray(np.cumprod(1 - n_events / n_at_risk), np.float64)
    left = surviving[-1] if len(surviving) else 1.0
    if len(distinct) and distinct[-1] == times.max():
        return Steps(distinct, surviving)
    return Steps(np.append(distinct, times.max()), np.append(surviving, left))


def thirds(risk: Array) -> Sequence[Indices]:
    """Divide rows into thirds of their risks, the lowest first; equal risks stay together.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.survival import thirds
    >>> [rows.tolist() for rows in thirds(np.array([0.3, 0.1, 0.2, 0.2]))]
    [[1, 2, 3], [0]]
    """
    cuts = np.quantile(risk, [1 / 3, 2 / 3], method="inverted_cdf")
    third = np.searchsorted(cuts, risk)
    return [rows for k in range(3) if len(rows := np.flatnonzero(third == k))]
