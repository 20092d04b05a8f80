"""The generators of the paper: linear, non-linear, regression; and its presets by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from squamish.arrays import Array, Indices
from squamish.errors import InputError, check_range
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.execution.workers import RandomState, as_generator
from squamish.families import Task


@dataclass(frozen=True, eq=False)
class Problem:
    """A table with known truth.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table.
    y : ndarray of shape (n_samples,)
        The target; times are a structured array of events and times.
    classes : ndarray of shape (n_features,)
        The true class of every column: 2 strong, 1 weak, 0 irrelevant; -1 for what is adjusted for.
    groups : tuple of tuples of int
        The columns that replace each other, one tuple for each redundancy group.
    task : {"classification", "regression", "ordinal", "survival", "counts"}
        What kind of target ``y`` is.
    feature_names : tuple of str
        A name for every column, telling the role it was generated for.
    adjust_for : tuple of int
        The columns given which the classes are true; usually none.
    """

    X: Array
    y: NDArray[np.generic]
    classes: NDArray[np.int64]
    groups: tuple[tuple[int, ...], ...]
    task: Task
    feature_names: tuple[str, ...]
    adjust_for: tuple[int, ...] = ()

    def __repr__(self) -> str:
        rows, columns = self.X.shape
        strong, weak, irrelevant = (
            int(np.sum(self.classes == c)) for c in (STRONG, WEAK, IRRELEVANT)
        )
        return (
            f"Problem({self.task}, {rows} x {columns}: {strong} strong, "
            f"{weak} weak (groups: {len(self.groups)}), {irrelevant} irrelevant)"
        )

    def permute_columns(self, order: Sequence[int] | Indices) -> Problem:
        """Return the problem with its columns in another order, the truth following along.

        Parameters
        ----------
        order : sequence of int
            The old position of every new column.

        Returns
        -------
        Problem
            The same problem, rearranged.

        Examples
        --------
        >>> from squamish.datasets import make_linear
        >>> problem = make_linear(50, n_strong=1, group_sizes=[2], random_state=0)
        >>> problem.classes, problem.groups
        (array([2, 1, 1]), ((1, 2),))
        >>> backwards = problem.permute_columns([2, 1, 0])
        >>> backwards.classes, backwards.groups
        (array([1, 1, 2]), ((0, 1),))
        """
        order = np.asarray(order)
        if not np.array_equal(np.sort(order), np.arange(len(self.classes))):
            raise InputError("order must name every column exactly once")
        position = np.argsort(order)
        return replace(
            self,
            X=self.X[:, order],
            classes=self.classes[order],
            groups=tuple(tuple(sorted(int(position[j]) for j in g)) for g in self.groups),
            feature_names=tuple(self.feature_names[j] for j in order),
            adjust_for=tuple(sorted(int(position[j]) for j in self.adjust_for)),
        )


def make_linear(
    n_samples: int = 200,
    *,
    n_strong: int = 5,
    group_sizes: Sequence[int] = (),
    n_irrelevant: int = 0,
    n_repeated: int = 0,
    noise: float = 0.0,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> Problem:
    """Make two classes, divided by a hyperplane through the origin with equal weights.

    The informative columns are standard normal. Each redundant group takes the place of
    one of them and holds copies of it, each moved by an offset drawn from U(1, 2).

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_strong : int
        Number of strongly relevant columns.
    group_sizes : sequence of int
        The number of copies in each redundant group, two at the least (a single column
        is strong: count it in ``n_strong``).
    n_irrelevant : int
        Number of standard normal columns that have nothing to do with the target.
    n_repeated : int
        Number of exact repeats, each of a column drawn at random. A repeated strong
        column is weak, since its repeat can replace it.
    noise : float
        Gaussian noise with standard deviation ``noise / std(X)`` is added to all columns.
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
    >>> from squamish.datasets import make_linear
    >>> make_linear(n_strong=2, group_sizes=[3, 2], n_irrelevant=4, random_state=0)
    Problem(classification, 200 x 11: 2 strong, 5 weak (groups: 2), 4 irrelevant)
    """
    layout = Layout(n_samples, n_strong, group_sizes, n_irrelevant, n_repeated, noise, shuffle)
    rng = as_generator(random_state)
    informative = rng.standard_normal((n_samples, layout.n_informative))
    y = (informative.sum(axis=1) > 0).astype(np.int64)
    return layout.build(informative, y, "classification", rng)


def make_nonlinear(
    n_samples: int = 1000,
    *,
    n_strong: int = 4,
    group_sizes: Sequence[int] = (),
    n_irrelevant: int = 0,
    n_repeated: int = 0,
    noise: float = 0.1,
    class_sep: float = 0.5,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> Problem:
    """Make two classes of two clusters each, which no hyperplane divides.

    The informative columns come from :func:`sklearn.datasets.make_classification`
    without flipped labels; redundant groups, repeats, irrelevant columns and noise are
    made as in :func:`make_linear`, which explains the parameters.

    Parameters
    ----------
    n_samples, n_strong, group_sizes, n_irrelevant, n_repeated, noise, shuffle, random_state
        As in :func:`make_linear`. Strong columns and groups must be two or more together.
    class_sep : float
        Half the side of the hypercube on whose corners the clusters lie.

    Returns
    -------
    Problem
        Table, target and truth.

    Examples
    --------
    >>> from squamish.datasets import make_nonlinear
    >>> make_nonlinear(n_strong=3, group_sizes=[4], n_irrelevant=3, random_state=0)
    Problem(classification, 1000 x 10: 3 strong, 4 weak (groups: 1), 3 irrelevant)
    """
    layout = Layout(n_samples, n_strong, group_sizes, n_irrelevant, n_repeated, noise, shuffle)
    if layout.n_informative < 2:
        raise InputError("n_strong + len(group_sizes) is 1; four clusters need 2 or more")
    rng = as_generator(random_state)
    informative, y = make_classification(
        n_samples,
        n_features=layout.n_informative,
        n_informative=layout.n_informative,
        n_redundant=0,
        n_repeated=0,
        n_clusters_per_class=2,
        class_sep=class_sep,
        flip_y=0,
        shuffle=True,
        random_state=int(rng.integers(2**31)),
    )
    return layout.build(informative, y, "classification", rng)


def make_regression(
    n_samples: int = 200,
    *,
    n_strong: int = 5,
    group_sizes: Sequence[int] = (),
    n_irrelevant: int = 0,
    n_repeated: int = 0,
    noise: float = 0.0,
    target_noise: float = 0.1,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> Problem:
    """Make the target a weighted sum of the informative columns, plus noise.

    The weights are drawn from U(0.5, 1.5); the columns are made as in
    :func:`make_linear`, which explains the other parameters.

    Parameters
    ----------
    n_samples, n_strong, group_sizes, n_irrelevant, n_repeated, noise, shuffle, random_state
        As in :func:`make_linear`.
    target_noise : float
        Standard deviation of the Gaussian noise on the target.

    Returns
    -------
    Problem
        Table, target and truth.

    Examples
    --------
    >>> from squamish.datasets import make_regression
    >>> make_regression(n_strong=2, n_repeated=1, random_state=0)
    Problem(regression, 200 x 3: 1 strong, 2 weak (groups: 1), 0 irrelevant)
    """
    layout = Layout(n_samples, n_strong, group_sizes, n_irrelevant, n_repeated, noise, shuffle)
    check_range("target_noise", target_noise, at_least=0, below=np.inf)
    rng = as_generator(random_state)
    informative = rng.standard_normal((n_samples, layout.n_informative))
    weights = rng.uniform(0.5, 1.5, informative.shape[1])
    y = informative @ weights + target_noise * rng.standard_normal(n_samples)
    return layout.build(informative, y, "regression", rng)


def make_ordinal(
    n_samples: int = 500,
    *,
    n_strong: int = 3,
    group_sizes: Sequence[int] = (),
    n_irrelevant: int = 0,
    n_repeated: int = 0,
    noise: float = 0.0,
    signal: float = 2.0,
    shares: Sequence[float] = (1, 1, 1, 1),
    shuffle: bool = False,
    random_state: RandomState = None,
) -> Problem:
    """Make ordered classes 0, 1, ... by a cumulative logit of the informative columns.

    A sum of the informative columns, plus logistic noise, is cut where classes have their shares;
    the columns are made as in :func:`make_linear`, which explains the other parameters.

    Parameters
    ----------
    n_samples, n_strong, group_sizes, n_irrelevant, n_repeated, noise, shuffle, random_state
        As in :func:`make_linear`.
    signal : float
        What a standard deviation of an informative column adds to the log odds.
    shares : sequence of float
        How many rows each class has, in any unit, from the least class to the greatest.

    Returns
    -------
    Problem
        Table, target and truth.

    Examples
    --------
    >>> from squamish.datasets import make_ordinal
    >>> problem = make_ordinal(n_strong=2, shares=(6, 3, 1), random_state=0)
    >>> problem
    Problem(ordinal, 500 x 2: 2 strong, 0 weak (groups: 0), 0 irrelevant)
    >>> np.bincount(problem.y)
    array([300, 150,  50])
    """
    layout = Layout(n_samples, n_strong, group_sizes, n_irrelevant, n_repeated, noise, shuffle)
    check_range("signal", signal, at_least=0, below=np.inf)
    rng = as_generator(random_state)
    informative = rng.standard_normal((n_samples, layout.n_informative))
    y = ordered_classes(signal * informative.sum(axis=1), shares, rng)
    return layout.build(informative, y, "ordinal", rng)


def ordered_classes(
    log_odds: Array, shares: Sequence[float], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Add logistic noise to log odds, and cut the sum where classes have their shares."""
    if len(shares) < 2:
        raise InputError(f"shares has {len(shares)} class; it must have two or more")
    for share in shares:
        check_range("a class's share", share, above=0, below=np.inf)
    latent = log_odds + rng.logistic(size=len(log_odds))
    cuts = np.quantile(latent, np.cumsum(shares)[:-1] / np.sum(shares))
    return np.searchsorted(cuts, latent)


@dataclass(frozen=True)
class Layout:
    """How many columns of which kind a table has, and how they are laid out."""

    n_samples: int
    n_strong: int
    group_sizes: Sequence[int]
    n_irrelevant: int
    n_repeated: int
    noise: float
    shuffle: bool

    def __post_init__(self) -> None:
        for name in ("n_strong", "n_irrelevant", "n_repeated"):
            check_range(name, getattr(self, name), at_least=0, integer=True)
        check_range("n_samples", self.n_samples, at_least=2, integer=True)
        check_range("noise", self.noise, at_least=0, below=np.inf)
        if self.n_informative == 0:
            raise InputError("n_strong is 0 and group_sizes is empty: nothing makes the target")
        for size in self.group_sizes:
            check_range("a group's size", size, at_least=2, integer=True)

    @property
    def n_informative(self) -> int:
        """Number of columns that make the target."""
        return self.n_strong + len(self.group_sizes)

    def build(
        self,
        informative: Array,
        y: NDArray[np.generic],
        task: Task,
        rng: np.random.Generator,
    ) -> Problem:
        """Lay out strong columns, redundant groups, irrelevant columns and repeats."""
        blocks = [informative[:, : self.n_strong]]
        names = [f"strong_{i}" for i in range(self.n_strong)]
        groups: list[list[int]] = []
        for g, size in enumerate(self.group_sizes):
            groups.append(list(range(len(names), len(names) + size)))
            names += [f"group{g}_{i}" for i in range(size)]
            blocks.append(informative[:, [self.n_strong + g]] + rng.uniform(1, 2, size))
        blocks.append(rng.standard_normal((self.n_samples, self.n_irrelevant)))
        names += [f"irrelevant_{i}" for i in range(self.n_irrelevant)]

        X = np.hstack(blocks)
        classes = np.full(len(names), IRRELEVANT)
        classes[: self.n_strong] = STRONG
        classes[[j for group in groups for j in group]] = WEAK
        if self.noise:
            X = X + rng.normal(0, self.noise / X.std(), X.shape)

        repeated = rng.choice(len(names), self.n_repeated, replace=self.n_repeated > len(names))
        X, classes = np.hstack([X, X[:, repeated]]), np.append(classes, classes[repeated])
        for i, original in enumerate(repeated.tolist()):
            _record_repeat(groups, classes, original, len(names))
            names.append(f"repeat{i}_of_{names[original]}")

        problem = Problem(X, y, classes, tuple(map(tuple, groups)), task, tuple(names))
        return problem.permute_columns(rng.permutation(len(names))) if self.shuffle else problem


def _record_repeat(
    groups: list[list[int]], classes: NDArray[np.int64], original: int, repeat: int
) -> None:
    """Record in the truth that one column repeats another."""
    if classes[original] == IRRELEVANT:
        return
    classes[[original, repeat]] = WEAK
    for group in groups:
        if original in group:
            group.append(repeat)
            return
    groups.append([original, repeat])


# Parameters of the paper's tables: rows, strong columns, weak columns in one group, columns.
_LINEAR_SETS = {
    "Set 1": (150, 6, 0, 6),
    "Set 2": (150, 0, 6, 6),
    "Set 3": (150, 3, 4, 3),
    "Set 4": (256, 6, 6, 6),
    "Set 5": (512, 1, 2, 11),
    "Set 6": (200, 1, 20, 0),
    "Set 7": (200, 1, 20, 20),
    "Set 8": (2000, 10, 10, 50),
}
_NONLINEAR_SETS = {
    "NL 1": (1000, 10, 0, 10),
    "NL 2": (1000, 4, 10, 6),
    "NL 3": (1000, 10, 10, 30),
    "NL 4": (1000, 10, 10, 60),
}
PRESETS = (*_LINEAR_SETS, *_NONLINEAR_SETS)


def load_preset(name: str, *, shuffle: bool = False, random_state: RandomState = None) -> Problem:
    """Generate one of the paper's data sets.

    Parameters
    ----------
    name : str
        ``"Set 1"`` to ``"Set 8"`` (linear) or ``"NL 1"`` to ``"NL 4"`` (non-linear).
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
    >>> from squamish.datasets import load_preset
    >>> load_preset("Set 3", random_state=0)
    Problem(classification, 150 x 10: 3 strong, 4 weak (groups: 1), 3 irrelevant)
    """
    if name not in PRESETS:
        raise InputError(f"no preset is called {name!r}; the presets are {', '.join(PRESETS)}")
    make: Callable[..., Problem] = make_linear if name in _LINEAR_SETS else make_nonlinear
    rows, strong, weak, irrelevant = (_LINEAR_SETS | _NONLINEAR_SETS)[name]
    return make(
        rows,
        n_strong=strong,
        group_sizes=[weak] if weak else [],
        n_irrelevant=irrelevant,
        shuffle=shuffle,
        random_state=random_state,
    )
