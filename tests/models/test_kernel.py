"""Functions of kernels: what spans the same directions tells the same."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from squamish import RelevanceSelector
from squamish.datasets import load_problem
from squamish.families import family_of
from squamish.models.learners import BuiltIn


def fitted(X, y, task):
    return BuiltIn("kernel", strength=100.0).fit(X, y, family_of(task))


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_columns_that_span_the_same_make_the_same_model(task):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = y if task == "regression" else (y > 0).astype(int)
    # More columns than directions, and some of a thousand times the scale.
    mixed = X @ rng.standard_normal((3, 5)) * [1, 1, 1000, 1, 1]
    mixed = (mixed - mixed.mean(axis=0)) / mixed.std(axis=0)
    one, other = fitted(X, y, task).predict(X), fitted(mixed, y, task).predict(mixed)
    np.testing.assert_allclose(one, other, atol=0.02)


def test_what_is_replaced_is_predicted_like_a_table_of_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    model = fitted(X, X[:, 0] * X[:, 1], "regression")
    values = rng.standard_normal((2, 200, 1))
    replaced = model.predict_replaced(X, np.array([1]), values)
    for draw, prediction in zip(values, replaced, strict=True):
        changed = X.copy()
        changed[:, [1]] = draw
        np.testing.assert_allclose(prediction, model.predict(changed))


def test_columns_without_any_variance_leave_a_constant():
    y = np.arange(30.0)
    prediction = fitted(np.zeros((30, 2)), y, "regression").predict(np.zeros((4, 2)))
    np.testing.assert_allclose(prediction, np.full(4, y.mean()))


def test_a_smooth_function_of_several_columns_is_better_told_than_by_trees():
    problem = load_problem("Friedman 1 with copies", random_state=0)
    result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    assert result.evidence.learner.startswith("kernel")
    assert result.classes.tolist() == problem.classes.tolist()


def test_what_spans_four_dimensions_needs_four_columns():
    X, y = make_classification(
        1200, 12, n_informative=4, n_redundant=8, shuffle=False, random_state=1
    )
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    assert len(result.select("relevant")) == 12
    assert result.strong == ()
    assert len(result.select("minimal")) == 4
    kept = result.path.set_index("size")["kept"]
    assert kept[4] > 0.99 > kept[3]
