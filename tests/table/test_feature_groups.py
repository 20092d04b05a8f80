"""Columns that belong together."""

import numpy as np
import pandas as pd


def test_columns_that_belong_together_are_judged_as_one(verdict, classes):
    rng = np.random.default_rng(0)
    level = rng.integers(0, 4, 400)
    one_hot = pd.get_dummies(pd.Series(level), prefix="level")
    table = one_hot.assign(x=rng.standard_normal(400), noise=rng.standard_normal(400))
    y = np.array([0, 1, 2, 0])[level] + table["x"] + 0.3 * rng.standard_normal(400)
    apart = classes(table, y)
    assert apart["level_1"] == 1
    together = verdict(table, y, feature_groups={"level": list(one_hot.columns)})
    assert together.relevance_classes_.tolist() == [2, 2, 2, 2, 2, 0]
    by_number = verdict(table.to_numpy(dtype=float), y, feature_groups=[[0, 1, 2, 3]])
    assert by_number.relevance_classes_.tolist() == [2, 2, 2, 2, 2, 0]


def test_every_member_of_a_feature_group_may_prove_it(classes):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        city, other = rng.integers(0, 20, (2, 500))
        y = rng.standard_normal(20)[city] + 0.5 * rng.standard_normal(500)
        table = pd.DataFrame({"city": city.astype(str), "other": other.astype(str)})
        assert classes(table, y, feature_groups=[["city", "other"]]) == {"city": 2, "other": 2}
