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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from squamish.arrays import Array, Fold, Indices
from squamish.families import family_of
from squamish.importance.imputation import (
    MUCH,
    check_trees,
    leading_columns,
    thinned,
)
from squamish.importance.regression import BEATS_MEAN
from squamish.models.crossfit import CrossFit
from squamish.models.folds import covering
from squamish.models.learners import View
from squamish.models.multinomial import ROUGHLY, Multinomial, multinomial_path
from squamish.models.trees import N_BINS, N_LEAVES
from squamish.table.parts import LEAST_ROWS, MOST_LEVELS

# Inverse penalties of coefficients of standardised columns, from heavy ones to next to none: what
# the others determine must have probabilities of next to 1.
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0, 1000.0)
# Penalties are compared on so many rows: they stand for how large coefficients are, which does not
# change with the number of rows, and steps of ten are told apart by fewer.
MOST_COMPARED = 5000
# Probabilities are bounded from below in log losses, so that single rows do not decide.
LEAST_PROBABILITY = 1e-4
# A value that occurs at all can occur anywhere: in so many rows of the whole table, if never seen.
NEVER = 0.01
# Trees that are better or worse by so many standard errors will stay so in the folds that are left.
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
    answers = fit.run(_probabilities, jobs, lambda job: len(job[2][0]))
    for i, job, probabilities in zip(asked, jobs, answers, strict=True):
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
    best: tuple[float, Multinomial] | None = None
    for train, test in folds if Z.shape[1] else ():
        if best is None:
            some = thinned(train, MOST_COMPARED)
            found = multinomial_path(
                Z[some], codes[some], len(values), STRENGTHS, tolerance=ROUGHLY
            )
            path = zip(STRENGTHS, found, strict=False)
            best = _best_of_path(shares, path, Z[test], codes[test])
        if best is None:
            # The others tell nothing of it.
            break
        strength, near = best
        rows = Z[train], codes[train], len(values)
        out[test] = next(multinomial_path(*rows, [strength], near)).predict(Z[test])
    return _normalised(out)


def _best_of_path(
    shares: Array, path: Iterator[tuple[float, Multinomial]], Z: Array, codes: Indices
) -> tuple[float, Multinomial] | None:
    """Follow a path as long as it gets better; return the strength and the model where that ends.

    None if no step is better than shares that look at no column.
    """
    best: tuple[float, Multinomial] | None = None
    least = BEATS_MEAN * _log_loss(np.tile(shares, (len(codes), 1)), codes)
    for strength, model in path:
        loss = _log_loss(model.predict(Z), codes)
        if loss >= least and best is not None:
            break
        if loss < least:
            best, least = (strength, model), loss
    return best


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
    near these, probabilities are too cautious. Boosted trees are asked first. Where what they use
    has more values than they have bins, a single tree, whose steps are at exact places, may know a
    class of a number for certain. It is asked for squared errors, as it is in no doubt where it is
    wrong, and has to take much off them: a little is what other shapes of a curve are worth.
    """
    if others.shape[1] == 0:
        return False
    if _tells_more(states, others, folds, _boosted, _log_losses):
        return True
    near = others[:, _leading(states.codes, others)]
    has_bins = all(len(np.unique(column)) <= N_BINS for column in near.T)
    return not has_bins and _tells_more(states, near, folds, _stepped, _squared_errors, MUCH)


def _tells_more(
    states: States,
    others: Array,
    folds: Sequence[Fold],
    predict: Callable[[Array, Indices, Array], Array],
    losses: Callable[[Array, Indices], Array],
    least: float = 0.0,
) -> bool:
    """Tell whether a model has smaller losses, by more than a share of these.

    One that clearly has, or has not, is not asked on.
    """
    gains = np.zeros(0)
    for train, test in folds:
        known, codes = np.unique(states.codes[train], return_inverse=True)
        found = np.zeros((len(test), len(states.values)))
        found[:, known] = predict(others[train], codes, others[test]) if len(known) > 1 else 1.0
        truth = states.codes[test]
        to_beat = (1 - least) * losses(states.probabilities[test], truth)
        gains = np.append(gains, to_beat - losses(found, truth))
        if abs(gains.mean()) > CLEARLY * gains.std() / np.sqrt(len(gains)):
            break
    return bool(gains.mean() > 0)


def _boosted(X: Array, codes: Indices, other: Array) -> Array:
    """Predict other rows by boosted trees."""
    return check_trees(X, codes, _CLASSES).predict(other)


def _stepped(X: Array, codes: Indices, other: Array) -> Array:
    """Predict other rows by a single tree."""
    tree = DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0).fit(X, codes)
    return np.asarray(tree.predict_proba(other))


def _leading(codes: Indices, others: Array) -> Indices:
    """Return the few columns that boosted trees gain most from."""
    rows = thinned(np.arange(len(codes)))
    states, known = np.unique(codes[rows], return_inverse=True)
    if len(states) < 2:
        # The others are too rare to be among these rows.
        return np.zeros(0, dtype=np.intp)
    return leading_columns(others[rows], known, _CLASSES)


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
