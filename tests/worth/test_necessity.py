"""What models owe to a column, at the least and at the most, and what its removal costs."""

import numpy as np
import pandas as pd
import pytest

from squamish import RelevanceSelector
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK


def test_classes_are_regions_of_one_picture(copies):
    for name, relevance in zip(copies.feature_names, copies.classes, strict=True):
        shares = copies.necessity[name]
        assert 0 <= shares.low <= shares.least <= shares.most <= shares.high <= 1
        if relevance == STRONG:
            assert shares.low > 0
        if relevance == WEAK:
            assert shares.least < 0.01 < shares.most
        if relevance == IRRELEVANT:
            assert shares.high == 0


def test_shares_are_those_of_the_population(copies):
    # The target is a sum of four independent columns; copies owe what their column does.
    weights = {"a": 1.0, "b": 0.64, "c": 0.81, "d": 0.49}
    total = sum(weights.values())
    for name in copies.select("relevant"):
        share = weights[name[0]] / total
        shares = copies.necessity[name]
        assert shares.low <= (share if len(name) == 1 else 0) <= shares.least + 0.1
        assert shares.most - 0.12 <= share <= shares.high


def test_a_group_is_worth_what_its_members_are_not_one_by_one(copies):
    groups = {frozenset(group): shares for group, shares in copies.necessity.groups.items()}
    together = groups[frozenset({"c0", "c1", "c2"})]
    assert together.least == pytest.approx(0.81 / 2.94, abs=0.1)
    assert all(copies.necessity[f"c{k}"].least < 0.01 for k in range(3))


def test_those_come_first_that_are_needed_most(copies):
    names = list(copies.necessity)
    assert {*names[:2]} == {"a", "b"}
    assert {*names[2:7]} == {"c0", "c1", "c2", "d0", "d1"}
    frame = copies.necessity.to_frame()
    assert frame["feature"].tolist()[: len(names)] == names
    assert frame["kind"].tolist().count("group") == 2


def test_no_removal_costs_more_than_there_is_to_lose():
    # A model that was kept would lose much more when one of two factors was drawn anew.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.standard_normal(600)
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    assert result.strong == ("0", "1")
    assert (result.evidence.effect[:2] <= 1).all()
    assert (result.evidence.effect[:2] > 0.8).all()
    assert (result.evidence.tested_effect[:2] > 1).all()
    assert (result.evidence.removal_interval[:, :2] <= result.gain).all()
    assert (result.evidence.removal_interval[0, :2] <= result.evidence.removal_loss[:2]).all()


def test_a_removal_costs_what_a_refit_loses():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((2000, 3))
    table = pd.DataFrame({"a": z[:, 0], "b": 0.8 * z[:, 0] + 0.6 * z[:, 1], "c": z[:, 2]})
    y = table["a"] + table["b"] + table["c"] + rng.standard_normal(2000)
    result = RelevanceSelector(random_state=0).fit(table, y).result_
    signal = float(np.var(table.sum(axis=1)))
    # What is left of a column given the others, as a share of all that they explain.
    truth = {"a": 0.36 / signal, "b": 0.36 / signal, "c": 1.0 / signal}
    low, high = result.evidence.removal_interval / result.gain
    for j, name in enumerate(result.feature_names):
        assert low[j] - 0.01 <= truth[name] <= high[j] + 0.01


def test_removals_cost_what_a_verdict_without_the_columns_loses():
    # As in a table of customers: trees, a flag that matters where another column is large, and a
    # column beside its price. A model that stays, averaged over draws of the flag, loses less.
    rng = np.random.default_rng(0)
    flag, minutes, calls = rng.random(800) < 0.3, *rng.uniform(0, 10, (2, 800))
    leaves = np.where(flag & (calls > 4), 0.9, np.where((minutes > 7) != (calls > 8), 0.8, 0.05))
    table = pd.DataFrame(
        {"flag": flag, "minutes": minutes, "charge": np.round(0.17 * minutes, 2), "calls": calls}
    )
    y = rng.random(800) < leaves
    result = RelevanceSelector(random_state=0).fit(table, y).result_
    assert result.evidence.learner.startswith("boosted")
    costs = dict(zip(result.feature_names, result.evidence.effect, strict=True))
    groups = {frozenset(group): shares for group, shares in result.necessity.groups.items()}
    together = groups[frozenset({"minutes", "charge"})].least
    for columns, cost in ((["flag"], costs["flag"]), (["minutes", "charge"], together)):
        without = RelevanceSelector(random_state=0).fit(table.drop(columns=columns), y).result_
        lost = (without.evidence.loss - result.evidence.loss) / result.gain
        assert cost == pytest.approx(lost, abs=0.1)
        assert cost > 0.15
    assert max(costs["minutes"], costs["charge"]) < 0.01


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_column_on_another_scale_is_worth_what_it_tells_along_a_curve(task):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1000))
    y = a + b + 0.5 * rng.standard_normal(1000)
    table = pd.DataFrame({"a": a, "b": b, "exp(2 b)": np.exp(2 * b)})
    target = y if task == "regression" else y > 0
    result = RelevanceSelector(random_state=0).fit(table, target).result_
    assert result.necessity["exp(2 b)"].most == pytest.approx(result.necessity["b"].most, abs=0.05)


def test_a_table_of_one_relevant_column_owes_all_to_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    result = RelevanceSelector(random_state=0).fit(X, X[:, 1] + rng.standard_normal(200)).result_
    assert result.select("minimal") == ("1",)
    assert result.necessity["1"].most == 1
    assert result.path["size"].tolist() == [1]
