"""The result object, as a user of a notebook or a script meets it."""

import json
import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from types import GenericAlias
from typing import get_args, get_origin

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from squamish import CrossfitMethod, InputError, RelevanceResult, RelevanceSelector
from squamish.datasets import load_problem, make_linear
from squamish.redundancy.redundancy import minimal_set, replaceable_groups
from squamish.result import serialization


def renamed(result, **names):
    """The same result with other names of columns."""
    new = tuple(names.get(name, name) for name in result.feature_names)
    return replace(result, columns=replace(result.columns, names=new))


def test_a_line_says_what_was_found_how_well_and_how(patients):
    assert re.fullmatch(
        r"2 strong, 9 weak in 2 groups and 2 alone, 4 irrelevant of 15; out-of-sample squared "
        r"error 0\.\d\d vs 1\.0\d for the constant; crossfit, seed 0, [\d.]+ s",
        repr(patients),
    )


def test_counts_add_up(patients, paper_patients):
    for result in (patients, paper_patients):
        names = [*result.strong, *result.weak, *result.irrelevant]
        assert sorted(names) == sorted(result.feature_names)


def test_a_line_names_what_is_not_at_its_default():
    problem = make_linear(100, n_strong=2, group_sizes=[], n_irrelevant=2, random_state=0)
    result = RelevanceSelector(CrossfitMethod(alpha=0.05)).fit(problem.X, problem.y).result_
    assert "; crossfit(alpha=0.05), " in repr(result)
    assert "seed" not in repr(result)


def test_the_verdict_in_words(patients):
    lines = str(patients).splitlines()
    assert lines[0] == "Cannot do without (strong)           sex, bp"
    assert "  these replace each other           bmi, bmi_copy" in lines


def test_a_result_cannot_be_changed(patients):
    with pytest.raises(FrozenInstanceError):
        patients.task = "classification"


def test_the_notebook_shows_names_as_text(patients):
    page = renamed(patients, sex="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "Cannot do without" in page


def test_a_notebook_is_not_flooded():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((50, 300)), columns=[f"x{j}" for j in range(300)])
    result = RelevanceSelector(random_state=0).fit(table, rng.standard_normal(50)).result_
    assert "and 260 more" in result._repr_html_()
    assert any("no column is told from noise" in note for note in result.notes)


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_a_frame_has_a_row_for_every_column(patients, library, kind):
    frame = patients.to_frame(library)
    assert isinstance(frame, kind)
    frame = frame if library == "pandas" else frame.to_pandas()
    rows = frame.set_index("feature")
    assert rows.index.tolist() == list(patients.feature_names)
    assert rows["class"]["sex"] == "strong"
    assert rows["substitutes"]["bmi_copy"] == "bmi"
    assert rows["representative"]["bmi_copy"] in ("bmi", "bmi_copy")
    assert rows["group"]["bmi"] == rows["group"]["bmi_copy"]
    assert rows["proof"]["bmi"] == "marginal"
    assert rows["p_value"]["bmi"] < 1e-10
    assert rows["removal_low"]["bp"] < rows["removal_loss"]["bp"] < rows["removal_high"]["bp"]
    assert rows["importance"]["bmi"] > rows["importance"]["shuffled_bmi"]
    assert rows["missing"].sum() == 0
    assert set(rows["dtype"]) == {"float64"}
    assert pd.isna(rows["group"]["sex"])
    assert pd.isna(rows["removal_loss"]["shuffled_bp"])


def test_a_frame_of_pandas_unless_asked_for_another(patients):
    assert isinstance(patients.to_frame(), pd.DataFrame)
    with pytest.raises(InputError, match="library is 'excel'; it must be 'pandas' or 'polars'"):
        patients.to_frame("excel")


def test_types_and_gaps_of_the_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "number": np.where(np.arange(80) < 20, np.nan, rng.standard_normal(80)),
            "text": [None if i < 8 else "ab"[i % 2] for i in range(80)],
            "category": pd.Categorical(["x", "y"] * 40),
        }
    )
    for frame in (table, pl.from_pandas(table)):
        columns = RelevanceSelector().fit(frame, rng.integers(0, 2, 80)).result_.columns
        assert columns.missing == (0.25, 0.1, 0.0)
        assert columns.dtypes == tuple(str(dtype) for dtype in frame.dtypes)
    values = table.to_numpy(dtype=object)
    columns = RelevanceSelector().fit(values, rng.integers(0, 2, 80)).result_.columns
    assert columns.missing == (0.25, 0.1, 0.0)


def test_what_to_keep(patients):
    assert patients.select("strong") == ("sex", "bp")
    assert set(patients.select("relevant")) == {*patients.strong, *patients.weak}
    minimal = patients.select("minimal")
    assert {"sex", "bp", "age", "glucose"} <= set(minimal)
    assert len({"bmi", "bmi_copy"} & set(minimal)) == 1
    with pytest.raises(InputError, match="select is 'best'; it must be 'relevant' or 'strong'"):
        patients.select("best")


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
def test_a_minimal_set_has_one_of_each_group_or_as_many_as_it_takes(name, n_kept):
    problem = load_problem(name, random_state=3)
    result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    kept = set(result.select("minimal"))
    assert len(kept) == n_kept
    assert set(result.strong) <= kept
    for weak in set(result.weak) - kept:
        assert any(kept >= set(names) for names in result.substitutes[weak])


@settings(deadline=None)
@given(st.data())
def test_what_is_not_in_a_minimal_set_is_replaced_by_it(data):
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
    kept = set(minimal_set([0], groups, chosen, replaced_by, p))
    assert 0 in kept
    for j in set(weak) - kept:
        assert any(names and kept.issuperset(names) for names in replaced_by[j])


def test_a_minimal_set_of_noisy_copies_says_what_it_loses():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(600)
    X = z[:, np.newaxis] + 0.3 * rng.standard_normal((600, 5))
    result = RelevanceSelector(random_state=0).fit(X, z + 0.1 * rng.standard_normal(600)).result_
    assert len(result.select("minimal")) < 5
    assert result.evidence.minimal_loss > 1.5 * result.evidence.loss
    assert any("with the minimal set alone the loss is" in note for note in result.notes)


def test_text_that_looks_like_numbers_is_noted():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(100)
    table = pd.DataFrame({"amount": [f"{v:.2f}".replace(".", ",") for v in x], "z": x})
    table["sex"] = rng.choice(["f", "m"], 100)
    table["month"] = pd.Categorical(rng.integers(1, 13, 100))
    notes = RelevanceSelector(random_state=0).fit(table, x + rng.standard_normal(100)).result_.notes
    assert any(
        note.startswith("'amount' is text that looks like numbers, such as") for note in notes
    )
    assert not any("ID" in note or "month" in note for note in notes)


def test_columns_of_one_feature_stay_together_in_a_minimal_set():
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


def test_the_minimal_set_of_the_paper_is_its_own(paper_patients):
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


def test_a_column_is_explained(patients, paper_patients):
    weak = patients.explain("bmi_copy")
    assert weak.startswith("'bmi_copy' is weakly relevant: informative, but others can replace it.")
    assert "It is relevant because it depends on the target by itself (p = " in weak
    assert "It can be replaced by 'bmi'." in weak
    assert "is suggested" in weak
    assert "Without what it alone tells, the loss grows by" in patients.explain("bp")
    assert "the loss does not grow" in patients.explain("age")
    assert "None of the tests tells it from a column of noise" in patients.explain("shuffled_bp")
    assert "what it adds is too little to prove" in patients.explain("glucose")
    assert "Boruta's forests gain more" in paper_patients.explain("bmi")
    assert "is expected when nothing of importance is removed" in paper_patients.explain("bmi")


def test_a_constant_column_is_explained_as_such():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"one": np.ones(60), "x": rng.standard_normal(60)})
    result = RelevanceSelector(random_state=0).fit(table, table["x"] > 0).result_
    assert "it has no two different values" in result.explain("one")
    assert np.isnan(result.evidence.p_relevant[0])


def test_an_unknown_column_gets_the_nearest_names(patients):
    with pytest.raises(InputError, match="there is no column 'bmi_cpy'; did you mean 'bmi_copy'"):
        patients.explain("bmi_cpy")


def test_close_calls_are_named(patients):
    evidence = replace(patients.evidence, p_relevant=np.full(15, 0.02), alpha=0.01)
    close = replace(patients, evidence=evidence).borderline
    assert close["age"] == "relevant or not: p = 0.02, where 0.01 is the limit"
    p, effect = np.full(15, 1e-5), np.full(15, 0.012)
    evidence = replace(patients.evidence, p_relevant=p, p_value=p, effect=effect)
    close = replace(patients, evidence=evidence).borderline
    assert close["age"] == (
        "strong or weak: its removal costs 1.2% of what the model gains, where 1.0% is the limit"
    )
    evidence = replace(patients.evidence, p_relevant=p, p_value=p, effect=np.full(15, 0.2))
    assert replace(patients, evidence=evidence).borderline == {}
    # It is weak for its small effect, however close the p-value is.
    near, small = np.full(15, 0.008), np.full(15, 0.001)
    evidence = replace(patients.evidence, p_relevant=p, p_value=near, effect=small)
    assert replace(patients, evidence=evidence).borderline == {}


def test_markdown_escapes_what_would_break_the_table(patients):
    page = renamed(patients, bmi_copy="bmi|copy\nof <b>").to_markdown()
    row = next(line for line in page.splitlines() if line.startswith("| weak"))
    assert r"bmi\|copy of &lt;b>" in row
    assert re.search(r"\| glucose \| weak \|  \| 0.1% \| 1 \| nothing in particular", page)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("age*sex", r"age\*sex"),
        ("__id__", r"\_\_id\_\_"),
        ("a\\|b", r"a\\\|b"),
        ("[x](y)", r"\[x](y)"),
        ("&lt;", "&amp;lt;"),
        ("R&D_2", "R&D_2"),
    ],
)
def test_names_mean_nothing_in_markdown(patients, name, written):
    assert f"| {written} | weak |" in renamed(patients, bmi_copy=name).to_markdown()


def test_json_brings_a_seed_of_many_digits_back(patients):
    seeded = replace(patients, provenance=replace(patients.provenance, seed=2**127))
    assert RelevanceResult.from_json(seeded.to_json()).provenance.seed == 2**127


def test_json_brings_everything_back(patients, paper_patients, tmp_path):
    for result in (patients, paper_patients):
        path = tmp_path / "result.json"
        result.to_json(path)
        again = RelevanceResult.from_json(path)
        assert again == result
        assert again.to_json() == path.read_text()
        assert repr(again) == repr(result)
        assert again.to_frame("polars").equals(result.to_frame("polars"))
        assert type(again.evidence) is type(result.evidence)
        assert again.classes.dtype == result.classes.dtype
        assert RelevanceResult.from_json(result.to_json()) == result


def test_json_survives_odd_names_and_unmeasured_importances():
    rng = np.random.default_rng(0)
    names = ['"quoted"', "new\nline", "\ud800 half a character", "ß€𝄞", ""]
    table = pd.DataFrame(rng.standard_normal((60, 5)), columns=pd.Index(names, dtype=object))
    selector = RelevanceSelector(random_state=0)
    result = selector.fit(table, rng.integers(0, 2, 60), groups=np.arange(60) // 2).result_
    again = RelevanceResult.from_json(result.to_json())
    assert again == result
    assert again.feature_names == tuple(names)
    assert again.evidence.importance_rounds.shape == (0, 5)


def damaged(result, *where, value):
    content = json.loads(result.to_json())
    place = content
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (["format"], "other", "this is no result of squamish"),
        (["version"], 2, "the version of this result is 2; this squamish reads version 1"),
        (["evidence_kind"], [], r"evidence_kind is \[\]; it must be crossfit"),
        (["evidence_kind"], "os.system", "evidence_kind is 'os.system'; it must be crossfit"),
        (["classes"], [0], "classes has 1 entries, not 15"),
        (["classes"], [[0] * 15], "classes has 1 x 15 entries, not 15"),
        (["classes", 3], 10**30, r"classes\[3\] is 10+; it must be a whole number"),
        (["classes", 0], 0, "must hold every weak column once"),
        (["columns", "names", 1], "age", "columns.names has a name twice"),
        (["columns", "names"], [[[[]]]], r"columns.names\[0\] is \[\[\[\]\]\]; it must be text"),
        (["evidence", "loss"], 10**400, "evidence.loss is 10+"),
        (["evidence", "p_value"], {"shape": 5}, "evidence.p_value is {'shape': 5}"),
        (["evidence", "p_value"], {"shape": [0, 10**30]}, "the shape of an empty array"),
        (["evidence", "p_value"], [[0.1], 2], r"evidence.p_value\[1\] is 2; it must be a list"),
        (["evidence", "removal_interval"], [0.1] * 15, "removal_interval has 15 entries, not 2 x"),
        (["evidence", "proof", 0], "magic", "evidence.proof holds an unknown proof"),
        (["evidence", "proof_p_values", "marginal"], [1.0], "proof_p_values.marginal has 1 ent"),
        (["evidence", "representatives"], [], "an entry for each group"),
        (["evidence", "representatives", 0], [0], "must be members of their groups"),
        (["classes", 0], 7, "classes holds something else than 0, 1 and 2"),
        (["classes", 3], "2", r"classes\[3\] is '2'; it must be a whole number"),
        (["evidence", "p_value", 2], "x", r"evidence.p_value\[2\] is 'x'; it must be a number"),
        (["evidence", "leaks"], [99], "about columns that it has not"),
        (["evidence", "groups", 0, 0], 99, "must hold every weak column once"),
        (["evidence", "substitutes"], {"a": []}, "a key of evidence.substitutes is 'a'"),
        (["evidence", "removal_interval", 1], [1.0], "the rows of evidence.removal_interval"),
        (["columns", "names"], "abc", "columns.names is 'abc'; it must be a list"),
        (["provenance"], None, "provenance is None; it must be an object"),
        (["more"], 1, "more is unknown"),
    ],
)
def test_a_damaged_file_is_refused_with_the_place_of_the_damage(patients, where, value, message):
    with pytest.raises(InputError, match=message):
        RelevanceResult.from_json(damaged(patients, *where, value=value))


def test_what_is_no_result_is_refused(tmp_path, patients):
    with pytest.raises(InputError, match=r"nothing\.json' cannot be read"):
        RelevanceResult.from_json(tmp_path / "nothing.json")
    with pytest.raises(InputError, match="this is no JSON"):
        RelevanceResult.from_json(patients.to_json()[:-40])
    content = json.loads(patients.to_json())
    del content["evidence"]["proof"]
    with pytest.raises(InputError, match=r"evidence\.proof is missing"):
        RelevanceResult.from_json(json.dumps(content))


def test_the_format_is_documented_field_by_field(patients, paper_patients):
    page = (Path(__file__).parents[1] / "docs" / "result-format.md").read_text()
    for result in (patients, paper_patients):
        content = json.loads(result.to_json())
        keys = [*content, *content["columns"], *content["provenance"], *content["evidence"]]
        assert [key for key in keys if f"`{key}`" not in page] == []


def test_what_is_written_is_not_returned(patients, tmp_path):
    assert patients.to_json(tmp_path / "a.json") is None
    assert patients.to_html(tmp_path / "a.html") is None
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == patients.to_html()


def test_only_results_are_compared(patients):
    with pytest.raises(InputError, match="other is a int; it must be a RelevanceResult"):
        patients.compare(3)


def test_two_results_are_compared(patients, paper_patients):
    same = patients.compare(patients)
    assert same.same
    assert str(same) == "Same class: 15. Another class: 0."
    other = renamed(paper_patients, age="years")
    found = patients.compare(other)
    assert not found.same
    assert found.changed["sex"] == ("strong", "irrelevant")
    assert found.only_before == ("age",)
    assert found.only_after == ("years",)
    assert found.circumstances["method"] == ("crossfit", "paper")
    assert "  sex: strong -> irrelevant" in str(found)
    assert "Only in the second: years" in str(found)


def test_a_verdict_says_where_it_comes_from(patients):
    origin = patients.provenance
    assert origin.command == "RelevanceSelector(random_state=0, task='regression').fit(X, y)"
    assert origin.target == "progress"
    assert origin.target_summary == "amounts from 25 to 346, median 140.5"
    assert origin.seed == 0
    assert {"squamish", "numpy", "lightgbm"} <= set(origin.versions)


def test_columns_like_an_id_and_few_groups_are_noted():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "x": rng.standard_normal(120),
            "name": [f"patient {i}" for i in range(120)],
            "row": rng.permutation(120) + 1000,
        }
    )
    selector = RelevanceSelector(random_state=0)
    notes = selector.fit(table, table["x"] > 0, groups=np.arange(120) % 6).result_.notes
    assert any(note.startswith("'name', 'row': a different value in nearly") for note in notes)
    assert any(note.startswith("there are only 6 groups of rows") for note in notes)
    assert not any("'x'" in note for note in notes if "ID" in note)


def test_a_model_at_chance_level_is_noted(patients):
    rng = np.random.default_rng(1)
    selector = RelevanceSelector(random_state=0)
    selector.fit(rng.standard_normal((60, 3)), rng.integers(0, 2, 60))
    assert "no column is told from noise at alpha = 0.01" in selector.result_.notes[0]
    assert patients.notes == ()


def test_arrays_are_read_whatever_numpy_makes_of_their_types(patients, monkeypatch):
    """From NumPy 2.5 on, NDArray is a type with a name, not a short form of ndarray."""
    named = TypeAliasType("named", list[np.float64])
    plain = serialization.get_type_hints

    def hints(cls):
        found = plain(cls)
        return {
            name: named_array(hint) if get_origin(hint) is np.ndarray else hint
            for name, hint in found.items()
        }

    def named_array(hint):
        return GenericAlias(named, (get_args(get_args(hint)[1])[0],))

    monkeypatch.setattr(serialization, "get_type_hints", hints)
    monkeypatch.setattr(serialization, "NDArray", named)
    assert RelevanceResult.from_json(patients.to_json()) == patients
