"""The verdict in a notebook."""

from dataclasses import replace

import numpy as np
import pandas as pd

from squamish import RelevanceSelector


def renamed(result, **names):
    """The same result with other names of columns."""
    new = tuple(names.get(name, name) for name in result.feature_names)
    return replace(result, columns=replace(result.columns, names=new))


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
