"""Columns regressed on all others, out of sample."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from squamish.importance import regression
from squamish.importance.conditional_sampling import draw
from squamish.importance.regression import best_residuals, fold_residuals
from squamish.models.folds import covering


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def folds(n):
    parts = np.array_split(np.random.default_rng(0).permutation(n), 4)
    return [(np.setdiff1d(np.arange(n), part), part) for part in parts]


def residuals_of(units, *views):
    """Predict units of columns of the first view, in four folds."""
    seen, split = np.stack(views, axis=1), folds(len(views[0]))
    found = [fold_residuals(seen, 0, units, fold) for fold in split]
    return best_residuals(found, units, split, len(seen))


def test_residuals_are_those_of_separate_ridge_regressions(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    X[:, 0] += X[:, 1] + X[:, 3]
    X = standardised(X)
    monkeypatch.setattr(regression, "PENALTIES", np.array([0.05]))
    residual = residuals_of([np.array([0])], X)[0]
    for train, test in folds(80):
        ridge = Ridge(alpha=0.05 * len(train)).fit(X[train, 1:], X[train, 0])
        expected = X[test, 0] - ridge.predict(X[test, 1:])
        # The columns are centred, the intercept of the target is left to the draw.
        assert residual.values[test, 0] == pytest.approx(
            expected + ridge.intercept_ - X[train, 0].mean() + ridge.coef_ @ X[train, 1:].mean(0)
        )


def test_a_copy_in_any_view_explains_everything():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(100)
    plain = standardised(np.column_stack([x, np.exp(x), rng.standard_normal(100)]))
    ranked = standardised(np.column_stack([x, x, plain[:, 2]]))
    residual = residuals_of([np.array([0])], plain, ranked)[0]
    assert residual.r2[0] > 0.999
    guess = plain[:, :1] - residual.values
    drawn = draw(guess, residual.values, 3, rng)
    assert np.abs(drawn - plain[:, :1]).max() < 0.1


def test_independent_columns_are_left_alone():
    X = standardised(np.random.default_rng(0).standard_normal((60, 25)))
    residuals = residuals_of([np.array([j]) for j in range(25)], X)
    assert max(residual.r2[0] for residual in residuals) < 0.25
    assert np.median([residual.r2[0] for residual in residuals]) < 0.05


def test_members_of_a_unit_do_not_explain_each_other():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 1))
    X = standardised(np.hstack([x, x + 0.01 * rng.standard_normal((100, 1)), x[::-1]]))
    alone, together = residuals_of([np.array([0]), np.array([0, 1])], X)
    assert alone.r2[0] > 0.99
    assert together.r2.max() < 0.2


def test_rows_that_no_fold_tests_are_predicted_too():
    split = [(np.arange(4), np.array([4, 5])), (np.arange(6), np.array([6, 7]))]
    covered = covering(split, 8)
    assert covered[0] == split[0]
    assert covered[1][1].tolist() == [6, 7, 0, 1, 2, 3]
