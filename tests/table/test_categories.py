"""Categories: few levels and many, rare ones and new ones."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_categories_and_gaps_get_their_right_class(classes, mixed, truth, seed, task):
    table, labels, amounts = mixed(seed)
    assert classes(table, labels if task == "classification" else amounts) == truth


def test_a_category_under_other_labels_replaces_it_even_with_many_levels(verdict):
    rng = np.random.default_rng(0)
    city = rng.integers(0, 40, 800)
    y = rng.standard_normal(40)[city] + 0.5 * rng.standard_normal(800)
    code = rng.permutation(40)[city]
    table = pd.DataFrame(
        {"city": city.astype(str), "code": code.astype(str), "x": y * 0 + city[::-1]}
    )
    for columns in (["city", "code", "x"], ["city", "code"]):
        selector = verdict(table[columns], y)
        assert selector.relevance_classes_[:2].tolist() == [1, 1]
        assert not selector.relevance_classes_[2:].any()
        assert selector.result_.groups == (("city", "code"),)


def test_categories_that_matter_only_together_are_strong(classes):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 600))
    y = ((a + b) % 3 == 0).astype(int)
    table = pd.DataFrame(
        {"a": a.astype(str), "b": b.astype(str), "c": rng.integers(0, 3, 600).astype(str)}
    )
    assert classes(table, y) == {"a": 2, "b": 2, "c": 0}


@pytest.mark.parametrize("seed", range(5))
def test_many_random_levels_buy_nothing(classes, seed):
    rng = np.random.default_rng(seed)
    n = 400
    table = pd.DataFrame(
        {
            "x": rng.standard_normal(n),
            "40 levels": rng.integers(0, 40, n).astype(str),
            "200 levels": rng.integers(0, 200, n).astype(str),
            "1,000 levels": rng.integers(0, 1000, n).astype(str),
            "id": [f"id {i}" for i in range(n)],
            "row": np.arange(n),
        }
    )
    found = classes(table, table["x"] + 0.5 * rng.standard_normal(n) > 0)
    assert found == {"x": 2} | dict.fromkeys(list(table.columns)[1:], 0)
    assert set(classes(table, rng.standard_normal(n)).values()) == {0}


def test_numbers_may_be_declared_categories(verdict):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 2)).astype(float)
    y = np.array([0, 3, 1, 3, 0, 1])[X[:, 0].astype(int)] + rng.standard_normal(300)
    by_number = verdict(X, y, categorical_features=[0, 1])
    as_text = verdict(pd.DataFrame(X.astype(int).astype(str)), y)
    assert by_number.relevance_classes_.tolist() == as_text.relevance_classes_.tolist() == [2, 0]


def test_rare_and_unseen_levels_break_nothing(verdict):
    rng = np.random.default_rng(0)
    n = 300
    levels = rng.choice([f"level {i}" for i in range(60)], n, p=np.r_[[0.7], [0.3 / 59] * 59])
    x = rng.standard_normal(n)
    table = pd.DataFrame({"x": x, "rare": levels, "once": ["one"] + ["other"] * (n - 1)})
    y = x + (levels == "level 0") + 0.3 * rng.standard_normal(n)
    selector = verdict(table, y)
    assert selector.relevance_classes_.tolist() == [2, 2, 0]
    new = table.assign(rare="never seen")
    assert selector.transform(new).columns.tolist() == ["x", "rare"]


def test_one_long_text_does_not_cost_the_memory_of_many(classes):
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Oslo", "Rome"], 400).astype(object)
    y = (city == "Bonn") + 0.3 * rng.standard_normal(400)
    city[0] = "x" * 1_000_000
    tracemalloc.start()
    try:
        assert classes(pd.DataFrame({"city": city}), y) == {"city": 2}
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def many_levels(n, n_levels=40):
    rng = np.random.default_rng(0)
    level = rng.integers(0, n_levels, n)
    return np.array([f"city {c}" for c in level]), rng.standard_normal(n_levels)[level], rng


def test_a_category_of_many_levels_is_judged_among_very_many_columns(classes):
    city, effect, rng = many_levels(500)
    table = pd.DataFrame(rng.standard_normal((500, 170))).add_prefix("x")
    table["city"] = city
    y = 1.5 * effect + table["x0"] + 0.3 * rng.standard_normal(500)
    assert {name for name, c in classes(table, y).items() if c == 2} == {"city", "x0"}


def test_what_replaces_a_category_of_many_levels_is_found_in_a_series_of_time(verdict):
    city, effect, rng = many_levels(2400, 20)
    table = pd.DataFrame({"city": city, "height": effect, "noise": rng.standard_normal(2400)})
    y = effect + rng.standard_normal(2400)
    result = verdict(table, y, cv=TimeSeriesSplit(5)).result_
    assert result.classes.tolist() == [1, 1, 0]
    assert result.evidence.groups == ((0, 1),)
