"""Substitutes: the features that predict another one as well as all others do together.

Linear predictions are judged by the adjusted R2 of the rows they are fitted to, smooth ones by
leave-one-out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.importance.imputation import (
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
# A smooth function is looked for in so many rows first, and in more only if it explains much of
# what a line leaves there: a hundred kernels have three rows each.
FIRST_LOOK = 300
# Ridge penalty of columns of unit variance: enough to solve what copies make singular.
RIDGE = 1e-6


def find_all_substitutes(
    fit: CrossFit, relevant: Indices, features: Sequence[int]
) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Find the relevant features that replace each of some."""
    found = fit.run(_substitutes_of, [(relevant, feature) for feature in features])
    return dict(zip(features, found, strict=True))


def _substitutes_of(
    fit: CrossFit, job: tuple[Indices, int], _: np.random.Generator
) -> tuple[tuple[int, ...], ...]:
    """Find the features among some that replace one of them."""
    relevant, feature = job
    columns = fit.columns(relevant)
    views = [fit.widest(view, columns) for view in get_args(View)]
    places = np.searchsorted(relevant, fit.feature[columns])
    found = substitutes(views, places, int(np.searchsorted(relevant, feature)))
    return tuple(tuple(int(relevant[k]) for k in group) for group in found)


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
    near = _nearest(views, feature, feature == j)
    ridge = _Ridge.of([view[:, near] for view in views], feature[near], j)
    everything = ridge.r2(ridge.others)
    if ridge.others and everything < ENOUGH and ridge.target.shape[1] == 1:
        curved = _smooth_substitute(ridge, everything)
        if curved:
            return (curved,)
    if everything < LEAST or not ridge.others:
        return ()
    alone = {k: ridge.r2([k]) for k in ridge.others}
    enough = [k for k in ridge.others if alone[k] >= ENOUGH * everything]
    if enough:
        return tuple((k,) for k in sorted(enough, key=lambda k: (-round(alone[k], 9), k)))
    return (_greedy_set(ridge, ENOUGH * everything),)


def _greedy_set(ridge: _Ridge, least: float) -> tuple[int, ...]:
    """Add the feature that explains most, one after the other, until it is enough."""
    chosen: list[int] = []
    while len(chosen) < LARGEST_SET and ridge.r2(chosen) < least:
        left = [k for k in ridge.others if k not in chosen]
        if not left:
            break
        chosen.append(max(left, key=lambda k: ridge.r2([*chosen, k])))
    return tuple(sorted(chosen))


def _smooth_substitute(ridge: _Ridge, linear: float) -> tuple[int, ...]:
    """Find features of which the target is a smooth function, if that says more than a line."""
    rest = np.flatnonzero(np.isin(ridge.feature, ridge.others))
    X, target = ridge.plain[:, rest], ridge.target[:, 0]
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
    return tuple(np.unique(ridge.feature[rest[columns]]).tolist())


def _nearest(views: Sequence[Array], feature: Indices, own: Mask) -> Indices:
    """Return a feature's own columns and those of the features that are closest to it.

    All others, unless they are more than a model of so many rows can tell apart.
    """
    n_rows = len(views[0]) // (ROWS_PER_COLUMN * len(views))
    most = int(np.clip(n_rows, LEAST_NEAR, MOST_NEAR))
    features = np.unique(feature[~own])
    if len(features) <= most:
        return np.arange(len(feature))
    closeness = np.max([np.abs(view[:, own].T @ view).max(axis=0) for view in views], axis=0)
    largest = np.zeros(feature.max() + 1)
    np.maximum.at(largest, feature, closeness)
    nearest = features[np.argsort(-largest[features], kind="stable")[:most]]
    return np.flatnonzero(own | np.isin(feature, nearest))


@dataclass(frozen=True, eq=False)
class _Ridge:
    """Regressions of one feature on any of the others, from sums of products.

    Attributes
    ----------
    plain : ndarray of shape (n_samples, d)
        The parts of all features, in the first view.
    feature : ndarray of int of shape (d,)
        The feature of each part.
    target : ndarray of shape (n_samples, n_targets)
        The parts of the feature, centred.
    others : list of int
        The other features.
    gram, moments : ndarray
        Sums of products of parts in all views, and of them and the target.
    n_views : int
        How many views there are.
    """

    plain: Array
    feature: Indices
    target: Array
    others: list[int]
    gram: Array
    moments: Array
    n_views: int

    @classmethod
    def of(cls, views: Sequence[Array], feature: Indices, j: int) -> _Ridge:
        """Add up the products."""
        own = feature == j
        target = views[0][:, own] - views[0][:, own].mean(axis=0)
        X = np.hstack(views)
        X = X - X.mean(axis=0)
        gram = X.T @ X
        gram[np.diag_indices_from(gram)] += RIDGE * len(X)
        others = [k for k in np.unique(feature).tolist() if k != j]
        return cls(views[0], feature, target, others, gram, X.T @ target, len(views))

    def r2(self, features: Sequence[int]) -> float:
        """Return the share of the variance that features explain, adjusted for their number."""
        columns = np.flatnonzero(np.isin(self.feature, features))
        if len(columns) == 0:
            return 0.0
        d, n = len(self.feature), len(self.target)
        seen = np.concatenate([columns + v * d for v in range(self.n_views)])
        moments = self.moments[seen]
        solved = np.linalg.solve(self.gram[np.ix_(seen, seen)], moments)
        fitted = float(np.sum(moments * solved)) / self._total
        return 1 - (1 - min(fitted, 1.0)) * (n - 1) / max(n - len(seen) - 1, 1)

    @cached_property
    def _total(self) -> float:
        return max(float(np.square(self.target).sum()), 1e-300)
