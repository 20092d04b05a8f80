"""A saved result that was changed is refused: by its digest, and by what does not agree in it."""

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from squamish import InputError, RelevanceResult
from squamish.result.saved import read_saved
from squamish.result.serialization import digest_of

SAVED = sorted((Path(__file__).parent / "saved").glob("*.json"))


def changed(text, *where, value):
    """Change a value, and compute the digest anew if there is one, as whoever knows it could."""
    content = json.loads(text)
    place = content
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    if "digest" in content:
        content["digest"] = digest_of(content)
    return json.dumps(content)


@pytest.fixture(params=["patients", "paper_patients"])
def result(request):
    return request.getfixturevalue(request.param)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_flipped_bit_changes_what_is_read(result, place, bit):
    whole = result.to_json().encode()
    content = bytearray(whole)
    content[int(place * len(content))] ^= 1 << bit
    try:
        again = RelevanceResult.from_json(content.decode(errors="replace"))
    except InputError:
        return
    assert again == result


def test_the_order_of_keys_and_spaces_do_not_matter(result):
    content = json.loads(result.to_json())
    again = RelevanceResult.from_json(json.dumps(content, indent=3, sort_keys=True))
    assert json.loads(again.to_json())["digest"] == content["digest"]


def test_a_file_without_its_digest_is_refused(result):
    content = json.loads(result.to_json())
    del content["digest"]
    with pytest.raises(InputError, match="the digest is another"):
        RelevanceResult.from_json(json.dumps(content))


def test_a_key_that_comes_twice_is_refused(result):
    text = result.to_json().replace('"task":', '"task": "regression",\n"task":', 1)
    with pytest.raises(InputError, match="the key 'task' is there twice"):
        RelevanceResult.from_json(text)


def test_a_number_that_json_does_not_know_is_refused(result):
    content = json.loads(result.to_json())
    content["seconds"] = float("nan")
    with pytest.raises(InputError, match="it holds NaN"):
        RelevanceResult.from_json(json.dumps(content))


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_what_squamish_0_1_wrote_is_read_without_a_digest(path):
    text = path.read_text()
    assert "digest" not in json.loads(text)
    assert RelevanceResult.from_json(text).feature_names


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_an_irrelevant_column_of_an_old_file_cannot_become_relevant(path):
    text = path.read_text()
    classes = json.loads(text)["classes"]
    for wanted in (1, 2):
        with pytest.raises(InputError, match="the result is damaged"):
            RelevanceResult.from_json(changed(text, "classes", classes.index(0), value=wanted))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("p_removal", 0.5, "is strong and does not meet what that takes"),
        ("tested_loss", 0.0, "is strong and does not meet what that takes"),
        ("minimal", False, "is strong and not in the minimal set"),
        ("proof", "", "is relevant without a proof"),
        ("p_removal", 1.5, "evidence.p_removal holds 1.5; it must be from 0 to 1"),
    ],
)
def test_classes_agree_with_their_evidence(patients, field, value, message):
    strong = patients.feature_names.index(patients.strong[0])
    with pytest.raises(InputError, match=message):
        RelevanceResult.from_json(
            changed(patients.to_json(), "evidence", field, strong, value=value)
        )


def test_an_irrelevant_column_does_not_meet_what_makes_one_relevant(patients):
    j = patients.feature_names.index(patients.irrelevant[0])
    with pytest.raises(InputError, match="is irrelevant and meets what makes one relevant"):
        RelevanceResult.from_json(
            changed(patients.to_json(), "evidence", "p_relevant", j, value=1e-9)
        )


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (["evidence", "importance_rounds", 0, 0], "inf", "holds an infinite number"),
        (["evidence", "loss"], 1e200, "evidence.loss is 1e\\+200"),
        (["columns", "missing", 0], 2, "columns.missing holds 2"),
        (["seconds"], -1, "seconds holds -1"),
        (["n_samples"], -5, "n_samples holds -5"),
        (["x\x1b[31m" * 10**5], 1, r"x\\x1b\[31m.*…"),
    ],
)
def test_numbers_that_nothing_measures_and_keys_of_any_length(patients, where, value, message):
    with pytest.raises(InputError, match=message):
        RelevanceResult.from_json(changed(patients.to_json(), *where, value=value))


def test_halves_of_characters_in_a_file_can_be_put_in_a_frame(patients):
    text = changed(patients.to_json(), "columns", "names", 0, value="\ud800")
    for library in ("pandas", "polars", "pyarrow"):
        frame = RelevanceResult.from_json(text).to_frame(library)
        assert "\\ud800" in str(frame["feature"])


def test_a_file_larger_than_any_result_is_refused(patients, tmp_path):
    path = tmp_path / "result.json"
    patients.to_json(path)
    size = path.stat().st_size
    assert read_saved(path, max_size=size) == patients.to_json()
    with pytest.raises(InputError, match=r"it holds more than .* KB, which no result does"):
        read_saved(path, max_size=size - 1)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device without an end")
def test_a_file_without_an_end_is_refused(monkeypatch):
    # Nothing but the size differs, and a gigabyte would take a while.
    monkeypatch.setattr("squamish.result.result.read_saved", partial(read_saved, max_size=10**6))
    with pytest.raises(InputError, match=r"'/dev/zero' cannot be read: it holds more than 1 MB"):
        RelevanceResult.from_json("/dev/zero")
