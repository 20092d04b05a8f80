"""Selections that keep nothing: the best column, a clear error, or a table without columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from squamish import InputError, PaperMethod, RelevanceSelector

KEPT = "keeps nothing, as no column is strong: the best one is kept, "


def copies(kind="array"):
    """Two copies, neither of which is strong, and noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    X = np.column_stack([rng.standard_normal(200), x, 3 - 2 * x])
    y = x + 0.3 * rng.standard_normal(200)
    return (pd.DataFrame(X, columns=["noise", "x", "copy"]) if kind == "frame" else X), y


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_the_best_column_is_kept_with_a_warning(kind):
    X, y = copies(kind)
    pipeline = make_pipeline(RelevanceSelector(random_state=0, select="strong"), LinearRegression())
    with pytest.warns(UserWarning, match=KEPT):
        assert pipeline.fit(X, y).score(X, y) > 0.8
    selector = pipeline[0]
    assert selector.result_.select("strong") == ()
    assert selector.support_.sum() == 1
    assert not selector.support_[0]
    assert selector.result_.best == (selector.result_.feature_names[selector.support_.argmax()],)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_one_error_if_that_is_what_is_wanted(kind):
    X, y = copies(kind)
    selector = RelevanceSelector(random_state=0, select="strong", if_none="error")
    pipeline = make_pipeline(selector, LinearRegression())
    with pytest.raises(InputError, match="select='strong' keeps nothing, as no column is strong; "):
        pipeline.fit(X, y)


@pytest.mark.parametrize("select", ["relevant", "minimal", 3])
def test_where_nothing_is_relevant_nothing_is_kept_unless_the_best_is_wanted(select):
    X = np.random.default_rng(0).standard_normal((80, 3))
    y = np.random.default_rng(1).standard_normal(80)
    selector = RelevanceSelector(random_state=0, select=select)
    selector.fit(pd.DataFrame(X, columns=["0", "1", "2"]), y)
    assert not selector.relevance_classes_.any()
    assert not selector.support_.any()
    with pytest.warns(UserWarning, match="as no column is relevant: no column is left"):
        assert selector.transform(pd.DataFrame(X, columns=["0", "1", "2"])).shape == (80, 0)
    selector.set_params(if_none="best")
    with pytest.warns(UserWarning, match="as no column is relevant: the best one is kept"):
        kept = selector.transform(pd.DataFrame(X, columns=["0", "1", "2"]))
    assert kept.shape == (80, 1)
    assert selector.support_.sum() == 1
    with pytest.raises(InputError, match="select is 3; no column is relevant"):
        selector.result_.select(3)


def test_the_paper_has_a_best_column_too():
    X, y = copies()
    method = PaperMethod(n_null_samples=8, n_estimators=20, p=1e-3, boruta_max_iter=20)
    selector = RelevanceSelector(method, random_state=0, select="strong").fit(X, y)
    assert selector.result_.best[0] in ("1", "2")


def test_the_parameter_is_one_of_three():
    with pytest.raises(InputError, match="if_none is 'none'; it must be None or 'best' or"):
        RelevanceSelector(if_none="none").fit(*copies())
