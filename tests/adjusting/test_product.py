"""Files, words, tables and conditions of fits that adjust for something."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from squamish import InputError, PaperMethod, RelevanceResult, RelevanceSelector
from squamish.fitting import sampling
from squamish.fitting.shuffling import Exchange
from squamish.models import sample_size


def test_the_result_judges_the_others_and_names_what_was_adjusted_for(judged):
    X, _, selector = judged
    result = selector.result_
    assert result.adjusted_for == ("age",)
    assert result.feature_names == tuple(X.columns[1:])
    assert "age" not in result.to_frame()["feature"].tolist()
    assert selector.relevance_classes_[0] == -1
    assert all("age" not in columns for columns in result.signatures)
    assert result.necessity["strong_1"].least > 0


def test_transform_keeps_what_was_adjusted_for_beside_what_is_selected(judged):
    X, _, selector = judged
    kept = selector.transform(X).columns.tolist()
    assert kept == ["age", *selector.result_.select("relevant")]
    assert selector.get_support().tolist() == X.columns.isin(kept).tolist()
    assert selector.get_feature_names_out().tolist() == kept


def test_a_pipeline_predicts_with_what_was_adjusted_for(confounded):
    X, y = confounded(200, shape="line")
    selector = RelevanceSelector(adjust_for=["age"], select="strong", random_state=0)
    pipeline = make_pipeline(selector, LinearRegression()).fit(X, y)
    assert "age" in pipeline[:-1].get_feature_names_out()


def test_columns_without_names_are_adjusted_for_by_number(judged):
    X, y, known = judged
    found = RelevanceSelector(adjust_for=[0], random_state=0).fit(X.to_numpy(), y)
    assert found.relevance_classes_.tolist() == known.relevance_classes_.tolist()
    assert found.result_.adjusted_for == ("0",)


def test_names_that_are_numbers_are_names():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((120, 3)), columns=[30, 10, 20])
    y = table[30] + table[10] + 0.5 * rng.standard_normal(120)
    selector = RelevanceSelector(adjust_for=[10], random_state=0).fit(table, y)
    assert selector.relevance_classes_.tolist() == [2, -1, 0]
    assert selector.result_.feature_names == ("30", "20")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"adjust_for": ["agee"]}, "adjust_for holds 'agee', which is no column of X"),
        ({"adjust_for": "age"}, "adjust_for is 'age'; it must be a list of columns"),
        ({"adjust_for": 7}, "adjust_for is 7; it must be a list of columns"),
        ({"adjust_for": ["age", "dose"]}, "names all 2 columns of X; one or more must be left"),
        (
            {"adjust_for": ["age"], "feature_groups": [["age", "dose"]]},
            "adjust_for holds 'age', which feature_groups judges together with 'dose'",
        ),
        ({"adjust_for": ["age"], "method": "paper"}, "adjust_for belongs to method='crossfit'"),
        ({"adjust_for": ["age"], "method": PaperMethod()}, "adjust_for belongs to method='cross"),
    ],
)
def test_what_cannot_be_adjusted_for_gets_one_error(settings, message):
    X = pd.DataFrame({"age": np.arange(40.0), "dose": np.arange(40.0) % 7})
    with pytest.raises(InputError, match=message):
        RelevanceSelector(**settings).fit(X, np.arange(40) % 2)


def test_every_form_of_the_result_says_what_was_adjusted_for(judged, tmp_path):
    _, _, selector = judged
    result = selector.result_
    assert "for age alone" in repr(result)
    assert "Adjusted for (in every model)" in str(result)
    assert result.explain("strong_1").startswith("Given 'age', 'strong_1' is strongly relevant")
    assert any(note.startswith("adjusted for 'age': it is in every model") for note in result.notes)
    page = result.to_html()
    assert "Adjusted for <bdi" in page
    assert "gains over age alone" in page
    assert "adjusted for 'age'" in result.to_markdown()
    path = tmp_path / "result.json"
    result.to_json(path)
    again = RelevanceResult.from_json(path)
    assert again.adjusted_for == ("age",)
    assert again.to_json() == result.to_json()


def test_a_saved_result_that_judges_what_it_adjusts_for_is_refused(judged):
    text = judged[2].result_.to_json().replace('"adjusted_for": ["age"]', '"adjusted_for": ["x"]')
    with pytest.raises(InputError, match="the digest is another"):
        RelevanceResult.from_json(text)
    text = text.replace('["x"]', '["strong_0"]')
    with pytest.raises(InputError, match="adjusted_for names columns that are judged"):
        RelevanceResult.from_json(text)


def test_a_comparison_says_what_else_was_adjusted_for(judged):
    X, y, selector = judged
    other = RelevanceSelector(random_state=0).fit(X.iloc[:150, :4], y[:150]).result_
    assert selector.result_.compare(other).circumstances["adjusted for"] == ("age", "(none)")


def test_an_audit_shuffles_within_strata_of_what_is_adjusted_for(confounded):
    X, y = confounded(200)
    audit = RelevanceSelector(adjust_for=["age"], random_state=0).audit(X, y, n_shuffles=3)
    assert len(audit.shuffles) == 3
    assert "strata of what is adjusted for" in audit.notes[0]


def test_targets_change_places_within_strata_and_whole_groups_too():
    strata = np.repeat([0, 1, 2], 10)
    exchange = Exchange.of(np.arange(30), None, strata)
    source = exchange.draw(np.random.default_rng(0))
    assert (strata[source] == strata).all()
    assert (source != np.arange(30)).any()
    groups = np.arange(30) // 2
    source = Exchange.of(np.arange(30), groups, strata).draw(np.random.default_rng(0))
    assert (strata[source] == strata).all()
    assert (groups[source[::2]] == groups[source[1::2]]).all()


def test_half_samples_judge_the_same_columns(confounded):
    X, y = confounded(200, effect=0.8)
    result = RelevanceSelector(adjust_for=["age"], stability=2, random_state=0).fit(X, y).result_
    assert set(result.stability.columns) == {*result.feature_names}
    assert result.stability.columns["strong_1"].strong == 2


def test_a_fit_goes_on_from_its_checkpoint(confounded, tmp_path):
    X, y = confounded(150, effect=0.8)
    settings = {"adjust_for": ["age"], "random_state": 0, "checkpoint": tmp_path / "work.bin"}
    first = RelevanceSelector(**settings).fit(X, y).result_
    again = RelevanceSelector(**settings).fit(X, y).result_
    assert again.evidence.loss == first.evidence.loss
    with pytest.raises(InputError, match="other data"):
        RelevanceSelector(**{**settings, "adjust_for": ["strong_0"]}).fit(X, y)


def test_without_time_nothing_is_decided(confounded):
    X, y = confounded(150)
    selector = RelevanceSelector(adjust_for=["age"], time_budget=1e-9, random_state=0)
    assert selector.fit(X, y).result_.undecided == tuple(X.columns[1:])


def test_the_progress_has_a_stage_for_it(confounded):
    X, y = confounded(100)
    told = []
    RelevanceSelector(adjust_for=["age"], callback=told.append, random_state=0).fit(X, y)
    stages = list(dict.fromkeys(news.stage for news in told))
    assert stages[:2] == ["adjust", "screen for relevance"]


def test_of_very_many_rows_a_sample_is_judged(confounded, monkeypatch):
    monkeypatch.setattr(sampling, "FEW_ROWS", 1000)
    monkeypatch.setattr(sample_size, "PILOT", 300)
    monkeypatch.setattr(sample_size, "MOST_ROWS", 900)
    X, y = confounded(2000)
    frame = pl.from_pandas(X).lazy()
    selector = RelevanceSelector(adjust_for=["age"], random_state=0).fit(frame, y)
    relevant = selector.result_.select("relevant")
    assert {"strong_0", "strong_1"} <= {*relevant}
    assert not any(name.startswith("conf") for name in relevant)
    assert "a random sample of" in " ".join(selector.result_.notes)
    assert selector.transform(frame).collect().columns[0] == "age"
    audit = RelevanceSelector(adjust_for=["age"], random_state=0).audit(frame, y, n_shuffles=1)
    assert "strata" in audit.notes[0]
