"""Signatures: all sets that predict as well as the minimal one."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from squamish import InputError, RelevanceSelector


def test_copies_multiply(copies):
    signatures = copies.signatures
    assert signatures.count == 6
    listed = [frozenset(columns) for columns in signatures]
    wanted = {frozenset({"a", "b", f"c{k}", f"d{m}"}) for k in range(3) for m in range(2)}
    assert len(listed) == 6
    assert set(listed) == wanted
    assert listed[0] == {*copies.select("minimal")}


def test_any_two_of_three_are_one_slot(two_of_three):
    signatures = two_of_three.signatures
    pairs = {frozenset(pair) | {"c"} for pair in combinations(("a", "b", "ab"), 2)}
    assert {frozenset(columns) for columns in signatures} == pairs
    assert signatures.fixed == ("c",)


def test_other_names_of_levels_and_monotone_transforms_can_stand_in():
    rng = np.random.default_rng(0)
    level, x = rng.integers(0, 4, 400), rng.standard_normal(400)
    table = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue", "grey"])[level],
            "code": np.array(["Z", "Q", "K", "A"])[level],
            "x": x,
            "exp x": np.exp(x),
        }
    )
    y = np.array([0.0, 2.0, -1.0, 0.5])[level] + x + 0.5 * rng.standard_normal(400)
    signatures = RelevanceSelector(random_state=0).fit(table, y).result_.signatures
    assert signatures.count == 4
    assert ("code", "exp x") in signatures
    assert ("colour", "code") not in signatures


def test_a_noisy_copy_that_loses_much_cannot_stand_in():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((500, 2))
    table = pd.DataFrame(
        {"a": z[:, 0], "like a": z[:, 0] + 0.6 * rng.standard_normal(500), "b": z[:, 1]}
    )
    result = RelevanceSelector(random_state=0).fit(table, z.sum(axis=1) + rng.normal(size=500))
    signatures = result.result_.signatures
    assert signatures.count == 1
    assert list(signatures) == [("a", "b")]


def test_sets_with_several_exchanges_are_checked(copies):
    signatures = copies.signatures
    # All others, as there are less than ten.
    assert signatures.n_checked == 5
    assert signatures.n_as_good == 5
    assert signatures.is_complete
    assert signatures.margin == pytest.approx(0.01)
    assert signatures.error == 0.05


def test_the_cheapest_signature_is_the_sum_of_the_cheapest_alternatives(copies):
    costs = {"a": 1, "c0": 9.0, "c1": 2.0, "c2": 5.0, "d0": 4.0, "d1": 3.0}
    found = copies.signatures.cheapest(costs)
    assert found.columns == ("a", "b", "c1", "d1")
    assert found.cost == 6.0
    listed = [sum(costs.get(name, 0) for name in columns) for columns in copies.signatures]
    assert found.cost == min(listed)


def test_columns_can_be_ruled_out(copies):
    left = copies.signatures.without(["c0", "d1"])
    assert left.count == 2
    assert all(not {"c0", "d1"} & {*columns} for columns in left)
    assert "d0" in left.fixed
    with pytest.raises(InputError, match="'a' is in every signature: nothing stands in for it"):
        copies.signatures.without(["a"])
    with pytest.raises(InputError, match="every signature has one of d0, d1"):
        copies.signatures.without(["d0", "d1"])
    with pytest.raises(InputError, match="columns names 'e', which is no column of the table"):
        copies.signatures.without("e")


@pytest.mark.parametrize("cost", [-1, float("nan"), float("inf"), "much", None])
def test_a_cost_is_a_number(copies, cost):
    with pytest.raises(InputError, match="for 'a'; it must be a number of 0 or more"):
        copies.signatures.cheapest({"a": cost})


def test_signatures_survive_a_file(copies):
    again = type(copies).from_json(copies.to_json())
    assert again.signatures == copies.signatures
    assert again.path.equals(copies.path)


def test_columns_of_one_feature_stand_in_together():
    rng = np.random.default_rng(0)
    site = rng.integers(0, 3, 400)
    codes = np.eye(3)[site][:, 1:]
    X = np.column_stack([codes, codes[:, ::-1], rng.standard_normal((400, 2))])
    names = ["p1", "p2", "q1", "q2", "x", "noise"]
    y = np.array([0.0, 2.0, -2.0])[site] + X[:, 4] + 0.5 * rng.standard_normal(400)
    result = (
        RelevanceSelector(random_state=0, feature_groups={"p": ["p1", "p2"], "q": ["q1", "q2"]})
        .fit(pd.DataFrame(X, columns=names), y)
        .result_
    )
    assert {frozenset(s) for s in result.signatures} == {
        frozenset({"p1", "p2", "x"}),
        frozenset({"q1", "q2", "x"}),
    }
    assert result.path["size"].tolist() == [1, 2, 3]
