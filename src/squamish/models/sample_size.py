"""How many rows models have to see, of very many.

What a model costs without a column is measured in rows, and beyond a certain number more rows
only make sure what is sure already.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from squamish.families import Task, family_of
from squamish.models.learners import train_trees
from squamish.table.table import Table

# A first model is fitted to so many rows; a sample has at least twice as many, and at most these.
PILOT, MOST_ROWS = 10_000, 100_000
# Small trees, enough of them to come near the loss of the model that is tested later.
PILOT_TREES = 100


def rows_needed(
    loss: float, gain: float, task: Task, n_tests: int, alpha: float, effect: float, power: float
) -> float:
    """Return how many rows show a cost of ``effect`` times the gain, with probability ``power``.

    A cost is the mean of differences between two losses, one for each row, and is tested with
    a normal approximation at ``alpha``, divided by the number of tests. How much the
    differences vary follows from the loss, see `Family.loss_variance`.

    Examples
    --------
    >>> from squamish.models.sample_size import rows_needed
    >>> round(rows_needed(0.4, 0.3, "classification", 50, alpha=0.01, effect=0.01, power=0.95))
    17922
    """
    if not gain > 0 or not effect > 0:
        return np.inf
    variance = family_of(task).loss_variance(loss)
    z = stats.norm.isf(alpha / max(n_tests, 1)) + stats.norm.isf(1 - power)
    return float(np.square(z) * variance / (effect * gain))


def pilot_loss(table: Table) -> tuple[float, float]:
    """Return the loss of boosted trees on rows that they have not seen, and the gain by them."""
    family, y = table.family, table.family.prepared(table.y)
    # Rows of every class are in both parts.
    test = np.zeros(len(y), dtype=bool)
    test[np.argsort(y, kind="stable")[::5]] = True
    trees = train_trees(table.X[~test], y[~test], table.task, PILOT_TREES, weights=None)
    raw = np.asarray(trees.predict(table.X[test], num_threads=1))
    loss = float(family.losses(family.tree_prediction(raw), y[test]).mean())
    constant = family.constant(y[~test])
    constant = np.broadcast_to(constant, (int(test.sum()), *constant.shape))
    return loss, float(family.losses(constant, y[test]).mean()) - loss
