"""What a user is told about a table and a verdict."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from squamish import LeakWarning, PaperMethod, RelevanceSelector


def leak():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((100, 2)), columns=["a", "b"])
    return table, table["a"]


def test_warnings_point_to_the_line_that_called_fit():
    table, y = leak()
    with pytest.warns(LeakWarning, match="'a' alone tells the target") as caught:
        RelevanceSelector(random_state=0).fit(table, y)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(LeakWarning) as caught:
        make_pipeline(RelevanceSelector(random_state=0), LinearRegression()).fit(table, y)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="the table has 30 rows") as caught:
        RelevanceSelector(PaperMethod(n_null_samples=2), random_state=0).fit(table[:30], y[:30])
    assert {warning.filename for warning in caught} == {__file__}


def test_warnings_point_to_the_line_that_called_transform():
    table, _ = leak()
    noise = np.random.default_rng(1).standard_normal(100)
    selector = RelevanceSelector(random_state=0).fit(table, noise)
    with pytest.warns(UserWarning, match="No features were selected") as caught:
        selector.transform(table)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("kind", ["classes", "amounts", "text"])
def test_a_leak_is_named(kind):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.standard_normal(300), "outcome code": rng.standard_normal(300)})
    y = table["outcome code"] * 3
    if kind != "amounts":
        y = (y > 0).astype(int)
    if kind == "text":
        table["outcome code"] = np.where(y, "code 17", "code 3")
    with pytest.warns(LeakWarning, match="'outcome code' alone tells the target"):
        selector = RelevanceSelector(random_state=0).fit(table, y)
    assert selector.result_.notes[-1].startswith("'outcome code' alone")


def test_leaks_that_a_line_sees_and_that_only_trees_see_are_both_named():
    rng = np.random.default_rng(0)
    score, x = rng.standard_normal((2, 300))
    y = (score > 0).astype(int)
    table = pd.DataFrame({"x": x, "score": score, "sign": np.where(y, 0, rng.choice([-1, 1], 300))})
    with pytest.warns(LeakWarning) as warned:
        RelevanceSelector(random_state=0).fit(table, y)
    assert [str(w.message).split()[0] for w in warned] == ["'score'", "'sign'"]
