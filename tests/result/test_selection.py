"""Which columns to keep, and minimal sets of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from squamish import InputError, RelevanceSelector
from squamish.datasets import load_problem, make_linear
from squamish.redundancy.groups import covering_set, replaceable_groups


def test_what_to_keep(patients):
    assert patients.select("strong") == ("sex", "bp", "ltg")
    assert set(patients.select("relevant")) == {*patients.strong, *patients.weak}
    cover = patients.select("cover")
    assert {"sex", "bp", "age", "glucose"} <= set(cover)
    assert len({"bmi", "bmi_copy"} & set(cover)) == 1
    minimal = patients.select("minimal")
    assert {*patients.strong} <= set(minimal) <= set(patients.select("relevant"))
    assert len({"bmi", "bmi_copy"} & set(minimal)) == 1
    assert [len(patients.select(k)) for k in (1, 3, 5)] == [1, 3, 5]
    for wrong in ("best", True, 2.0):
        with pytest.raises(InputError, match="it must be 'relevant', 'strong', 'minimal', 'cover'"):
            patients.select(wrong)
    with pytest.raises(InputError, match="select is 0; columns can be chosen from 1 to"):
        patients.select(0)


@pytest.mark.parametrize(
    ("name", "n_kept"),
    [
        ("XOR with copies", 2),
        ("groups with noise", 6),
        # Two of a, b and a + b give the third, and no single one does.
        ("sum", 3),
        # What strong columns replace is not needed at all.
        ("network", 4),
    ],
)
def test_a_covering_set_has_one_of_each_group_or_as_many_as_it_takes(name, n_kept):
    problem = load_problem(name, random_state=3)
    result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    kept = set(result.select("cover"))
    assert len(kept) == n_kept
    assert set(result.strong) <= kept
    for weak in set(result.weak) - kept:
        assert any(kept >= set(names) for names in result.substitutes[weak])


@settings(deadline=None)
@given(st.data())
def test_what_is_not_in_a_covering_set_is_replaced_by_it(data):
    n = data.draw(st.integers(1, 8))
    weak = list(range(1, n + 1))
    others = {j: [k for k in range(n + 1) if k != j] for j in weak}
    replaced_by = {
        j: tuple(
            tuple(sorted(names))
            for names in data.draw(st.lists(st.sets(st.sampled_from(others[j]), max_size=3)))
        )
        for j in weak
    }
    groups = replaceable_groups(weak, replaced_by)
    assert sorted(j for group in groups for j in group) == weak
    chosen = [(group[0],) for group in groups]
    p = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n + 1, max_size=n + 1)))
    kept = set(covering_set([0], groups, chosen, replaced_by, p))
    assert 0 in kept
    for j in set(weak) - kept:
        assert any(names and kept.issuperset(names) for names in replaced_by[j])


def test_of_noisy_copies_as_many_are_kept_as_it_takes():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(600)
    X = z[:, np.newaxis] + 0.3 * rng.standard_normal((600, 30))
    result = RelevanceSelector(random_state=0).fit(X, z + 0.1 * rng.standard_normal(600)).result_
    # One of them covers the others, and has lost much of what they tell together.
    assert len(result.select("cover")) < len(result.select("minimal")) <= 30
    assert result.evidence.minimal_loss - result.evidence.loss < 0.02 * result.gain


def test_columns_of_one_feature_stay_together_in_a_covering_set():
    rng = np.random.default_rng(0)
    site = rng.integers(0, 3, 400)
    code = np.eye(3)[site][:, :2]
    table = pd.DataFrame(np.column_stack([code, code, rng.standard_normal((400, 2))]))
    table.columns = ["a1", "a2", "b1", "b2", "u", "noise"]
    y = (site == 1) ^ (rng.random(400) < 0.1)
    selector = RelevanceSelector(
        feature_groups=[["a1", "a2"], ["b1", "b2"]], random_state=0, select="minimal"
    )
    assert selector.fit(table, y).transform(table).columns.tolist() in (["a1", "a2"], ["b1", "b2"])


def test_the_covering_set_of_the_paper_is_its_own(paper_patients):
    named = np.array(paper_patients.feature_names)[paper_patients.evidence.minimal]
    assert paper_patients.select("minimal") == tuple(named)


def test_transform_keeps_what_select_says():
    problem = make_linear(300, n_strong=2, group_sizes=[4], n_irrelevant=3, random_state=0)
    shapes = {}
    for select in ("relevant", "strong", "minimal"):
        selector = RelevanceSelector(select=select, random_state=0).fit(problem.X, problem.y)
        shapes[select] = selector.transform(problem.X).shape[1]
        assert len(selector.get_feature_names_out()) == shapes[select]
        assert selector.support_.sum() == shapes[select]
    assert shapes == {"relevant": 6, "strong": 2, "minimal": 3}
