"""The table that methods judge, whole and in parts."""

import numpy as np
import pytest

from squamish.table.table import Table


@pytest.fixture
def grouped():
    """Five columns, of which the first and the fourth are one feature."""
    X = np.arange(20.0).reshape(4, 5)
    return Table(
        X,
        np.arange(4) % 2,
        "classification",
        is_category=np.array([False, True, False, False, True]),
        feature=np.array([0, 1, 2, 0, 3]),
    )


@pytest.mark.parametrize(
    "columns", [np.array([0, 3, 4]), np.array([True, False, False, True, True])]
)
def test_some_columns_keep_their_feature_groups(grouped, columns):
    some = grouped.take(columns)
    assert some.feature.tolist() == [0, 0, 1]
    assert some.n_features == 2
    assert some.is_category.tolist() == [False, False, True]
    assert np.array_equal(some.X, grouped.X[:, [0, 3, 4]])


def test_no_columns_are_no_features(grouped):
    assert grouped.take(np.zeros(0, dtype=int)).n_features == 0


def test_a_column_more_is_a_feature_of_its_own(grouped):
    wider = grouped.with_column(np.ones(4))
    assert wider.feature.tolist() == [0, 1, 2, 0, 3, 4]
    assert wider.is_category.tolist() == [False, True, False, False, True, False]
    assert wider.take(np.arange(5)).feature.tolist() == grouped.feature.tolist()


def test_columns_are_features_unless_they_are_grouped():
    table = Table(np.zeros((2, 3)), np.arange(2), "classification")
    assert table.feature.tolist() == [0, 1, 2]
    assert not table.is_category.any()
