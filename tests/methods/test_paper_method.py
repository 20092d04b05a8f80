"""Algorithms 1 and 2 of the paper, held against its text."""

import numpy as np
import pytest

from squamish import PaperMethod, RelevanceSelector
from squamish.compatibility import BorutaWithShadows
from squamish.datasets import make_linear, make_regression
from squamish.methods import paper
from squamish.models.forests import absolute_loss, fit_forest
from squamish.statistics.prediction import prediction_interval
from squamish.table.table import Table


@pytest.fixture(scope="module")
def problem():
    return make_linear(
        300, n_strong=2, group_sizes=[5], n_irrelevant=4, shuffle=True, random_state=0
    )


@pytest.fixture(scope="module")
def fitted(problem):
    return RelevanceSelector("paper", random_state=0).fit(problem.X, problem.y)


def test_strong_weak_and_irrelevant_features_are_told_apart(problem, fitted):
    assert fitted.relevance_classes_.tolist() == problem.classes.tolist()


def test_sets_are_nested_as_the_paper_says(fitted):
    evidence, classes = fitted.result_.evidence, fitted.relevance_classes_
    assert np.array_equal(classes > 0, evidence.all_relevant)
    assert not np.any(evidence.minimal & ~evidence.all_relevant)
    assert not np.any((classes == 2) & ~evidence.minimal)


def test_minimal_set_holds_what_exceeds_the_shadow_threshold(fitted):
    evidence = fitted.result_.evidence
    above = evidence.importances > evidence.importance_interval.upper
    assert np.array_equal(evidence.minimal, above & evidence.all_relevant)


def test_strong_means_a_loss_above_the_interval(fitted):
    evidence, classes = fitted.result_.evidence, fitted.relevance_classes_
    assert np.array_equal(np.isnan(evidence.removal_loss), ~evidence.minimal)
    assert np.array_equal(classes == 2, evidence.removal_loss > evidence.loss_interval.upper)


def test_a_better_model_without_the_feature_does_not_make_it_strong(problem, monkeypatch):
    monkeypatch.setattr(paper, "_loss_without", lambda *_: -1.0)
    selector = RelevanceSelector("paper", random_state=0).fit(problem.X, problem.y)
    evidence = selector.result_.evidence
    assert np.all(evidence.removal_loss[evidence.minimal] < evidence.loss_interval.lower)
    assert 2 not in selector.relevance_classes_


def test_one_seed_leaves_the_chance_of_a_forest_out_of_the_intervals(problem, fitted):
    one = RelevanceSelector(PaperMethod(one_seed=True), random_state=0)
    with_one = one.fit(problem.X, problem.y).result_.evidence
    with_many = fitted.result_.evidence
    assert np.array_equal(with_one.all_relevant, with_many.all_relevant)
    assert np.std(with_one.loss_interval.samples) < np.std(with_many.loss_interval.samples)


def test_the_seed_of_a_forest_is_drawn_unless_it_is_given(problem):
    table = Table(problem.X, problem.y, "classification")
    bagging = {"subsample": 0.5, "subsample_freq": 1}
    rngs = [np.random.default_rng(k) for k in range(2)]
    drawn = [fit_forest(table, rng, **bagging).loss for rng in rngs]
    given = [fit_forest(table, rng, random_state=3, **bagging).loss for rng in rngs]
    assert drawn[0] != drawn[1]
    assert given[0] == given[1]


def test_all_samples_are_kept_and_give_the_intervals(fitted):
    evidence = fitted.result_.evidence
    for interval in (evidence.importance_interval, evidence.loss_interval):
        again = prediction_interval(interval.samples, 1e-6)
        assert len(interval.samples) == 50
        assert (interval.lower, interval.upper) == (again.lower, again.upper)


def test_boruta_drops_a_rejected_feature_from_later_rounds(problem, fitted):
    history = fitted.result_.evidence.boruta_history
    assert history.shape[1] == problem.X.shape[1]
    gone = np.isnan(history)
    assert np.array_equal(gone, np.maximum.accumulate(gone, axis=0))
    assert not gone[:, fitted.support_].any()


def test_fits_are_counted(fitted):
    evidence = fitted.result_.evidence
    expected = len(evidence.boruta_history) + 50 + 1 + 50 + evidence.minimal.sum()
    assert evidence.n_fits == expected


def test_forests_have_the_parameters_of_the_paper(problem, monkeypatch):
    made = []
    original = paper.lightgbm_model

    def recorded(family, **params):
        made.append(params)
        return original(family, **params)

    monkeypatch.setattr(paper, "lightgbm_model", recorded)
    monkeypatch.setattr("squamish.models.forests.lightgbm_model", recorded)
    RelevanceSelector("paper", random_state=0).fit(problem.X, problem.y)

    common = dict(num_leaves=32, max_depth=5, boosting_type="rf", subsample=0.632, subsample_freq=1)
    assert all(common.items() <= params.items() for params in made)
    assert [params["colsample_bytree"] for params in made[:1]] == [0.1]
    assert {params["colsample_bytree"] for params in made[1:]} == {0.8}
    assert len({params["random_state"] for params in made[1:]}) == len(made) - 1


def test_every_parameter_reaches_the_forests_and_boruta(problem, monkeypatch):
    settings = dict(
        n_estimators=7,
        num_leaves=8,
        max_depth=3,
        bagging_fraction=0.5,
        bagging_freq=2,
        min_child_samples=9,
        feature_fraction=0.7,
        boruta_feature_fraction=0.3,
        boruta_n_estimators=6,
        boruta_perc=90,
        boruta_alpha=0.2,
        boruta_max_iter=5,
        n_null_samples=4,
        p=0.01,
    )
    boruta = []
    original = BorutaWithShadows.fit
    monkeypatch.setattr(
        BorutaWithShadows, "fit", lambda self, X, y: boruta.append(self) or original(self, X, y)
    )
    selector = RelevanceSelector(PaperMethod(**settings), random_state=0)
    evidence = selector.fit(problem.X, problem.y).result_.evidence

    forest = boruta[0].estimator.get_params()
    assert (boruta[0].perc, boruta[0].alpha, boruta[0].max_iter) == (90, 0.2, 5)
    assert (forest["n_estimators"], forest["colsample_bytree"]) == (6, 0.3)
    assert (forest["num_leaves"], forest["max_depth"], forest["min_child_samples"]) == (8, 3, 9)
    assert (forest["subsample"], forest["subsample_freq"]) == (0.5, 2)
    assert len(evidence.importance_interval.samples) == 4
    assert evidence.importance_interval.p == 0.01


def test_permuted_feature_is_a_real_column_in_another_order():
    X = np.arange(60.0).reshape(20, 3)
    table = Table(X, np.arange(20.0), "regression")
    drawn = [paper.generate_permuted_feature(table, np.random.default_rng(s)) for s in range(40)]
    sources = {int(column[0]) % 3 for column in drawn}
    assert sources == {0, 1, 2}
    for column in drawn:
        assert np.array_equal(np.sort(column), np.sort(X[:, int(column[0]) % 3]))
    assert not np.array_equal(drawn[0], np.sort(drawn[0]))
    assert np.array_equal(X, np.arange(60.0).reshape(20, 3))


def test_loss_is_the_mean_absolute_deviation():
    amounts = Table(np.zeros((3, 1)), np.array([1.0, 2.0, 6.0]), "regression")
    assert absolute_loss(np.array([1.5, 2.0, 4.0]), amounts) == pytest.approx(2.5 / 3)
    labels = Table(np.zeros((2, 1)), np.array([0, 2]), "classification")
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4]])
    assert absolute_loss(probabilities, labels) == pytest.approx((0.3 + 0.6) / 2)


def test_loss_of_two_classes_agrees_with_that_of_many():
    labels = Table(np.zeros((3, 1)), np.array([0, 1, 1]), "classification")
    ones = np.array([0.2, 0.9, 0.4])
    both = np.column_stack([1 - ones, ones])
    assert absolute_loss(ones, labels) == pytest.approx(absolute_loss(both, labels))


@pytest.mark.parametrize(
    ("y", "task", "loss"),
    [
        (np.array([0, 0, 0, 1]), "classification", (3 * 0.25 + 0.75) / 4),
        (np.array([0.0, 2.0, 4.0, 6.0]), "regression", 2.0),
    ],
)
def test_a_model_without_features_predicts_the_constant(y, task, loss):
    table = Table(np.empty((4, 0)), y, task)
    assert fit_forest(table, np.random.default_rng(0)).loss == pytest.approx(loss)


def test_the_only_relevant_feature_is_strong():
    problem = make_linear(300, n_strong=1, n_irrelevant=5, random_state=1)
    selector = RelevanceSelector("paper", random_state=0).fit(problem.X, problem.y)
    assert selector.relevance_classes_.tolist() == [2, 0, 0, 0, 0, 0]


def test_regression_finds_the_weighted_columns():
    problem = make_regression(400, n_strong=2, group_sizes=[5], n_irrelevant=4, random_state=0)
    selector = RelevanceSelector("paper", random_state=0).fit(problem.X, problem.y)
    assert selector.result_.task == "regression"
    assert selector.relevance_classes_.tolist() == problem.classes.tolist()


def test_many_classes_of_any_label_type():
    X = np.random.default_rng(0).standard_normal((300, 4))
    codes = np.digitize(X[:, 0] + X[:, 1], [-0.6, 0.6])
    method = PaperMethod(n_null_samples=10, n_estimators=30)
    losses = []
    for labels in (["a", "b", "c"], [10, 20, 30], [-1.0, 0.0, 1.0]):
        selector = RelevanceSelector(method, random_state=0).fit(X, np.array(labels)[codes])
        assert selector.support_.tolist() == [True, True, False, False]
        losses.append(selector.result_.evidence.removal_loss[:2].tolist())
    assert losses[0] == losses[1] == losses[2]


def test_missingness_that_carries_the_signal_is_relevant():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = rng.integers(0, 2, 300)
    X[y == 1, 2] = np.nan
    X[rng.random(300) < 0.3, 3] = np.nan
    selector = RelevanceSelector("paper", random_state=0).fit(X, y)
    assert selector.relevance_classes_.tolist() == [0, 0, 2, 0]
