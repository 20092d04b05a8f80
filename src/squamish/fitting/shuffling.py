"""Shuffled targets: rows change places, so that no column tells anything about their target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Fold, Indices
from squamish.errors import InputError
from squamish.families import Family

# How often a target is shuffled until it can be judged. Where fewer than one in a thousand can,
# the classes are too rare for the folds, or for the groups.
MOST_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Exchange:
    """Which rows change places.

    A group gets the targets of a random group, each being drawn once, in a random order. If all
    groups are of the same size, that is a permutation of the rows. A smaller group gets some of
    the targets; a larger one gets all, and some of them again. Whatever the sizes, the targets
    of different groups come from different groups, and neither who gets which nor the mean
    depends on the columns or on the size: permutations among groups of the same size alone would
    keep what the size tells, such as that patients who die early are seen less often.

    Attributes
    ----------
    groups : tuple of ndarray of int
        The rows of every group, by number. Without groups, all rows are one.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.fitting.shuffling import Exchange
    >>> exchange = Exchange.of(np.arange(6), np.array([0, 0, 1, 1, 2, 2]))
    >>> exchange.draw(np.random.default_rng(0))
    array([5, 4, 0, 1, 2, 3])
    """

    groups: tuple[Indices, ...]

    @classmethod
    def of(cls, order: Indices, clusters: Indices | None = None) -> Exchange:
        """Tell which rows change places.

        Parameters
        ----------
        order : ndarray of int of shape (n_rows,)
            All row numbers. The same numbers in another order give other shuffles.
        clusters : ndarray of int of shape (n_rows,) or None
            The group of every row, by its number.
        """
        if clusters is None:
            return cls((order,))
        by_group = order[np.argsort(clusters[order], kind="stable")]
        sizes = np.unique(clusters, return_counts=True)[1]
        return cls(tuple(np.split(by_group, np.cumsum(sizes)[:-1])))

    @property
    def is_permutation(self) -> bool:
        """Whether all groups are of the same size, so that every target is used once."""
        return len(set(map(len, self.groups))) == 1

    def draw(self, rng: np.random.Generator) -> Indices:
        """Draw for every row the number of the row whose target it gets."""
        source = np.empty(sum(map(len, self.groups)), dtype=np.intp)
        for group, giver in zip(self.groups, rng.permutation(len(self.groups)), strict=True):
            source[group] = np.resize(rng.permutation(self.groups[giver]), len(group))
        return source

    def draw_for(
        self, y: NDArray[Any], family: Family, folds: Sequence[Fold], rng: np.random.Generator
    ) -> Indices:
        """Draw until a fit can judge the target: as it can judge the one that was passed.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            The target that was passed, as numbers.
        family : Family
            What kind of target it is.
        folds : sequence of (train, test)
            Folds that were asked for; none if the method chooses them.
        rng : numpy.random.Generator
            Draws.
        """
        for _ in range(MOST_DRAWS):
            source = self.draw(rng)
            if self._can_be_judged(y[source], y, family, folds):
                return source
        raise InputError(
            f"y cannot be shuffled: {MOST_DRAWS} times in a row a class was in fewer than two "
            "groups, or not among the training rows of a fold of cv; leave out rare classes"
        )

    def _can_be_judged(
        self, shuffled: NDArray[Any], y: NDArray[Any], family: Family, folds: Sequence[Fold]
    ) -> bool:
        """Tell whether every fold can be trained on all that the target holds."""
        if not all(family.is_trainable(shuffled, train) for train, _ in folds):
            return False
        if self.is_permutation:
            return True
        if not family.has_classes:
            return bool(np.ptp(shuffled) > 0)
        # Every class has to be in two groups, to be learned from one and tested in the other.
        held = [np.unique(shuffled[group]) for group in self.groups]
        return int(np.bincount(np.concatenate(held), minlength=int(y.max()) + 1).min()) > 1

    def notes(self) -> tuple[str, ...]:
        """Say how the shuffled targets differ from the one that was passed."""
        if self.is_permutation:
            return ()
        return (
            "the groups differ in size: each got the targets of another, a part of them or some "
            "twice, so that values are not exactly as frequent as in the table",
        )
