"""Small sets, signatures and necessity, as a result gives them."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from squamish import InputError, RelevanceResult

SAVED = Path(__file__).parent / "saved"


def test_so_many_columns_are_the_best_ones_of_the_path(patients):
    path = patients.path
    assert path["size"].tolist() == list(range(1, 12))
    for size in (1, 5, 11):
        assert len(patients.select(size)) == size
        assert set(patients.select(size)) == set(path["columns"][size - 1].split(", "))
    (minimal,) = path.index[path["minimal"]]
    assert patients.select(int(path["size"][minimal])) == patients.select("minimal")
    known = path.dropna(subset=["kept"])
    assert (known["kept_low"] <= known["kept"]).all()
    assert (known["kept"] <= known["kept_high"]).all()
    assert known["kept"].iloc[-1] == 1.0


@pytest.mark.parametrize("size", [0, 12, -1])
def test_a_size_that_is_not_on_the_path_is_refused(patients, size):
    with pytest.raises(InputError, match=f"select is {size}; columns can be chosen from 1 to 11"):
        patients.select(size)


def test_other_selections_are_named(patients, paper_patients):
    for which in ("five", True, 2.5, None):
        with pytest.raises(InputError, match="or a number of columns"):
            patients.select(which)
    with pytest.raises(InputError, match="sets of every size were not searched"):
        paper_patients.select(2)


def test_all_signatures_are_different_and_as_many_as_counted(patients):
    found = patients.signatures
    listed = list(found)
    assert len(listed) == len(set(listed)) == found.count == 4
    assert listed[0] == patients.select("minimal")
    assert all(columns in found for columns in listed)
    assert found.fixed not in found
    assert next(islice(found.without(["bmi"]), 1, None), None) in found


def test_the_cheapest_signature_is_the_cheapest_of_all(patients):
    rng = np.random.default_rng(0)
    costs = dict(zip(patients.feature_names, rng.random(15).tolist(), strict=True))
    cheapest = patients.signatures.cheapest(costs)
    totals = {names: sum(costs[n] for n in names) for names in patients.signatures}
    assert cheapest.columns == min(totals, key=totals.get)
    assert cheapest.cost == pytest.approx(min(totals.values()))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"bmi": "much"}, "costs has 'much' for 'bmi'; it must be a number of 0 or more"),
        ({"bmi": -1}, "costs has -1 for 'bmi'"),
        ({"bmy": 1}, "costs names 'bmy', which is no column of the table"),
        ([1, 2], "costs is a list; it must map names of columns to numbers"),
    ],
)
def test_wrong_costs_are_named(patients, costs, message):
    with pytest.raises(InputError, match=message):
        patients.signatures.cheapest(costs)


def test_the_frame_has_what_columns_are_worth(patients):
    frame = patients.to_frame("pandas").set_index("feature")
    assert list(frame.index) == list(patients.feature_names)
    for name, shares in patients.necessity.items():
        assert frame["least"][name] == shares.least
        assert frame["most"][name] == shares.most
    assert set(frame.index[frame["minimal"]]) == set(patients.select("minimal"))
    assert (frame.loc[list(patients.irrelevant), "most"] == 0).all()
    groups = patients.necessity.groups
    assert groups["bmi", "bmi_copy"].least > 0.05
    necessity = patients.necessity.to_frame()
    assert (necessity["kind"] == "group").sum() == len(groups)


def test_worth_comes_back_from_json(patients):
    again = RelevanceResult.from_json(patients.to_json())
    # Sizes that were passed over have NaN, which is not equal to itself.
    assert repr(again.evidence.worth) == repr(patients.evidence.worth)
    assert again.signatures == patients.signatures
    assert json.loads(patients.to_json())["version"] == 3


@pytest.mark.parametrize("name", ["crossfit-0.1.json", "paper-0.1.json"])
def test_older_results_have_no_worth_and_all_forms(name, tmp_path):
    old = RelevanceResult.from_json(SAVED / name)
    assert len(old.path) == len(old.necessity) == 0
    assert old.signatures.fixed == old.select("minimal") == old.select("cover")
    assert not old.signatures.is_complete
    assert old.to_frame()["least"].isna().all()
    assert "Which columns matter" in old.to_html()
    assert str(old).startswith("Cannot do without")
