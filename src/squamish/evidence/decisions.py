"""Decisions and their limits: which of them could have gone either way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array

# A p-value or an effect this close to its limit, as a factor, could go either way.
CLOSE_P, CLOSE_EFFECT = 5.0, 1.5


@dataclass(frozen=True, eq=False)
class Criterion:
    """A number of every column that was compared with a limit.

    Attributes
    ----------
    values : ndarray of float
        The numbers; one that is NaN is never close.
    limit : float
        What they were compared with; NaN if they were not.
    at_most : bool
        Whether it is met up to the limit; otherwise beyond it.
    closeness : float
        The factor within which a number is close to the limit.
    phrase : str
        What is said of a close one, with its ``{value}`` and the ``{limit}``.
    growth : ndarray of float or None
        By what factor the rows of each column have to grow for a clear decision; None if nothing
        tells.
    """

    values: Array
    limit: float
    at_most: bool
    closeness: float
    phrase: str
    growth: Array | None = None

    def is_met(self, j: int) -> bool:
        """Tell whether a column meets it."""
        value = self.values[j]
        return bool(value <= self.limit if self.at_most else value > self.limit)

    def is_close(self, j: int) -> bool:
        """Tell whether a column is close to the limit, on either side."""
        return bool(self.limit / self.closeness < self.values[j] < self.limit * self.closeness)

    def said(self, j: int) -> str:
        """Say how close a column is."""
        return self.phrase.format(value=self.values[j], limit=self.limit)


def at_level(p_values: Array, level: float, growth: Array | None = None) -> Criterion:
    """Ask for p-values at or below a level."""
    phrase = "p = {value:.2g}, where {limit:g} is the limit"
    return Criterion(p_values, level, True, CLOSE_P, phrase, growth)


def above_effect(effects: Array, least: float, growth: Array | None = None) -> Criterion:
    """Ask the test of strength for more than a share of what the model gains."""
    phrase = (
        "in the test of strength it adds {value:.1%} of what the model gains, where {limit:.1%} is "
        "the limit"
    )
    return Criterion(effects, least, False, CLOSE_EFFECT, phrase, growth)


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision on every column: the first class if all criteria are met, else the second.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.evidence.decisions import Decision, at_level
    >>> decision = Decision("relevant or not", (at_level(np.array([0.02, 0.9]), 0.01),))
    >>> decision.close_call(0)
    'relevant or not: p = 0.02, where 0.01 is the limit'
    >>> decision.close_call(1)
    ''
    """

    question: str
    criteria: tuple[Criterion, ...]

    def close_call(self, j: int) -> str:
        """Say what was close in the decision on a column; nothing if nothing was."""
        close = [criterion.said(j) for criterion in self.criteria if criterion.is_close(j)]
        # What is not met has to be close, or the decision is clear.
        open_still = all(c.is_met(j) or c.is_close(j) for c in self.criteria)
        return f"{self.question}: {', and '.join(close)}" if close and open_still else ""

    def growth(self, j: int) -> float:
        """Return by what factor rows have to grow to decide on a column; NaN if nothing tells.

        That an effect is below its limit can be shown, and then the second class is. That a p-value
        stays above its level cannot be.
        """
        below = [c for c in self.criteria if not (c.at_most or c.is_met(j))]
        asked = below or [c for c in self.criteria if c.is_close(j)]
        factors = [np.nan if c.growth is None else c.growth[j] for c in asked]
        return float(np.max(factors)) if self.close_call(j) else np.nan
