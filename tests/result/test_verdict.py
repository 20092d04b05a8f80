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
    assert close["age"].startswith("relevant or not: p = 0.02, where 0.01 is the limit; about ")
    gain = patients.evidence.constant_loss - patients.evidence.loss
    p, cost = np.full(15, 1e-5), np.full(15, 0.012 * gain)
    limit = {"least_effect": 0.01}
    evidence = replace(patients.evidence, p_relevant=p, p_removal=p, tested_loss=cost, **limit)
    close = replace(patients, evidence=evidence).borderline
    assert close["age"].startswith(
        "strong or weak: in the test of strength it adds 1.2% of what the model gains, where 1.0% "
        "is the limit"
    )
    evidence = replace(evidence, tested_loss=np.full(15, 0.2))
    assert replace(patients, evidence=evidence).borderline == {}
    # It is weak for its small effect, however close the p-value is.
    near, small = np.full(15, 0.008), np.full(15, 0.001 * gain)
    evidence = replace(evidence, p_removal=near, tested_loss=small)
    assert replace(patients, evidence=evidence).borderline == {}


def with_p(result, p_relevant, **more):
    evidence = replace(result.evidence, p_relevant=np.full(15, p_relevant), alpha=0.01, **more)
    return replace(result, evidence=evidence)


def test_close_calls_say_how_many_rows_would_decide(patients, paper_patients):
    n, near, far = patients.n_samples, with_p(patients, 0.012), with_p(patients, 0.045)
    assert n < near.more_rows["age"] < far.more_rows["age"] < 5 * n
    assert near.more_rows["age"] % 10 == 0
    assert near.borderline["age"].endswith(f"; about {near.more_rows['age']:,} rows would decide")
    assert f"about {near.more_rows['age']:,} rows would decide." in near.explain("age")
    assert set(near.to_frame()["more_rows"].dropna()) == set(near.more_rows.values())
    # What is clear takes no more rows, and a forest on its training rows says nothing of others.
    assert with_p(patients, 0.5).more_rows.keys() <= patients.more_rows.keys()
    assert paper_patients.more_rows == {}
    # Models that saw a sample could have seen more of these rows.
    sampled = with_p(patients, 0.02, n_tested=100)
    assert sampled.more_rows == {}
    assert sampled.borderline["age"].endswith("where 0.01 is the limit")


def test_an_effect_next_to_its_limit_takes_more_than_a_hundred_times_the_rows(patients):
    gain = patients.evidence.constant_loss - patients.evidence.loss
    p, cost = np.full(15, 1e-9), np.full(15, 0.0101 * gain)
    result = with_p(patients, 1e-9, p_removal=p, tested_loss=cost, least_effect=0.01)
    assert result.more_rows["sex"] == np.inf
    assert result.borderline["sex"].endswith("; to decide takes more than 100 times the rows")


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
