"""Tables whose minimal sets, and what models owe to each column, are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from worth_tables import madelon as madelon_table

Array = NDArray[np.float64]
Task = Literal["classification", "regression"]
Set = frozenset[str]


@dataclass(frozen=True)
class Known:
    """A table, and all minimal sets of its columns.

    Attributes
    ----------
    X, y
        The table.
    task : {"classification", "regression"}
        What kind of target it has.
    slots : tuple of tuples of frozenset of str
        What a minimal set has one of each of.
    shares : dict of str to (float, float)
        The least and the most that the population owes to each column, as shares of what all
        explain; empty where nobody knows.
    """

    X: pd.DataFrame
    y: NDArray[Any]
    task: Task
    slots: tuple[tuple[Set, ...], ...]
    shares: dict[str, tuple[float, float]]

    @property
    def size(self) -> int:
        """How many columns a minimal set has."""
        return sum(len(slot[0]) for slot in self.slots)

    @property
    def count(self) -> int:
        """How many minimal sets there are."""
        return prod(len(slot) for slot in self.slots)

    def is_minimal(self, columns: Sequence[str]) -> bool:
        """Tell whether some columns are a minimal set."""
        chosen = frozenset(columns)
        parts = [[a for a in slot if a <= chosen] for slot in self.slots]
        return any(frozenset().union(*choice) == chosen for choice in product(*parts))


def draw(design: str, seed: int) -> Known:
    """Return a table of a design."""
    # A design has a stream of its own, whatever others there are.
    return DESIGNS[design](np.random.default_rng([seed, *design.encode()]), seed)


def _known(
    columns: dict[str, Any],
    y: NDArray[Any],
    slots: Sequence[Sequence[Sequence[str]]],
    rng: np.random.Generator,
    task: Task = "regression",
    n_noise: int = 5,
) -> Known:
    """Add noise, and put columns into random order."""
    noise = {f"noise{k}": rng.standard_normal(len(y)) for k in range(n_noise)}
    frame = pd.DataFrame(columns | noise)
    order = rng.permutation(frame.shape[1])
    sets = tuple(tuple(frozenset(names) for names in slot) for slot in slots)
    return Known(frame.iloc[:, order], y, task, sets, {})


def _copies(rng: np.random.Generator, _: int) -> Known:
    """Return a linear target with copies of two of four columns."""
    z = rng.standard_normal((400, 4))
    columns = {"a": z[:, 0], "b": z[:, 1]}
    columns |= {f"c{k}": rng.uniform(0.5, 3) * z[:, 2] + rng.normal() for k in range(3)}
    columns |= {f"d{k}": -rng.uniform(0.5, 3) * z[:, 3] + rng.normal() for k in range(4)}
    y = z @ [1.0, 0.8, 0.9, 0.7] + rng.standard_normal(400)
    slots = [[["a"]], [["b"]], [[f"c{k}"] for k in range(3)], [[f"d{k}"] for k in range(4)]]
    return _known(columns, y, slots, rng)


def _classes(rng: np.random.Generator, _: int) -> Known:
    """Return noisy classes, with copies of three of five columns."""
    z = rng.standard_normal((600, 5))
    columns: dict[str, Any] = {"a": z[:, 0], "b": z[:, 1]}
    sizes = {"c": 3, "d": 2, "e": 2}
    for j, (name, n) in enumerate(sizes.items()):
        columns |= {f"{name}{k}": z[:, j + 2] + rng.normal() for k in range(n)}
    score = z @ [1.5, 1.2, 1.5, 1.2, 1.3]
    y = (rng.random(600) < 1 / (1 + np.exp(-score))).astype(int)
    slots = [[["a"]], [["b"]], *([[f"{m}{k}"] for k in range(n)] for m, n in sizes.items())]
    return _known(columns, y, slots, rng, "classification")


def _monotone(rng: np.random.Generator, _: int) -> Known:
    """Return copies through monotone transforms."""
    z = rng.standard_normal((500, 3))
    columns = {"a": z[:, 0], "b0": z[:, 1], "b1": np.exp(z[:, 1]), "b2": z[:, 1] ** 3}
    columns |= {"c0": z[:, 2], "c1": np.tanh(z[:, 2])}
    y = np.sign(z[:, 0]) + z[:, 1] + z[:, 2] + 0.7 * rng.standard_normal(500)
    slots = [[["a"]], [["b0"], ["b1"], ["b2"]], [["c0"], ["c1"]]]
    return _known(columns, y, slots, rng)


def _sum(rng: np.random.Generator, _: int) -> Known:
    """Return any two of a, b and a + b, beside a column of its own."""
    z = rng.standard_normal((400, 3))
    columns = {"a": z[:, 0], "b": z[:, 1], "ab": z[:, 0] + z[:, 1], "c": z[:, 2]}
    y = z[:, 0] + 0.6 * z[:, 1] + 0.8 * z[:, 2] + 0.8 * rng.standard_normal(400)
    return _known(columns, y, [[["c"]], [["a", "b"], ["a", "ab"], ["b", "ab"]]], rng)


def _two_sums(rng: np.random.Generator, _: int) -> Known:
    """Return any two of a, b and a + b, and any two of c, d and c - d."""
    z = rng.standard_normal((500, 4))
    columns = {"a": z[:, 0], "b": z[:, 1], "ab": z[:, 0] + z[:, 1]}
    columns |= {"c": z[:, 2], "d": z[:, 3], "cd": z[:, 2] - z[:, 3]}
    y = z @ [1.0, 0.4, 0.8, 0.3] + 0.8 * rng.standard_normal(500)
    slots = [
        [list(pair) for pair in combinations(names, 2)]
        for names in (("a", "b", "ab"), ("c", "d", "cd"))
    ]
    return _known(columns, y, slots, rng)


def _recoded(rng: np.random.Generator, _: int) -> Known:
    """Return categories under several names of their levels."""
    n = 500
    c, d, x = rng.integers(0, 4, n), rng.integers(0, 3, n), rng.standard_normal(n)
    columns: dict[str, Any] = {"x": x}
    for name, codes, n_levels, times in (("c", c, 4, 3), ("d", d, 3, 2)):
        for k in range(times):
            levels = np.array([f"{name}{k}{level}" for level in rng.permutation(n_levels)])
            columns[f"{name}{k}"] = levels[codes]
    y = np.array([0.0, 1.5, -1.0, 0.5])[c] + np.array([0.0, 1.2, -0.8])[d]
    y = y + 0.8 * x + 0.8 * rng.standard_normal(n)
    slots = [[["x"]], [["c0"], ["c1"], ["c2"]], [["d0"], ["d1"]]]
    return _known(columns, y, slots, rng)


def _tied(rng: np.random.Generator, _: int) -> Known:
    """Return a network after TIED: states of parents under other names, and their own parents.

    A. Statnikov and C. Aliferis: "Analysis and computational dissection of molecular signature
    multiplicity", PLoS Computational Biology 6 (2010).
    """
    n = 1000
    ancestor = rng.integers(0, 3, (n, 2))
    # Each parent of the target takes its state from its own parent in three of four rows.
    stays = rng.random((n, 2)) < 0.75
    parents = np.where(stays, ancestor, rng.integers(0, 3, (n, 2)))
    odds = np.array([[2.0, 0.0, -2.0], [0.0, 2.0, -2.0], [-2.0, 0.0, 2.0]])
    score = odds[parents[:, 0]] + np.roll(odds, 1, axis=0)[parents[:, 1]]
    y = (score + rng.gumbel(size=(n, 3))).argmax(axis=1)
    columns: dict[str, Any] = {}
    for j, times in enumerate((3, 2)):
        for k in range(times):
            names = np.array([f"s{level}" for level in rng.permutation(3)])
            columns[f"p{j}{k}"] = names[parents[:, j]]
        columns[f"ancestor{j}"] = np.array(["u", "v", "w"])[ancestor[:, j]]
    slots = [[[f"p0{k}"] for k in range(3)], [[f"p1{k}"] for k in range(2)]]
    return _known(columns, y, slots, rng, "classification", n_noise=3)


def _xor(rng: np.random.Generator, _: int) -> Known:
    """Return two columns that tell together only, one of them twice, and a line beside them."""
    z = rng.standard_normal((600, 3))
    columns = {"a": z[:, 0], "b0": z[:, 1], "b1": 2 * z[:, 1] - 1, "c": z[:, 2]}
    y = 1.2 * np.sign(z[:, 0] * z[:, 1]) + z[:, 2] + 0.6 * rng.standard_normal(600)
    return _known(columns, y, [[["a"]], [["b0"], ["b1"]], [["c"]]], rng)


def _madelon(_: np.random.Generator, seed: int) -> Known:
    """Return twenty columns that span five dimensions, among 480 of noise; no sets are listed."""
    known = madelon_table(2, seed)
    names = [f"x{k}" for k in range(known.X.shape[1])]
    return Known(pd.DataFrame(known.X, columns=names), known.y, "classification", (), {})


def _gaussian(rng: np.random.Generator, _: int) -> Known:
    """Return a linear target of correlated columns, some copied with noise, some exactly.

    What the population owes to a column follows from its covariances: at the least what it adds to
    all others; at the most what it tells alone, or adds to the rest of a smallest set that explains
    all but a hundredth.
    """
    n, d = 500, 7
    mixing = np.eye(d) + np.tril(rng.uniform(-0.6, 0.6, (d, d)), -1)
    mixing[5] = mixing[0]
    mixing[6] = mixing[1] / np.linalg.norm(mixing[1])
    factors = rng.standard_normal((n, d))
    X = factors @ mixing.T
    spread = np.zeros((d, d))
    spread[6, 6] = 0.15
    X[:, 6] += np.sqrt(0.15) * rng.standard_normal(n)
    beta = np.array([1.0, 1.0, -0.8, 0.7, 0.0, 0.0, 0.0])
    beta *= rng.choice([-1.0, 1.0], d)
    covariance = mixing @ mixing.T + spread
    signal = float(beta @ covariance @ beta)
    y = X @ beta + np.sqrt(signal) * rng.standard_normal(n)
    names = [f"x{j}" for j in range(d)]
    noise = pd.DataFrame({f"noise{k}": rng.standard_normal(n) for k in range(2)})
    shares = dict.fromkeys(noise, (0.0, 0.0))
    value = _explained(covariance, covariance @ beta)
    everything = tuple(range(d))
    total = value(everything)
    near = [
        s for r in range(1, d + 1) for s in combinations(everything, r) if value(s) >= 0.99 * total
    ]
    smallest = [s for s in near if len(s) == len(near[0])]
    for j, name in enumerate(names):
        least = total - value(tuple(k for k in everything if k != j))
        within = [value(s) - value(tuple(k for k in s if k != j)) for s in smallest if j in s]
        most = max([least, value((j,)), *within])
        shares[name] = (max(least, 0.0) / total, most / total)
    frame = pd.concat([pd.DataFrame(X, columns=names), noise], axis=1)
    return Known(frame, y, "regression", (), shares)


def _explained(covariance: Array, moments: Array) -> Callable[[tuple[int, ...]], float]:
    """Return what a set of columns explains of the target."""

    def value(columns: tuple[int, ...]) -> float:
        if not columns:
            return 0.0
        some = list(columns)
        inner = covariance[np.ix_(some, some)]
        return float(moments[some] @ np.linalg.pinv(inner) @ moments[some])

    return value


DESIGNS: dict[str, Callable[[np.random.Generator, int], Known]] = {
    "copies": _copies,
    "copies, classes": _classes,
    "monotone copies": _monotone,
    "sum": _sum,
    "two sums": _two_sums,
    "recoded categories": _recoded,
    "TIED-like network": _tied,
    "XOR with a copy": _xor,
    "MADELON": _madelon,
    "Gaussian": _gaussian,
}
