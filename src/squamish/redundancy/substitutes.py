"""Substitutes: the features that predict another one as well as all others do together.

Linear predictions are judged by the adjusted R2 of the rows they are fitted to, smooth ones by
leave-one-out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from squamish.arrays import Array, Indices
from squamish.importance.imputation import (
    FIRST_LOOK,
    MOST_CHECKED,
    MUCH,
    fit_smooth,
    smooth_function,
    thinned,
)
from squamish.models.crossfit import CrossFit
from squamish.models.learners import View

# A substitute explains this share of what all other columns explain together.
ENOUGH = 0.9
# Less than this explained is no replacement.
LEAST = 1 / 3
# The most features among which substitutes are looked for, the closest ones, and the fewest; in
# between, three rows for each column of the regression.
MOST_NEAR, LEAST_NEAR, ROWS_PER_COLUMN = 150, 10, 3
# The largest set that is named.
LARGEST_SET = 6
# Up to so many features are asked in a task, which share one sum of products.
AT_ONCE = 8
# Ridge penalty of columns of unit variance: enough to solve what copies make singular.
RIDGE = 1e-6


def n_tasks(n_features: int) -> int:
    """Return how many tasks it takes to find the substitutes of some features."""
    return math.ceil(n_features / AT_ONCE)


def find_all_substitutes(
    fit: CrossFit, relevant: Indices, features: Sequence[int]
) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Find the relevant features that replace each of some."""
    if not features:
        return {}
    # Of equal size, so that nobody waits long for the last one.
    jobs = [
        (relevant, some.tolist())
        for some in np.array_split(np.array(features, dtype=np.intp), n_tasks(len(features)))
    ]
    found = [own for some in fit.run(_substitutes_of, jobs) for own in some]
    return dict(zip(features, found, strict=True))


def _substitutes_of(
    fit: CrossFit, job: tuple[Indices, Sequence[int]], _: np.random.Generator
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Find the features among some that replace each of a few of them."""
    relevant, features = job
    columns = fit.own_columns(relevant)
    views = [fit.widest(view, columns) for view in get_args(View)]
    products = _Products(views, np.searchsorted(relevant, fit.feature[columns]))
    found = []
    for feature in features:
        replaced_by = _substitutes(products, int(np.searchsorted(relevant, feature)))
        found.append(tuple(tuple(int(relevant[k]) for k in group) for group in replaced_by))
    return tuple(found)


def substitutes(views: Sequence[Array], feature: Indices, j: int) -> tuple[tuple[int, ...], ...]:
    """Find the features that predict feature ``j`` as well as all others do together.

    Parameters
    ----------
    views : sequence of ndarray of shape (n_samples, d)
        The parts of all features, plain and transformed, each standardised.
    feature : ndarray of int of shape (d,)
        The feature of each part.
    j : int
        The feature to be replaced.

    Returns
    -------
    tuple of tuples of int
        Every single feature that is enough by itself, the best first; or else one set that
        is enough together, found greedily or as what a smooth function needs. Empty if not
        even all others explain a third.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.redundancy.substitutes import substitutes
    >>> x = np.random.default_rng(0).standard_normal((200, 3))
    >>> table = np.column_stack([x, x[:, 0] + x[:, 1], 2 * x[:, 2]])
    >>> substitutes([table / table.std(axis=0)], np.arange(5), 3)
    ((0, 1),)
    >>> substitutes([table / table.std(axis=0)], np.arange(5), 2)
    ((4,),)
    """
    return _substitutes(_Products(views, feature), j)


def _substitutes(products: _Products, j: int) -> tuple[tuple[int, ...], ...]:
    ridge = _Ridge.of(products.near(j), j)
    everything = ridge.r2(ridge.others)
    if ridge.others and everything < ENOUGH and len(ridge.own) == 1:
        curved = _smooth_substitute(ridge, everything)
        if curved:
            return (curved,)
    if everything < LEAST or not ridge.others:
        return ()
    alone = ridge.r2_with_each([])
    enough = [k for k in ridge.others if alone[k] >= ENOUGH * everything]
    if enough:
        return tuple((k,) for k in sorted(enough, key=lambda k: (-round(alone[k], 9), k)))
    return (_greedy_set(ridge, ENOUGH * everything),)


def _greedy_set(ridge: _Ridge, least: float) -> tuple[int, ...]:
    """Add the feature that explains most, one after the other, until it is enough."""
    chosen: list[int] = []
    told = 0.0
    while len(chosen) < LARGEST_SET and told < least:
        with_each = ridge.r2_with_each(chosen)
        if not with_each:
            break
        # Of features that tell the same, whatever the rounding, the first one.
        best = max(with_each, key=lambda k: round(with_each[k], 9))
        chosen.append(best)
        told = with_each[best]
    return tuple(sorted(chosen))


def _smooth_substitute(ridge: _Ridge, linear: float) -> tuple[int, ...]:
    """Find features of which the target is a smooth function, if that says more than a line."""
    feature = ridge.products.feature
    rest = np.flatnonzero(np.isin(feature, ridge.others))
    X, target = ridge.plain[:, rest], ridge.plain[:, ridge.own[0]]
    target = target - target.mean()
    # In more rows only if it explains much of what a line leaves in few.
    few, some = (thinned(np.arange(len(target)), most) for most in (FIRST_LOOK, MOST_CHECKED))
    smooth = fit_smooth(X[few], target[few])
    if smooth.r2 < 1 - (1 - linear) * (1 - MUCH):
        return ()
    if len(some) > len(few):
        smooth = fit_smooth(X[some], target[some])
    # It leaves half of what a line leaves, or less.
    if smooth.r2 < max(LEAST, 1 - (1 - linear) / 2):
        return ()
    columns = smooth.columns
    for column in smooth.columns[::-1]:
        fewer = columns[columns != column]
        if len(fewer) and smooth_function(X[some], target[some], fewer).r2 >= ENOUGH * smooth.r2:
            columns = fewer
    return tuple(np.unique(feature[rest[columns]]).tolist())


@dataclass(frozen=True, eq=False)
class _Products:
    """Parts of features, and sums of their products, from which all regressions among them follow.

    Attributes
    ----------
    views : sequence of ndarray of shape (n_samples, d)
        The parts, plain and transformed.
    feature : ndarray of int of shape (d,)
        The feature of each part.
    """

    views: Sequence[Array]
    feature: Indices

    @cached_property
    def gram(self) -> Array:
        """Sums of products of centred parts in all views."""
        X = np.hstack(self.views)
        X -= X.mean(axis=0)
        return np.asarray(X.T @ X)

    @cached_property
    def penalised(self) -> Array:
        """The same with the penalty of a ridge regression."""
        return np.asarray(self.gram + RIDGE * len(self.views[0]) * np.eye(len(self.gram)))

    @cached_property
    def owner(self) -> Indices:
        """The feature of every part in all views."""
        return np.tile(self.feature, len(self.views))

    def near(self, j: int) -> _Products:
        """Return what is close to a feature, and the feature itself.

        All, unless they are more than a model of so many rows can tell apart.
        """
        views, feature, own = self.views, self.feature, self.feature == j
        n_rows = len(views[0]) // (ROWS_PER_COLUMN * len(views))
        most = int(np.clip(n_rows, LEAST_NEAR, MOST_NEAR))
        features = np.unique(feature[~own])
        if len(features) <= most:
            return self
        closeness = np.max([np.abs(view[:, own].T @ view).max(axis=0) for view in views], axis=0)
        largest = np.zeros(feature.max() + 1)
        np.maximum.at(largest, feature, closeness)
        nearest = features[np.argsort(-largest[features], kind="stable")[:most]]
        near = own | np.isin(feature, nearest)
        return _Products([view[:, near] for view in views], feature[near])


@dataclass(frozen=True, eq=False)
class _Ridge:
    """Regressions of one feature on any of the others, from sums of products.

    Attributes
    ----------
    products : _Products
        Of the parts of all features.
    own : ndarray of int
        The parts of the feature, in the first view.
    others : list of int
        The other features.
    """

    products: _Products
    own: Indices
    others: list[int]

    @classmethod
    def of(cls, products: _Products, j: int) -> _Ridge:
        """Regress a feature on others."""
        feature = products.feature
        others = [k for k in np.unique(feature).tolist() if k != j]
        return cls(products, np.flatnonzero(feature == j), others)

    @property
    def plain(self) -> Array:
        """The parts of all features, in the first view."""
        return self.products.views[0]

    def r2(self, features: Sequence[int]) -> float:
        """Return the share of the variance that features explain, adjusted for their number."""
        inner, moments = self.products.penalised, self.products.gram[:, self.own]
        seen = np.flatnonzero(np.isin(self.products.owner, features))
        if len(seen) == 0:
            return 0.0
        solved = np.linalg.solve(inner[np.ix_(seen, seen)], moments[seen])
        return float(self._adjusted(np.sum(moments[seen] * solved), len(seen)))

    def r2_with_each(self, chosen: Sequence[int]) -> dict[int, float]:
        """Return the same of some features with one more, for each of the others.

        What the chosen ones tell is taken off first (Schur's complement), so that each of the
        others takes a system of its own columns only.
        """
        inner, moments = self.products.penalised, self.products.gram[:, self.own]
        owner = self.products.owner
        seen = np.flatnonzero(np.isin(owner, chosen))
        inverse = np.linalg.inv(inner[np.ix_(seen, seen)])
        solved = inverse @ moments[seen]
        told = float(np.sum(moments[seen] * solved))
        left = np.array([k for k in self.others if k not in chosen], dtype=np.intp)
        n_columns = np.bincount(owner, minlength=max(self.others, default=0) + 1)[left]
        out: dict[int, float] = {}
        for size in np.unique(n_columns).tolist():
            some = left[n_columns == size]
            places = np.stack([np.flatnonzero(owner == k) for k in some.tolist()])
            cross = inner[places[:, :, np.newaxis], seen]
            blocks = inner[places[:, :, np.newaxis], places[:, np.newaxis]]
            blocks = blocks - cross @ inverse @ cross.transpose(0, 2, 1)
            rest = moments[places] - cross @ solved
            gained = np.sum(rest * np.linalg.solve(blocks, rest), axis=(1, 2))
            r2 = self._adjusted(told + gained, len(seen) + size)
            out |= dict(zip(some.tolist(), r2.tolist(), strict=True))
        return {k: out[k] for k in left.tolist()}

    def _adjusted(self, fitted: Array, n_columns: int) -> Array:
        """Turn a fitted variance into a share, adjusted for the number of columns."""
        n = len(self.plain)
        share = np.minimum(fitted / self._total, 1.0)
        return np.asarray(1 - (1 - share) * (n - 1) / max(n - n_columns - 1, 1))

    @cached_property
    def _total(self) -> float:
        return max(float(self.products.gram[self.own, self.own].sum()), 1e-300)
