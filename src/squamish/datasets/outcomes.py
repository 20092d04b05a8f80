"""Problems whose target is a time until an event, or a count of events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array
from squamish.datasets.generators import Layout, Problem
from squamish.errors import InputError, check_range
from squamish.evidence.relevance import IRRELEVANT
from squamish.execution.workers import RandomState, as_generator
from squamish.table.times import PAIRS

# The shape of Weibull's distribution: rates that grow with time, as those of wear and age do. Ranks
# of times do not depend on it.
SHAPE = 1.5
# The share that is lost is met to a millionth of a logarithm of the scale of times of losses.
MOST_HALVINGS = 60


def make_survival(
    n_samples: int = 400,
    *,
    n_strong: int = 3,
    group_sizes: Sequence[int] = (),
    n_irrelevant: int = 0,
    effect: float = 1.0,
    censored: float = 0.5,
    lost_by: float = 0.0,
    interaction: bool = False,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> Problem:
    """Make times until an event by a Cox model, some of which are censored on the right.

    The columns are made as in :func:`make_linear`. Rates of events are proportional to the
    exponential of the sum of the informative columns.

    Parameters
    ----------
    n_samples, n_strong, group_sizes, n_irrelevant, shuffle, random_state
        As in :func:`make_linear`.
    effect : float
        The logarithm of the hazard ratio of a standard deviation of an informative column.
    censored : float
        The share of rows that are lost before their event, at random times.
    lost_by : float
        How much more often rows are lost by the first irrelevant column: the logarithm of the
        ratio of a standard deviation. The column is irrelevant all the same.
    interaction : bool
        The first two strong columns count by their product only.

    Returns
    -------
    Problem
        Table, target and truth; the target is a structured array of events and times.

    Examples
    --------
    >>> from squamish.datasets import make_survival
    >>> problem = make_survival(group_sizes=[3], n_irrelevant=4, random_state=0)
    >>> problem
    Problem(survival, 400 x 10: 3 strong, 3 weak (groups: 1), 4 irrelevant)
    >>> float(problem.y["event"].mean())
    0.5
    """
    layout = Layout(n_samples, n_strong, group_sizes, n_irrelevant, 0, 0.0, shuffle=False)
    check_range("censored", censored, at_least=0, below=1)
    if lost_by and not n_irrelevant:
        raise InputError("lost_by needs an irrelevant column; n_irrelevant is 0")
    rng = as_generator(random_state)
    informative = rng.standard_normal((n_samples, layout.n_informative))
    score = effect * _sum(informative, interaction)
    times = (rng.exponential(size=n_samples) / np.exp(score)) ** (1 / SHAPE)
    problem = layout.build(informative, np.zeros(n_samples), "survival", rng)
    first = int(np.argmax(problem.classes == IRRELEVANT))
    by = lost_by * problem.X[:, first] if lost_by else np.zeros(n_samples)
    lost = (rng.exponential(size=n_samples) / np.exp(by)) ** (1 / SHAPE)
    y = _observed(times, lost, censored)
    problem = replace(problem, y=y)
    return problem.permute_columns(rng.permutation(len(problem.classes))) if shuffle else problem


def _sum(informative: Array, interaction: bool) -> Array:
    """Add up columns; of the first two, the product if they interact."""
    if not interaction:
        return np.asarray(informative.sum(axis=1))
    if informative.shape[1] < 2:
        raise InputError("interaction takes two informative columns or more")
    return np.asarray(informative[:, 0] * informative[:, 1] + informative[:, 2:].sum(axis=1))


def _observed(times: Array, lost: Array, censored: float) -> NDArray[Any]:
    """Observe each row until its event or its loss, with losses scaled to be of this share."""
    low, high = -50.0, 50.0
    for _ in range(MOST_HALVINGS):
        scale = (low + high) / 2
        too_many = np.mean(np.exp(scale) * lost < times) > censored
        low, high = (scale, high) if too_many else (low, scale)
    lost = np.exp(high) * lost
    y = np.empty(len(times), dtype=PAIRS)
    y["event"], y["time"] = times <= lost, np.minimum(times, lost)
    return y


def make_counts(
    n_samples: int = 400,
    *,
    n_strong: int = 3,
    group_sizes: Sequence[int] = (),
    n_irrelevant: int = 0,
    effect: float = 0.5,
    mean: float = 2.0,
    dispersion: float = 0.0,
    interaction: bool = False,
    shuffle: bool = False,
    random_state: RandomState = None,
) -> Problem:
    """Make counts of events, by Poisson's distribution or a negative binomial one.

    The columns are made as in :func:`make_linear`. The mean is proportional to the exponential of
    the sum of the informative columns.

    Parameters
    ----------
    n_samples, n_strong, group_sizes, n_irrelevant, shuffle, random_state
        As in :func:`make_linear`.
    effect : float
        The logarithm of the ratio of means of a standard deviation of an informative column.
    mean : float
        The mean count where all informative columns are zero.
    dispersion : float
        The variance of counts of the same mean m is ``m + dispersion * m**2``.
    interaction : bool
        The first two strong columns count by their product only.

    Returns
    -------
    Problem
        Table, target and truth.

    Examples
    --------
    >>> from squamish.datasets import make_counts
    >>> make_counts(group_sizes=[3], n_irrelevant=4, random_state=0)
    Problem(counts, 400 x 10: 3 strong, 3 weak (groups: 1), 4 irrelevant)
    """
    layout = Layout(n_samples, n_strong, group_sizes, n_irrelevant, 0, 0.0, shuffle)
    check_range("mean", mean, above=0, below=np.inf)
    check_range("dispersion", dispersion, at_least=0, below=np.inf)
    rng = as_generator(random_state)
    informative = rng.standard_normal((n_samples, layout.n_informative))
    means = mean * np.exp(effect * _sum(informative, interaction))
    if dispersion:
        means = means * rng.gamma(1 / dispersion, dispersion, n_samples)
    return layout.build(informative, rng.poisson(means), "counts", rng)


_SURVIVAL: dict[str, dict[str, Any]] = {
    "times, 30% censored": {"n_samples": 300, "censored": 0.3},
    "times, 50% censored, product": {"n_samples": 600, "interaction": True},
    "times, 70% censored": {"n_samples": 600, "censored": 0.7},
    "times, 70% censored by a column": {"n_samples": 1000, "censored": 0.7, "lost_by": 1.0},
}
_COUNTS: dict[str, dict[str, Any]] = {
    "counts": {"n_samples": 300},
    "counts, product": {"n_samples": 600, "interaction": True},
    "counts in clusters": {"n_samples": 600, "dispersion": 0.5},
    "rare counts in clusters": {"n_samples": 1000, "mean": 0.5, "dispersion": 1.0},
}


def _of(
    make: Callable[..., Problem], settings: dict[str, Any]
) -> Callable[[np.random.Generator], Problem]:
    def problem(rng: np.random.Generator) -> Problem:
        return make(group_sizes=[3], n_irrelevant=10, random_state=rng, **settings)

    return problem


OUTCOME_FAMILIES: dict[str, Callable[[np.random.Generator], Problem]] = {
    name: _of(make, settings)
    for make, kind in ((make_survival, _SURVIVAL), (make_counts, _COUNTS))
    for name, settings in kind.items()
}
OUTCOMES = (*OUTCOME_FAMILIES,)
