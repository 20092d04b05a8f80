"""Races find the learner that suits a table, and how freely it should fit."""

import numpy as np
import pytest

from squamish.families import family_of
from squamish.models.crossfit import CrossFit
from squamish.models.learners import BuiltIn, fit_together, trained_together
from squamish.models.race import race_portfolio
from squamish.table.table import Table


def raced(X, y, task="regression"):
    family = family_of(task)
    table = Table(X, family.prepared(y), task)
    fit = CrossFit.over(table, 5, np.random.default_rng(0))
    return fit, race_portfolio(fit, np.arange(X.shape[1]))


def checkerboard(noise, n=800, seed=0):
    """Fields of a board, which no formula follows."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, (n, 3))
    fields = (np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2
    return X, fields + 0.3 * X[:, 2] + noise * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
def test_what_cannot_be_negative_is_a_curve_of_a_linear_predictor(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 8))
    y = np.maximum(X @ rng.choice([-2.0, -1.0, 1.0, 2.0], 8), 0) + 0.3 * rng.standard_normal(400)
    fit, race = raced(X, y)
    assert race.learner.kind == "single-index"
    linear = race.best_of("linear")
    assert fit.mean(race.losses) < 0.5 * (fit.mean(race.losses) + race.lags[linear])


@pytest.mark.parametrize("seed", range(5))
def test_a_line_is_not_bent(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 4))
    y = X @ [1.0, 1.0, 0.5, 0.0] + rng.standard_normal(300)
    assert raced(X, y)[1].learner.kind != "single-index"


def test_more_than_two_classes_have_no_curve():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert all(learner.kind != "single-index" for learner in raced(X, y, "classification")[1].lags)


def test_trees_are_boosted_longer_where_less_is_noise():
    rounds = {}
    for noise in (0.0, 0.7):
        learner = raced(*checkerboard(noise))[1].learner
        assert learner.kind == "boosted"
        rounds[noise] = learner.strength
    assert rounds[0.7] <= 50 < 100 < rounds[0.0]


def test_trees_of_fewer_rounds_are_the_beginning_of_those_of_more():
    X, y = checkerboard(0.3, n=200)
    family = family_of("regression")
    learners = [BuiltIn("boosted", strength=n) for n in (50, 25)]
    together, *alone = trained_together([BuiltIn("linear"), *learners])
    assert together == tuple(reversed(learners))
    assert alone == [(BuiltIn("linear"),)]
    models = fit_together(together, X, y, family)
    for learner, model in zip(together, models, strict=True):
        assert np.array_equal(model.predict(X), learner.fit(X, y, family).predict(X))
