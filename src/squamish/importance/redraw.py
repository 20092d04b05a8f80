"""Redrawing columns from their distribution given all other columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from squamish.models.learners import train_trees
from squamish.statistics.scores import normal_scores
from squamish.table.table import Fold

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# A correlation that leaves little doubt of a dependence, and is strong enough to matter.
MUCH = 0.3
# So many rows are enough to see such a dependence, and fewer test rows are not.
MOST_CHECKED, LEAST_CHECKED = 1000, 20
# Ridge penalties for columns of unit variance, as shares of the number of rows.
PENALTIES = np.array([1e-6, 1e-3, 1e-2, 1e-1, 1.0])
# Smooth functions are tried of so many columns, and as wavy as these kernels allow.
INPUTS = (1, 2, 3, 5)
KERNEL_GAMMAS = (0.05, 0.3)
TERM_PENALTIES = np.logspace(-4, 3, 8)
# Models that find a smooth function: trees, then a function for each number of columns and gamma.
SMOOTH_FITS = 1 + len(INPUTS) * len(KERNEL_GAMMAS)


@dataclass(frozen=True, eq=False)
class Residuals:
    """What the other columns leave unexplained of some columns, out of sample.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Column minus its prediction from the columns outside its unit.
    explained : ndarray of shape (n_columns,)
        Share of the variance that is explained; 0 if none is.
    """

    values: Array
    explained: Array


@dataclass(frozen=True, eq=False)
class Form:
    """What values the parts of a unit can take.

    Attributes
    ----------
    low, high : ndarray of shape (n_parts,)
        The two values of a part that has only two; NaN for other parts.
    gap : ndarray of int of shape (n_parts,)
        For a part with missing values, the place in the unit of the part that tells where.
    exclusive : ndarray of int of shape (n_parts,)
        Parts with the same number are levels of one category; -1 for others.
    """

    low: Array
    high: Array
    gap: Rows
    exclusive: Rows


def fold_residuals(seen: Array, target_view: int, units: Sequence[Rows], fold: Fold) -> Array:
    """Predict units of columns from all columns outside them, and return what is left.

    All regressions of a fold come from one matrix: if P is the inverse of the penalised
    covariance, what the others leave unexplained of the columns B is ``P_BB^-1 (P x)_B``.

    Parameters
    ----------
    seen : ndarray of shape (n_samples, n_views, d)
        The same columns, plain and transformed, each standardised; the other columns are seen
        in every view.
    target_view : int
        Which of the views is to be predicted.
    units : sequence of ndarray of int
        The columns of each unit.
    fold : (train, test)
        Row numbers.

    Returns
    -------
    ndarray of shape (n_penalties + 1, n_test, n_columns)
        For every penalty, the last of which is infinite: no regression at all. The columns of
        all units follow each other.
    """
    train, test = fold
    n, n_views, d = seen.shape
    context = seen.reshape(n, n_views * d)
    centred = context[train]
    mean = centred.mean(axis=0)
    centred -= mean
    values, vectors = _spectrum(centred)
    del centred
    held_out = context[test] - mean
    rotated = held_out @ vectors
    left = np.empty((len(PENALTIES) + 1, len(test), sum(map(len, units))))
    for columns, places in _of_one_size(units):
        size = columns.shape[1]
        block = np.hstack([columns + v * d for v in range(n_views)])
        own, target = vectors[block], slice(target_view * size, (target_view + 1) * size)
        for k, penalty in enumerate(PENALTIES):
            # Outside of all directions in which the columns vary there is the penalty alone.
            outside = 1 / penalty if len(values) < len(mean) else 0.0
            weighted = own * (1 / (values + penalty) - outside)
            inner = weighted @ own.transpose(0, 2, 1) + outside * np.eye(block.shape[1])
            precise = (weighted.reshape(-1, len(values)) @ rotated.T).reshape(*block.shape, -1)
            if outside:
                precise += outside * held_out.T[block]
            left[k][:, places] = np.linalg.solve(inner, precise)[:, target].transpose(2, 0, 1)
        left[-1][:, places] = held_out[:, block[:, target]]
    return left


def _of_one_size(units: Sequence[Rows], most: int = 64) -> Iterator[tuple[Rows, Rows]]:
    """Yield the columns of units of the same size, some at a time, and their places in a row.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.importance.redraw import _of_one_size
    >>> [places.tolist() for _, places in _of_one_size([np.array(u) for u in ([7], [3, 5], [4])])]
    [[[0], [3]], [[1, 2]]]
    """
    ends = np.cumsum([len(unit) for unit in units])
    for size in sorted({len(unit) for unit in units}):
        same = [i for i, unit in enumerate(units) if len(unit) == size]
        for start in range(0, len(same), most):
            some = same[start : start + most]
            yield (
                np.array([units[i] for i in some]),
                ends[some, np.newaxis] - np.arange(size, 0, -1),
            )


def best_residuals(
    found: Sequence[Array], units: Sequence[Rows], folds: Sequence[Fold], n_rows: int
) -> list[Residuals]:
    """Join what was found in the folds, with the penalty of the least held-out error."""
    tested = np.zeros(n_rows, dtype=bool)
    tested[np.concatenate([test for _, test in folds])] = True
    parts = [(test, part) for (_, test), part in zip(covering(folds, n_rows), found, strict=True)]
    squares = [np.square(part[:, tested[test]]).sum(axis=1) for test, part in parts]
    error = np.sum(squares, axis=0) / tested.sum()
    # The mean unless it is beaten clearly.
    handicap = np.append(np.ones(len(error) - 1), 0.97)
    choice = (error * handicap[:, np.newaxis]).argmin(axis=0)[np.newaxis]
    explained = 1 - np.take_along_axis(error, choice, axis=0)[0] / np.maximum(error[-1], 1e-12)
    values = np.zeros((n_rows, error.shape[1]))
    for test, part in parts:
        values[test] = np.take_along_axis(part, choice[np.newaxis], axis=0)[0]
    ends = np.cumsum([len(unit) for unit in units])[:-1]
    both = zip(np.split(values, ends, axis=1), np.split(explained, ends), strict=True)
    return [Residuals(own, share) for own, share in both]


def _spectrum(centred: Array) -> tuple[Array, Array]:
    """Return the variances of the directions in which columns vary, and these directions."""
    n, d = centred.shape
    if d <= n:
        values, vectors = np.linalg.eigh(centred.T @ centred / n)
        return np.maximum(values, 0), vectors
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    return np.square(singular) / n, directions.T


def redraw(
    guess: Array, pool: Array, n_draws: int, rng: np.random.Generator, form: Form | None = None
) -> Array:
    """Draw new values: the prediction from the other columns plus the residual of any row.

    A part with two values gets one of them, with the predicted value for a probability, and
    a category one of its levels; what is drawn as missing has no value.
    Returns an array of shape (n_draws, n_samples, n_columns).
    """
    drawn: Array = guess + pool[rng.integers(0, len(pool), (n_draws, len(guess)))]
    if form is None:
        return drawn
    two = np.flatnonzero(~np.isnan(form.low))
    low, high = form.low[two], form.high[two]
    chance = np.clip((guess[:, two] - low) / (high - low), 0, 1)
    levels = _draw_levels(chance, form.exclusive[two], n_draws, rng)
    # The very values, so that a gap is known by them.
    drawn[:, :, two] = np.where(levels > 0, high, low)
    for part in np.flatnonzero(form.gap >= 0):
        missing = drawn[:, :, form.gap[part]] == form.high[form.gap[part]]
        drawn[:, :, part][missing] = 0.0
    return drawn


def _draw_levels(chance: Array, exclusive: Rows, n_draws: int, rng: np.random.Generator) -> Array:
    """Draw zeros and ones with these chances; of exclusive ones exactly one is 1."""
    luck = rng.random((n_draws, *chance.shape))
    out = (luck < chance).astype(float)
    for number in np.unique(exclusive[exclusive >= 0]):
        block = exclusive == number
        if block.sum() == 1:
            continue
        shares = chance[:, block] + 1e-9
        reached = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        first = luck[:, :, [np.argmax(block)]]
        level = (first > reached).sum(axis=2, keepdims=True)
        out[:, :, block] = level == np.arange(block.sum())
    return out


def depends_on_others(leftover: Array, others: Array, folds: Sequence[Fold]) -> bool:
    """Tell whether what is left of a column, or its size, depends much on other columns.

    If so, a redraw that permutes it is not a draw from the right distribution. Asked in
    closed form for sizes, and of boosted trees on one fold for anything else.
    """
    if others.shape[1] == 0:
        return False
    centred = leftover - leftover.mean()
    some = thinned(np.arange(len(centred)))
    sizes = normal_scores(np.column_stack([np.abs(centred), centred])[some])
    spread = normal_scores(np.hstack([others[some], np.abs(others[some])]))
    if np.abs(sizes.T @ spread).max() / len(sizes) > MUCH:
        return True
    train, test = folds[0]
    if len(test) < LEAST_CHECKED:
        rows = np.arange(len(centred))
        train, test = rows[rows % 5 != 0], rows[rows % 5 == 0]
    guess = boosted_guess(others, centred, [(thinned(train), test)], n_trees=40)
    return bool(np.square(centred - guess)[test].mean() < (1 - MUCH) * centred[test].var())


def best_guess(X: Array, target: Array, linear: Array, folds: Sequence[Fold]) -> Array:
    """Predict a column from others out of sample: improve on a linear guess if that is possible.

    Either by steps, added to the linear guess, or by a smooth function.
    """
    if X.shape[1] == 0:
        return linear
    # Rows that are never tested are guessed by models that have seen them.
    tested = np.unique(np.concatenate([test for _, test in folds]))
    folds = covering(folds, len(target))
    stepwise = linear + boosted_guess(X, target - linear, folds)
    guesses = (linear, stepwise, smooth_guess(X, target, folds))
    return min(guesses, key=lambda guess: float(np.square(target - guess)[tested].mean()))


def boosted_guess(X: Array, target: Array, folds: Sequence[Fold], n_trees: int = 80) -> Array:
    """Predict a column from others by boosted trees, in the test rows of these folds."""
    guess = np.zeros(len(target))
    for train, test in folds:
        booster = train_trees(X[train], target[train], "regression", n_trees, min_data_in_leaf=5)
        guess[test] = booster.predict(X[test], num_threads=1)
    return guess


def smooth_guess(X: Array, target: Array, folds: Sequence[Fold]) -> Array:
    """Predict a column by a smooth function of a few others, in the test rows of these folds."""
    smooth = fit_smooth(X, target)
    X = X[:, smooth.columns]
    guess = np.zeros(len(target))
    for train, test in folds:
        some = thinned(train)
        guess[test] = fit_terms(X[some], target[some], smooth.model.gamma).predict(X[test])
    return guess


@dataclass(frozen=True, eq=False)
class Smooth:
    """A smooth function of few columns that comes close to another column.

    Attributes
    ----------
    columns : ndarray of int
        What it is a function of, the most telling first.
    explained : float
        Share of the variance that it explains, each row predicted from the others.
    model : Terms
        The fitted function.
    """

    columns: Rows
    explained: float
    model: Terms


def fit_smooth(X: Array, target: Array) -> Smooth:
    """Find a smooth function of the columns that boosted trees use most.

    Trees find out which columns matter, but come close to a smooth function only slowly.
    A kernel does so with few rows, if it sees little else than the columns that matter.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.importance.redraw import fit_smooth
    >>> X = np.random.default_rng(0).standard_normal((300, 6))
    >>> smooth = fit_smooth(X, np.sin(2 * X[:, 4]) + X[:, 1] ** 2)
    >>> sorted(smooth.columns.tolist()), round(smooth.explained, 2)
    ([1, 4], 1.0)
    """
    rows = thinned(np.arange(len(target)))
    X, target = X[rows], target[rows]
    gain = train_trees(X, target, "regression", 40, min_data_in_leaf=5).feature_importance("gain")
    order = np.argsort(-gain, kind="stable")
    sizes = [size for size in INPUTS if size <= len(order)]
    return max(
        (smooth_function(X, target, order[:size]) for size in sizes),
        key=lambda smooth: smooth.explained,
    )


def smooth_function(X: Array, target: Array, columns: Rows) -> Smooth:
    """Fit a smooth function of these columns, as wavy as fits best."""
    models = [fit_terms(X[:, columns], target, gamma) for gamma in KERNEL_GAMMAS]
    variance = max(float(target.var()), 1e-12)
    found = [Smooth(columns, 1 - model.error / variance, model) for model in models]
    return max(found, key=lambda smooth: smooth.explained)


@dataclass(frozen=True, eq=False)
class Terms:
    """A function of few columns: a quadratic one plus waves around some of the rows.

    Attributes
    ----------
    centres : ndarray of shape (n_centres, n_columns)
        The rows around which there are waves.
    gamma : float
        How narrow they are.
    mixing : ndarray of shape (n_centres, n_centres)
        Makes independent terms of them.
    weights, intercept : ndarray and float
        What the terms count.
    error : float
        Mean squared error, each row predicted from the others.
    """

    centres: Array
    gamma: float
    mixing: Array
    weights: Array
    intercept: float
    error: float

    def predict(self, X: Array) -> Array:
        """Return the value of the function in every row."""
        terms = _terms(X, self.centres, self.gamma, self.mixing)
        return np.asarray(terms @ self.weights + self.intercept)


def fit_terms(X: Array, target: Array, gamma: float) -> Terms:
    """Fit a smooth function by ridge regression, with the penalty that predicts best.

    A pipeline of scikit-learn's Nystroem and RidgeCV does the same, but takes many times as
    long for tables this small, and this is done for every column.
    """
    centres = X[np.random.default_rng(0).permutation(len(X))[: min(200, len(X) // 3)]]
    values, vectors = np.linalg.eigh(_waves(centres, centres, gamma))
    mixing = vectors / np.sqrt(np.maximum(values, 1e-12)) @ vectors.T
    terms = _terms(X, centres, gamma, mixing)
    mean, scale = terms.mean(axis=0), np.maximum(terms.std(axis=0), 1e-12)
    Z, y = (terms - mean) / scale, target - target.mean()
    values, vectors = np.linalg.eigh(Z.T @ Z)
    kept = values > 1e-9 * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    rotated = Z @ vectors
    moment = rotated.T @ y
    best, error = TERM_PENALTIES[0], np.inf
    for penalty in TERM_PENALTIES:
        # A row's own weight in its prediction; without it, it is predicted from the others.
        own = 1 / len(y) + np.square(rotated) @ (1 / (values + penalty))
        left = (y - rotated @ (moment / (values + penalty))) / np.maximum(1 - own, 1e-9)
        if np.square(left).mean() < error:
            best, error = penalty, float(np.square(left).mean())
    weights = vectors @ (moment / (values + best)) / scale
    return Terms(centres, gamma, mixing, weights, float(target.mean() - mean @ weights), error)


def _terms(X: Array, centres: Array, gamma: float, mixing: Array) -> Array:
    left, right = np.triu_indices(X.shape[1])
    return np.hstack([X, X[:, left] * X[:, right], _waves(X, centres, gamma) @ mixing])


def _waves(X: Array, centres: Array, gamma: float) -> Array:
    """Return a bell curve around every centre."""
    squares = np.square(X).sum(axis=1)[:, np.newaxis] + np.square(centres).sum(axis=1)
    return np.asarray(np.exp(-gamma * np.maximum(squares - 2 * X @ centres.T, 0)))


def covering(folds: Sequence[Fold], n_rows: int) -> list[Fold]:
    """Return folds in which every row is predicted.

    Rows that no fold tests, such as the first of a time-ordered split, join the last one:
    models are trained on their values, so that they must have some.
    """
    train, test = folds[-1]
    untested = np.setdiff1d(np.arange(n_rows), np.concatenate([rows for _, rows in folds]))
    return [*folds[:-1], (train, np.concatenate([test, untested]))]


def thinned(rows: Rows) -> Rows:
    """Return rows from everywhere, at most so many that models of a column stay cheap.

    Rows are sorted by the target, so the first ones would not do.
    """
    return rows[:: max(1, len(rows) // MOST_CHECKED)]
