"""The log-rank test of columns: whether rows with an event differ from those then at risk.

At every event the row that has it is compared with all rows that could have had it. Who is lost
when does not matter, also if a column tells that.

References
----------
N. Mantel: "Evaluation of survival data and two new rank order statistics arising in its
consideration", Cancer Chemotherapy Reports 50 (1966). D. Cox: "Regression models and life-tables",
JRSS B 34 (1972).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Who was at risk at every distinct time of an event.

    Attributes
    ----------
    order : ndarray of int of shape (n,)
        Rows by their times.
    first : ndarray of int of shape (n_times,)
        Where in this order rows are at risk from, at every time of an event.
    n_events, n_at_risk : ndarray of shape (n_times,)
        How many events there are then, and how many rows at risk.
    """

    order: Indices
    first: Indices
    n_events: Array
    n_at_risk: Array

    @classmethod
    def of(cls, y: Array) -> RiskSets:
        """Find them, of times that are positive for events and negative for rows that are lost."""
        times, is_event = np.abs(y), y > 0
        order = np.argsort(times, kind="stable")
        distinct, n_events = np.unique(times[is_event], return_counts=True)
        first = np.searchsorted(times[order], distinct)
        return cls(order, first, n_events.astype(np.float64), (len(y) - first).astype(np.float64))

    def variances(self, Z: Array) -> Array:
        """Return the variance of the sum of every column over events, less its means at risk."""
        mean = self._means(Z)
        return np.asarray(self._counted() @ (self._means(np.square(Z)) - np.square(mean)))

    def covariance(self, Z: Array) -> Array:
        """Return the covariance of sums of a few columns over events."""
        counted, means = self._counted(), self._means(Z)
        # The mean product of two columns at risk, added up over times, is a weighted sum over rows.
        weights = np.zeros(len(Z))
        weights[self.first] = counted / self.n_at_risk
        of_rows = np.empty(len(Z))
        of_rows[self.order] = np.cumsum(weights)
        return np.asarray((Z * of_rows[:, np.newaxis]).T @ Z - (means * counted[:, None]).T @ means)

    def _means(self, Z: Array) -> Array:
        """Return the means of columns over the rows at risk, at every time of an event."""
        sums = np.cumsum(Z[self.order[::-1]], axis=0)[::-1]
        return np.asarray(sums[self.first] / self.n_at_risk[:, np.newaxis])

    def _counted(self) -> Array:
        """Return events; less if there are several at a time, which are drawn without return."""
        others = np.maximum(self.n_at_risk - 1, 1)
        return np.asarray(self.n_events * (self.n_at_risk - self.n_events) / others)
