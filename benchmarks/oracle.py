"""What can be detected at all on the non-linear presets: the Bayes-optimal classifier knows.

A class is a mixture of two Gaussians there, and what columns tell without some others is again
such a mixture, so that the best possible model with and without a column is known in closed
form. What this oracle shows on the rows of a table, a perfect method would find.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils.random import sample_without_replacement

from squamish.datasets import Problem, load_preset, make_nonlinear
from squamish.evidence.relevance import IRRELEVANT, STRONG
from squamish.execution.workers import as_generator

Array = NDArray[np.float64]
# What the presets leave as make_nonlinear has it.
NOISE, CLASS_SEP, N_CLUSTERS = 0.1, 0.5, 4


@dataclass(frozen=True)
class Mixture:
    """Four Gaussians of equal weight; the first and third are class 0, the others class 1."""

    means: Array
    covariances: Array

    def without(self, columns: list[int]) -> Mixture:
        """Return the distribution of the other columns."""
        kept = np.delete(np.arange(self.means.shape[1]), columns)
        return Mixture(self.means[:, kept], self.covariances[:, kept][:, :, kept])

    def log_loss(self, X: Array, y: NDArray[np.int64]) -> Array:
        """Return minus the log of the probability of every row's class."""
        log_densities = np.column_stack(
            [
                stats.multivariate_normal(mean, covariance).logpdf(X)
                for mean, covariance in zip(self.means, self.covariances, strict=True)
            ]
        )
        of_class = np.column_stack(
            [np.logaddexp(*log_densities[:, label::2].T) for label in (0, 1)]
        )
        return np.asarray(np.logaddexp(*of_class.T) - of_class[np.arange(len(y)), y])


@dataclass(frozen=True)
class Removals:
    """What the oracle finds when it has to do without each strong column, and each group.

    Attributes
    ----------
    is_group : ndarray of bool
        Whether a removal is that of a group.
    paired_t : ndarray
        p-values of the paired t-test of the loss, row by row.
    likelihood_ratio : ndarray
        Bounds of p-values by the ratio of the likelihoods with and without: if the removed
        columns told nothing, its mean would be 1, and it would exceed c with a probability of
        1 / c at most.
    accuracy : float
        How often the oracle is right with all columns.
    """

    is_group: NDArray[np.bool_]
    paired_t: Array
    likelihood_ratio: Array
    accuracy: float


def removals(preset: str, seed: int) -> Removals:
    """Let the oracle do without each strong column, and without each group."""
    table = load_preset(preset, random_state=seed)
    mixture, X = known_mixture(preset, seed)
    y = table.y.astype(np.int64)
    losses = mixture.log_loss(X, y)
    costs = np.column_stack(
        [
            mixture.without([j]).log_loss(np.delete(X, j, axis=1), y) - losses
            for j in range(X.shape[1])
        ]
    )
    return Removals(
        is_group=np.arange(X.shape[1]) >= _n_strong(table),
        paired_t=stats.ttest_1samp(costs, 0, alternative="greater").pvalue,
        likelihood_ratio=np.exp(-np.maximum(costs.sum(axis=0), 0)),
        accuracy=float(np.mean(losses < np.log(2))),
    )


def known_mixture(preset: str, seed: int) -> tuple[Mixture, Array]:
    """Return the distribution of strong columns and group means, and these of the table.

    Members of a group are one hidden column, each with a shift and with noise of its own, so
    that their mean tells all they know.
    """
    noisy = load_preset(preset, random_state=seed)
    clean = _without_noise(noisy, seed)
    members = [np.flatnonzero(clean.classes == STRONG)[[j]] for j in range(_n_strong(clean))]
    members += [np.array(group) for group in clean.groups]
    X = np.column_stack([noisy.X[:, group].mean(axis=1) for group in members])
    exact = np.column_stack([clean.X[:, group].mean(axis=1) for group in members])

    means, factors, drawn = _drawn_clusters(len(noisy.y), len(members), seed)
    # scikit-learn mixes rows and columns at the end: equal but for a shift and the order.
    ours, theirs = (np.sort(A - A.mean(axis=0), axis=0) for A in (exact, drawn))
    order = [int(np.argmin(np.abs(theirs - column[:, None]).max(axis=0))) for column in ours.T]
    if not np.allclose(theirs[:, order], ours):
        raise RuntimeError("this scikit-learn draws make_classification in another way")
    shifts = exact.mean(axis=0) - drawn[:, order].mean(axis=0)
    noise = np.square(NOISE / clean.X.std()) / [len(group) for group in members]
    covariances = np.stack([(A.T @ A)[np.ix_(order, order)] for A in factors])
    return Mixture(means[:, order] + shifts, covariances + np.diag(noise)), X


def _n_strong(problem: Problem) -> int:
    return int(np.sum(problem.classes == STRONG))


def _without_noise(noisy: Problem, seed: int) -> Problem:
    """Make the same table without noise, which is drawn after everything else."""
    return make_nonlinear(
        len(noisy.y),
        n_strong=_n_strong(noisy),
        group_sizes=[len(group) for group in noisy.groups],
        n_irrelevant=int(np.sum(noisy.classes == IRRELEVANT)),
        noise=0,
        random_state=seed,
    )


def _drawn_clusters(n: int, k: int, seed: int) -> tuple[Array, list[Array], Array]:
    """Draw centres, factors of the covariances, and rows as make_classification does."""
    rng = np.random.RandomState(int(as_generator(seed).integers(2**31)))
    corners = sample_without_replacement(2**k, N_CLUSTERS, random_state=rng)
    bits = (corners[:, None] >> np.arange(k)[::-1]) & 1
    means = 2 * CLASS_SEP * bits - CLASS_SEP
    parts = np.split(rng.standard_normal((n, k)), N_CLUSTERS)
    factors = [2 * rng.uniform(size=(k, k)) - 1 for _ in range(N_CLUSTERS)]
    rows = [part @ A + mean for part, A, mean in zip(parts, factors, means, strict=True)]
    return means, factors, np.vstack(rows)
