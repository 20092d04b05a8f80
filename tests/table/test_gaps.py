"""Values that are missing, or infinite."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from squamish import InputError, RelevanceResult


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


def gappy(seed=0, n=400):
    """Two columns that tell, one by its gaps and one by its values, and what they tell of."""
    rng = np.random.default_rng(seed)
    gap, x = rng.random(n) < 0.3, rng.standard_normal(n)
    y = x + 1.5 * gap + 0.5 * rng.standard_normal(n)
    told = np.where(gap, np.nan, rng.standard_normal(n))
    seen = np.where(rng.random(n) < 0.2, np.nan, x)
    both = np.where(gap, np.nan, 0.8 * x + rng.standard_normal(n))
    place = np.where(gap, None, np.where(rng.random(n) < 0.5, "east", "west"))
    table = {"told": told, "seen": seen, "both": both, "place": place, "noise": told[::-1]}
    return pd.DataFrame(table), y


def test_a_column_says_whether_its_gaps_matter(verdict):
    table, y = gappy()
    result = verdict(table, y).result_
    assert "It is relevant through its gaps: where it is missing tells" in result.explain("told")
    assert "Its gaps matter, too: where it is missing" in result.explain("both")
    for name in ("seen", "noise"):
        assert "gaps" not in result.explain(name)
    assert RelevanceResult.from_json(result.to_json()).explain("told") == result.explain("told")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_gaps_that_mean_nothing_tell_nothing(classes, library):
    table, y = gappy()
    frame = table if library is pd.DataFrame else pl.from_pandas(table)
    seen = classes(frame, y)
    assert (seen["told"] > 0, seen["place"] > 0) == (True, True)
    ignored = classes(frame, y, missing="ignore")
    assert {name for name, kind in ignored.items() if kind} == {"seen", "both"}


def test_filled_gaps_depend_neither_on_the_order_of_rows_nor_of_columns(verdict):
    table, y = gappy()
    order = np.random.default_rng(1).permutation(len(y))
    first = verdict(table, y, missing="ignore").result_
    other = verdict(table.iloc[order, ::-1], y[order], missing="ignore").result_
    assert dict(zip(first.feature_names, first.evidence.p_relevant, strict=True)) == (
        dict(zip(other.feature_names, other.evidence.p_relevant, strict=True))
    )
    assert max(first.columns.missing) > 0.2


def test_copies_with_the_same_gaps_stay_copies(classes):
    rng = np.random.default_rng(0)
    x = np.where(rng.random(300) < 0.4, np.nan, rng.standard_normal(300))
    y = np.nan_to_num(x) + 0.3 * rng.standard_normal(300)
    table = pd.DataFrame({"x": x, "copy": 3 - 2 * x, "one": np.where(np.isnan(x), np.nan, 1.0)})
    assert classes(table, y, missing="ignore") == {"x": 1, "copy": 1, "one": 0}


def test_what_gaps_mean_is_one_of_two(verdict):
    with pytest.raises(InputError, match="missing is 'drop'; it must be 'informative' or 'ignore'"):
        verdict(np.eye(20), np.arange(20), missing="drop")
    with pytest.raises(InputError, match="for tables that are not sparse"):
        verdict(sparse.csr_matrix(np.eye(20)), np.arange(20), missing="ignore")
