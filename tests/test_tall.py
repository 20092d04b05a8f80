"""Tables with very many rows: all rows are asked, models see as many as they need."""

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from squamish.screening.allrows import AllRows, InMemory

from squamish import CrossfitMethod, InputError, RelevanceSelector, allrows, sampling
from squamish.datasets import make_linear
from squamish.execution.workers import Workers
from squamish.fitting.sampling import draw_rows, rows_needed
from squamish.table.table import Table


@pytest.fixture
def small(monkeypatch):
    """Let tables be very long that are quick to test."""
    monkeypatch.setattr(allrows, "PORTION", 700)
    for name, value in {"FEW_ROWS": 2000, "PILOT": 500, "MOST_ROWS": 3000}.items():
        monkeypatch.setattr(sampling, name, value)


def patients(n, seed=0):
    """A frame of every kind of column: a, b and its copies, ward and gap matter."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, n))
    ward = rng.choice(["east", "north", "west"], n)
    gap = rng.random(n) < 0.3
    frame = pl.DataFrame(
        {
            "a": a,
            "b": b,
            "copy of b": 3 - 2 * b,
            "ward": ward,
            "gap": np.where(gap, np.nan, rng.standard_normal(n)),
            "code": rng.integers(0, 4, n),
            "noise": rng.standard_normal(n),
            "colour": rng.choice(["red", "green"], n),
            "town": rng.choice([f"t{i}" for i in range(200)], n),
        }
    ).with_columns(gap=pl.col("gap").fill_nan(None))
    risk = a + b + 2.0 * (ward == "west") + 1.5 * gap + rng.logistic(size=n)
    return frame, np.where(risk > 1, "ill", "well")


EXPECTED = {"a": 2, "b": 1, "copy of b": 1, "ward": 2, "gap": 2}


def classes(result):
    return {k: int(v) for k, v in zip(result.feature_names, result.classes, strict=True) if v}


def test_a_long_table_is_screened_whole_and_tested_on_a_sample(small):
    X, y = patients(6000)
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    assert classes(result) == EXPECTED
    assert result.n_samples == 6000
    assert 1000 <= result.evidence.n_tested <= 3000
    assert 0 < result.evidence.detectable < 0.1
    assert "all 6,000 rows, models on a random sample of" in " ".join(result.notes)


def test_what_only_all_rows_show_is_found(small):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 4))
    y = (X[:, 0] + 0.06 * X[:, 1] + rng.logistic(size=40_000) > 0).astype(int)
    found = RelevanceSelector(random_state=0).fit(X, y).result_
    assert (found.classes > 0).tolist() == [True, True, False, False]
    # A sample alone says nothing of the second column.
    alone = RelevanceSelector(CrossfitMethod(power=1), random_state=0).fit(X[:3000], y[:3000])
    assert alone.result_.classes.tolist() == [2, 0, 0, 0]


def test_a_long_sparse_matrix_is_sampled_like_a_dense_one(small):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((6000, 5)) < 0.2, rng.standard_normal((6000, 5)), 0.0)
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(6000)
    found = [RelevanceSelector(random_state=0).fit(t, y).result_ for t in (X, sparse.csr_array(X))]
    assert found[0].classes.tolist() == found[1].classes.tolist() == [2, 2, 0, 0, 0]
    assert found[0].evidence.loss == found[1].evidence.loss


def test_power_1_tests_on_all_rows(small):
    X, y = patients(2500)
    result = RelevanceSelector(CrossfitMethod(power=1), random_state=0).fit(X, y).result_
    assert result.evidence.n_tested == 2500
    assert not any("sample" in note for note in result.notes)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_lazy_frame_gives_a_verdict_as_a_frame_does(small, task):
    X, y = patients(6000)
    if task == "regression":
        y = X["a"].to_numpy() + X["b"].to_numpy() + np.random.default_rng(1).standard_normal(6000)
    lazy = RelevanceSelector(random_state=0, categorical_features=["code"]).fit(X.lazy(), y)
    whole = RelevanceSelector(random_state=0, categorical_features=["code"]).fit(X, y)
    assert classes(lazy.result_) == classes(whole.result_)
    # Tests on all rows do not depend on which of them were sampled, but for how bins are cut.
    p, q = (s.result_.evidence.proof_p_values["marginal"] for s in (lazy, whole))
    assert np.all(np.abs(np.log10(np.maximum(p, 1e-12) / np.maximum(q, 1e-12))) < 1.5)
    kept = lazy.transform(X.lazy())
    assert isinstance(kept, pl.LazyFrame)
    assert kept.collect_schema().names() == list(classes(lazy.result_))


def test_rows_without_a_target_or_weight_are_left_out_of_everything(small):
    X, y = patients(6000)
    y = np.where(np.arange(6000) % 3 == 0, None, y)
    selector = RelevanceSelector(random_state=0, missing_target="drop")
    assert selector.fit(X.lazy(), y).result_.n_samples == 4000
    assert classes(selector.result_) == EXPECTED
    assert "2000 rows without a target were left out" in selector.result_.notes
    weights = np.where(np.arange(6000) % 2, 1.0, 0.0)
    y = patients(6000)[1]
    result = RelevanceSelector(random_state=0).fit(X.lazy(), y, sample_weight=weights).result_
    assert result.n_samples == 3000
    assert {"a", "ward"} <= set(classes(result))


@pytest.mark.parametrize("step", [1, 2])
def test_a_running_number_is_known_by_a_sample(small, step):
    X, y = patients(6000)
    X = X.with_columns(number=pl.Series(step * np.arange(6000)))
    notes = " ".join(RelevanceSelector(random_state=0).fit(X.lazy(), y).result_.notes)
    assert ("number" in notes) == (step == 1)


def test_rows_that_belong_together_are_sampled_together(small):
    X, y = patients(6000)
    patient = np.repeat(np.arange(1000), 6)
    result = RelevanceSelector(random_state=0).fit(X.lazy(), y, groups=patient).result_
    assert result.evidence.n_tested % 6 == 0
    assert "a random sample of" in result.notes[-1]


def test_a_class_too_rare_for_a_sample_does_not_stop_the_fit(small):
    X, y = patients(6000)
    y[:4] = "rare"
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    assert classes(result) == EXPECTED
    assert "classes with too few rows for a sample were left out: 'rare'" in result.notes


def test_a_rare_class_is_in_the_sample_with_all_its_rows(small):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, 3))
    for X_ in (X, pl.DataFrame(X).lazy()):
        y = np.zeros(10_000, dtype=int)
        y[np.argsort(-X[:, 0])[:12]] = 1
        result = RelevanceSelector(random_state=0).fit(X_, y).result_
        assert result.classes.tolist() == [2, 0, 0]
    # Rows of one class that are in no sample, beside another that is rare.
    y = np.repeat(["a", "b", "m", "z"], [5000, 4986, 12, 2])
    assert not RelevanceSelector(random_state=0).fit(X, y).support_.any()


def test_few_groups_of_rows_all_stay_in_the_sample(small):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, 4))
    y = (X[:, 0] + 0.5 * rng.standard_normal(10_000) > 0).astype(int)
    for n_groups in (2, 5, 20):
        groups = np.repeat(np.arange(n_groups), 10_000 // n_groups)
        result = RelevanceSelector(random_state=0).fit(X, y, groups=groups).result_
        assert result.evidence.n_tested <= 3000
        assert n_groups < 20 or result.classes.tolist() == [2, 0, 0, 0]


def test_columns_that_cannot_be_tested_on_all_rows_do_no_harm(small):
    X, y = patients(6000)
    many = X.select("town")
    assert not RelevanceSelector(random_state=0).fit(many, y).support_.any()
    constant = X.with_columns(same=pl.lit("same"), none=pl.lit(None, dtype=pl.Float64))
    selector = RelevanceSelector(
        random_state=0, feature_groups={"one": ["a", "same"], "two": ["b", "none"]}
    ).fit(constant, y)
    assert {"a", "same", "b", "none"} <= set(classes(selector.result_))
    rare = X.select("a", rare=pl.int_range(pl.len()) == 0)
    fits = (RelevanceSelector(random_state=seed).fit(rare, y) for seed in range(12))
    note = "'rare' has one value only in the sample"
    result = next(s.result_ for s in fits if note in " ".join(s.result_.notes))
    assert "no two different values in the rows that were looked at" in result.explain("rare")


def test_rare_values_and_rare_classes_make_no_false_findings_on_all_rows():
    rng, found = np.random.default_rng(0), 0
    for _ in range(15):
        X = (rng.random((40_000, 20)) < 1e-3).astype(float)
        y = (rng.random(40_000) < 2e-3).astype(int)
        sample = Table(X, y, "classification")
        p = AllRows.of(InMemory(X), sample, y).p_values(sample, Workers())
        found += min(values.min() for values in p.values()) < 1e-5
    assert found == 0


def test_a_few_gaps_do_not_hide_what_is_not_monotone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2))
    y = (np.abs(X[:, 0]) + rng.logistic(size=20_000) > 1).astype(int)
    X[:3, 0] = np.nan
    table = Table(X, y, "classification")
    p = AllRows.of(InMemory(X), table, y).p_values(table, Workers())
    assert p["marginal"][0] < 1e-20


def test_infinite_values_in_rows_that_are_not_used_do_not_matter(small):
    X, y = patients(6000)
    last = pl.int_range(pl.len()) == 5990
    X = X.with_columns(a=pl.when(last).then(np.inf).otherwise("a"))
    y = np.where(np.arange(6000) == 5990, None, y)
    selector = RelevanceSelector(random_state=0, missing_target="drop").fit(X.lazy(), y)
    assert classes(selector.result_) == EXPECTED


def test_bad_parameters_are_refused_before_rows_are_drawn(small):
    X, y = patients(6000)
    for settings in ({"power": -1}, {"power": "much"}, {"alpha": 2}):
        with pytest.raises(InputError, match=f"{next(iter(settings))} is"):
            RelevanceSelector(CrossfitMethod(**settings)).fit(X, y)


def test_infinite_values_are_found_wherever_they_are(small):
    X, y = patients(6000)
    X = X.with_columns(a=pl.when(pl.int_range(pl.len()) == 5990).then(np.inf).otherwise("a"))
    with pytest.raises(InputError, match="column 'a' holds inf in row 5990"):
        RelevanceSelector(random_state=0).fit(X.lazy(), y)
    selector = RelevanceSelector(random_state=0, infinite="missing").fit(X.lazy(), y)
    assert classes(selector.result_) == EXPECTED


def test_a_lazy_frame_of_another_length_than_the_target_is_refused(small):
    X, y = patients(6000)
    with pytest.raises(InputError, match="X has 5000 rows, and y has 6000"):
        RelevanceSelector().fit(X.head(5000).lazy(), y)


def test_a_short_lazy_frame_is_a_frame():
    X, y = patients(400)
    lazy, whole = (RelevanceSelector(random_state=0).fit(t, y).result_ for t in (X.lazy(), X))
    assert lazy.to_json().partition('"task"')[0] == whole.to_json().partition('"task"')[0]


def test_the_same_seed_draws_the_same_sample_whatever_the_jobs_and_the_order_of_columns(small):
    X, y = patients(6000)
    one = RelevanceSelector(random_state=3).fit(X.lazy(), y).result_
    two = RelevanceSelector(random_state=3, n_jobs=2).fit(X.lazy(), y).result_
    assert one.to_json().partition('"task"')[0] == two.to_json().partition('"task"')[0]
    turned = RelevanceSelector(random_state=3).fit(X.select(X.columns[::-1]).lazy(), y).result_
    assert classes(turned) == {k: classes(one)[k] for k in reversed(classes(one))}
    assert turned.evidence.loss == pytest.approx(one.evidence.loss)


def test_a_killed_fit_of_a_long_table_goes_on(small, tmp_path):
    X, y = patients(6000)

    def stop(news):
        if news.share > 0.6:
            raise KeyboardInterrupt

    for seed in (None, 5):
        path = tmp_path / f"{seed}.checkpoint"
        selector = RelevanceSelector(random_state=seed, checkpoint=path, callback=stop)
        with pytest.raises(KeyboardInterrupt):
            selector.fit(X, y)
        size = path.stat().st_size
        selector.set_params(callback=None).fit(X, y)
        assert path.stat().st_size > size
        assert classes(selector.result_) == EXPECTED


def test_a_budget_that_ends_with_all_rows_leaves_a_checkpoint_that_goes_on(small, tmp_path):
    X, y = patients(6000)
    path = tmp_path / "work.checkpoint"
    selector = RelevanceSelector(random_state=0, checkpoint=path, time_budget=1e-6).fit(X, y)
    assert "all rows" in " ".join(selector.result_.notes)
    assert selector.result_.undecided
    selector.set_params(time_budget=None).fit(X, y)
    assert classes(selector.result_) == EXPECTED


def test_tests_on_all_rows_are_uniform_for_noise_and_tiny_for_effects():
    rng, p = np.random.default_rng(0), []
    for _ in range(60):
        X = rng.standard_normal((3000, 4))
        X[:, 3] = rng.integers(0, 3, 3000)
        y = (X[:, 0] + rng.logistic(size=3000) > 0).astype(int)
        table = Table(X, y, "classification")
        everything = AllRows.of(
            InMemory(X), table.rows(draw_rows(500, rng, y, "classification")), y
        )
        p.append(everything.p_values(table, Workers()))
    marginal, partial, product = (
        np.array([values[name] for values in p]) for name in ("marginal", "partial", "product")
    )
    assert marginal[:, 0].max() < 1e-6
    assert partial[:, 0].max() < 1e-6
    for values in (marginal, partial, product):
        assert np.mean(values[:, 1:] < 0.05) < 0.09
        assert values[:, 1:].min() > 1e-5


def test_tests_on_all_rows_find_products_and_what_is_not_monotone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 5))
    y = (X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + rng.logistic(size=5000) > 1).astype(int)
    table = Table(X, y, "classification")
    everything = AllRows.of(InMemory(X), table.rows(np.arange(0, 5000, 10)), y)
    p = everything.p_values(table, Workers())
    assert p["product"][:2].max() < 1e-10
    assert p["marginal"][2] < 1e-10
    assert min(values[3:].min() for values in p.values()) > 1e-4


def test_more_rows_are_needed_for_smaller_effects_and_gains():
    def needed(gain, effect):
        return rows_needed(0.5, gain, "classification", 20, 0.01, effect, 0.95)

    assert needed(0.1, 0.01) == pytest.approx(2 * needed(0.2, 0.01))
    assert needed(0.1, 0.01) == pytest.approx(2 * needed(0.1, 0.02))
    assert needed(-0.1, 0.01) == np.inf


def test_the_power_that_is_promised_is_kept():
    """A removal that costs the detectable share is found in most tables."""
    found = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((2000, 4))
        y = (2 * X[:, 0] + 0.45 * X[:, 1] + rng.logistic(size=2000) > 0).astype(int)
        evidence = RelevanceSelector(random_state=seed).fit(X, y).result_.evidence
        found += evidence.p_value[1] <= 0.01
        # The removal of the second column costs more than that.
        assert evidence.effect[1] > 0.5 * evidence.detectable
    assert found >= 7


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


def test_the_command_line_reads_a_long_parquet_file_in_portions(small, tmp_path):
    from typer.testing import CliRunner

    from squamish.cli import app

    X, y = patients(6000)
    path = tmp_path / "long.parquet"
    X.with_columns(state=pl.Series(y)).write_parquet(path)
    reduced = tmp_path / "reduced.parquet"
    command = ["fit", str(path), "--target", "state", "--drop", "town", "--reduced", str(reduced)]
    outcome = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert outcome.exit_code == 0, outcome.output
    assert "6,000 rows" in " ".join(outcome.output.split())
    assert set(pl.read_parquet(reduced).columns) == {*EXPECTED, "state"}


def test_a_short_table_is_not_sampled():
    problem = make_linear(300, n_strong=2, group_sizes=[3], n_irrelevant=3, random_state=0)
    result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    assert result.evidence.n_tested == 300


def test_a_rare_level_beside_a_rare_class_is_found_on_all_rows(small):
    rng = np.random.default_rng(0)
    y = (np.arange(20_000) < 80).astype(int)
    level = rng.random(20_000) < np.where(y == 1, 0.6, 0.01)
    frame = pl.DataFrame(
        {"kind": np.where(level, "odd", "even"), "noise": rng.standard_normal(20_000)}
    )
    result = RelevanceSelector(random_state=0).fit(frame, y).result_
    assert result.evidence.proof_p_values["marginal"][0] < 1e-20
    assert result.classes.tolist() == [2, 0]


def test_classes_of_few_groups_of_rows_stay_in_the_sample(small):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(2000), 10)
    y = np.where(groups < 8, 2, groups % 2)
    X = rng.standard_normal((len(y), 2)) + y[:, np.newaxis] * [1.0, 0.0]
    result = RelevanceSelector(random_state=0).fit(X, y, groups=groups).result_
    assert not any("left out" in note for note in result.notes)


def test_a_class_of_one_row_is_an_error_in_a_long_table_too(small):
    y = np.array(["a", "b", *["c"] * 9998])
    with pytest.raises(InputError, match="one row only of class a, b"):
        RelevanceSelector().fit(np.random.default_rng(0).standard_normal((10_000, 2)), y)


def test_a_capped_amount_is_tested_on_all_rows(small):
    X = np.random.default_rng(0).standard_normal((6000, 3))
    y = np.minimum(X[:, 0] + 1.2, 0.05)
    assert RelevanceSelector(random_state=0).fit(X, y).relevance_classes_.tolist() == [2, 0, 0]
