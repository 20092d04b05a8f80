"""Verdicts that are remembered: a grid over what to select fits once for each split."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import squamish
from squamish import RelevanceSelector
from squamish.datasets import make_linear

SELECTIONS = ["strong", "relevant", "minimal", "cover", 1]


class Counter:
    """Counts the fits that were begun."""

    n_fits = 0

    def __deepcopy__(self, _):
        return self

    def __call__(self, news):
        self.n_fits += news.stage == "screen for relevance" and news.done == 0


@pytest.fixture(scope="module")
def problem():
    return make_linear(200, n_strong=2, group_sizes=[2], n_irrelevant=2, random_state=0)


def test_a_grid_over_select_fits_once_for_each_split(problem, tmp_path):
    scores = []
    for memory, n_fits in ((None, 3 * len(SELECTIONS) + 1), (tmp_path, 4)):
        counter = Counter()
        selector = RelevanceSelector(
            random_state=0, memory=None if memory is None else str(memory), callback=counter
        )
        grid = {"relevanceselector__select": SELECTIONS}
        search = GridSearchCV(make_pipeline(selector, LogisticRegression()), grid, cv=3)
        search.fit(problem.X, problem.y)
        assert counter.n_fits == n_fits
        scores.append(search.cv_results_["mean_test_score"].tolist())
    assert scores[0] == scores[1]


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_what_is_remembered_is_the_same_for_every_kind_of_table(problem, tmp_path, kind):
    X, counter = kind(problem.X), Counter()
    first, again, other = (
        RelevanceSelector(random_state=0, memory=str(tmp_path), callback=counter, **settings)
        for settings in ({}, {"select": "strong", "n_jobs": 2}, {"task": "regression"})
    )
    first.fit(X, problem.y)
    again.fit(kind(problem.X.copy()), problem.y)
    assert counter.n_fits == 1
    assert again.result_ == first.result_
    assert again.n_features_in_ == first.n_features_in_ == 6
    assert hasattr(again, "feature_names_in_") == hasattr(first, "feature_names_in_")
    assert again.transform(X).shape == (200, 2)
    other.fit(X, problem.y)
    again.fit(X, problem.y[::-1])
    assert counter.n_fits == 3


def test_nothing_is_remembered_of_what_ended_early(problem, tmp_path):
    counter = Counter()
    for _ in range(2):
        RelevanceSelector(
            random_state=0, memory=str(tmp_path), callback=counter, time_budget=100
        ).fit(problem.X, problem.y)
    assert counter.n_fits == 2


def test_another_version_judges_anew(problem, tmp_path, monkeypatch):
    counter = Counter()
    selector = RelevanceSelector(random_state=0, memory=str(tmp_path), callback=counter)
    for version in ("1.0", "1.1"):
        monkeypatch.setattr(squamish, "__version__", version)
        selector.fit(problem.X, problem.y)
    assert counter.n_fits == 2


def test_tables_are_not_written_beside_verdicts(problem, tmp_path):
    RelevanceSelector(random_state=0, memory=str(tmp_path)).fit(problem.X, problem.y)
    (metadata,) = tmp_path.rglob("metadata.json")
    assert "sample_weight" in metadata.read_text()
    assert "array" not in metadata.read_text()
