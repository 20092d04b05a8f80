"""Every mistake gets one message that says where it is and what is allowed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GroupKFold, KFold

from squamish import InputError, PaperMethod, RelevanceSelector
from squamish.errors import InputTypeError

X = np.random.default_rng(0).standard_normal((100, 3))
Y = np.arange(100) % 2


def with_value(value, row=4, column=1):
    table = X.astype(object) if isinstance(value, str) else X.copy()
    table[row, column] = value
    return table


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        (X, np.zeros(100, int), "y holds one class only, 0: .* two or more different values"),
        (X, np.full(100, 2.5), r"y holds one class only, 2\.5"),
        (X, Y[:99], "X has 100 rows, but y has 99 values; they must be as many"),
        (with_value(np.inf), Y, "column 1 holds inf in row 4; values must be finite, or NaN"),
        (with_value(-np.inf), Y, "column 1 holds -inf in row 4"),
        (with_value("red"), Y, "column 1 holds 'red' in row 4; a column must be numeric"),
        (with_value("red").tolist(), Y, "column 1 holds 'red' in row 4"),
        (pd.DataFrame(with_value("red"), columns=list("abc")), Y, "column 'b' holds 'red'"),
        (pd.DataFrame({"a": X[:, 0], "b": np.inf}), Y, "column 'b' holds inf in row 0"),
        (pl.DataFrame({"a": X[:, 0], "b": [[1]] * 100}), Y, r"column 'b' holds List\(Int64\); col"),
        (pd.DataFrame(X, columns=["a", "b", "a"]), Y, "more than one column is called a$"),
        (X, np.where(Y == 0, np.nan, 1.0), "y has 50 missing values of 100; drop these rows"),
        (X, pd.Series([None, "a"] * 50, dtype=object), "y has 50 missing values of 100"),
        (X, pd.array([True, pd.NA] * 50, dtype="boolean"), "y has 50 missing values of 100"),
        (X, np.r_[np.inf, X[1:, 0]], "y holds inf in row 0; the target must be finite"),
        (X, np.r_[np.inf, X[1:, 0]].astype(object), "y holds inf in row 0"),
        (X, X[:, 0].astype(str), "y has 100 different values in 100 rows; classes must repeat"),
        (X, pd.date_range("2026-01-01", periods=100), "y holds dates or times"),
        (pd.DataFrame(), Y, "X has no columns"),
        (pl.LazyFrame({"a": [1]}), Y, "X has 1 rows"),
        ("table.csv", Y, "X is 'table.csv'; read the file first"),
        (with_value("1e999"), Y, "column 1 holds inf in row 4; values must be finite"),
        (
            X,
            np.array([1, "a"] * 50, dtype=object),
            "y holds int and str; it must hold text only",
        ),
    ],
)
def test_tables_and_targets_that_cannot_be_used(table, target, message):
    with pytest.raises(InputError, match=message) as raised:
        RelevanceSelector("paper", random_state=0).fit(table, target)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        (np.empty((0, 3)), np.empty(0), r"0 sample\(s\) .* minimum of 2 is required"),
        (np.empty((100, 0)), Y, r"0 feature\(s\) .* minimum of 1 is required"),
        (X[:1], Y[:1], r"n_samples = 1|1 sample\(s\)|minimum of 2"),
        (X[:, 0], Y, "Expected 2D array, got 1D array"),
        (X, None, "requires y to be passed"),
        (X, np.column_stack([Y, Y]), "y has 2 columns, but one target is explained at a time"),
        (X + 1j, Y, "Complex data not supported"),
        ([[1, 2], [3]], [0, 1], "inhomogeneous shape|setting an array element"),
    ],
)
def test_shapes_that_scikit_learn_refuses(table, target, message):
    with pytest.raises(ValueError, match=message):
        RelevanceSelector("paper", random_state=0).fit(table, target)


def test_objects_that_are_no_numbers_are_named():
    table = X.astype(object)
    table[2, 0] = {"a": 1}
    with pytest.raises(InputTypeError, match="in row 2, which is a dict; a value of"):
        RelevanceSelector("paper").fit(table, Y)


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        ((row for row in X), Y, "X is of type generator, which is no table; pass a data"),
        ({1, 2}, Y, "X is of type set, which is no table"),
        (None, Y, "X is None, which is no table"),
        (5, Y, "X is of type int, which is no table"),
        ({"a": X[:, 0]}, Y, r"X is a dict; make a data frame of it, such as pandas.DataFrame\(X"),
        ([{"a": 1.0}] * 100, Y, "X is a list of dicts; make a data frame of it"),
        (np.zeros(100, dtype=[("a", float)]), Y, "X is an array of records; make a data frame"),
        (X, {"y": Y}, "y is a dict; it must be a list, an array or a column"),
        (X, (v for v in Y), "y is a generator; it must be a list"),
    ],
)
def test_what_is_no_table_and_no_target_is_named(table, target, message):
    with pytest.raises(InputTypeError, match=message):
        RelevanceSelector().fit(table, target)


@pytest.mark.parametrize("name", ["y", "sample_weight", "groups"])
def test_rows_in_another_order_than_the_tables_are_refused(name):
    table = pd.DataFrame(X, columns=list("abc"))
    rows = pd.Series(np.arange(100) % 9 + 1, name=name)
    given = {"y": X[:, 0]} | {name: rows.sample(frac=1, random_state=0)}
    with pytest.raises(InputError, match=f"{name} has the labels of X's rows in another order"):
        RelevanceSelector(random_state=0).fit(table, **given)


def test_rows_with_other_labels_are_matched_by_their_places():
    table, y = pd.DataFrame(X, columns=list("abc")), pd.Series(X[:, 0], index=range(500, 600))
    y += 0.3 * np.random.default_rng(1).standard_normal(100)
    first, other = (
        RelevanceSelector(random_state=0).fit(table, target).relevance_classes_.tolist()
        for target in (y, y.to_numpy())
    )
    assert first == other == [2, 0, 0]


def test_a_column_without_values_is_named():
    table = pd.DataFrame(X, columns=list("abc")).assign(d=np.nan, e=None)
    y = X[:, 0] + 0.3 * np.random.default_rng(1).standard_normal(100)
    result = RelevanceSelector(random_state=0).fit(table, y).result_
    assert result.notes[0] == "'d', 'e' hold no value in any row"
    assert "it holds no value in any row" in result.explain("d")
    assert result.classes[3:].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("selector", "given", "message"),
    [
        (
            RelevanceSelector(),
            {"sample_weight": [1.0] * 99},
            r"sample_weight has the shape \(99,\)",
        ),
        (RelevanceSelector(), {"sample_weight": [-1.0] + [1.0] * 99}, "holds -1.0 in row 0"),
        (RelevanceSelector(), {"sample_weight": ["much"] * 100}, "sample_weight must hold numbers"),
        (RelevanceSelector(), {"sample_weight": [0.0] * 100}, "0 rows are left"),
        (RelevanceSelector(), {"groups": [1] * 99}, r"groups has the shape \(99,\)"),
        (RelevanceSelector(), {"groups": [1] * 100}, "groups holds one group only"),
        (RelevanceSelector(), {"groups": [None] + [1] * 99}, "groups has no label in row 0"),
        (RelevanceSelector(cv="five"), {}, "cv is 'five'; it must be None, a number of folds"),
        (RelevanceSelector(cv=True), {}, "cv is True; it must be a whole number at least 2"),
        (RelevanceSelector(cv=1), {}, "cv is 1; it must be a whole number at least 2"),
        (RelevanceSelector(cv=KFold(5)), {"groups": np.arange(100) % 9}, "rows of the same group"),
        (RelevanceSelector(cv=GroupKFold(3)), {}, "cv cannot split these 100 rows: .*groups"),
        (RelevanceSelector(cv=[([0, 1], [1, 2])]), {}, "tests on rows that it is trained on"),
        (RelevanceSelector(cv=[([0, 1], [500])]), {}, "cv holds row 500, but the table has 100"),
        (RelevanceSelector(cv=[([0, 2], [1])]), {}, "fold 1 of cv lack a class of y"),
        (RelevanceSelector(cv=[([], [1])]), {}, "fold 1 of cv has no rows"),
        (RelevanceSelector(cv=[]), {}, "cv gives no folds|cv cannot split"),
        (RelevanceSelector(infinite="drop"), {}, "infinite is 'drop'; it must be 'error' or"),
        (RelevanceSelector(missing_target="no"), {}, "missing_target is 'no'; it must be"),
        (RelevanceSelector(feature_groups=[[0, 9]]), {}, "feature_groups holds 9, which is no col"),
        (RelevanceSelector(feature_groups=[[0, 1], [1, 2]]), {}, "'1' in two groups"),
        (
            RelevanceSelector(feature_groups=["01"]),
            {},
            "feature_groups holds '01'; it must",
        ),
        (
            RelevanceSelector(feature_groups=[0, 1]),
            {},
            "feature_groups holds 0; it must",
        ),
        (RelevanceSelector(feature_groups=5), {}, "feature_groups is 5; it must be a dict or a"),
        (RelevanceSelector(categorical_features=3), {}, "categorical_features holds 3; it must"),
        (RelevanceSelector(categorical_features=["x"]), {}, "categorical_features holds 'x'"),
        (RelevanceSelector("paper", cv=3), {}, "method='paper' knows no cv"),
        (RelevanceSelector("paper"), {"groups": Y}, "method='paper' knows no groups"),
        (RelevanceSelector("paper", feature_groups=[[0, 1]]), {}, "knows no feature_groups"),
    ],
)
def test_what_is_said_about_rows_and_columns_has_to_fit(selector, given, message):
    with pytest.raises(InputError, match=message):
        selector.fit(X, Y, **given)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (RelevanceSelector("boruta"), "method is 'boruta'; it must be 'crossfit' or 'paper'"),
        (RelevanceSelector(task="ranking"), "task is 'ranking'; it must be 'classification' or"),
        (RelevanceSelector(random_state=-1), "random_state is -1; it must be None, an int of 0"),
        (RelevanceSelector(PaperMethod(p=2)), "p is 2; it must be a number above 0 and below 0.5"),
        (RelevanceSelector(PaperMethod(p="small")), "p is 'small'; it must be a number"),
        (RelevanceSelector(PaperMethod(feature_fraction=0)), "feature_fraction is 0; it must be"),
        (RelevanceSelector(PaperMethod(bagging_fraction=1)), "'rf' needs a smaller one"),
        (RelevanceSelector(PaperMethod(boosting_type="goss")), "boosting_type is 'goss'"),
        (
            RelevanceSelector(PaperMethod(n_null_samples=1)),
            "n_null_samples is 1; .* at least 2",
        ),
        (
            RelevanceSelector(PaperMethod(max_depth=-1)),
            "max_depth is -1; it must be a whole",
        ),
        (RelevanceSelector(PaperMethod(num_leaves=8.5)), "num_leaves is 8.5; it must be a whole"),
        (RelevanceSelector(n_jobs=0), "n_jobs is 0; it must be None or a whole number, not 0"),
        (RelevanceSelector(n_jobs="2"), "n_jobs is '2'; it must be None or a whole number"),
        (RelevanceSelector(PaperMethod(boruta_n_estimators="many")), "boruta_n_estimators is"),
    ],
)
def test_parameters_out_of_range(selector, message):
    with pytest.raises(InputError, match=message):
        selector.fit(X, Y)


def test_text_cannot_be_the_target_of_a_regression():
    with pytest.raises(InputError, match="y holds 'a', which is not a number"):
        RelevanceSelector("paper", task="regression").fit(X, np.array(["a", "b"])[Y])
