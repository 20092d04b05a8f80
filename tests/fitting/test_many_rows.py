"""Tables with very many rows: all rows are asked, models see as many as they need."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from squamish import CrossfitMethod, InputError, RelevanceSelector
from squamish.datasets import make_linear


def test_a_long_table_is_screened_whole_and_tested_on_a_sample(small, hospital, expected, relevant):
    X, y = hospital(6000)
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    assert relevant(result) == expected
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


def test_power_1_tests_on_all_rows(small, hospital):
    X, y = hospital(2500)
    result = RelevanceSelector(CrossfitMethod(power=1), random_state=0).fit(X, y).result_
    assert result.evidence.n_tested == 2500
    assert not any("sample" in note for note in result.notes)


def test_rows_that_belong_together_are_sampled_together(small, hospital):
    X, y = hospital(6000)
    patient = np.repeat(np.arange(1000), 6)
    result = RelevanceSelector(random_state=0).fit(X.lazy(), y, groups=patient).result_
    assert result.evidence.n_tested % 6 == 0
    assert "a random sample of" in result.notes[-1]


def test_a_class_too_rare_for_a_sample_does_not_stop_the_fit(small, hospital, expected, relevant):
    X, y = hospital(6000)
    y[:4] = "rare"
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    assert relevant(result) == expected
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


def test_columns_that_cannot_be_tested_on_all_rows_do_no_harm(small, hospital, relevant):
    X, y = hospital(6000)
    many = X.select("town")
    assert not RelevanceSelector(random_state=0).fit(many, y).support_.any()
    constant = X.with_columns(same=pl.lit("same"), none=pl.lit(None, dtype=pl.Float64))
    selector = RelevanceSelector(
        random_state=0, feature_groups={"one": ["a", "same"], "two": ["b", "none"]}
    ).fit(constant, y)
    assert {"a", "same", "b", "none"} <= set(relevant(selector.result_))
    rare = X.select("a", rare=pl.int_range(pl.len()) == 0)
    fits = (RelevanceSelector(random_state=seed).fit(rare, y) for seed in range(12))
    note = "'rare' has one value only in the sample"
    result = next(s.result_ for s in fits if note in " ".join(s.result_.notes))
    assert "no two different values in the rows that were looked at" in result.explain("rare")


def test_bad_parameters_are_refused_before_rows_are_drawn(small, hospital):
    X, y = hospital(6000)
    for settings in ({"power": -1}, {"power": "much"}, {"alpha": 2}):
        with pytest.raises(InputError, match=f"{next(iter(settings))} is"):
            RelevanceSelector(CrossfitMethod(**settings)).fit(X, y)


def test_the_same_seed_draws_the_same_sample_whatever_the_jobs_and_the_order_of_columns(
    small, hospital, relevant
):
    X, y = hospital(6000)
    one = RelevanceSelector(random_state=3).fit(X.lazy(), y).result_
    two = RelevanceSelector(random_state=3, n_jobs=2).fit(X.lazy(), y).result_
    assert one.to_json().partition('"task"')[0] == two.to_json().partition('"task"')[0]
    turned = RelevanceSelector(random_state=3).fit(X.select(X.columns[::-1]).lazy(), y).result_
    assert relevant(turned) == {k: relevant(one)[k] for k in reversed(relevant(one))}
    assert turned.evidence.loss == pytest.approx(one.evidence.loss)


def test_a_killed_fit_of_a_long_table_goes_on(small, tmp_path, hospital, expected, relevant):
    X, y = hospital(6000)

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
        # With a seed that the file chose, noise is relevant in one of a hundred fits.
        assert expected.items() <= relevant(selector.result_).items()
    assert relevant(selector.result_) == expected


def test_a_budget_that_ends_with_all_rows_leaves_a_checkpoint_that_goes_on(
    small, tmp_path, hospital, expected, relevant
):
    X, y = hospital(6000)
    path = tmp_path / "work.checkpoint"
    selector = RelevanceSelector(random_state=0, checkpoint=path, time_budget=1e-6).fit(X, y)
    assert "all rows" in " ".join(selector.result_.notes)
    assert selector.result_.undecided
    selector.set_params(time_budget=None).fit(X, y)
    assert relevant(selector.result_) == expected


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
    X, noise = np.split(np.random.default_rng(0).standard_normal((6000, 4)), [3], axis=1)
    y = np.minimum(X[:, 0] + 0.5 * noise[:, 0] + 1.2, 0.05)
    assert RelevanceSelector(random_state=0).fit(X, y).relevance_classes_.tolist() == [2, 0, 0]
