"""What a result says about itself: classes, close calls, and where it comes from."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from squamish import RelevanceSelector


def test_counts_add_up(patients, paper_patients):
    for result in (patients, paper_patients):
        names = [*result.strong, *result.weak, *result.irrelevant]
        assert sorted(names) == sorted(result.feature_names)


def test_a_result_cannot_be_changed(patients):
    with pytest.raises(FrozenInstanceError):
        patients.task = "classification"


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


def test_a_verdict_says_where_it_comes_from(patients):
    origin = patients.provenance
    assert origin.command == "RelevanceSelector(random_state=0, task='regression').fit(X, y)"
    assert origin.target == "progress"
    assert origin.target_summary == "amounts from 25 to 346, median 140.5"
    assert origin.seed == 0
    assert {"squamish", "numpy", "lightgbm"} <= set(origin.versions)
