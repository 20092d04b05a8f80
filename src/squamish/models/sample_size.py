"""How many rows models have to see to show what a user wants to see."""

from __future__ import annotations

import numpy as np
from scipy import stats

from squamish.arrays import Array
from squamish.families import Family
from squamish.models.learners import DEFAULT_TREES
from squamish.models.trees import train_trees
from squamish.table.table import Table

# A first model is fitted to so many rows; a sample has at least twice as many, and at most these.
PILOT, MOST_ROWS = 10_000, 100_000


def rows_needed(
    loss: float,
    gain: float,
    family: Family,
    n_tests: int,
    alpha: float,
    effect: float,
    power: float,
) -> float:
    """Return how many rows show a cost of ``effect`` times the gain, with probability ``power``.

    That it costs anything is shown by scores, one for each row; a normal test at level ``alpha``,
    corrected for the number of tests, needs that many.

    Examples
    --------
    >>> from squamish.families import family_of
    >>> from squamish.models.sample_size import rows_needed
    >>> classes = family_of("classification")
    >>> round(rows_needed(0.4, 0.3, classes, 50, alpha=0.01, effect=0.01, power=0.95))
    4481
    """
    z = stats.norm.isf(alpha / max(n_tests, 1)) + stats.norm.isf(1 - power)
    if not gain > 0 < effect:
        return np.inf
    return float(np.square(z) * family.score_variance(loss) / (effect * gain))


def pilot_loss(table: Table) -> tuple[float, float]:
    """Return the loss of boosted trees on rows that they have not seen, and the gain by them.

    What is gained is gained over the constant, or over trees of what is adjusted for.
    """
    family = table.family
    y = family.prepared(table.y)
    # Rows of every class are in both parts.
    test = np.zeros(len(y), dtype=bool)
    test[np.argsort(y, kind="stable")[::5]] = True

    def loss_of(X: Array) -> float:
        trees = train_trees(X[~test], y[~test], family, int(DEFAULT_TREES.strength))
        return float(family.losses(trees.predict(X[test]), y[test]).mean())

    loss = loss_of(table.X)
    if table.is_adjusted.any():
        return loss, loss_of(table.X[:, table.is_adjusted]) - loss
    constant = family.constant(y[~test])
    known = np.broadcast_to(constant, (int(test.sum()), *constant.shape))
    return loss, float(family.losses(known, y[test]).mean()) - loss
