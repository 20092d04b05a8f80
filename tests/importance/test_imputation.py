"""A column predicted from others: a line, steps or a smooth curve."""

import numpy as np
import pytest

from squamish.importance.imputation import depends_on_others, fit_smooth, impute, thinned
from squamish.models.kernel_ridge import fit_kernel_ridge


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def folds(n):
    parts = np.array_split(np.random.default_rng(0).permutation(n), 4)
    return [(np.setdiff1d(np.arange(n), part), part) for part in parts]


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
    smooth = fit_smooth(X, target)
    assert {2, 5} <= set(smooth.columns.tolist())
    guess = impute(X, target, np.zeros(400), folds(400))
    assert np.square(target - guess).mean() < 0.05


def test_the_linear_guess_is_kept_where_nothing_better_is_found():
    rng = np.random.default_rng(0)
    X, target = rng.standard_normal((200, 5)), rng.standard_normal(200)
    linear = np.zeros(200)
    assert np.array_equal(impute(X, target, linear, folds(200)), linear)


def test_guesses_are_chosen_by_rows_that_their_models_have_not_seen():
    rng = np.random.default_rng(0)
    X, target = rng.standard_normal((200, 5)), rng.standard_normal(200)
    one = [(np.arange(150), np.arange(150, 200))]
    assert np.array_equal(impute(X, target, np.zeros(200), one), np.zeros(200))


@pytest.mark.parametrize("n", [400, 3000])
def test_what_imputes_best_is_found_in_few_folds_and_imputes_in_all(n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6))
    step = standardised((X[:, 1] > 0.2) + 0.1 * rng.standard_normal(n))
    guess = impute(X, step, np.zeros(n), folds(n))
    for _, test in folds(n):
        assert np.square(step - guess)[test].mean() < 0.1


def test_a_dependence_is_seen_even_if_folds_are_single_rows():
    rng = np.random.default_rng(0)
    X, rows = rng.uniform(-1, 1, (150, 2)), np.arange(150)
    single = [(rows[rows != row], rows[[row]]) for row in rows]
    assert depends_on_others(np.sin(7 * X[:, 0]), X, single)
    assert not depends_on_others(rng.standard_normal(150), X, single)


@pytest.mark.parametrize("n", [0, 1, 999, 1000, 1001, 1999, 2000, 50_000])
def test_at_most_a_thousand_rows_from_everywhere_are_looked_at(n):
    rows = thinned(np.arange(n))
    assert min(n, 500) <= len(rows) <= 1000
    assert n == 0 or rows[-1] > 0.9 * (n - 1) - 1


def test_a_smooth_function_stays_within_reach_of_what_it_learned():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 1))
    y = np.sin(2 * x[:, 0]) + 0.3 * rng.standard_normal(200)
    found = fit_kernel_ridge(x, y, 0.3).predict(np.linspace(-6, 6, 100)[:, np.newaxis])
    assert np.abs(found).max() <= 2 * np.abs(y).max()
