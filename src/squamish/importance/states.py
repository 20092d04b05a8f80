"""Features of few values: the probability of each value given all other columns.

A category, a flag or a small count is drawn from what multinomial logistic regression says of it,
cross-fitted. All its values can be gone through, so that nothing is left to chance: predictions,
errors and losses without the feature are expectations.

References
----------
E. Candes, Y. Fan, L. Janson and J. Lv: "Panning for gold: model-X knockoffs for high dimensional
controlled variable selection", JRSS B 80 (2018), on conditional randomisation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Fold, Indices
from squamish.families import family_of
from squamish.importance.imputation import (
    LEAST_IN_LEAF,
    TREES_TO_IMPUTE,
    level_means,
    smooth,
)
from squamish.models.crossfit import CrossFit
from squamish.models.folds import covering
from squamish.models.learners import View
from squamish.models.multinomial import Multinomial, multinomial_path
from squamish.models.trees import train_trees
from squamish.table.parts import LEAST_ROWS, MOST_LEVELS

# Inverse penalties of coefficients of standardised columns, from heavy ones to next to none: what
# the others determine must have probabilities of next to 1.
STRENGTHS = (0.1, 1.0, 10.0, 1000.0)
# No probability is below this: a value that occurs at all can occur anywhere.
LEAST_PROBABILITY = 1e-4
_CLASSES = family_of("classification")


@dataclass(frozen=True, eq=False)
class States:
    """A feature of few values, and how likely each is given the other columns.

    Attributes
    ----------
    values : ndarray of shape (n_states, n_columns)
        What the parts of the feature are in each state, as a learner sees them.
    codes : ndarray of int of shape (n_samples,)
        The state of every row.
    probabilities : ndarray of shape (n_samples, n_states)
        Those of every state given the other columns, out of sample.
    """

    values: Array
    codes: Indices
    probabilities: Array

    @property
    def observed(self) -> Array:
        """Which state every row is in, as zeros and ones."""
        return np.eye(len(self.values))[self.codes]


def few_states(fit: CrossFit, view: View, columns: Indices) -> tuple[Array, Indices] | None:
    """Return the states of some parts, and that of every row; None if they are not few."""
    if columns.max() >= len(fit.parts.feature):
        # Encodings of many levels differ from fold to fold.
        return None
    X = fit.matrix(view, 0)[:, columns]
    # A first look at some rows, as most columns have many values.
    if len(np.unique(X[:: max(1, len(X) // 1000)], axis=0)) > MOST_LEVELS:
        return None
    values, codes, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    if not 2 <= len(values) <= MOST_LEVELS or counts.min() < LEAST_ROWS:
        return None
    return values, codes.reshape(-1)


def states_given_others(
    fit: CrossFit, view: View, context: Indices, units: Sequence[Indices]
) -> list[States | None]:
    """Return how likely the states of units are given the rest of a context; None if many.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    view : {"plain", "ranked"}
        How a learner sees the units.
    context : ndarray of int
        The parts that units are told by, in ascending order; the units are among them.
    units : sequence of ndarray of int
        Parts that belong together.
    """
    found = [few_states(fit, view, unit) for unit in units]
    asked = [i for i, states in enumerate(found) if states is not None]
    jobs = [(context, units[i], states) for i, states in enumerate(found) if states is not None]
    fit.workers.reporter.expect(len(jobs))
    out: list[States | None] = [None] * len(units)
    for i, job, probabilities in zip(asked, jobs, fit.run(_probabilities, jobs), strict=True):
        out[i] = States(*job[2], probabilities)
    return out


def _probabilities(
    fit: CrossFit, job: tuple[Indices, Indices, tuple[Array, Indices]], _: np.random.Generator
) -> Array:
    """Predict the states of a unit out of sample, with the penalty that is best in one fold."""
    context, unit, (values, codes) = job
    Z = _seen(fit, np.setdiff1d(context, unit))
    folds = covering(fit.folds, len(codes))
    out = np.tile(np.bincount(codes, minlength=len(values)) / len(codes), (len(codes), 1))
    strengths: Sequence[float] = STRENGTHS
    for train, test in folds if Z.shape[1] else ():
        path = multinomial_path(Z[train], codes[train], len(values), strengths)
        strength, out[test] = _best_of_path(
            zip(strengths, path, strict=False), Z[test], codes[test]
        )
        strengths = (strength,)
    return _normalised(out)


def _best_of_path(
    path: Iterator[tuple[float, Multinomial]], Z: Array, codes: Indices
) -> tuple[float, Array]:
    """Follow a path as long as it gets better; return where that ends, and what it predicts."""
    strength, model = next(path)
    best = model.predict(Z)
    for weaker, model in path:
        predicted = model.predict(Z)
        if _log_loss(predicted, codes) >= _log_loss(best, codes):
            break
        strength, best = weaker, predicted
    return strength, best


def _seen(fit: CrossFit, columns: Indices) -> Array:
    """Return parts as they are, and the ranks of those that have more than two values."""
    columns = columns[columns < len(fit.parts.feature)]
    plain = fit.parts.plain[:, columns]
    low, high = plain.min(axis=0), plain.max(axis=0)
    many = ~((plain == low) | (plain == high)).all(axis=0)
    return np.hstack([plain, fit.parts.ranked[:, columns[many]]])


def improved_probabilities(
    states: States, others: Array, levels: Sequence[Indices], folds: Sequence[Fold]
) -> Array:
    """Return probabilities of states by trees, curves or categories, if these tell them better.

    Parameters
    ----------
    states : States
        As they are told by logistic regression.
    others : ndarray of shape (n_samples, n_others)
        What tells them.
    levels : sequence of ndarray of int
        Categories of many levels, which may tell them as well.
    folds : sequence of (train, test)
        Row numbers.
    """
    tested = np.unique(np.concatenate([test for _, test in folds]))
    folds = covering(folds, len(states.codes))
    candidates = [states.probabilities]
    if others.shape[1] and _tell_more(states, others, folds[:1]):
        candidates += [_by_trees(states, others, folds), _by_curves(states, others, folds)]
    candidates += [_by_levels(states, category, folds) for category in levels]
    return min(candidates, key=lambda p: _log_loss(p[tested], states.codes[tested]))


def _tell_more(states: States, others: Array, folds: Sequence[Fold]) -> bool:
    """Tell whether trees do better in these folds, and so there is more than a line tells."""
    rows = np.concatenate([test for _, test in folds])
    codes, by_trees = states.codes[rows], _by_trees(states, others, folds)[rows]
    return _log_loss(by_trees, codes) < _log_loss(states.probabilities[rows], codes)


def _by_trees(states: States, others: Array, folds: Sequence[Fold]) -> Array:
    """Predict states by boosted trees, in the test rows of these folds."""
    out = np.zeros_like(states.probabilities)
    for train, test in folds:
        trees = train_trees(
            others[train],
            states.codes[train],
            _CLASSES,
            TREES_TO_IMPUTE,
            min_data_in_leaf=LEAST_IN_LEAF,
        )
        out[test] = _CLASSES.tree_prediction(trees.predict(others[test], num_threads=1))
    return _normalised(out)


def _by_curves(states: States, others: Array, folds: Sequence[Fold]) -> Array:
    """Predict states by smooth functions of few columns, out of sample."""
    return _normalised(np.column_stack([smooth(others, x, folds) for x in states.observed.T]))


def _by_levels(states: States, category: Indices, folds: Sequence[Fold]) -> Array:
    """Predict states by their shares in every level of a category, out of sample."""
    shares = [level_means(category, x, folds) for x in states.observed.T]
    return _normalised(np.column_stack(shares))


def _normalised(probabilities: Array) -> Array:
    """Bound probabilities from below, and let those of a row add up to 1."""
    bounded = np.maximum(probabilities, LEAST_PROBABILITY)
    return np.asarray(bounded / bounded.sum(axis=1, keepdims=True))


def _log_loss(probabilities: Array, codes: Indices) -> float:
    own = probabilities[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(own, LEAST_PROBABILITY)).mean())
