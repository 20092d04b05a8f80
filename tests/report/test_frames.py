"""The verdict as a data frame."""

import pandas as pd
import polars as pl
import pytest

from squamish import InputError


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
    assert rows["p_relevant"]["bmi"] < 1e-10
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
