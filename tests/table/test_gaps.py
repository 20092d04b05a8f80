"""Values that are missing, or infinite."""

import numpy as np
import pytest
from scipy import sparse


def test_masked_values_are_missing(verdict, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    mask = rng.random(X.shape) < 0.2
    masked = np.ma.masked_array(np.where(mask, 99.0, X), mask)
    assert classes(masked, y) == classes(np.where(mask, np.nan, X), y)
    target = np.ma.masked_array(np.where(mask[:, 0], 99.0, y), mask[:, 0])
    assert verdict(X, target, missing_target="drop").result_.n_samples == (~mask[:, 0]).sum()


def test_a_relevant_column_may_be_missing_in_all_rows_that_are_tested(verdict):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(600)
    X[500:, 0] = np.nan
    folds = [(np.arange(500), np.arange(500, 600))]
    assert verdict(X, y, cv=folds).relevance_classes_.tolist()[1:] == [2, 0, 0]


def test_infinite_values_may_be_taken_for_missing(classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    gaps = X.copy()
    X[:20, 0], gaps[:20, 0] = np.inf, np.nan
    assert classes(X, y, infinite="missing") == classes(gaps, y)
    assert np.isinf(X[:20, 0]).all()


def test_infinite_values_of_sparse_tables_are_named(verdict):
    dense = np.eye(20)
    dense[3, 2] = np.inf
    X = sparse.csr_matrix(dense)
    with pytest.raises(ValueError, match="column 2 holds inf in row 3; values must be finite"):
        verdict(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="categorical_features cannot be columns of a sparse"):
        verdict(sparse.csr_matrix(np.eye(20)), np.arange(20) % 2, categorical_features=[0])
