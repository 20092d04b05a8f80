"""Stability: the same method on half of the rows, again and again."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from squamish import CrossfitMethod, InputError, PaperMethod, RelevanceResult, RelevanceSelector
from squamish.datasets import make_linear
from squamish.execution import workers
from squamish.execution.checkpoint import Checkpoint
from squamish.fitting.stability import STAGE, checkpoint_of_stability

QUICK = PaperMethod(n_null_samples=5, n_estimators=10, p=1e-3, boruta_max_iter=10)
NAMES = list("abcdefgh")


@pytest.fixture(scope="module")
def problem():
    return make_linear(160, n_strong=2, group_sizes=[3], n_irrelevant=3, random_state=0)


@pytest.fixture(scope="module")
def table(problem):
    return pd.DataFrame(problem.X, columns=NAMES)


@pytest.fixture(scope="module")
def result(problem, table):
    return RelevanceSelector(stability=6, random_state=0).fit(table, problem.y).result_


@pytest.fixture
def judged(monkeypatch):
    """The tables that the method judges: the whole one first."""
    tables, classify = [], CrossfitMethod.classify
    monkeypatch.setattr(
        CrossfitMethod,
        "classify",
        lambda self, table, *more: tables.append(table) or classify(self, table, *more),
    )
    return tables


def numbered(problem, **more):
    """The columns of a problem, and one that tells which row is which, as a category."""
    return {
        "X": np.column_stack([problem.X[:, :3], np.arange(len(problem.y))]),
        "y": problem.y,
    } | more


def row_numbers(table):
    (numbers,) = table.X[:, table.is_category].T
    return numbers.astype(int)


def test_every_column_is_counted_in_every_half_sample(result):
    stability = result.stability
    assert (stability.n_asked, stability.n_finished, stability.notes) == (6, 6, ())
    assert list(stability.columns) == NAMES
    assert all(counts.judged == 6 for counts in stability.columns.values())
    assert stability.columns["a"].strong == stability.columns["a"].minimal == 6
    assert [stability.columns[name].strong for name in "cdefgh"] == [0] * 6
    assert all(stability.columns[name].irrelevant >= 5 for name in "fgh")
    # One of three copies is enough, and it need not be the same one.
    assert sum(stability.columns[name].minimal for name in "cde") >= 6
    assert "In 6 half-samples" in str(stability)
    assert "\n" not in str(stability)


def test_the_verdict_is_the_same_without_it(problem, table, result):
    plain = RelevanceSelector(random_state=0).fit(table, problem.y).result_
    assert plain.stability is None
    assert plain.to_frame()["share_strong"].isna().all()
    assert "half-sample" not in plain.explain("a")
    again = replace(result, stability=None, seconds=0.0, provenance=plain.provenance)
    assert again == replace(plain, seconds=0.0)


@pytest.mark.parametrize("method", ["crossfit", QUICK])
def test_neither_cores_nor_the_order_of_columns_and_rows_matter(problem, table, method):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(160), rng.permutation(8)
    one, two = (
        RelevanceSelector(method, stability=4, random_state=0, n_jobs=n_jobs).fit(X, y).result_
        for n_jobs, X, y in (
            (1, table, problem.y),
            (2, table.iloc[rows, columns], problem.y[rows]),
        )
    )
    assert one.stability.columns == two.stability.columns
    assert one.stability.n_finished == 4


def test_another_seed_draws_other_halves(problem, judged):
    for seed in (0, 0, 1):
        RelevanceSelector(stability=2, random_state=seed, categorical_features=[3]).fit(
            **numbered(problem)
        )
    halves = [frozenset(row_numbers(t)) for t in judged if len(t.y) == 80]
    assert halves[:2] == halves[2:4]
    assert halves[0] != halves[4]


def test_halves_are_complementary_with_equal_shares_and_their_weights(problem, judged):
    weights = np.random.default_rng(0).uniform(1, 2, 160)
    RelevanceSelector(stability=4, random_state=0, categorical_features=[3]).fit(
        **numbered(problem, sample_weight=weights)
    )
    whole, *halves = judged
    rows = [row_numbers(half) for half in halves]
    for one, other in (rows[:2], rows[2:]):
        assert sorted([*one, *other]) == list(range(160))
    assert set(rows[0]) != set(rows[2])
    for half, used in zip(halves, rows, strict=True):
        assert abs(len(used) - 80) <= 1
        assert np.abs(np.bincount(half.y) - np.bincount(whole.y) / 2).max() <= 0.5
        assert half.y.tolist() == problem.y[used].tolist()
        assert half.weights == pytest.approx(weights[used] / weights[used].mean())


def test_groups_stay_whole_and_half_of_them_are_drawn(problem, judged):
    groups = np.arange(160) // 4
    y = (groups % 4 == 0).astype(int)
    RelevanceSelector(stability=2, random_state=0, categorical_features=[3]).fit(
        **numbered(problem, y=y, groups=groups)
    )
    one, other = (set(groups[row_numbers(half)]) for half in judged[1:])
    assert len(one) == len(other) == 20
    assert not one & other
    assert [int(half.y.sum()) for half in judged[1:]] == [20, 20]


@pytest.mark.parametrize("kind", ["iterable", "groups", "time"])
def test_folds_are_used_without_the_other_half(problem, judged, kind):
    fold, numbers, groups = np.arange(160) % 3, np.arange(160), np.arange(160) // 5
    cv = {
        "iterable": [(numbers[fold != k], numbers[fold == k]) for k in range(3)],
        "groups": GroupKFold(4),
        "time": TimeSeriesSplit(4),
    }[kind]
    more = {"groups": groups} if kind == "groups" else {}
    selector = RelevanceSelector(cv=cv, stability=2, random_state=0, categorical_features=[3])
    selector.fit(**numbered(problem, **more))
    assert selector.result_.stability.n_finished == 2
    for half in judged[1:]:
        rows = row_numbers(half)
        for train, test in half.folds:
            if kind == "iterable":
                assert len(set(fold[rows[test]])) == 1
            if kind == "groups":
                assert not set(groups[rows[train]]) & set(groups[rows[test]])
            if kind == "time":
                assert rows[train].max() < rows[test].min()


def test_a_half_without_a_class_is_counted_as_not_judged_and_noted():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.array(["often"] * 57 + ["rare"] * 3)
    result = RelevanceSelector(stability=4, random_state=0).fit(X, y).result_
    assert (result.stability.n_asked, result.stability.n_finished) == (4, 2)
    (note,) = result.stability.notes
    assert note.startswith("2 half-samples could not be judged: y has one row only of class rare")
    assert note in result.notes
    y[-1] = "often"
    result = RelevanceSelector(stability=2, random_state=0).fit(X, y).result_
    assert str(result.stability) == "None of 2 half-samples was judged."
    assert "half-sample" not in result.explain("0")
    assert result.to_frame()["share_weak"].isna().all()
    assert RelevanceResult.from_json(result.to_json()) == result


def test_a_column_that_does_not_vary_in_a_half_is_irrelevant_there():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    X[:, 2], X[0, 2], X[:, 3] = 0, 1, 5
    y = X[:, 0] + X[:, 1] + rng.standard_normal(80)
    result = RelevanceSelector(stability=4, random_state=0).fit(X, y).result_
    assert result.stability.n_finished == 4
    assert [result.stability.columns[name].irrelevant for name in "23"] == [4, 4]


def test_a_callback_hears_of_a_stage_more(problem, table):
    news = []
    RelevanceSelector(stability=3, random_state=0, callback=news.append).fit(table, problem.y)
    told = [p for p in news if p.stage == STAGE]
    assert [(p.done, p.total) for p in told] == [(k, 3) for k in range(4)]
    assert {p.stage_number for p in told} == {told[0].n_stages}
    assert news[-1].share == pytest.approx(1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_was_interrupted_goes_on_and_nothing_is_done_twice(
    problem, table, result, tmp_path, monkeypatch, n_jobs
):
    kept, keep = [], Checkpoint.keep

    def note(self, *key):
        kept.append((self.path.name, *key[:2]))
        keep(self, *key)

    def stop(news):
        if news.stage == STAGE and news.done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "keep", note)
    path = tmp_path / "work.bin"
    selector = RelevanceSelector(
        stability=6, random_state=0, checkpoint=path, callback=stop, n_jobs=n_jobs
    )
    with pytest.raises(KeyboardInterrupt):
        selector.fit(table, problem.y)
    again = selector.set_params(callback=None).fit(table, problem.y).result_
    assert len(kept) == len(set(kept))
    assert sum(name == "work.bin.stability" for name, *_ in kept) == 6
    assert checkpoint_of_stability(path).exists()
    assert again.stability == result.stability


def test_what_there_was_time_for_counts(problem, table, result, tmp_path, monkeypatch):
    late = RelevanceSelector(stability=3, random_state=0, time_budget=1e-9).fit(table, problem.y)
    assert late.result_.stability.n_finished == 0
    assert "there was no time for 3 half-samples" in late.result_.notes
    selector = RelevanceSelector(stability=4, random_state=0, checkpoint=tmp_path / "work.bin")
    some = selector.fit(table, problem.y).result_.stability

    def use_the_time_up(news):
        if news.stage == STAGE:
            clock.setattr(workers, "perf_counter", lambda: np.inf)

    selector.set_params(stability=6, time_budget=600, callback=use_the_time_up)
    with monkeypatch.context() as clock:
        found = selector.fit(table, problem.y).result_.stability
    assert found.columns == some.columns
    assert (found.n_asked, found.n_finished) == (6, 4)
    assert "In 4 of 6 half-samples" in str(found)
    selector.set_params(time_budget=None, callback=None)
    more = selector.fit(table, problem.y).result_.stability
    assert more == result.stability


def test_it_is_in_words_frames_and_files(result):
    counts = result.stability.columns["a"]
    assert result.explain("a").endswith(
        "In 6 half-samples it was strong in 6, and in the minimal set in 6."
    )
    assert "irrelevant in" in result.explain("h")
    frame = result.to_frame().set_index("feature")
    assert frame["share_strong"]["a"] == counts.strong / 6
    shares = frame[["share_strong", "share_weak", "share_irrelevant"]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1.0] * 8)
    own = result.stability.to_frame("polars")
    assert own.columns == ["feature", "strong", "weak", "irrelevant", "minimal"]
    assert own["strong"].to_list()[0] == 6
    assert "<td>6 strong</td>" in result.to_html()
    assert "In 6 half-samples</th>" in result.to_html()
    assert RelevanceResult.from_json(result.to_json()) == result


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_finished": 7}, "stability.n_finished must be from 0 to stability.n_asked"),
        ({"n_finished": 5}, "stability.columns.a does not add up to stability.n_finished"),
        ({"columns": {}}, "stability.columns must have an entry for each column"),
    ],
)
def test_a_damaged_file_is_refused(result, change, message):
    content = json.loads(result.to_json())
    content["stability"] |= change
    with pytest.raises(InputError, match=message):
        RelevanceResult.from_json(json.dumps(content))


def test_of_very_many_rows_the_sample_is_halved(small, hospital):
    frame, y = hospital(4000)
    result = RelevanceSelector(stability=2, random_state=0).fit(frame, y).result_
    lazily = RelevanceSelector(stability=2, random_state=0).fit(frame.lazy(), y).result_
    assert result.stability == lazily.stability
    assert "halves of the rows that models see" in result.stability.notes[-1]


@pytest.mark.parametrize("stability", [1, 0, -2, 2.5, "3", True])
def test_the_number_of_half_samples_is_checked(problem, stability):
    with pytest.raises(InputError, match=r"stability is .*; it must be a whole number at least 2"):
        RelevanceSelector(stability=stability).fit(problem.X, problem.y)
