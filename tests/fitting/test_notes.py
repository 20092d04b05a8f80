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
