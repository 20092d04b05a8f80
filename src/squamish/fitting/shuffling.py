"""Shuffled targets: rows change places, so that no column tells anything about their target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from squamish.arrays import Fold, Indices
from squamish.errors import InputError
from squamish.families import Family
from squamish.models.beyond import cells_of, level_means
from squamish.statistics.pairs import in_groups
from squamish.table.parts import encode
from squamish.table.table import Table

# How often a target is shuffled until it can be judged. Where fewer than one in a thousand can,
# the classes are too rare for the folds, or for the groups.
MOST_DRAWS = 1000
# The least rows of a stratum: the mean of as many targets is known to a quarter of their spread
# (1 / sqrt 20), and each can take the place of 19 others.
LEAST_IN_STRATUM = 20
_ON_SIZES = (
    "the groups differ in size: each got the targets of another, a part of them or some twice, so "
    "that values are not exactly as frequent as in the table"
)


@dataclass(frozen=True, eq=False)
class Exchange:
    """Which rows change places.

    A group gets the targets of a random group, each being drawn once, in a random order. If all
    groups are of the same size, that is a permutation of the rows. A smaller group gets some of
    the targets; a larger one gets all, and some of them again. Whatever the sizes, the targets
    of different groups come from different groups, and neither who gets which nor the mean
    depends on the columns or on the size: permutations among groups of the same size alone would
    keep what the size tells, such as that patients who die early are seen less often.

    What is adjusted for may tell of the target all the same: rows, or groups, change places within
    strata of it, so that a shuffled target depends on the strata, which are functions of what is
    adjusted for, and given these on no column.

    Attributes
    ----------
    groups : tuple of ndarray of int
        The rows of every group, by number. Without groups, all rows are one, or those of a stratum.
    stratum : ndarray of int of shape (n_groups,)
        Groups with the same number change places.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.fitting.shuffling import Exchange
    >>> exchange = Exchange.of(np.arange(6), np.array([0, 0, 1, 1, 2, 2]))
    >>> exchange.draw(np.random.default_rng(0))
    array([5, 4, 0, 1, 2, 3])
    """

    groups: tuple[Indices, ...]
    stratum: Indices

    @classmethod
    def of(
        cls, order: Indices, clusters: Indices | None = None, strata: Indices | None = None
    ) -> Exchange:
        """Tell which rows change places.

        Parameters
        ----------
        order : ndarray of int of shape (n_rows,)
            All row numbers. The same numbers in another order give other shuffles.
        clusters : ndarray of int of shape (n_rows,) or None
            The group of every row, by its number.
        strata : ndarray of int of shape (n_rows,) or None
            Which rows are alike in what is adjusted for. A group is where most of its rows are.
        """
        if clusters is None:
            if strata is None:
                return cls((order,), np.zeros(1, dtype=np.intp))
            groups = _split(order, strata)
            return cls(groups, np.arange(len(groups)))
        groups = _split(order, clusters)
        stratum = np.zeros(len(groups), dtype=np.intp)
        if strata is not None:
            stratum = np.array([np.bincount(strata[group]).argmax() for group in groups])
        return cls(groups, stratum)

    @property
    def is_permutation(self) -> bool:
        """Whether groups that change places are of the same size: every target is used once."""
        sizes = {(int(s), len(group)) for s, group in zip(self.stratum, self.groups, strict=True)}
        return len(sizes) == len(np.unique(self.stratum))

    @property
    def is_stratified(self) -> bool:
        """Whether there are strata, of what is adjusted for."""
        return bool(self.stratum.any())

    def draw(self, rng: np.random.Generator) -> Indices:
        """Draw for every row the number of the row whose target it gets."""
        source = np.empty(sum(map(len, self.groups)), dtype=np.intp)
        givers = np.empty(len(self.groups), dtype=np.intp)
        for members in in_groups(self.stratum):
            givers[members] = rng.permutation(members)
        for group, giver in zip(self.groups, givers, strict=True):
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
        notes = []
        if self.is_stratified:
            n = len(np.unique(self.stratum))
            notes.append(
                f"targets changed places within {n} strata of what is adjusted for, so that they "
                "still depend on it, and given it on no column"
            )
        if not self.is_permutation:
            notes.append(_ON_SIZES)
        return tuple(notes)


def _split(order: Indices, label: Indices) -> tuple[Indices, ...]:
    """Split row numbers by the label of each, and keep their order."""
    by_label = order[np.argsort(label[order], kind="stable")]
    sizes = np.unique(label, return_counts=True)[1]
    return tuple(np.split(by_label, np.cumsum(sizes)[:-1]))


def strata_of(adjustments: Table) -> Indices:
    """Put rows together that are alike in what is adjusted for.

    The cells of categories, if all have enough rows; else the leaves of a tree that predicts the
    target, so that rows with similar targets to be expected are together (a prognostic score: B.
    Hansen, Biometrika 95, 2008; permutations in bins of what is conditioned on: I. Kim, M. Neykov,
    S. Balakrishnan and L. Wasserman, Annals of Statistics 50, 2022).
    """
    parts = encode(adjustments)
    cells = cells_of(parts)
    if cells is not None:
        return cells
    family = adjustments.family
    scores = family.scores(family.prepared(adjustments.y))
    said = [level_means(scores, levels) for _, levels in parts.many_levels]
    seen = np.hstack([parts.plain, *said])
    tree = DecisionTreeRegressor(min_samples_leaf=LEAST_IN_STRATUM, random_state=0)
    leaves = tree.fit(seen, scores).apply(seen)
    return np.asarray(np.unique(leaves, return_inverse=True)[1], dtype=np.intp)
