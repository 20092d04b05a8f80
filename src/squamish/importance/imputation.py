"""One column predicted from others by what does it best: lines, small or exact steps, curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from squamish.arrays import Array, Fold, Indices
from squamish.families import Family, family_of
from squamish.families.family import Target
from squamish.models.folds import covering
from squamish.models.kernel_ridge import KernelRidge, fit_kernel_ridge
from squamish.models.race import DROPS_OUT
from squamish.models.trees import N_LEAVES, BoostedTrees, train_trees
from squamish.statistics.ridge import fit_ridge
from squamish.statistics.scores import normal_scores

# A correlation, or a share of the variance, that is a dependence large enough to matter: with it,
# a draw that ignores it is off by 5% in its standard deviation (1 - sqrt(1 - 0.3^2)) or more.
MUCH = 0.3
# So many rows are enough to see such a dependence (ten standard errors), and fewer test rows are
# not (a standard error of 0.22).
MOST_CHECKED, LEAST_CHECKED = 1000, 20
# Trees that look for a dependence, and that impute.
TREES_TO_CHECK, TREES_TO_IMPUTE, LEAST_IN_LEAF = 40, 80, 5
# Smooth functions are tried of so many columns, with kernels as narrow as these: half of their
# height at a distance of 3.7 and of 1.5 standard deviations.
INPUTS = (1, 2, 3, 5)
KERNEL_GAMMAS = (0.05, 0.3)
# A smooth function is looked for in so many rows first: a hundred kernels have three rows each. The
# best of all numbers of columns and gammas there are compared in more (successive halving).
FIRST_LOOK, FINALISTS = 300, 2
# Models that find a smooth function: trees, then a function for each number of columns and gamma.
SMOOTH_FITS = 1 + len(INPUTS) * len(KERNEL_GAMMAS) + FINALISTS
# Penalties of a line of plain values, from next to none.
PENALTIES = (1e-6, 1e-2, 1.0, 100.0)
_AMOUNTS = family_of("regression")


def depends_on_others(
    residual: Array, others: Array, folds: Sequence[Fold], share: float = MUCH
) -> bool:
    """Tell whether the residual of a column, or its size, depends much on other columns.

    If so, a draw that permutes it is not from the right distribution. Asked in closed form for
    the mean and the size (as Breusch and Pagan do), and of boosted trees for anything else, which
    have to explain more than ``share`` of it.
    """
    return _moments_depend(residual, others) or _explained_by_trees(residual, others, folds) > share


def _moments_depend(residual: Array, others: Array) -> bool:
    """Tell whether mean or size of a residual go with another column."""
    if others.shape[1] == 0:
        return False
    centred = residual - residual.mean()
    some = thinned(np.arange(len(centred)))
    moments = normal_scores(np.column_stack([np.abs(centred), centred])[some])
    regressors = normal_scores(np.hstack([others[some], np.abs(others[some])]))
    return bool(np.abs(moments.T @ regressors).max() / len(moments) > MUCH)


def _explained_by_trees(residual: Array, others: Array, folds: Sequence[Fold]) -> float:
    """Return the share of a residual that boosted trees explain, out of sample, in one fold."""
    if others.shape[1] == 0:
        return 0.0
    centred = residual - residual.mean()
    train, test = folds[0]
    if len(test) < LEAST_CHECKED:
        rows = np.arange(len(centred))
        train, test = rows[rows % 5 != 0], rows[rows % 5 == 0]
    predicted = _boosted(others, centred, (thinned(train), test), TREES_TO_CHECK)
    variance = max(float(centred[test].var()), 1e-300)
    return 1 - float(np.square(centred[test] - predicted).mean()) / variance


def explained_by_levels(levels: Indices, residual: Array, folds: Sequence[Fold]) -> float:
    """Return the share of a residual that the levels of a category explain, out of sample."""
    left = residual - level_means(levels, residual, folds)
    return 1 - float(np.square(left).mean()) / max(float(residual.var()), 1e-300)


def impute_by_values(values: Array, seen: Array, others: Array, folds: Sequence[Fold]) -> Array:
    """Predict ranks of a column by a line of plain values, out of sample.

    What adds up to a column, or to a constant with it, does so in values and not in ranks.

    Parameters
    ----------
    values, seen : ndarray of shape (n,)
        The column as it is, and its ranks, which are to be predicted.
    others : ndarray of shape (n, d)
        Other columns as they are.
    """
    out = np.zeros(len(values))
    for train, test in covering(folds, len(values)):
        ridge = fit_ridge(others[train], values[train], PENALTIES)
        order = np.argsort(values[train], kind="stable")
        known = values[train][order], seen[train][order]
        out[test] = np.interp(ridge.predict(others[test]), *known)
    return out


def impute(X: Array, target: Array, linear: Array, folds: Sequence[Fold]) -> Array:
    """Predict a column from others out of sample: improve on a linear prediction if possible.

    Either by many small steps, added to the linear prediction, by a few steps at exact places, or
    by a smooth function. They race over the folds, and what is clearly worse in two of them drops
    out: in the first of a split by time, models have seen few rows.
    """
    if X.shape[1] == 0:
        return linear
    near = _leading(X, target)
    imputers: list[Callable[[Fold], Array]] = [
        lambda fold: linear[fold[1]],
        lambda fold: linear[fold[1]] + _boosted(X, target - linear, fold, TREES_TO_IMPUTE),
        lambda fold: _stepped(X[:, near], target, fold),
        _smooth(X, target, near),
    ]
    found = [np.zeros(len(target)) for _ in imputers]
    tested, alive = np.zeros(0, dtype=np.intp), list(range(len(imputers)))
    for fold, (_, test) in zip(covering(folds, len(target)), folds, strict=True):
        for k in alive:
            found[k][fold[1]] = imputers[k](fold)
        # Rows that are never tested are predicted by models that have seen them: they do not count.
        tested = np.append(tested, test)
        squares = [np.square(target - x)[tested] for x in found]
        if len(tested) > len(test):
            alive = _not_clearly_worse(squares, alive)
    return found[min(alive, key=lambda k: float(squares[k].mean()))]


def _not_clearly_worse(squares: Sequence[Array], alive: Sequence[int]) -> list[int]:
    """Leave out what is worse than the best by more than some standard errors."""
    best = min(alive, key=lambda k: float(squares[k].mean()))
    worse = {k: squares[k] - squares[best] for k in alive}
    return [k for k, x in worse.items() if x.mean() <= DROPS_OUT * x.std() / np.sqrt(len(x))]


def level_means(levels: Indices, target: Array, folds: Sequence[Fold]) -> Array:
    """Predict a column by its mean in rows of the same level, out of sample.

    A level that was not seen before has the mean of all rows.
    """
    out = np.zeros(len(target))
    for train, test in covering(folds, len(target)):
        n_levels = int(levels.max()) + 1
        counts = np.bincount(levels[train], minlength=n_levels)
        sums = np.bincount(levels[train], weights=target[train], minlength=n_levels)
        means = np.full(n_levels, target[train].mean())
        np.divide(sums, counts, out=means, where=counts > 0)
        out[test] = means[levels[test]]
    return out


def _boosted(X: Array, target: Array, fold: Fold, n_trees: int) -> Array:
    """Predict a column from others by boosted trees, in the test rows of a fold."""
    train, test = fold
    return check_trees(X[train], target[train], _AMOUNTS, n_trees).predict(X[test])


def check_trees(X: Array, y: Target, family: Family, n_trees: int = TREES_TO_CHECK) -> BoostedTrees:
    """Boost a few trees with small leaves."""
    return train_trees(X, y, family, n_trees, min_data_in_leaf=LEAST_IN_LEAF)


def _stepped(X: Array, target: Array, fold: Fold) -> Array:
    """Predict a column by one tree on others, in the test rows of a fold.

    A flag or a class of a number begins at a place between two rows, which bins miss.
    """
    train, test = fold
    tree = DecisionTreeRegressor(max_leaf_nodes=N_LEAVES, random_state=0)
    return np.asarray(tree.fit(X[train], target[train]).predict(X[test]))


def _smooth(X: Array, target: Array, near: Indices) -> Callable[[Fold], Array]:
    """Return how a smooth function of a few others predicts a column in the test rows of a fold."""
    found = _best_smooth(X, target, near)
    X = X[:, found.columns]

    def predict(fold: Fold) -> Array:
        some = thinned(fold[0])
        model = fit_kernel_ridge(X[some], target[some], found.model.gamma)
        return model.predict(X[fold[1]])

    return predict


@dataclass(frozen=True, eq=False)
class SmoothFunction:
    """A smooth function of few columns that comes close to another column.

    Attributes
    ----------
    columns : ndarray of int
        What it is a function of, the most important first.
    r2 : float
        Share of the variance that it explains, by leave-one-out.
    model : KernelRidge
        The fitted function.
    """

    columns: Indices
    r2: float
    model: KernelRidge


def fit_smooth(X: Array, target: Array) -> SmoothFunction:
    """Find a smooth function of the columns that boosted trees use most.

    Trees find out which columns matter, but come close to a smooth function only slowly.
    A kernel does so with few rows, if it sees little else than the columns that matter.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.importance.imputation import fit_smooth
    >>> X = np.random.default_rng(0).standard_normal((300, 6))
    >>> smooth = fit_smooth(X, np.sin(2 * X[:, 4]) + X[:, 1] ** 2)
    >>> sorted(smooth.columns.tolist()), round(smooth.r2, 2)
    ([1, 4], 1.0)
    """
    return _best_smooth(X, target, _leading(X, target))


def _best_smooth(X: Array, target: Array, order: Indices) -> SmoothFunction:
    """Find the best smooth function of the first of some columns."""
    rows = np.arange(len(target))
    few, some = thinned(rows, FIRST_LOOK), thinned(rows)
    tried = [
        _smooth_function(X[few], target[few], order[:size], gamma)
        for size in INPUTS
        if size <= len(order)
        for gamma in KERNEL_GAMMAS
    ]
    found = sorted(tried, key=lambda smooth: -smooth.r2)[:FINALISTS]
    if len(some) > len(few):
        X, target = X[some], target[some]
        found = [_smooth_function(X, target, f.columns, f.model.gamma) for f in found]
    return max(found, key=lambda smooth: smooth.r2)


def leading_columns(X: Array, y: Target, family: Family) -> Indices:
    """Return the few columns that boosted trees gain most from, the best first; one at least."""
    gains = check_trees(X, y, family).gains()
    n_used = max(1, min(int((gains > 0).sum()), INPUTS[-1]))
    return np.argsort(-gains, kind="stable")[:n_used]


def _leading(X: Array, target: Array) -> Indices:
    rows = thinned(np.arange(len(target)))
    return leading_columns(X[rows], target[rows], _AMOUNTS)


def smooth_function(X: Array, target: Array, columns: Indices) -> SmoothFunction:
    """Fit a smooth function of these columns, as wavy as fits best."""
    found = [_smooth_function(X, target, columns, gamma) for gamma in KERNEL_GAMMAS]
    return max(found, key=lambda smooth: smooth.r2)


def _smooth_function(X: Array, target: Array, columns: Indices, gamma: float) -> SmoothFunction:
    model = fit_kernel_ridge(X[:, columns], target, gamma)
    return SmoothFunction(columns, 1 - model.error / max(float(target.var()), 1e-12), model)


def thinned(rows: Indices, most: int = MOST_CHECKED) -> Indices:
    """Return rows from everywhere, at most so many that models of a column stay cheap.

    Tables in canonical order are sorted by the target, so the first ones would not do.
    """
    return rows[:: max(1, math.ceil(len(rows) / most))]
