"""Features of few values: how likely each is, and tests that know it."""

import numpy as np
import pytest

from squamish.importance.conditional import conditional_importance
from squamish.importance.states import (
    States,
    few_states,
    states_given_others,
    trees_tell_more,
)
from squamish.models.crossfit import CrossFit
from squamish.models.learners import BuiltIn
from squamish.table.table import Table

LINEAR = BuiltIn("linear", "plain", 1.0)


def cross_fit(X, y, task="classification", **more):
    table = Table(np.asarray(X, dtype=float), y, task, **more)
    return CrossFit.over(table, 5, np.random.default_rng(0))


def flags(rng, n, d):
    return (rng.random((n, d)) < 0.4).astype(float)


def p_values(fit):
    columns = np.arange(len(fit.parts.feature))
    units = [np.array([k]) for k in columns]
    found = conditional_importance(fit, LINEAR, columns, columns, units, np.random.default_rng(0))
    return found.p_values


def test_only_a_few_values_each_in_some_rows_are_states():
    rng = np.random.default_rng(0)
    X = np.column_stack([flags(rng, 300, 1), rng.integers(0, 12, 300), rng.integers(0, 13, 300)])
    X = np.column_stack([X, rng.standard_normal(300), np.arange(300) < 3])
    fit = cross_fit(X, rng.integers(0, 2, 300))
    found = [few_states(fit, "plain", np.array([k])) for k in range(5)]
    assert [None if states is None else len(states[0]) for states in found] == [
        2,
        12,
        None,
        None,
        None,
    ]


def test_probabilities_are_those_given_the_other_columns():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 3, 2000)
    second = np.where(rng.random(2000) < 0.8, first, rng.integers(0, 3, 2000))
    fit = cross_fit(np.column_stack([first == 1, first == 2, second]), rng.integers(0, 2, 2000))
    (found,) = states_given_others(fit, "plain", np.arange(3), [np.array([2])])
    # 0.8 for the same value, and a third of the rest for each.
    for value in range(3):
        shares = found.probabilities[first == value].mean(axis=0)
        expected = np.full(3, 0.2 / 3) + 0.8 * (np.arange(3) == value)
        assert shares == pytest.approx(expected, abs=0.03)


def test_trees_tell_more_where_logistic_regression_cannot():
    rng = np.random.default_rng(2)
    X = flags(rng, 600, 4)
    X[:, 2] = X[:, 0] != X[:, 1]
    X[:, 3] = np.where(rng.random(600) < 0.8, X[:, 0], X[:, 3])
    fit = cross_fit(X, rng.integers(0, 2, 600))
    product, line = states_given_others(fit, "plain", np.arange(4), [np.array([2]), np.array([3])])
    others = np.column_stack([X[:, :2], rng.standard_normal((600, 6))])
    assert trees_tell_more(product, others, fit.folds)
    assert not trees_tell_more(line, others, fit.folds)
    assert not trees_tell_more(product, X[:, :0], fit.folds)


@pytest.mark.parametrize("n_states", [2, 3])
def test_a_state_that_no_training_row_has_is_no_obstacle(n_states):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, n_states - 1, 300)
    codes[:60] = n_states - 1
    probabilities = np.full((300, n_states), 1 / n_states)
    states = States(np.arange(n_states, dtype=float)[:, np.newaxis], codes, probabilities)
    folds = [(np.arange(60, 300), np.arange(60))]
    assert not trees_tell_more(states, rng.standard_normal((300, 2)), folds)


def test_columns_that_tell_nothing_are_not_believed():
    rng = np.random.default_rng(4)
    X = np.column_stack([flags(rng, 150, 1), rng.standard_normal((150, 40))])
    fit = cross_fit(X, rng.integers(0, 2, 150))
    (found,) = states_given_others(fit, "plain", np.arange(41), [np.array([0])])
    assert found.probabilities == pytest.approx(np.tile(found.probabilities[0], (150, 1)))


def test_the_level_holds_beside_what_others_tell_of_a_flag():
    below = 0
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        X = flags(rng, 300, 4)
        X[:, 1] = np.where(rng.random(300) < 0.85, X[:, 0], X[:, 1])
        y = (rng.random(300) < 0.1 + 0.7 * X[:, 0]).astype(int)
        below += int((p_values(cross_fit(X, y))[1:] <= 0.05).sum())
    # Of 180 tests, 9 are expected, and 18 or more have a probability of 0.4%.
    assert below <= 17


def test_what_matters_in_a_handful_of_rows_is_found():
    found = 0
    for seed in range(10):
        rng = np.random.default_rng([5, seed])
        X = flags(rng, 500, 3)
        X[:, 2] = np.arange(500) < 16
        X = X[rng.permutation(500)]
        y = (rng.random(500) < np.where(X[:, 2] == 1, 0.9, 0.04)).astype(int)
        found += p_values(cross_fit(X, y))[2] < 1e-6
    assert found == 10


def test_rows_that_belong_together_are_not_drawn_one_by_one():
    # A flag of ten clusters that happens to go with the target of whole clusters.
    rng = np.random.default_rng(6)
    of_cluster = np.repeat(np.arange(10), 40)
    X = np.column_stack([np.isin(of_cluster, [0, 1, 2, 3]), flags(rng, 400, 2)])
    y = np.isin(of_cluster, [0, 1, 2, 7]).astype(int)
    together = p_values(cross_fit(X, y, clusters=of_cluster))[0]
    assert together > 0.001 > p_values(cross_fit(X, y))[0]
