"""What a user is told about a table and a verdict before trusting it."""

import numpy as np
import pandas as pd

from squamish import RelevanceSelector


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


def test_a_model_at_chance_level_is_noted(patients):
    rng = np.random.default_rng(1)
    selector = RelevanceSelector(random_state=0)
    selector.fit(rng.standard_normal((60, 3)), rng.integers(0, 2, 60))
    assert "no column is told from noise at alpha = 0.01" in selector.result_.notes[0]
    assert patients.notes == ()
