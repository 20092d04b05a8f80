"""Neither the order of rows and columns nor their units have an influence."""

import numpy as np
import pytest

from squamish import PaperMethod, RelevanceSelector
from squamish.datasets import make_linear, make_regression
from squamish.table.canonical import in_canonical_order
from squamish.table.table import Table

# Enough to tell apart the features of an easy problem.
QUICK = PaperMethod(n_null_samples=20, n_estimators=50, p=1e-4)


@pytest.fixture(scope="module")
def problem():
    return make_linear(300, n_strong=2, group_sizes=[4], n_irrelevant=2, random_state=0)


@pytest.fixture(scope="module")
def fitted(problem):
    return RelevanceSelector(QUICK, random_state=0, n_jobs=1).fit(problem.X, problem.y)


@pytest.mark.parametrize("seed", range(3))
def test_order_of_columns_and_rows_has_no_influence(problem, fitted, seed):
    rng = np.random.default_rng(seed)
    rows, order = rng.permutation(300), rng.permutation(8)
    shuffled = RelevanceSelector(QUICK, random_state=0)
    shuffled.fit(problem.X[np.ix_(rows, order)], problem.y[rows])
    expected = fitted.result_.evidence.removal_loss[order]
    assert np.array_equal(shuffled.relevance_classes_, fitted.relevance_classes_[order])
    assert np.array_equal(shuffled.result_.evidence.removal_loss, expected, equal_nan=True)


def test_order_of_monotone_copies_has_no_influence():
    rng = np.random.default_rng(0)
    u = np.r_[0.0, 1.0, rng.uniform(size=198)]
    X = np.column_stack([u, u**2, np.sqrt(u), rng.standard_normal((200, 2))])
    y = u + X[:, 3] > 0.5
    order = [2, 1, 0, 3, 4]
    method = PaperMethod(n_null_samples=10, n_estimators=50, p=1e-2)
    first = RelevanceSelector(method, random_state=0).fit(X, y)
    second = RelevanceSelector(method, random_state=0).fit(X[:, order], y)
    assert np.array_equal(
        second.result_.evidence.importances, first.result_.evidence.importances[order]
    )


@pytest.mark.parametrize(("scale", "offset"), [(1e-40, 0), (1, 1e8), (1e300, 0)])
def test_units_of_columns_and_target_have_no_influence(scale, offset):
    problem = make_regression(150, n_strong=2, n_irrelevant=2, random_state=0)
    plain = RelevanceSelector(QUICK, random_state=0).fit(problem.X, problem.y)
    moved = RelevanceSelector(QUICK, random_state=0)
    moved.fit(problem.X * scale, (problem.y + offset) * scale)
    assert plain.support_.tolist() == [True, True, False, False]
    assert np.array_equal(moved.support_, plain.support_)


def test_shuffled_tables_are_the_same_in_canonical_order():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((50, 3)), np.ones(50), rng.integers(0, 3, 50)])
    y, weights, clusters = rng.integers(0, 2, 50), rng.uniform(1, 2, 50), np.arange(50) // 5
    is_category, feature = np.arange(5) == 4, np.array([0, 1, 0, 3, 4])
    rows, columns = rng.permutation(50), rng.permutation(5)
    table = Table(
        X,
        y,
        "classification",
        is_category=is_category,
        feature=feature,
        weights=weights,
        clusters=clusters,
    )
    shuffled = Table(
        X[np.ix_(rows, columns)],
        y[rows],
        "classification",
        is_category=is_category[columns],
        feature=feature[columns],
        weights=weights[rows],
        clusters=clusters[rows],
    )
    one, other = in_canonical_order(table), in_canonical_order(shuffled)
    assert one.table.fingerprint() == other.table.fingerprint()
    assert np.array_equal(columns[other.columns], one.columns)
    assert np.array_equal(other.feature, one.feature[columns])
    assert one.feature[3] == -1
    assert one.feature[0] == one.feature[2]
    assert 3 not in one.columns
