"""Recursive feature elimination: what a model needs least goes, and the rest is fitted anew.

References
----------
I. Guyon, J. Weston, S. Barnhill and V. Vapnik: "Gene selection for cancer classification using
support vector machines", Machine Learning 46 (2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.models.crossfit import CrossFit
from squamish.models.learners import Learner, Model, fit_together, trained_together
from squamish.models.trees import BoostedTrees

# One in so many goes at a time. Of eleven or fewer that is one, and in between a size is passed
# over only where its neighbours differ by a sixth.
ONE_IN = 6
# What a model needs is asked in so many rows: a mean over them has a standard error of a
# twentieth of the spread (1 / sqrt 400), and features differ by more than that.
ROWS_ASKED = 400
# Ridge penalty of columns of unit variance: enough to solve what copies make singular.
RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Elimination:
    """A set to begin with, and how to get from it to smaller ones.

    Attributes
    ----------
    learners : tuple of Learner
        What is fitted; the model of the first one tells what goes.
    start : tuple of int
        The features to begin with, ascending.
    last : frozenset of int
        Features that go after all others.
    sizes : tuple of int
        The sizes that are fitted, descending from that of ``start``.
    fold : int or None
        The fold whose training rows are looked at, and whose test rows are predicted; None for all
        rows, and no predictions.
    free_below : int
        Sets smaller than this may lose what goes last elsewhere.
    known : dict of tuple of int to ndarray or None
        Sets that are not fitted again, with what their model needs of each feature; None of a set
        whose model a race left.
    """

    learners: tuple[Learner, ...]
    start: tuple[int, ...]
    last: frozenset[int]
    sizes: tuple[int, ...]
    fold: int | None
    free_below: int = 0
    known: Mapping[tuple[int, ...], Array | None] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Eliminated:
    """What an elimination found.

    Attributes
    ----------
    order : tuple of int
        The features in the order in which they went; those of the last set come last.
    needs : tuple of ndarray
        For every size, what the model needs of each feature of the set.
    losses : ndarray of shape (n_sizes, n_learners, n_test)
        The loss in every test row, for every size; NaN of sets that were known before, and empty
        without a fold.
    """

    order: tuple[int, ...]
    needs: tuple[Array, ...]
    losses: Array

    def left(self, size: int) -> tuple[int, ...]:
        """Return the features that were left at a size, ascending."""
        return tuple(sorted(self.order[len(self.order) - size :]))


def sizes_below(n: int, least: int = 1) -> tuple[int, ...]:
    """Return the sizes that are fitted from so many features down.

    Examples
    --------
    >>> from squamish.worth.elimination import sizes_below
    >>> sizes_below(14, least=6)
    (14, 12, 10, 9, 8, 7, 6)
    """
    sizes = [n]
    while sizes[-1] > least:
        sizes.append(max(sizes[-1] - max(1, sizes[-1] // ONE_IN), least))
    return tuple(sizes)


def run_eliminations(fit: CrossFit, jobs: Sequence[Elimination]) -> list[Eliminated]:
    """Hand out eliminations."""
    found = []
    for job, numbers in zip(jobs, fit.run(_eliminate, jobs), strict=True):
        ends = np.cumsum([len(job.start), *job.sizes])
        order, *needs, losses = np.split(numbers, ends)
        shape = (len(job.sizes), len(job.learners), -1) if job.fold is not None else (0,)
        whole = tuple(order.astype(int).tolist())
        found.append(Eliminated(whole, tuple(needs), losses.reshape(shape)))
    return found


def _eliminate(fit: CrossFit, job: Elimination, _: np.random.Generator) -> Array:
    """Fit a set, let the features go that its model needs least, and so on.

    Returns the order in which they went, what every model needs, and then all losses: a single
    array, which a checkpoint can keep.
    """
    train = rows_of(fit, job.fold)[0]
    features, order = list(job.start), list[int]()
    all_needs, all_losses = list[Array](), list[Array]()
    for size, following in zip(job.sizes, [*job.sizes[1:], None], strict=True):
        needs, losses = _fitted(fit, job, tuple(features))
        all_needs.append(needs)
        all_losses += losses
        if following is None:
            break
        columns = fit.columns(np.array(features))
        units = [np.flatnonzero(fit.feature[columns] == f) for f in features]
        X = fit.matrix(job.learners[0].view, fold_of(fit, job.fold))[:, columns][train]
        last = job.last if following >= job.free_below else frozenset[int]()
        ranks = [_rank(f, fit.table.id_features, last) for f in features]
        going = _least_needed(features, needs, X, units, ranks, size - following)
        order += going
        features = [f for f in features if f not in going]
    return np.concatenate([np.array([*order, *features], np.float64), *all_needs, *all_losses])


def _fitted(
    fit: CrossFit, job: Elimination, features: tuple[int, ...]
) -> tuple[Array, Sequence[Array]]:
    """Return what the model of a set needs of each feature, and the losses of all learners.

    Sets that are known are not fitted, and have no losses.
    """
    train, test = rows_of(fit, job.fold)
    losses = [np.full(len(test), np.nan) for _ in job.learners]
    known = job.known.get(features)
    if known is not None:
        return known, losses
    first, columns = job.learners[0], fit.columns(np.array(features))
    if features in job.known and job.fold is not None:
        model = fit.model(first, columns, job.fold)
    else:
        models = fit_all(fit, job.learners if len(test) else (first,), columns, job.fold)
        model = models[first]
        for k, learner in enumerate(job.learners if len(test) else ()):
            predictions = models[learner].predict(_seen(fit, learner, columns, job.fold)[test])
            losses[k] = fit.family.losses(predictions, fit.table.y[test])
    units = [np.flatnonzero(fit.feature[columns] == f) for f in features]
    X = _seen(fit, first, columns, job.fold)[train]
    return needs_of(fit, model, X, train, units), losses


def _seen(fit: CrossFit, learner: Learner, columns: Indices, fold: int | None) -> Array:
    """Return parts as a learner sees them in a fold."""
    return fit.matrix(learner.view, fold_of(fit, fold))[:, columns]


def fit_all(
    fit: CrossFit, learners: Sequence[Learner], columns: Indices, fold: int | None
) -> dict[Learner, Model]:
    """Fit learners to the training rows of a fold, those together that one model serves."""
    rows = rows_of(fit, fold)[0]
    weights = None if fit.table.weights is None else fit.table.weights[rows]
    models: dict[Learner, Model] = {}
    for some in trained_together(learners):
        X = _seen(fit, some[0], columns, fold)[rows]
        found = fit_together(some, X, fit.table.y[rows], fit.family, weights)
        models.update(zip(some, found, strict=True))
    return models


def rows_of(fit: CrossFit, fold: int | None) -> tuple[Indices, Indices]:
    """Return the training and test rows of a fold, or all rows that one knows and no others."""
    if fold is not None:
        return fit.folds[fold]
    rows = np.sort(np.concatenate(fit.folds[fold_of(fit, None)]))
    return rows, rows[:0]


def fold_of(fit: CrossFit, fold: int | None) -> int:
    """Return a fold, or the one that knows most rows."""
    if fold is not None:
        return fold
    return max(range(len(fit.folds)), key=lambda k: sum(map(len, fit.folds[k])))


def needs_of(
    fit: CrossFit, model: Model, X: Array, rows: Indices, units: Sequence[Indices]
) -> Array:
    """Tell how much a model needs each feature, beyond what a line of the others tells of it.

    Of trees it is the gain: of columns that say the same, one gets it. Of all others it is how much
    the loss grows when the feature is replaced by what a line of the others says of it.
    """
    if isinstance(model, BoostedTrees):
        gains = model.gains()
        return np.array([gains[unit].sum() for unit in units])
    asked = np.unique(np.linspace(0, len(X) - 1, ROWS_ASKED).astype(np.intp))
    y, some = fit.table.y[rows[asked]], X[asked]
    loss = fit.family.losses(model.predict(some), y)
    left = _left(some - X.mean(axis=0), _precision(X), units)
    needs = np.zeros(len(units))
    for u, unit in enumerate(units):
        replaced = model.predict_replaced(some, unit, (some[:, unit] - left[:, unit])[np.newaxis])
        needs[u] = np.average(fit.family.losses(replaced[0], y) - loss)
    return np.maximum(needs, 0.0)


def _least_needed(
    features: Sequence[int],
    needs: Array,
    X: Array,
    units: Sequence[Indices],
    ranks: Sequence[int],
    n: int,
) -> list[int]:
    """Return the features that go, one after the other.

    Where several go at once, what one of them told is needed more of the others: the need of a
    feature grows with what is left of it given those that stay. Of features that say the same the
    one that comes last goes first.
    """
    if n == 1:
        left = np.ones(len(features))
        return [features[_first(features, needs, left, ranks)]]
    there = list(range(len(features)))
    going: list[int] = []
    precision, columns = _precision(X), np.arange(X.shape[1])
    alone = _variances_left(precision, columns, units, there)
    while len(going) < n:
        left = _variances_left(precision, columns, units, there) / alone[there]
        own, rank = [features[i] for i in there], [ranks[i] for i in there]
        i = there.pop(_first(own, needs[there], left, rank))
        going.append(features[i])
        gone = np.isin(columns, units[i])
        precision, columns = _without(precision, gone), columns[~gone]
    return going


def _rank(feature: int, ids: frozenset[int], last: frozenset[int]) -> int:
    """Return when a feature goes, whatever it is needed for: an identifier of rows at once."""
    return 2 if feature in last else int(feature not in ids)


def _first(features: Sequence[int], needs: Array, left: Array, ranks: Sequence[int]) -> int:
    """Return the place of the feature that goes first: of those of a rank, that needed least."""
    order = list(zip(ranks, needs * left, (-f for f in features), strict=True))
    return min(range(len(order)), key=order.__getitem__)


def _left(centred: Array, precision: Array, units: Sequence[Indices]) -> Array:
    """Return what a line of all other features leaves of the parts of each."""
    out = centred @ precision / precision.diagonal()
    for unit in units:
        if len(unit) > 1:
            own = precision[np.ix_(unit, unit)]
            out[:, unit] = centred @ precision[:, unit] @ np.linalg.inv(own)
    return np.asarray(out)


def _variances_left(
    precision: Array, columns: Indices, units: Sequence[Indices], there: Sequence[int]
) -> Array:
    """Return the variance of each feature that the other columns leave, summed over its parts."""
    out, alone = np.empty(len(there)), 1 / precision.diagonal()
    for k, i in enumerate(there):
        own = np.searchsorted(columns, units[i])
        single = len(own) == 1
        out[k] = alone[own[0]] if single else np.linalg.inv(precision[np.ix_(own, own)]).trace()
    return out


def _without(precision: Array, gone: Mask) -> Array:
    """Return the precision matrix of the columns that stay."""
    cross = precision[np.ix_(gone, ~gone)]
    inner = np.linalg.solve(precision[np.ix_(gone, gone)], cross)
    return np.asarray(precision[np.ix_(~gone, ~gone)] - cross.T @ inner)


def _precision(X: Array) -> Array:
    """Return the inverse of the covariance matrix."""
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / len(X)
    covariance[np.diag_indices_from(covariance)] += RIDGE
    return np.asarray(np.linalg.inv(covariance))
