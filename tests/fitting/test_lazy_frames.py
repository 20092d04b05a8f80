"""Tables with very many rows that need not fit into memory."""

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from squamish import InputError, RelevanceSelector


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_lazy_frame_gives_a_verdict_as_a_frame_does(small, task, hospital, relevant):
    X, y = hospital(6000)
    if task == "regression":
        y = X["a"].to_numpy() + X["b"].to_numpy() + np.random.default_rng(1).standard_normal(6000)
    lazy = RelevanceSelector(random_state=0, categorical_features=["code"]).fit(X.lazy(), y)
    whole = RelevanceSelector(random_state=0, categorical_features=["code"]).fit(X, y)
    assert relevant(lazy.result_) == relevant(whole.result_)
    # Tests on all rows do not depend on which of them were sampled, but for how bins are cut.
    p, q = (s.result_.evidence.proof_p_values["marginal"] for s in (lazy, whole))
    assert np.all(np.abs(np.log10(np.maximum(p, 1e-12) / np.maximum(q, 1e-12))) < 1.5)
    kept = lazy.transform(X.lazy())
    assert isinstance(kept, pl.LazyFrame)
    assert kept.collect_schema().names() == list(relevant(lazy.result_))


def test_text_that_holds_dates_is_read_in_all_rows_as_in_some(small, hospital):
    X, y = hospital(6000)
    days = np.datetime64("2001-01-01") + np.random.default_rng(1).integers(0, 9000, 6000)
    dates = X.select("a", day=pl.Series(days))
    text = dates.with_columns(pl.col("day").dt.strftime("%m/%d/%Y"))
    p, q = (
        RelevanceSelector(random_state=0).fit(t.lazy(), y).result_.evidence.p_relevant
        for t in (dates, text)
    )
    np.testing.assert_array_equal(p, q)


def test_gaps_that_mean_nothing_tell_nothing_in_long_tables(small, hospital, expected, relevant):
    X, y = hospital(6000)
    for table in (X, X.lazy()):
        result = RelevanceSelector(random_state=0, missing="ignore").fit(table, y).result_
        assert relevant(result) == {k: v for k, v in expected.items() if k != "gap"}


def test_infinite_values_in_rows_that_are_not_used_do_not_matter(
    small, hospital, expected, relevant
):
    X, y = hospital(6000)
    last = pl.int_range(pl.len()) == 5990
    X = X.with_columns(a=pl.when(last).then(np.inf).otherwise("a"))
    y = np.where(np.arange(6000) == 5990, None, y)
    selector = RelevanceSelector(random_state=0, missing_target="drop").fit(X.lazy(), y)
    assert relevant(selector.result_) == expected


def test_infinite_values_are_found_wherever_they_are(small, hospital, expected, relevant):
    X, y = hospital(6000)
    X = X.with_columns(a=pl.when(pl.int_range(pl.len()) == 5990).then(np.inf).otherwise("a"))
    with pytest.raises(InputError, match="column 'a' holds inf in row 5990"):
        RelevanceSelector(random_state=0).fit(X.lazy(), y)
    selector = RelevanceSelector(random_state=0, infinite="missing").fit(X.lazy(), y)
    assert relevant(selector.result_) == expected


def test_a_lazy_frame_of_another_length_than_the_target_is_refused(small, hospital):
    X, y = hospital(6000)
    with pytest.raises(InputError, match="X has 5000 rows, and y has 6000"):
        RelevanceSelector().fit(X.head(5000).lazy(), y)


def test_a_short_lazy_frame_is_a_frame(hospital):
    X, y = hospital(400)
    lazy, whole = (RelevanceSelector(random_state=0).fit(t, y).result_ for t in (X.lazy(), X))
    assert lazy.to_json().partition('"task"')[0] == whole.to_json().partition('"task"')[0]


def test_rows_without_a_target_or_weight_are_left_out_of_everything(
    small, hospital, expected, relevant
):
    X, y = hospital(6000)
    y = np.where(np.arange(6000) % 3 == 0, None, y)
    selector = RelevanceSelector(random_state=0, missing_target="drop")
    assert selector.fit(X.lazy(), y).result_.n_samples == 4000
    assert relevant(selector.result_) == expected
    assert "2000 rows without a target were left out" in selector.result_.notes
    weights = np.where(np.arange(6000) % 2, 1.0, 0.0)
    y = hospital(6000)[1]
    result = RelevanceSelector(random_state=0).fit(X.lazy(), y, sample_weight=weights).result_
    assert result.n_samples == 3000
    assert {"a", "ward"} <= set(relevant(result))


def test_rows_that_do_not_count_at_all_are_an_error(small, hospital):
    X, y = hospital(6000)
    for table in (X, X.lazy()):
        with pytest.raises(InputError, match="0 rows are left: the sample_weight of others"):
            RelevanceSelector().fit(table, y, sample_weight=np.zeros(6000))


def test_a_target_is_described_by_all_of_its_rows(small, hospital):
    X, _ = hospital(6000)
    y = np.arange(6000) // 5
    whole, lazy = (RelevanceSelector(random_state=0).fit(t, y).result_ for t in (X, X.lazy()))
    assert "y holds 1200 different whole numbers" in whole.notes[0]
    assert lazy.notes[0] == whole.notes[0]
    assert lazy.provenance.target_summary == whole.provenance.target_summary


@pytest.mark.parametrize(("step", "is_id"), [(1, True), (2, True), (86_400, False)])
def test_a_running_number_is_known_by_a_sample(small, step, is_id, hospital):
    X, y = hospital(6000)
    X = X.with_columns(number=pl.Series(step * np.arange(6000)))
    notes = " ".join(RelevanceSelector(random_state=0).fit(X.lazy(), y).result_.notes)
    assert ("number" in notes) == is_id


LIMITED = """
import resource, sys
import lightgbm, polars as pl, sklearn.linear_model
from squamish import RelevanceSelector

status = dict(line.split(":") for line in open("/proc/self/status"))
used = int(status["VmData"].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + int(sys.argv[3]) * 2**20,) * 2)
frame = pl.scan_parquet(sys.argv[1])
y = frame.select("y").collect()["y"]
X = frame.drop("y")
selector = RelevanceSelector(random_state=0)
selector.fit(X.collect().to_numpy() if sys.argv[2] == "whole" else X, y)
print(selector.result_.n_samples, selector.relevance_classes_.tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_a_file_larger_than_the_memory_allowed(tmp_path):
    rng = np.random.default_rng(0)
    n, d = 3_000_000, 24
    path = tmp_path / "large.parquet"
    X = rng.integers(0, 1000, (n, d)).astype(np.float32)
    y = X[:, 0] + 0.7 * X[:, 1] + 300 * rng.standard_normal(n) > 850
    pl.DataFrame(X).cast(pl.Float64).with_columns(y=y).write_parquet(path)
    del X

    def fit(how, megabytes):
        command = [sys.executable, "-c", LIMITED, str(path), how, str(megabytes)]
        environment = os.environ | {"POLARS_MAX_THREADS": "2"}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    # The table as floats takes 549 MB.
    assert fit("whole", 450).returncode != 0
    lazily = fit("lazily", 450)
    assert lazily.returncode == 0, lazily.stderr[-2000:]
    assert lazily.stdout.split()[0] == "3000000"
    assert lazily.stdout.partition(" ")[2].startswith("[2, 2, 0, 0")


def test_the_command_line_reads_a_long_parquet_file_in_portions(
    small, tmp_path, hospital, expected
):
    from typer.testing import CliRunner

    from squamish.cli import app

    X, y = hospital(6000)
    path = tmp_path / "long.parquet"
    X.with_columns(state=pl.Series(y)).write_parquet(path)
    reduced = tmp_path / "reduced.parquet"
    command = ["fit", str(path), "--target", "state", "--drop", "town", "--reduced", str(reduced)]
    outcome = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert outcome.exit_code == 0, outcome.output
    assert "6,000 rows" in " ".join(outcome.output.split())
    assert set(pl.read_parquet(reduced).columns) == {*expected, "state"}
