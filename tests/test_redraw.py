import numpy as np
import pytest
from sklearn.linear_model import Ridge

from squamish import redraw
from squamish.redraw import ridge_residuals


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def folds(n):
    parts = np.array_split(np.random.default_rng(0).permutation(n), 4)
    return [(np.setdiff1d(np.arange(n), part), part) for part in parts]


def test_residuals_are_those_of_separate_ridge_regressions(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    X[:, 0] += X[:, 1] + X[:, 3]
    X = standardised(X)
    monkeypatch.setattr(redraw, "PENALTIES", np.array([0.05]))
    split = folds(80)
    residual = ridge_residuals([[X]] * 4, 0, [np.array([0])], split)[0]
    for train, test in split:
        ridge = Ridge(alpha=0.05 * len(train)).fit(X[train, 1:], X[train, 0])
        expected = X[test, 0] - ridge.predict(X[test, 1:])
        # The columns are centred, the intercept of the target is left to the redraw.
        assert residual.values[test, 0] == pytest.approx(
            expected + ridge.intercept_ - X[train, 0].mean() + ridge.coef_ @ X[train, 1:].mean(0)
        )


def test_a_copy_in_any_view_explains_everything():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(100)
    plain = standardised(np.column_stack([x, np.exp(x), rng.standard_normal(100)]))
    ranked = standardised(np.column_stack([x, x, plain[:, 2]]))
    residual = ridge_residuals([[plain, ranked]] * 4, 0, [np.array([0])], folds(100))[0]
    assert residual.explained[0] > 0.999
    drawn = redraw.redraw(plain[:, :1], residual.values, 3, rng)
    assert np.abs(drawn - plain[:, :1]).max() < 0.1


def test_independent_columns_are_left_alone():
    X = standardised(np.random.default_rng(0).standard_normal((60, 25)))
    residuals = ridge_residuals([[X]] * 4, 0, [np.array([j]) for j in range(25)], folds(60))
    assert max(residual.explained[0] for residual in residuals) < 0.25
    assert np.median([residual.explained[0] for residual in residuals]) < 0.05


def test_members_of_a_unit_do_not_explain_each_other():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 1))
    X = standardised(np.hstack([x, x + 0.01 * rng.standard_normal((100, 1)), x[::-1]]))
    alone, together = ridge_residuals([[X]] * 4, 0, [np.array([0]), np.array([0, 1])], folds(100))
    assert alone.explained[0] > 0.99
    assert together.explained.max() < 0.2


def test_redraw_keeps_the_prediction_and_permutes_the_rest():
    X = np.arange(10.0)[:, np.newaxis]
    residual = np.tile([[1.0], [-1.0]], (5, 1))
    drawn = redraw.redraw(X, residual, 4, np.random.default_rng(0))
    assert drawn.shape == (4, 10, 1)
    assert np.sort((drawn - (X - residual))[2, :, 0]).tolist() == [-1] * 5 + [1] * 5


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: np.sin(2 * (a + b)),
        lambda a, b: a * b,
        lambda a, b: np.maximum(a, b),
        lambda a, b: a / (1 + b**2),
    ],
)
def test_a_smooth_function_of_two_columns_is_found(function):
    X = np.random.default_rng(0).standard_normal((400, 8))
    target = standardised(function(X[:, 2], X[:, 5]))
    smooth = redraw.fit_smooth(X, target)
    assert {2, 5} <= set(smooth.columns.tolist())
    guess = redraw.best_guess(X, target, np.zeros(400), folds(400))
    assert np.square(target - guess).mean() < 0.05


def test_the_linear_guess_is_kept_where_nothing_better_is_found():
    rng = np.random.default_rng(0)
    X, target = rng.standard_normal((200, 5)), rng.standard_normal(200)
    linear = np.zeros(200)
    assert np.array_equal(redraw.best_guess(X, target, linear, folds(200)), linear)
