"""Model class reliance of forests, computed by going through all sets of columns.

Forests are grown on every set of columns. Those whose loss on rows held out is near the least are
the class, and what each relies on a column for is the growth of its loss when the column is
shuffled (Fisher, Rudin and Dominici 2019; for forests Smith, Mansilla and Goulding 2020, whose
table of two bits, a copy and their exclusive or is the first here).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from squamish import RelevanceSelector

Array = NDArray[np.float64]
N_ROWS = 1000
# A model is near the best if it loses no more of the gain: what squamish calls next to nothing.
SLACK = 0.01
# The mean growth of the loss over so many orders of a column.
N_ORDERS = 20
HEADER = ["table", "column", "truth", "model class reliance", "necessity"]


class Table(NamedTuple):
    """Columns, a target, and the true class of each column."""

    columns: dict[str, Array]
    y: Array
    truth: tuple[str, ...]


def _exclusive_or(rng: np.random.Generator) -> Table:
    a, b = rng.integers(0, 2, (2, N_ROWS)).astype(float)
    columns = {"a": a, "b": b, "copy of b": b.copy()}
    return Table(columns, (a != b).astype(float), ("strong", "weak", "weak"))


def _correlated(rng: np.random.Generator) -> Table:
    a, b, noise = rng.standard_normal((3, N_ROWS))
    b = 0.8 * a + 0.6 * b
    columns = {"a": a, "b": b, "exp(b)": np.exp(b), "noise": noise}
    y = a + b + 0.3 * rng.standard_normal(N_ROWS)
    return Table(columns, y, ("strong", "weak", "weak", "irrelevant"))


def _sum(rng: np.random.Generator) -> Table:
    a, b = rng.standard_normal((2, N_ROWS))
    y = a - b + 0.3 * rng.standard_normal(N_ROWS)
    return Table({"a": a, "b": b, "a + b": a + b}, y, ("weak",) * 3)


TABLES: dict[str, Callable[[np.random.Generator], Table]] = {
    "a xor b": _exclusive_or,
    "correlated": _correlated,
    "any two of three": _sum,
}


def reliance(X: Array, y: Array) -> Array:
    """Return the least and the most that near-best forests rely on each column, of the gain."""
    half = len(y) // 2
    rng = np.random.default_rng(0)
    d = X.shape[1]
    sets = [list(s) for s in chain.from_iterable(combinations(range(d), k + 1) for k in range(d))]
    losses, grown = np.empty(len(sets)), np.zeros((len(sets), d))
    for i, chosen in enumerate(sets):
        forest = RandomForestRegressor(200, min_samples_leaf=3, random_state=0)
        forest.fit(X[:half, chosen], y[:half])
        held_out = X[half:, chosen]
        losses[i] = np.mean((forest.predict(held_out) - y[half:]) ** 2)
        for k, j in enumerate(chosen):
            for _ in range(N_ORDERS):
                shuffled = held_out.copy()
                shuffled[:, k] = rng.permutation(shuffled[:, k])
                loss = np.mean((forest.predict(shuffled) - y[half:]) ** 2)
                grown[i, j] += (loss - losses[i]) / N_ORDERS
    gain = np.var(y[half:]) - losses.min()
    near = losses <= losses.min() + SLACK * gain
    return np.array([grown[near].min(axis=0), grown[near].max(axis=0)]).T / gain


def lines() -> Iterator[list[str]]:
    """Yield a line for each column of each table."""
    for name, draw in TABLES.items():
        table = draw(np.random.default_rng(0))
        X = np.column_stack(list(table.columns.values()))
        result = RelevanceSelector(task="regression", random_state=0).fit(X, table.y).result_
        for j, (low, high) in enumerate(reliance(X, table.y)):
            found = result.necessity[result.feature_names[j]]
            yield [
                name,
                list(table.columns)[j],
                table.truth[j],
                f"{low:.2f} to {high:.2f}",
                f"{found.least:.2f} to {found.most:.2f}",
            ]
