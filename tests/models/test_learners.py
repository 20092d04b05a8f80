from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from squamish.datasets import make_linear
from squamish.families import family_of
from squamish.models.crossfit import CrossFit, Trial
from squamish.models.learners import BuiltIn, portfolio
from squamish.models.race import predictions_while, race, sharing_bins, trials_below
from squamish.statistics.paired import paired_test
from squamish.table.table import Table

AMOUNTS = family_of("regression")


def data(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2]
    if n_classes == 0:
        return X, score, family_of("regression")
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.digitize(score, cuts), family_of("classification")


# A curve has one linear predictor.
@pytest.mark.parametrize(
    ("kind", "n_classes"),
    [
        *product(("linear", "quadratic", "boosted"), (0, 2, 3)),
        ("single-index", 0),
        ("single-index", 2),
    ],
)
@pytest.mark.parametrize("columns", [[1], [0, 2]])
def test_prediction_with_replaced_values_is_that_of_the_table_with_other_values(
    kind, n_classes, columns
):
    X, y, family = data(n_classes)
    model = BuiltIn(kind).fit(X, y, family)
    values = np.random.default_rng(1).standard_normal((3, 150, len(columns)))
    replaced = model.predict_replaced(X, np.array(columns), values)
    for draw, prediction in zip(values, replaced, strict=True):
        changed = X.copy()
        changed[:, columns] = draw
        assert prediction == pytest.approx(model.predict(changed), abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["linear", "quadratic", "boosted"])
def test_probabilities_sum_to_one(kind, n_classes):
    X, y, family = data(n_classes)
    probabilities = BuiltIn(kind).fit(X, y, family).predict(X)
    assert probabilities.shape == (150, n_classes)
    assert probabilities.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_products_are_learned_by_the_quadratic_learner(n_classes):
    X, y, family = data(n_classes)
    losses = {
        kind: family.losses(BuiltIn(kind).fit(X[:100], y[:100], family).predict(X[100:]), y[100:])
        for kind in ("linear", "quadratic")
    }
    assert losses["quadratic"].mean() < 0.7 * losses["linear"].mean()


def test_loss_is_log_loss_for_classes_and_squared_error_for_amounts():
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    expected = [np.log(2), -np.log(0.75), -np.log(1e-3)]
    classes, amounts = family_of("classification"), family_of("regression")
    assert classes.losses(probabilities, np.array([0, 1, 1])) == pytest.approx(expected)
    assert amounts.losses(np.array([1.0, 3.0]), np.array([0.0, 5.0])).tolist() == [1, 4]


def test_quadratic_learners_are_left_out_where_their_terms_would_be_too_many():
    assert {learner.kind for learner in portfolio(AMOUNTS, 1000, 10)} == {
        "linear",
        "quadratic",
        "boosted",
    }
    assert {learner.kind for learner in portfolio(AMOUNTS, 1000, 100)} == {"linear", "boosted"}
    # A hundred million products would take gigabytes.
    assert len(portfolio(AMOUNTS, 100_000, 45)) < len(portfolio(AMOUNTS, 1000, 45))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_two_classes_are_fitted_as_by_scikit_learn(strength, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (X[:, 0] - X[:, 1] + rng.standard_normal(150) > 0).astype(int)
    weights = rng.uniform(0.5, 2, 150) if weighted else None
    ours = BuiltIn("linear", strength=strength).fit(X, y, family_of("classification"), weights)
    exact = LogisticRegression(C=strength, tol=1e-10).fit(X, y, weights)
    assert ours.predict(X) == pytest.approx(exact.predict_proba(X), abs=1e-3)


def test_classes_that_a_line_divides_can_be_fitted():
    X = np.linspace(-1, 1, 40)[:, np.newaxis]
    y = (X[:, 0] > 0).astype(int)
    model = BuiltIn("linear", strength=1e6).fit(X, y, family_of("classification"))
    assert np.array_equal(model.predict(X)[:, 1] > 0.5, y == 1)


def predicted(fit, trial):
    """Predict every row by a model of the other folds."""
    unused = np.random.default_rng(0)
    folds = range(len(fit.folds))
    return fit.gathered([fit.fold_prediction((trial, fold), unused) for fold in folds])


def test_trials_that_lose_too_much_end_early():
    problem = make_linear(200, n_strong=1, n_irrelevant=3, random_state=0)
    table = Table(problem.X, problem.y, "classification")
    fit = CrossFit.over(table, 5, np.random.default_rng(0))
    trials = [Trial(BuiltIn("linear"), np.array([j])) for j in range(4)]
    losses = [
        fit.mean(fit.family.losses(predicted(fit, trial), table.y[fit.tested])) for trial in trials
    ]
    between = (losses[0] + min(losses[1:])) / 2

    assert losses[0] < between
    passed, n_fits = trials_below(fit, trials, between)
    assert passed == [0]
    assert n_fits < 5 * len(trials)
    assert trials_below(fit, trials, 1e-9) == ([], len(trials))
    assert trials_below(fit, trials, 1e9) == ([0, 1, 2, 3], 5 * len(trials))


@pytest.mark.parametrize("n_classes", [0, 3])
def test_trees_predict_values_on_their_thresholds_as_in_the_table(n_classes):
    rng = np.random.default_rng(0)
    # Few values, so that thresholds lie between neighbours, and many columns replaced together.
    X = rng.integers(0, 9, (400, 30)).astype(float)
    score = X @ rng.standard_normal(30)
    cuts = np.quantile(score, [1 / 3, 2 / 3])
    y = np.digitize(score, cuts) if n_classes else score
    family = family_of("classification" if n_classes else "regression")
    model = BuiltIn("boosted", strength=50).fit(X, y, family)
    columns = np.arange(2, 28)
    values = rng.integers(-2, 22, (3, 400, 26)) / 2
    replaced = model.predict_replaced(X, columns, values)
    for draw, prediction in zip(values, replaced, strict=True):
        changed = X.copy()
        changed[:, columns] = draw
        np.testing.assert_array_equal(prediction, model.predict(changed))


def test_a_trial_goes_on_as_long_as_something_is_left_to_see():
    problem = make_linear(200, n_strong=1, n_irrelevant=3, random_state=0)
    fit = CrossFit.over(Table(problem.X, problem.y, "classification"), 5, np.random.default_rng(0))
    good, bad = (Trial(BuiltIn("linear"), np.array([j])) for j in (0, 1))
    whole = [predicted(fit, good), predicted(fit, bad)]
    found, n_fits = predictions_while(
        fit, [good, bad], [whole[0], whole[0]], lambda growth, error: growth <= 2 * error
    )

    assert n_fits == 5 + 2
    np.testing.assert_array_equal(found[0], whole[0])
    known = ~np.isnan(found[1]).any(axis=1)
    first = np.concatenate([test for _, test in fit.folds[:2]])
    assert sorted(fit.tested[known]) == sorted(first)
    np.testing.assert_array_equal(found[1][known], whole[1][known])


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_trees_that_share_bins_are_those_of_bins_of_their_own(task):
    rng = np.random.default_rng(0)
    levels = np.eye(4)[rng.integers(4, size=500)]
    X = np.column_stack([rng.standard_normal((500, 6)), levels])
    y = X[:, 0] * X[:, 1] + levels[:, 2] + rng.standard_normal(500)
    target = y if task == "regression" else (y > 0).astype(int)
    fit = CrossFit.over(Table(X, target, task), 5, np.random.default_rng(0))
    d = len(fit.feature)
    trials = [Trial(BuiltIn("boosted", strength=25), np.delete(np.arange(d), j)) for j in range(d)]
    shared = sharing_bins(fit, trials)

    assert all(trial.within is not None for trial in shared)
    stream = np.random.default_rng(0)
    for own, same in zip(trials, shared, strict=True):
        for fold in range(2):
            np.testing.assert_array_equal(
                fit.fold_prediction((same, fold), stream), fit.fold_prediction((own, fold), stream)
            )


def test_models_of_few_of_the_columns_have_bins_of_their_own():
    X = np.random.default_rng(0).standard_normal((300, 20))
    fit = CrossFit.over(Table(X, X[:, 0], "regression"), 5, np.random.default_rng(0))
    sets = np.arange(20), np.arange(1, 20), np.arange(3)
    trees = [Trial(BuiltIn("boosted", strength=100), columns) for columns in sets]
    found = sharing_bins(fit, [*trees, Trial(BuiltIn("linear"), sets[0])])
    assert [trial.within is not None for trial in found] == [True, True, False, False]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_trees_do_not_care_where_the_values_of_an_indicator_lie(task):
    rng = np.random.default_rng(0)
    levels = np.eye(5)[rng.integers(5, size=500)]
    X = np.column_stack([rng.standard_normal((500, 2)), levels])
    y = X[:, 0] + 2 * X[:, 3] + 0.1 * rng.standard_normal(500)
    y = y if task == "regression" else (y > 0.5).astype(int)
    moved = X.copy()
    moved[:, 2:] = (levels - levels.mean(axis=0)) / levels.std(axis=0)
    learner, family = BuiltIn("boosted", strength=25), family_of(task)
    expected = learner.fit(X, y, family).predict(X)
    model = learner.fit(moved, y, family)
    np.testing.assert_allclose(model.predict(moved), expected, atol=1e-9)

    columns, values = np.array([3, 4]), moved[rng.permutation(500)][np.newaxis, :, 3:5]
    replaced = moved.copy()
    replaced[:, columns] = values[0]
    found = model.predict_replaced(moved, columns, values)[0]
    np.testing.assert_allclose(found, model.predict(replaced), atol=1e-9)


def test_jobs_that_cost_most_begin_first_and_answers_keep_their_order():
    X = np.random.default_rng(0).standard_normal((60, 2))
    fit = CrossFit.over(Table(X, X[:, 0], "regression"), 5, np.random.default_rng(0))
    begun = []

    def job(_, number, rng):
        begun.append(number)
        return 10 * number

    assert fit.run(job, [2, 7, 1, 7, 3], lambda number: number) == [20, 70, 10, 70, 30]
    assert begun == [7, 7, 3, 2, 1]


@pytest.mark.parametrize("grouped", [False, True])
def test_differences_of_some_rows_are_tested_as_if_there_were_no_others(grouped):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    clusters = np.arange(60) // 3 if grouped else None
    table = Table(X, y, "regression", weights=rng.uniform(0.5, 2, 60), clusters=clusters)
    fit = CrossFit.over(table, 5, rng)
    differences = rng.standard_normal((60, 2))
    differences[30:, 1] = np.nan
    found, whole = fit.test_known(differences), fit.test(differences[:, :1])
    some = paired_test(
        differences[:30, 1:], fit.weights[:30], None if clusters is None else clusters[:30]
    )

    assert found.mean == pytest.approx([whole.mean[0], some.mean[0]])
    assert found.error == pytest.approx([whole.error[0], some.error[0]])


@pytest.mark.parametrize("n_classes", [0, 2, 6])
def test_trees_that_do_not_look_at_a_column_need_not_be_asked_again(n_classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 12))
    # Of the last columns there is so little that few trees look at them, and at one none.
    X[:, 11] = 0.0
    score = 3 * X[:, :4] @ np.ones(4) + 0.5 * X[:, 10] + rng.standard_normal(400)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    family = family_of("classification" if n_classes else "regression")
    model = BuiltIn("boosted", strength=50).fit(X, y if n_classes else score, family)
    for columns in ([9], [10, 11], [11]):
        values = rng.standard_normal((3, 400, len(columns)))
        replaced = model.predict_replaced(X, np.array(columns), values)
        for draw, prediction in zip(values, replaced, strict=True):
            changed = X.copy()
            changed[:, columns] = draw
            assert prediction == pytest.approx(model.predict(changed), abs=1e-12)


def test_models_of_a_race_are_those_that_would_be_fitted_anew():
    problem = make_linear(200, n_strong=1, n_irrelevant=3, random_state=0)
    columns = np.arange(4)
    table, folds = Table(problem.X, problem.y, "classification"), np.random.default_rng(0)
    raced = CrossFit.over(table, 5, folds)
    found = race(raced, [BuiltIn("boosted", strength=n) for n in (25, 50)], columns)
    anew = CrossFit.over(table, 5, np.random.default_rng(0))
    for fold, (_, test) in enumerate(raced.folds):
        X = raced.matrix(found.learner.view, fold)[test]
        first, second = (fit.model(found.learner, columns, fold) for fit in (raced, anew))
        np.testing.assert_array_equal(first.predict(X), second.predict(X))
