"""What a user is told about a table and a verdict."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from squamish import LeakWarning, PaperMethod, RelevanceSelector


def leak():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((100, 2)), columns=["a", "b"])
    return table, table["a"]


def test_warnings_point_to_the_line_that_called_fit():
    table, y = leak()
    with pytest.warns(LeakWarning, match="'a' alone tells the target") as caught:
        RelevanceSelector(random_state=0).fit(table, y)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(LeakWarning) as caught:
        make_pipeline(RelevanceSelector(random_state=0), LinearRegression()).fit(table, y)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="the table has 30 rows") as caught:
        RelevanceSelector(PaperMethod(n_null_samples=2), random_state=0).fit(table[:30], y[:30])
    assert {warning.filename for warning in caught} == {__file__}


def test_warnings_point_to_the_line_that_called_transform():
    table, _ = leak()
    noise = np.random.default_rng(1).standard_normal(100)
    selector = RelevanceSelector(random_state=0).fit(table, noise)
    with pytest.warns(UserWarning, match="keeps nothing, as no column is relevant") as caught:
        selector.transform(table)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("kind", ["classes", "amounts", "text"])
def test_a_leak_is_named(kind):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.standard_normal(300), "outcome code": rng.standard_normal(300)})
    y = table["outcome code"] * 3
    if kind != "amounts":
        y = (y > 0).astype(int)
    if kind == "text":
        table["outcome code"] = np.where(y, "code 17", "code 3")
    with pytest.warns(LeakWarning, match="'outcome code' alone tells the target"):
        selector = RelevanceSelector(random_state=0).fit(table, y)
    assert selector.result_.notes[-1].startswith("'outcome code' alone")


def test_leaks_that_a_line_sees_and_that_only_trees_see_are_both_named():
    rng = np.random.default_rng(0)
    score, x = rng.standard_normal((2, 300))
    y = (score > 0).astype(int)
    table = pd.DataFrame({"x": x, "score": score, "sign": np.where(y, 0, rng.choice([-1, 1], 300))})
    with pytest.warns(LeakWarning) as warned:
        RelevanceSelector(random_state=0).fit(table, y)
    assert [str(w.message).split()[0] for w in warned] == ["'score'", "'sign'"]


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


def test_a_running_number_with_holes_is_an_id_and_an_amount_is_not():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "x": rng.standard_normal(120),
            "invoice": 2_000_000 + rng.permutation(500)[:120],
            "price": rng.permutation(10**6)[:120],
            "year": np.arange(120) % 60 + 1960,
        }
    )
    notes = RelevanceSelector(random_state=0).fit(table, table["x"] > 0).result_.notes
    assert [note.split(":")[0] for note in notes if "ID" in note] == ["'invoice'"]


def test_what_a_note_says_to_drop_is_never_suggested():
    rng = np.random.default_rng(0)
    row = np.sort(rng.permutation(600)[:300])
    dose, x = row + 5 * rng.standard_normal(300), rng.standard_normal(300)
    table = pd.DataFrame({"row": row, "dose": dose, "x": x})
    y = row / 100 + x + 0.5 * rng.standard_normal(300)
    for columns in (["row", "dose", "x"], ["x", "dose", "row"]):
        result = RelevanceSelector(random_state=0).fit(table[columns], y).result_
        assert any(note.startswith("'row': a different value") for note in result.notes)
        assert set(result.weak) == {"row", "dose"}
        suggested = [*result.representatives, result.select("minimal"), result.select("cover")]
        suggested += [s for own in result.signatures.slots for s in own]
        assert not any("row" in names for names in suggested)


def test_a_model_at_chance_level_is_noted(patients):
    rng = np.random.default_rng(1)
    selector = RelevanceSelector(random_state=0)
    selector.fit(rng.standard_normal((60, 3)), rng.integers(0, 2, 60))
    assert "no column is told from noise at alpha = 0.01" in selector.result_.notes[0]
    assert patients.notes == ()


@pytest.mark.parametrize(("n_classes", "noted"), [(30, False), (100, True)])
def test_classes_in_hundreds_are_said_to_be_names(n_classes, noted):
    names = np.array([f"country {k}" for k in range(n_classes)]).repeat(3)
    table = pd.DataFrame({"constant": np.ones(len(names))})
    notes = RelevanceSelector(random_state=0).fit(table, names).result_.notes
    said = [note for note in notes if note.startswith(f"y has {n_classes} classes, of 3 rows")]
    assert bool(said) == noted
