"""Named problems beyond the paper's: other shapes, other traps, truth by construction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array
from squamish.datasets.generators import (
    PRESETS,
    Problem,
    load_preset,
    make_linear,
    make_ordinal,
    make_regression,
    ordered_classes,
)
from squamish.datasets.outcomes import OUTCOME_FAMILIES
from squamish.errors import InputError
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.execution.workers import RandomState, as_generator
from squamish.families import Task

Columns = Array | Sequence[Array]


def load_problem(name: str, *, shuffle: bool = False, random_state: RandomState = None) -> Problem:
    """Generate a problem by name.

    Parameters
    ----------
    name : str
        One of ``PROBLEMS``, ``ORDERED`` or ``OUTCOMES``, or one of the paper's ``PRESETS``.
    shuffle : bool
        Put the columns into random order.
    random_state : int, Generator, RandomState or None
        The same seed gives the same problem.

    Returns
    -------
    Problem
        Table, target and truth.

    Examples
    --------
    >>> from squamish.datasets import load_problem
    >>> load_problem("sum", random_state=0)
    Problem(classification, 400 x 10: 1 strong, 3 weak (groups: 1), 6 irrelevant)
    """
    if name in PRESETS:
        return load_preset(name, shuffle=shuffle, random_state=random_state)
    makers = _FAMILIES | _ORDERED | OUTCOME_FAMILIES
    if name not in makers:
        raise InputError(f"no problem is called {name!r}; there are {', '.join(makers)}")
    rng = as_generator(random_state)
    problem = makers[name](rng)
    return problem.permute_columns(rng.permutation(problem.X.shape[1])) if shuffle else problem


def _compose(
    y: NDArray[Any],
    *,
    strong: Columns = (),
    weak: Sequence[Columns] = (),
    irrelevant: Columns = (),
    task: Task | None = None,
) -> Problem:
    """Put a table together from strong columns, redundant groups and irrelevant columns.

    Every part is a matrix, or a list of columns. Fractions are amounts and whole numbers classes,
    unless there is a ``task``.
    """
    blocks = [_matrix(strong, len(y)), *(_matrix(g, len(y)) for g in weak)]
    names = [f"strong_{i}" for i in range(blocks[0].shape[1])]
    groups = []
    for g, block in enumerate(blocks[1:]):
        groups.append(tuple(range(len(names), len(names) + block.shape[1])))
        names += [f"group{g}_{i}" for i in range(block.shape[1])]
    blocks.append(_matrix(irrelevant, len(y)))
    names += [f"irrelevant_{i}" for i in range(blocks[-1].shape[1])]
    classes = np.concatenate(
        [
            np.full(block.shape[1], relevance)
            for block, relevance in zip(
                blocks, [STRONG, *[WEAK] * len(groups), IRRELEVANT], strict=True
            )
        ]
    )
    task = task or ("regression" if y.dtype.kind == "f" else "classification")
    return Problem(np.hstack(blocks), y, classes, tuple(groups), task, tuple(names))


def _matrix(columns: Columns, n_samples: int) -> Array:
    if len(columns) == 0:
        return np.empty((n_samples, 0))
    return columns if isinstance(columns, np.ndarray) else np.column_stack(columns)


def _friedman(rng: np.random.Generator) -> Problem:
    u = rng.uniform(size=(500, 15))
    y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3]
    y = y + 5 * u[:, 4] + rng.standard_normal(500)
    copies = [u[:, 3], 2 * u[:, 3] + 1, 5 - u[:, 3]]
    return _compose(y, strong=u[:, [0, 1, 2, 4]], weak=[copies], irrelevant=u[:, 5:])


def _classes(n_classes: int, n_samples: int) -> Callable[[np.random.Generator], Problem]:
    def make(rng: np.random.Generator) -> Problem:
        x = rng.standard_normal((n_samples, 12))
        angle = 2 * np.pi * np.arange(n_classes) / n_classes
        scores = np.outer(x[:, 0] + x[:, 2], np.cos(angle)) + np.outer(x[:, 1], np.sin(angle))
        y = np.argmax(scores + 0.1 * rng.standard_normal(scores.shape), axis=1)
        copies = [x[:, 2], -3 * x[:, 2]]
        return _compose(y, strong=x[:, :2], weak=[copies], irrelevant=x[:, 3:])

    return make


def _xor(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((500, 12))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    return _compose(y, strong=x[:, :2], irrelevant=x[:, 2:])


def _xor_with_copies(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((500, 12))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    copies = [x[:, 1], x[:, 1] + 2, 2 * x[:, 1]]
    return _compose(y, strong=x[:, :1], weak=[copies], irrelevant=x[:, 2:])


def _steps_and_waves(rng: np.random.Generator) -> Problem:
    x = rng.uniform(-2, 2, size=(1000, 14))
    y = 2.0 * (x[:, 0] > 0.5) + np.sin(3 * x[:, 1]) + np.abs(x[:, 2]) + (np.abs(x[:, 3]) > 1)
    y = y + 0.3 * rng.standard_normal(1000)
    return _compose(y, strong=x[:, :4], irrelevant=x[:, 4:])


def _network(rng: np.random.Generator) -> Problem:
    noise = rng.standard_normal((1000, 14))
    grandparent = noise[:, 0]
    parent = 0.8 * grandparent + 0.6 * noise[:, 1]
    other_parent = noise[:, 2]
    y = 0.8 * parent + 0.8 * other_parent + 0.6 * noise[:, 3]
    spouse = noise[:, 4]
    child = 0.8 * y + 0.8 * spouse + 0.6 * noise[:, 5]
    grandchild = 0.8 * child + 0.6 * noise[:, 6]
    return _compose(
        y,
        strong=[parent, other_parent, spouse, child],
        weak=[[grandparent], [grandchild]],
        irrelevant=noise[:, 7:],
    )


def _groups_with_noise(rng: np.random.Generator) -> Problem:
    return make_linear(
        600, n_strong=3, group_sizes=[3, 5, 8], n_irrelevant=10, noise=0.05, random_state=rng
    )


def _correlated_noise(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((400, 4))
    y = (x.sum(axis=1) > 0).astype(int)
    centres = rng.standard_normal((400, 4))
    blocks = np.repeat(centres, 5, axis=1) + 0.4 * rng.standard_normal((400, 20))
    return _compose(y, strong=x, irrelevant=blocks)


def _heavy_tails(rng: np.random.Generator) -> Problem:
    x = rng.standard_t(2, size=(500, 14))
    y = np.tanh(x[:, 0]) + np.tanh(x[:, 1]) + np.tanh(x[:, 2]) + 0.3 * rng.standard_t(3, 500)
    copies = [x[:, 2], 4 * x[:, 2] - 1]
    return _compose(y, strong=x[:, :2], weak=[copies], irrelevant=x[:, 3:])


def _imbalanced(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((1500, 12))
    score = x[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(1500)
    y = (score > np.quantile(score, 0.95)).astype(int)
    copies = [x[:, 2], x[:, 2] + 1]
    return _compose(y, strong=x[:, :2], weak=[copies], irrelevant=x[:, 3:])


def _twins(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((500, 10))
    twin = 0.95 * x[:, 0] + np.sqrt(1 - 0.95**2) * x[:, 1]
    y = x[:, 0] - twin + 0.1 * rng.standard_normal(500)
    return _compose(y, strong=[x[:, 0], twin], irrelevant=x[:, 2:])


def _sum(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((400, 9))
    y = (x[:, 0] + 2 * x[:, 1] + x[:, 2] > 0).astype(int)
    triple = [x[:, 0], x[:, 1], x[:, 0] + x[:, 1]]
    return _compose(y, strong=x[:, [2]], weak=[triple], irrelevant=x[:, 3:])


def _product(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((600, 9))
    y = x[:, 0] * x[:, 1] + x[:, 2] + 0.2 * rng.standard_normal(600)
    triple = [x[:, 0], x[:, 1], x[:, 0] * x[:, 1]]
    return _compose(y, strong=x[:, [2]], weak=[triple], irrelevant=x[:, 3:])


def _monotone_copies(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((500, 10))
    y = (x[:, 0] + x[:, 1] + 0.2 * rng.standard_normal(500) > 0).astype(int)
    copies = [x[:, 1], np.exp(x[:, 1]), x[:, 1] ** 3]
    return _compose(y, strong=x[:, [0]], weak=[copies], irrelevant=x[:, 2:])


def _suppressor(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((400, 10))
    y = x[:, 0] + 0.2 * rng.standard_normal(400)
    strong = [x[:, 0] + x[:, 1], x[:, 1]]
    return _compose(y, strong=strong, irrelevant=x[:, 2:])


def _additive_mix(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((800, 16))
    mix = x[:, :6].sum(axis=1) / np.sqrt(6)
    y = (mix + x[:, 6] + 0.2 * rng.standard_normal(800) > 0).astype(int)
    return _compose(y, strong=x[:, [6]], weak=[[*x[:, :6].T, mix]], irrelevant=x[:, 7:])


def _small(rng: np.random.Generator) -> Problem:
    return make_regression(
        100, n_strong=3, group_sizes=[3], n_irrelevant=10, target_noise=0.5, random_state=rng
    )


def _tall(rng: np.random.Generator) -> Problem:
    return make_linear(5000, n_strong=5, group_sizes=[4, 2], n_irrelevant=20, random_state=rng)


def _modules(rng: np.random.Generator) -> Problem:
    """Co-expressed modules of ten columns each; three of three hundred drive the target."""
    centres = rng.standard_normal((200, 300))
    table = np.repeat(centres, 10, axis=1) + 0.5 * rng.standard_normal((200, 3000))
    y = (centres[:, :3].sum(axis=1) > 0).astype(int)
    drivers = [table[:, 10 * m : 10 * m + 10] for m in range(3)]
    return _compose(y, weak=drivers, irrelevant=table[:, 30:])


def _noise(n_samples: int, n_features: int, kind: str) -> Callable[[np.random.Generator], Problem]:
    def make(rng: np.random.Generator) -> Problem:
        x = rng.standard_normal((n_samples, n_features))
        targets: dict[str, NDArray[Any]] = {
            "normal": rng.standard_normal(n_samples),
            "cauchy": rng.standard_cauchy(n_samples),
            "binary": rng.integers(0, 2, n_samples),
            "rare": (np.arange(n_samples) < 0.05 * n_samples).astype(int),
            "five": rng.integers(0, 5, n_samples),
        }
        return _compose(targets[kind], irrelevant=x)

    return make


def _ordered(rng: np.random.Generator) -> Problem:
    return make_ordinal(500, n_strong=3, group_sizes=[3], n_irrelevant=8, random_state=rng)


def _ordered_few_rows(rng: np.random.Generator) -> Problem:
    return make_ordinal(
        300,
        n_strong=2,
        group_sizes=[2],
        n_irrelevant=12,
        n_repeated=1,
        shares=(1, 1, 1, 1, 1),
        random_state=rng,
    )


def _ordered_skewed(rng: np.random.Generator) -> Problem:
    return make_ordinal(
        1000,
        n_strong=3,
        group_sizes=[4],
        n_irrelevant=12,
        shares=(70, 20, 7, 3),
        random_state=rng,
    )


def _ordered_interaction(rng: np.random.Generator) -> Problem:
    x = rng.standard_normal((1000, 12))
    y = ordered_classes(4 * x[:, 0] * x[:, 1] + 2 * x[:, 2], (1, 1, 1, 1), rng)
    copies = [x[:, 2], 1 - 2 * x[:, 2]]
    return _compose(y, strong=x[:, :2], weak=[copies], irrelevant=x[:, 3:], task="ordinal")


def _ordered_curves(rng: np.random.Generator) -> Problem:
    x = rng.uniform(-2, 2, (1000, 12))
    log_odds = 4.0 * np.abs(x[:, 0]) + 4.0 * (x[:, 1] > 0.5) + 3 * np.sin(2 * x[:, 2])
    y = ordered_classes(log_odds, (2, 3, 3, 2), rng)
    return _compose(y, strong=x[:, :3], irrelevant=x[:, 3:], task="ordinal")


def _ordered_noise(rng: np.random.Generator) -> Problem:
    y = ordered_classes(np.zeros(300), (50, 30, 15, 5), rng)
    return _compose(y, irrelevant=rng.standard_normal((300, 30)), task="ordinal")


_FAMILIES: dict[str, Callable[[np.random.Generator], Problem]] = {
    "Friedman 1 with copies": _friedman,
    "three classes": _classes(3, 500),
    "five classes": _classes(5, 1000),
    "XOR": _xor,
    "XOR with copies": _xor_with_copies,
    "steps and waves": _steps_and_waves,
    "network": _network,
    "groups with noise": _groups_with_noise,
    "correlated noise": _correlated_noise,
    "heavy tails": _heavy_tails,
    "5% positives": _imbalanced,
    "twins": _twins,
    "sum": _sum,
    "product": _product,
    "monotone copies": _monotone_copies,
    "suppressor": _suppressor,
    "mix of six": _additive_mix,
    "100 rows": _small,
    "5,000 rows": _tall,
    "modules 200 x 3,000": _modules,
    "noise 200 x 20": _noise(200, 20, "binary"),
    "noise 100 x 200, regression": _noise(100, 200, "normal"),
    "noise 300 x 30, Cauchy": _noise(300, 30, "cauchy"),
    "noise 200 x 20, 5% positives": _noise(200, 20, "rare"),
    "noise 200 x 20, five classes": _noise(200, 20, "five"),
}
PROBLEMS = (*_FAMILIES,)
_ORDERED: dict[str, Callable[[np.random.Generator], Problem]] = {
    "ordered 500 x 14": _ordered,
    "ordered 300 x 17, five classes": _ordered_few_rows,
    "ordered, 3% in the top class": _ordered_skewed,
    "ordered, product": _ordered_interaction,
    "ordered, curves": _ordered_curves,
    "ordered noise 300 x 30": _ordered_noise,
}
ORDERED = (*_ORDERED,)
