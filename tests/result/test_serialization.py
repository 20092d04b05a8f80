"""Results as JSON and back."""

import json
from dataclasses import replace
from pathlib import Path
from types import GenericAlias
from typing import get_args, get_origin

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from squamish import InputError, RelevanceResult, RelevanceSelector
from squamish.result import serialization


def test_names_of_older_files_and_programs_are_read():
    old = RelevanceResult.from_json(Path(__file__).parent / "saved" / "crossfit-0.1.json")
    assert not np.isnan(old.evidence.p_removal).all()
    with pytest.warns(FutureWarning, match="p_value is deprecated since 0.2: it is p_removal"):
        assert np.array_equal(old.evidence.p_value, old.evidence.p_removal, equal_nan=True)
    frame = old.to_frame("polars")
    assert {"p_relevant", "p_removal"} <= set(frame.columns)
    for name in ("p_relevant", "p_removal"):
        values = frame[name].cast(float).to_numpy()
        assert np.array_equal(values, getattr(old.evidence, name), equal_nan=True)


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


@pytest.mark.parametrize("method", ["crossfit", "paper"])
def test_results_of_version_0_1_are_read(method):
    saved = Path(__file__).parent / "saved" / f"{method}-0.1.json"
    result = RelevanceResult.from_json(saved)
    assert "noise" in result.irrelevant
    assert "alcohol" in result.weak
    assert RelevanceResult.from_json(result.to_json()) == result
    assert "noise" in result.to_html()
    assert "twin" in result.explain("alcohol") or method == "paper"


def test_json_brings_a_seed_of_many_digits_back(patients):
    seeded = replace(patients, provenance=replace(patients.provenance, seed=2**127))
    assert RelevanceResult.from_json(seeded.to_json()).provenance.seed == 2**127


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
        (
            ["version"],
            4,
            "the version of this result is 4; this squamish reads versions 1 and 2 and 3",
        ),
        (["evidence_kind"], [], r"evidence_kind is \[\]; it must be crossfit"),
        (["evidence_kind"], "os.system", "evidence_kind is 'os.system'; it must be crossfit"),
        (["classes"], [0], "classes has 1 entries, not 15"),
        (["classes"], [[0] * 15], "classes has 1 x 15 entries, not 15"),
        (["classes", 3], 10**30, r"classes\[3\] is 10+; it must be a whole number"),
        (["classes", 0], 0, "must hold every weak column once"),
        (["columns", "names", 1], "age", "columns.names has a name twice"),
        (["columns", "names"], [[[[]]]], r"columns.names\[0\] is \[\[\[\]\]\]; it must be text"),
        (["evidence", "loss"], 10**400, "evidence.loss is 10+"),
        (["evidence", "p_removal"], {"shape": 5}, "evidence.p_removal is {'shape': 5}"),
        (["evidence", "p_removal"], {"shape": [0, 10**30]}, "the shape of an empty array"),
        (["evidence", "p_removal"], [[0.1], 2], r"evidence.p_removal\[1\] is 2; it must be a list"),
        (["evidence", "removal_interval"], [0.1] * 15, "removal_interval has 15 entries, not 2 x"),
        (["evidence", "proof", 0], "magic", "evidence.proof holds an unknown proof"),
        (["evidence", "proof_p_values", "marginal"], [1.0], "proof_p_values.marginal has 1 ent"),
        (["evidence", "representatives"], [], "an entry for each group"),
        (["evidence", "representatives", 0], [0], "must be members of their groups"),
        (["classes", 0], 7, "classes holds something else than 0, 1 and 2"),
        (["classes", 3], "2", r"classes\[3\] is '2'; it must be a whole number"),
        (["evidence", "p_removal", 2], "x", r"evidence.p_removal\[2\] is 'x'; it must be a number"),
        (["evidence", "leaks"], [99], "about columns that it has not"),
        (["evidence", "groups", 0, 0], 99, "must hold every weak column once"),
        (["evidence", "substitutes"], {"a": []}, "a key of evidence.substitutes is 'a'"),
        (["evidence", "removal_interval", 1], [1.0], "the rows of evidence.removal_interval"),
        (["columns", "names"], "abc", "columns.names is 'abc'; it must be a list"),
        (["provenance"], None, "provenance is None; it must be an object"),
        (["task"], "ranking", "task is 'ranking'; it must be 'classification' or 'regression'"),
        (["more"], 1, "more is unknown"),
    ],
)
def test_a_damaged_file_is_refused_with_the_place_of_the_damage(patients, where, value, message):
    with pytest.raises(InputError, match=message):
        RelevanceResult.from_json(damaged(patients, *where, value=value))


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (["evidence", "all_relevant"], [True], "evidence.proof has 1 entries, not 15"),
        (["evidence", "boruta_shadows"], [[0.1] * 2], "boruta_shadows has 1 x 2 entries, not any"),
        (["evidence", "importances"], [0.1], "evidence.importances has 1 entries, not 15"),
        (["evidence", "loss_interval", "samples"], [1.0], "loss_interval has too few samples"),
        (["evidence", "importance_interval", "samples"], [[1.0, 2.0]], "has too few samples"),
    ],
)
def test_a_damaged_file_of_the_paper_is_refused(paper_patients, where, value, message):
    with pytest.raises(InputError, match=message):
        RelevanceResult.from_json(damaged(paper_patients, *where, value=value))


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
    page = (Path(__file__).parents[2] / "docs" / "result-format.md").read_text()
    for result in (patients, paper_patients):
        content = json.loads(result.to_json())
        keys = [*content, *content["columns"], *content["provenance"], *content["evidence"]]
        assert [key for key in keys if f"`{key}`" not in page] == []


def test_what_is_written_is_not_returned(patients, tmp_path):
    assert patients.to_json(tmp_path / "a.json") is None
    assert patients.to_html(tmp_path / "a.html") is None
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == patients.to_html()


@pytest.mark.skipif(
    get_origin(NDArray[np.float64]) is not np.ndarray, reason="all tests here read such types"
)
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
