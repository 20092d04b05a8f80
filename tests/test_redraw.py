import numpy as np
import pytest
from sklearn.linear_model import Ridge

from squamish.importance import redraw
from squamish.importance.redraw import best_residuals, fold_residuals


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
    monkeypatch.setattr(redraw, "PENALTIES", np.array([0.05]))
    residual = residuals_of([np.array([0])], X)[0]
    for train, test in folds(80):
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
    residual = residuals_of([np.array([0])], plain, ranked)[0]
    assert residual.explained[0] > 0.999
    guess = plain[:, :1] - residual.values
    drawn = redraw.redraw(guess, residual.values, 3, rng)
    assert np.abs(drawn - plain[:, :1]).max() < 0.1


def test_independent_columns_are_left_alone():
    X = standardised(np.random.default_rng(0).standard_normal((60, 25)))
    residuals = residuals_of([np.array([j]) for j in range(25)], X)
    assert max(residual.explained[0] for residual in residuals) < 0.25
    assert np.median([residual.explained[0] for residual in residuals]) < 0.05


def test_members_of_a_unit_do_not_explain_each_other():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100, 1))
    X = standardised(np.hstack([x, x + 0.01 * rng.standard_normal((100, 1)), x[::-1]]))
    alone, together = residuals_of([np.array([0]), np.array([0, 1])], X)
    assert alone.explained[0] > 0.99
    assert together.explained.max() < 0.2


def test_redraw_keeps_the_prediction_and_draws_the_rest():
    guess = np.arange(1000.0)[:, np.newaxis]
    pool = np.array([[1.0], [-1.0], [-1.0]])
    drawn = redraw.redraw(guess, pool, 4, np.random.default_rng(0))
    assert drawn.shape == (4, 1000, 1)
    assert set((drawn - guess).ravel()) == {-1.0, 1.0}
    assert (drawn - guess).mean() == pytest.approx(-1 / 3, abs=0.1)


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


def test_drawn_levels_have_their_chances():
    rng = np.random.default_rng(0)
    form = redraw.Form(
        low=np.zeros(4), high=np.ones(4), gap=np.full(4, -1), exclusive=np.array([3, 3, 3, -1])
    )
    guess = np.tile([0.2, 0.5, 0.3, 0.9], (4000, 1))
    drawn = redraw.redraw(guess, np.zeros((10, 4)), 2, rng, form)
    assert drawn.mean(axis=(0, 1)) == pytest.approx([0.2, 0.5, 0.3, 0.9], abs=0.03)
    assert np.array_equal(drawn[:, :, :3].sum(axis=2), np.ones((2, 4000)))
    one = redraw.Form(np.zeros(1), np.ones(1), np.array([-1]), np.array([3]))
    drawn = redraw.redraw(guess[:, :1], np.zeros((10, 1)), 2, rng, one)
    assert drawn.mean() == pytest.approx(0.2, abs=0.03)


def test_what_is_drawn_as_missing_has_no_value():
    form = redraw.Form(
        low=np.array([np.nan, 0.0]),
        high=np.array([np.nan, 1.0]),
        gap=np.array([1, -1]),
        exclusive=np.full(2, -1),
    )
    guess = np.column_stack([np.full(500, 7.0), np.full(500, 0.4)])
    drawn = redraw.redraw(guess, np.ones((5, 2)), 1, np.random.default_rng(0), form)[0]
    assert set(drawn[drawn[:, 1] == 1, 0]) == {0.0}
    assert set(drawn[drawn[:, 1] == 0, 0]) == {8.0}


def test_rows_that_no_fold_tests_are_predicted_too():
    split = [(np.arange(4), np.array([4, 5])), (np.arange(6), np.array([6, 7]))]
    covered = redraw.covering(split, 8)
    assert covered[0] == split[0]
    assert covered[1][1].tolist() == [6, 7, 0, 1, 2, 3]


def test_guesses_are_chosen_by_rows_that_their_models_have_not_seen():
    rng = np.random.default_rng(0)
    X, target = rng.standard_normal((200, 5)), rng.standard_normal(200)
    one = [(np.arange(150), np.arange(150, 200))]
    assert np.array_equal(redraw.best_guess(X, target, np.zeros(200), one), np.zeros(200))


def test_a_dependence_is_seen_even_if_folds_are_single_rows():
    rng = np.random.default_rng(0)
    X, rows = rng.uniform(-1, 1, (150, 2)), np.arange(150)
    single = [(rows[rows != row], rows[[row]]) for row in rows]
    assert redraw.depends_on_others(np.sin(7 * X[:, 0]), X, single)
    assert not redraw.depends_on_others(rng.standard_normal(150), X, single)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.7, 0.9])
def test_gaps_are_drawn_as_gaps_however_many_there_are(share):
    rng = np.random.default_rng(0)
    for _ in range(20):
        gaps = standardised(np.asarray(rng.random(997) < share, dtype=float))
        low, high = gaps.min(), gaps.max()
        form = redraw.Form(
            np.array([np.nan, low]), np.array([np.nan, high]), np.array([1, -1]), np.full(2, -1)
        )
        guess = np.column_stack([np.ones(50), np.full(50, (low + high) / 2)])
        drawn = redraw.redraw(guess, np.zeros((5, 2)), 2, rng, form)
        missing = drawn[..., 1] > 0
        assert missing.any()
        assert np.array_equal(drawn[..., 0] == 0, missing)
