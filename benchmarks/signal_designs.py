"""Tables with signals, their copies and noise whose classes are known, each drawn by a generator.

A column is strong if the target depends on it given all others; weak if it depends on it given
some of them only; irrelevant if it never does. Names begin with the group a design belongs to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.linalg import toeplitz

from squamish.datasets import PRESETS, PROBLEMS, load_problem
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK

Array = NDArray[np.float64]
Generator = np.random.Generator
# A table, its target, and the class of every column.
Drawn = tuple[Any, NDArray[Any], NDArray[np.int64]]
Classified = list[tuple[NDArray[Any], int]]
# The class of a column that is relevant, while it is not known whether it is strong or weak.
EITHER = 3
# Groups of noisy copies of a column that is not in the table: the paper calls them weak, and each
# of them adds a little to all others.
HIDDEN = ("NL 2", "NL 3", "NL 4", "groups with noise", "modules 200 x 3,000")
# Targets by name: into how many classes a score is cut; amounts are not.
TARGETS = {"regression": 1, "two classes": 2, "three classes": 3}


def problem(name: str, rng: Generator) -> Drawn:
    """One of the problems that come with squamish."""
    made = load_problem(name, random_state=rng)
    weak = EITHER if name in HIDDEN else WEAK
    return made.X, made.y, np.where(made.classes == WEAK, weak, made.classes)


def noisy_target(rng: Generator, score: Array, target: str, share: float) -> NDArray[Any]:
    """Add noise to a score, of which it then has a share of the variance; cut it into classes."""
    noise_scale, n_classes = np.std(score) * np.sqrt(1 / share - 1), TARGETS[target]
    if n_classes == 1:
        return score + noise_scale * rng.standard_normal(len(score))
    # Logistic noise has a variance of pi^2 / 3.
    hidden = score + noise_scale * np.sqrt(3) / np.pi * rng.logistic(size=len(score))
    return np.digitize(hidden, np.quantile(hidden, np.arange(1, n_classes) / n_classes))


# What two columns do together. Both matter, whatever else is known.
EFFECTS: dict[str, Callable[[Array, Array], Array]] = {
    "linear": lambda a, b: a + 0.6 * b,
    "quadratic": lambda a, b: a**2 + b**2,
    "threshold": lambda a, b: 1.0 * (a > 0.5) + 1.0 * (b > -0.5),
    "interaction": lambda a, b: a * b,
}


def _noisy(rng: Generator, a: Array, b: Array) -> Classified:
    """Add noisy copies, which tell nothing beyond the column that the target is made from."""
    scales = rng.uniform(0.2, 0.7, rng.integers(1, 4))
    copies: Classified = [(a + s * rng.standard_normal(len(a)), WEAK) for s in scales]
    return [(a, STRONG), (b, STRONG), *copies]


# Two columns with an effect, and what makes one or both of them replaceable.
COPIES: dict[str, Callable[[Generator, Array, Array], Classified]] = {
    "none": lambda rng, a, b: [(a, STRONG), (b, STRONG)],
    "noisy": _noisy,
    "exact": lambda rng, a, b: [(a, WEAK), (a.copy(), WEAK), (b, STRONG)],
    "rescaled": lambda rng, a, b: [(a, WEAK), (3 - 2 * a, WEAK), (b, STRONG)],
    "monotone": lambda rng, a, b: [(a, WEAK), (np.exp(a), WEAK), (a**3, WEAK), (b, STRONG)],
    "sum": lambda rng, a, b: [(a, WEAK), (b, WEAK), (a + b, WEAK)],
}

# Columns that have nothing to do with anything; some have gaps, maybe where a signal has them.
# These gaps are drawn before everything else, so that they tell nothing either.
NOISE: dict[str, Callable[[Generator, NDArray[np.bool_]], NDArray[Any]]] = {
    "normal": lambda rng, gaps: rng.standard_normal(len(gaps)),
    "heavy-tailed": lambda rng, gaps: rng.standard_t(2, len(gaps)),
    "discrete": lambda rng, gaps: rng.integers(0, 5, len(gaps)),
    "rare": lambda rng, gaps: (rng.random(len(gaps)) < 0.03).astype(int),
    "category": lambda rng, gaps: rng.choice(list("abcdefgh"), len(gaps)),
    "gaps": lambda rng, gaps: _with_gaps(rng.standard_normal(len(gaps)), rng.permutation(gaps)),
    "gaps of a signal": lambda rng, gaps: _with_gaps(rng.standard_normal(len(gaps)), gaps),
}


def _with_gaps(x: Array, gaps: NDArray[np.bool_]) -> Array:
    return np.where(gaps, np.nan, x)


def with_copies(target: str, rng: Generator, n_noise: int = 20) -> Drawn:
    """Two to six signals with effects and copies drawn at random, and noise of many kinds."""
    n = int(rng.integers(150, 1501))
    gaps = rng.random(n) < rng.uniform(0.05, 0.4)
    score, columns = np.zeros(n), Classified()
    # One signal has gaps in half of the tables.
    gaps_in = rng.choice([0, -1])
    for pair in range(rng.integers(1, 4)):
        a, b = rng.standard_normal((2, n))
        effect = EFFECTS[rng.choice(list(EFFECTS))](a, b)
        score += rng.uniform(0.5, 1.5) * effect / np.std(effect)
        # A sum with gaps would leave the second column without a substitute where they are.
        kinds = [kind for kind in COPIES if kind != "sum" or pair != gaps_in]
        seen = _with_gaps(a, gaps) if pair == gaps_in else a
        columns += COPIES[rng.choice(kinds)](rng, seen, b)
    noise = rng.choice(list(NOISE), n_noise)
    columns += [(NOISE[kind](rng, gaps), IRRELEVANT) for kind in noise]
    y = noisy_target(rng, score, target, rng.uniform(0.5, 0.95))
    frame = pl.DataFrame({f"column {i}": values for i, (values, _) in enumerate(columns)})
    return frame, y, np.array([relevance for _, relevance in columns])


def faint(target: str, rng: Generator, n: int = 300, d: int = 200, n_signals: int = 40) -> Drawn:
    """Many small effects, which tell 2% of the variance each and 85% together."""
    X = rng.standard_normal((n, d))
    score = X[:, :n_signals] @ (rng.choice([-1, 1], n_signals) * rng.uniform(0.5, 1.5, n_signals))
    y = noisy_target(rng, score, target, 0.85)
    return X, y, np.where(np.arange(d) < n_signals, STRONG, IRRELEVANT)


def wide(target: str, rho: float, rng: Generator, n: int = 200, d: int = 5000) -> Drawn:
    """Thirty signals, correlated by rho in blocks of ten, among blocks of correlated noise."""
    n_signals = 30
    X = np.hstack([_blocks(rng, n, n_signals, rho), _blocks(rng, n, d - n_signals, 0.7)])
    # Of declining size: thirty equal and independent effects would all be lost in 200 rows.
    score = X[:, :n_signals] @ (1 / np.sqrt(1 + np.arange(n_signals)))
    y = noisy_target(rng, score, target, 0.8)
    return X, y, np.where(np.arange(d) < n_signals, STRONG, IRRELEVANT)


def _blocks(rng: Generator, n: int, d: int, rho: float, size: int = 10) -> Array:
    """Draw columns of which each block shares a centre."""
    centres = np.repeat(rng.standard_normal((n, d // size)), size, axis=1)
    return np.sqrt(rho) * centres + np.sqrt(1 - rho) * rng.standard_normal((n, d))


# Effects and signal-to-noise ratio (of standard deviations) of Chamma, Engemann and Thirion (2023),
# "Statistically valid variable importance assessment through conditional permutations".
CHAMMA_EFFECTS = (-3.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
SIGNAL_TO_NOISE = 3.6
CHAMMA_SIGNALS = 20
CHAMMA_MODELS: dict[str, Callable[[Array, Array], Array]] = {
    "classification": lambda main, pairs: main,
    "linear": lambda main, pairs: main,
    "ReLU": lambda main, pairs: np.maximum(main, 0),
    "interactions": lambda main, pairs: pairs,
    "main effects and interactions": lambda main, pairs: main + pairs,
}


def chamma(model: str, rng: Generator, n: int = 1000, n_blocks: int = 10) -> Drawn:
    """Twenty of fifty columns are signals, in blocks of five neighbours that follow each other.

    Effects are those of the signals, of all 190 products of two of them (without squares), or of
    both; classes say whether main effects with noise are positive.
    """
    factor = np.linalg.cholesky(toeplitz(0.8 ** np.arange(5)))
    X = (rng.standard_normal((n, n_blocks, 5)) @ factor.T).reshape(n, -1)
    chosen = np.sort(rng.choice(X.shape[1], CHAMMA_SIGNALS, replace=False))
    first, second = np.array(list(combinations(chosen, 2))).T
    signals, products = X[:, chosen], X[:, first] * X[:, second]
    main, pairs = (x @ rng.choice(CHAMMA_EFFECTS, x.shape[1]) for x in (signals, products))
    score = CHAMMA_MODELS[model](main, pairs)
    y = score + score.std() / SIGNAL_TO_NOISE * rng.standard_normal(n)
    # Whatever is not a signal is correlated with one, if its block has any.
    with_signals = np.repeat(np.bincount(chosen // 5, minlength=n_blocks) > 0, 5)
    truth = np.where(with_signals, WEAK, IRRELEVANT)
    truth[chosen] = STRONG
    return X, (y > 0).astype(int) if model == "classification" else y, truth


DESIGNS: dict[str, Callable[[Generator], Drawn]] = {
    **{f"paper: {name}": partial(problem, name) for name in PRESETS},
    **{f"families: {name}": partial(problem, name) for name in PROBLEMS},
    **{f"copies: {target}": partial(with_copies, target) for target in TARGETS},
    "faint: linear": partial(faint, "regression"),
    "faint: logistic": partial(faint, "two classes"),
    "wide: regression": partial(wide, "regression", 0.0),
    "wide: two classes": partial(wide, "two classes", 0.0),
    "wide, correlated signals: regression": partial(wide, "regression", 0.7),
    "wide, correlated signals: two classes": partial(wide, "two classes", 0.7),
    **{f"Chamma: {model}": partial(chamma, model) for model in CHAMMA_MODELS},
}


def group(design: str) -> str:
    """Return the group that a design belongs to."""
    return design.split(": ")[0]
