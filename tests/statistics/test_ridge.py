"""Ridge regression with the penalty of the least leave-one-out error."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from squamish.statistics.ridge import fit_ridge

PENALTIES = np.logspace(-2, 4, 7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d"), [(200, 10), (60, 59), (50, 120)])
def test_it_is_that_of_scikit_learn(n, d, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + 3
    X[:, 1] = X[:, 0]
    y = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    weights = rng.uniform(0.5, 2, n) if weighted else None
    # Weights of 1 on average, by which penalties are the same.
    theirs = RidgeCV(PENALTIES).fit(X, y, None if weights is None else weights / weights.mean())
    ours = fit_ridge(X, y, PENALTIES, weights)
    assert ours.coef == pytest.approx(theirs.coef_, rel=1e-6, abs=1e-8)
    assert ours.intercept == pytest.approx(theirs.intercept_, rel=1e-6)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-6)


def test_the_error_is_that_of_models_that_did_not_see_the_row():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 4))
    y = X[:, 0] + rng.standard_normal(30)
    rows = np.arange(30)
    left_out = [
        y[i] - fit_ridge(X[rows != i], y[rows != i], [1.0]).predict(X[[i]])[0] for i in rows
    ]
    assert fit_ridge(X, y, [1.0]).error == pytest.approx(np.square(left_out).mean(), rel=1e-9)


def test_columns_without_variance_have_no_slope():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    model = fit_ridge(X, 2 * np.arange(20.0), [1e-9])
    assert model.coef == pytest.approx([0, 2])
    constant = fit_ridge(np.ones((20, 2)), np.arange(20.0), [1.0])
    assert constant.predict(np.ones((1, 2))) == pytest.approx(9.5)


def test_rows_that_a_model_nearly_follows_are_not_taken_for_well_predicted():
    rng = np.random.default_rng(2)
    X = 100 * rng.standard_normal((60, 59))
    y = X[:, 0] / 100 + rng.standard_normal(60)
    penalties = [1e-6, 1e-2, 1.0, 100.0]
    ours, theirs = fit_ridge(X, y, penalties), RidgeCV(penalties).fit(X, y)
    assert ours.coef == pytest.approx(theirs.coef_, rel=1e-3, abs=1e-6)
    assert ours.error == pytest.approx(-theirs.best_score_, rel=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_many_rows_and_columns_penalties_are_compared_on_some(weighted):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1500, 1100)) + 1
    y = X[:, :100].sum(axis=1) + 10 * rng.standard_normal(1500)
    order = np.argsort(y)
    X, y = X[order], y[order]
    weights = rng.uniform(0.5, 2, 1500) if weighted else None
    ours = fit_ridge(X, y, PENALTIES, weights)
    theirs = RidgeCV(PENALTIES).fit(X, y, None if weights is None else weights / weights.mean())
    assert ours.penalty == theirs.alpha_
    assert ours.coef == pytest.approx(theirs.coef_, rel=1e-5, abs=1e-7)
    assert ours.intercept == pytest.approx(theirs.intercept_, rel=1e-5, abs=1e-6)
