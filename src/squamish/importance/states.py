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
from sklearn.tree import DecisionTreeClassifier

from squamish.arrays import Array, Fold, Indices
from squamish.families import family_of
from squamish.importance.imputation import INPUTS, LEAST_IN_LEAF, TREES_TO_CHECK
from squamish.importance.regression import BEATS_MEAN
from squamish.models.crossfit import CrossFit
from squamish.models.folds import covering
from squamish.models.learners import View
from squamish.models.multinomial import Multinomial, multinomial_path
from squamish.models.trees import N_LEAVES, train_trees
from squamish.table.parts import LEAST_ROWS, MOST_LEVELS

# Inverse penalties of coefficients of standardised columns, from heavy ones to next to none: what
# the others determine must have probabilities of next to 1.
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0, 1000.0)
# Probabilities are bounded from below in log losses, so that single rows do not decide.
LEAST_PROBABILITY = 1e-4
# A value that occurs at all can occur anywhere: in so many rows of the whole table, if never seen.
NEVER = 0.01
# Trees that are worse by so many standard errors will not be better in the folds that are left.
CLEARLY = 2.0
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
    shares = np.bincount(codes, minlength=len(values)) / len(codes)
    out = np.tile(shares, (len(codes), 1))
    strengths: Sequence[float] = STRENGTHS
    for train, test in folds if Z.shape[1] else ():
        path = multinomial_path(Z[train], codes[train], len(values), strengths)
        if len(strengths) == 1:
            out[test] = next(path).predict(Z[test])
            continue
        strength, out[test] = _best_of_path(
            shares, zip(strengths, path, strict=False), Z[test], codes[test]
        )
        if strength == 0:
            # The others tell nothing of it.
            return _normalised(np.tile(shares, (len(codes), 1)))
        strengths = (strength,)
    return _normalised(out)


def _best_of_path(
    shares: Array, path: Iterator[tuple[float, Multinomial]], Z: Array, codes: Indices
) -> tuple[float, Array]:
    """Follow a path as long as it gets better; return where that ends, and what it predicts.

    It begins with shares that look at no column, a strength of 0.
    """
    strength, best = 0.0, np.tile(shares, (len(codes), 1))
    least = BEATS_MEAN * _log_loss(best, codes)
    for weaker, model in path:
        predicted = model.predict(Z)
        loss = _log_loss(predicted, codes)
        if loss >= least and strength > 0:
            break
        if loss < least:
            strength, best, least = weaker, predicted, loss
    return strength, best


def _seen(fit: CrossFit, columns: Indices) -> Array:
    """Return parts as they are, and the ranks of those that have more than two values."""
    columns = columns[columns < len(fit.parts.feature)]
    plain = fit.parts.plain[:, columns]
    low, high = plain.min(axis=0), plain.max(axis=0)
    many = ~((plain == low) | (plain == high)).all(axis=0)
    return np.hstack([plain, fit.parts.ranked[:, columns[many]]])


def trees_tell_more(states: States, others: Array, folds: Sequence[Fold]) -> bool:
    """Tell whether trees predict states better, out of sample.

    Then there is more to know of them than logistic regression says, such as a jump or a product:
    near these, probabilities are too cautious. Boosted trees find out what matters; a single tree
    of these columns, whose steps are at exact places, knows a class of a number for certain, and is
    asked for squared errors, as it is never in doubt where it is wrong. Trees that are clearly
    worse are not asked on.
    """
    if others.shape[1] == 0:
        return False
    better = np.zeros((0, 2))
    for train, test in folds:
        codes, known = states.codes[test], states.probabilities[test]
        boosted, stepped = _by_trees(states, others, (train, test))
        found = (
            _log_losses(known, codes) - _log_losses(boosted, codes),
            _squared_errors(known, codes) - _squared_errors(stepped, codes),
        )
        better = np.vstack([better, np.column_stack(found)])
        if (better.mean(axis=0) < -CLEARLY * better.std(axis=0) / np.sqrt(len(better))).all():
            return False
    return bool((better.mean(axis=0) > 0).any())


def _by_trees(states: States, others: Array, fold: Fold) -> tuple[Array, Array]:
    """Predict the states of the test rows of a fold by boosted trees, and by a single tree."""
    train, test = fold
    known, codes = np.unique(states.codes[train], return_inverse=True)
    boosted, stepped = np.zeros((2, len(test), len(states.values)))
    if len(known) < 2:
        boosted[:, known] = stepped[:, known] = 1.0
        return boosted, stepped
    trees = train_trees(
        others[train], codes, _CLASSES, TREES_TO_CHECK, min_data_in_leaf=LEAST_IN_LEAF
    )
    boosted[:, known] = _CLASSES.tree_prediction(trees.predict(others[test], num_threads=1))
    leading = np.argsort(-trees.feature_importance("gain"), kind="stable")[: INPUTS[-1]]
    tree = DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0)
    tree.fit(others[np.ix_(train, leading)], codes)
    stepped[:, known] = tree.predict_proba(others[np.ix_(test, leading)])
    return boosted, stepped


def _normalised(probabilities: Array) -> Array:
    """Bound probabilities from below, and let those of a row add up to 1."""
    bounded = np.maximum(probabilities, NEVER / len(probabilities))
    return np.asarray(bounded / bounded.sum(axis=1, keepdims=True))


def _log_loss(probabilities: Array, codes: Indices) -> float:
    return float(_log_losses(probabilities, codes).mean())


def _log_losses(probabilities: Array, codes: Indices) -> Array:
    own = probabilities[np.arange(len(codes)), codes]
    return np.asarray(-np.log(np.maximum(own, LEAST_PROBABILITY)))


def _squared_errors(probabilities: Array, codes: Indices) -> Array:
    """Return Brier's score of every row."""
    observed = np.eye(probabilities.shape[1])[codes]
    return np.asarray(np.square(observed - probabilities).sum(axis=1))
