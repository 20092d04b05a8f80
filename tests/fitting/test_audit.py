"""An audit: the same fit on shuffled targets, in which whatever is found is false."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from squamish import CrossfitMethod, InputError, PaperMethod, RelevanceSelector
from squamish.datasets import make_linear
from squamish.execution.checkpoint import Checkpoint
from squamish.fitting.audit import checkpoint_of_audit

# So much is found in noise that two audits are told apart.
LAX = CrossfitMethod(alpha=0.6)
QUICK = PaperMethod(n_null_samples=5, n_estimators=10, p=1e-3, boruta_max_iter=10)


@pytest.fixture(scope="module")
def problem():
    return make_linear(150, n_strong=2, group_sizes=[3], n_irrelevant=3, random_state=0)


@pytest.fixture
def judged(monkeypatch):
    """The tables that the method judges."""
    tables, classify = [], CrossfitMethod.classify
    monkeypatch.setattr(
        CrossfitMethod,
        "classify",
        lambda self, table, *more: tables.append(table) or classify(self, table, *more),
    )
    return tables


def lax(**settings):
    return RelevanceSelector(LAX, random_state=0, **settings)


def test_noise_gives_next_to_nothing():
    rng = np.random.default_rng(0)
    audit = RelevanceSelector(random_state=0).audit(
        rng.standard_normal((100, 5)), rng.standard_normal(100), n_shuffles=10
    )
    assert audit.n_shuffles == 10
    assert audit.n_found <= 1
    assert audit.level == 0.01
    assert audit.n_unfinished == 0
    assert audit.interval[0] <= 0.01 < audit.interval[1]


def test_columns_that_matter_do_not_show_in_shuffled_targets(problem):
    selector = RelevanceSelector(random_state=0)
    audit = selector.audit(problem.X, problem.y, n_shuffles=10)
    assert not hasattr(selector, "result_")
    assert not hasattr(selector, "n_features_in_")
    assert len(selector.fit(problem.X, problem.y).result_.select()) == 5
    assert audit.n_found <= 1
    assert not audit.exceeds_level


def test_what_is_found_is_named_with_its_proof(problem):
    names = [f"x{j}" for j in range(8)]
    audit = lax().audit(pd.DataFrame(problem.X, columns=names), problem.y, n_shuffles=8)
    assert 0 < audit.n_found < 8
    assert set(audit.false_columns) <= set(names)
    counts = [sum(proofs.values()) for proofs in audit.false_columns.values()]
    assert counts == sorted(counts, reverse=True)
    frame = audit.to_frame()
    assert frame["n_relevant"].sum() == sum(counts)
    assert (frame["n_relevant"] > 0).sum() == audit.n_found
    assert (frame["n_strong"] > 0).sum() == audit.n_strong_found


@pytest.mark.parametrize("method", [LAX, QUICK])
def test_shuffles_do_not_depend_on_n_jobs_or_on_their_number(problem, method):
    few, many = (
        RelevanceSelector(method, random_state=0, n_jobs=n_jobs).audit(problem.X, problem.y, n)
        for n_jobs, n in ((1, 3), (2, 5))
    )
    assert few.shuffles == many.shuffles[:3]
    assert len({shuffle.seed for shuffle in many.shuffles}) == 5
    other = RelevanceSelector(method, random_state=1).audit(problem.X, problem.y, 3)
    assert {s.seed for s in other.shuffles}.isdisjoint(s.seed for s in few.shuffles)


@pytest.mark.parametrize("groups", [None, np.arange(150) * 7 % 80])
def test_the_order_of_rows_and_columns_has_no_influence(problem, groups):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(150), rng.permutation(8)
    table = pd.DataFrame(problem.X, columns=list("abcdefgh"))
    selector = RelevanceSelector(CrossfitMethod(alpha=0.99), random_state=0)
    plain = selector.audit(table, problem.y, 5, groups=groups)
    there = None if groups is None else groups[rows]
    moved = selector.audit(table.iloc[rows, columns], problem.y[rows], 5, groups=there)
    assert plain.n_found > 0
    assert [s.proofs for s in plain.shuffles] == [s.proofs for s in moved.shuffles]


def test_a_callback_hears_of_every_shuffle(problem):
    news = []
    lax(callback=news.append).audit(problem.X, problem.y, 3)
    assert [(p.stage, p.done, p.total) for p in news] == [("audit", k, 3) for k in range(4)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_audit_goes_on_and_does_nothing_twice(
    problem, tmp_path, monkeypatch, n_jobs
):
    kept, keep = [], Checkpoint.keep
    monkeypatch.setattr(
        Checkpoint, "keep", lambda self, *key: kept.append(key[:2]) or keep(self, *key)
    )

    def stop(news):
        if news.done == 3:
            raise KeyboardInterrupt

    path = tmp_path / "work.bin"
    selector = lax(checkpoint=path, callback=stop, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        selector.audit(problem.X, problem.y, 6)
    assert len(kept) == 3
    audit = selector.set_params(callback=None).audit(problem.X, problem.y, 6)
    assert len(kept) == len(set(kept)) == 6
    assert audit.shuffles == lax().audit(problem.X, problem.y, 6).shuffles
    assert not path.exists()
    assert checkpoint_of_audit(path).exists()


def test_more_or_fewer_shuffles_go_on_from_the_same_checkpoint(problem, tmp_path):
    selector = lax(checkpoint=tmp_path / "work.bin")
    some = selector.audit(problem.X, problem.y, 4)
    assert selector.audit(problem.X, problem.y, 2).shuffles == some.shuffles[:2]
    more = selector.set_params(time_budget=1e-9).audit(problem.X, problem.y, 7)
    assert more.shuffles == some.shuffles
    assert more.n_unfinished == 3
    assert "There was no time for 3 more." in str(more)


def test_a_checkpoint_of_something_else_is_refused(problem, tmp_path):
    path, table = tmp_path / "work.bin", pd.DataFrame(problem.X, columns=list("abcdefgh"))
    lax(checkpoint=path).audit(table, problem.y, 1)
    with pytest.raises(InputError, match=r"work.bin.audit' was made with other data"):
        lax(checkpoint=path).audit(table.rename(columns={"a": "z"}), problem.y, 1)
    with pytest.raises(InputError, match="was made with other data"):
        lax(checkpoint=path).audit(table[list("hbcdefga")], problem.y, 1)
    with pytest.raises(InputError, match="was made with other settings"):
        RelevanceSelector(random_state=0, checkpoint=path).audit(table, problem.y, 1)


def test_without_time_nothing_is_claimed(problem):
    audit = lax(time_budget=1e-9).audit(problem.X, problem.y, 3)
    assert (audit.n_shuffles, audit.n_unfinished, audit.interval) == (0, 3, (0.0, 1.0))
    assert str(audit) == "None of 3 shuffled targets was judged: the time was used up."
    assert len(audit.to_frame()) == 0


def test_weights_go_with_their_targets_and_rows_without_either_stay_out(problem, judged):
    rng = np.random.default_rng(0)
    y, weights = problem.y.astype(float), rng.uniform(1, 2, 150)
    y[:10], weights[10:20] = np.nan, 0
    selector = RelevanceSelector(
        task="classification", missing_target="drop", random_state=0, categorical_features=[7]
    )
    # A column tells which row is which, and is a category, whose numbers stay what they are.
    X = np.column_stack([problem.X[:, :7], np.arange(150)])
    selector.audit(X, y, 2, sample_weight=weights)
    used = np.arange(20, 150)
    scaled = (weights[used] / weights[used].mean()).round(9)
    partners = []
    for table in judged:
        assert table.task == "classification"
        (row,) = table.X[:, table.is_category].T
        partners.append(table.weights[np.argsort(row)].round(9).tolist())
        pairs = sorted(zip(table.y.tolist(), table.weights.round(9).tolist(), strict=True))
        assert pairs == sorted(zip(problem.y[used].tolist(), scaled.tolist(), strict=True))
    assert sorted(partners[0]) == sorted(partners[1]) == sorted(scaled.tolist())
    assert len({*map(tuple, partners), tuple(scaled.tolist())}) == 3


def test_groups_of_the_same_size_get_the_targets_of_one_another(judged):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 4)
    y = groups + rng.uniform(0, 0.5, 48)
    X = np.column_stack([np.arange(48), rng.standard_normal(48)])
    selector = RelevanceSelector(random_state=0, categorical_features=[0])
    selector.audit(X, y, 3, groups=groups)
    orders = [np.round(y, 6)]
    for table in judged:
        (row,) = table.X[:, table.is_category].T
        orders.append(np.round((table.y[np.argsort(row)] + 1) / 2 * np.ptp(y) + y.min(), 6))
    sets = [{frozenset(chunk) for chunk in order.reshape(12, 4)} for order in orders]
    assert all(found == sets[0] for found in sets)
    assert len(set(map(tuple, orders))) == 4
    # Rows have changed places within groups, too.
    assert any(
        tuple(chunk) not in set(map(tuple, orders[0].reshape(12, 4)))
        for chunk in orders[1].reshape(12, 4)
    )


def test_what_tells_the_size_of_groups_is_no_false_finding():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, 80)
    groups = np.repeat(np.arange(80), sizes)
    size = np.repeat(sizes, sizes)
    y = size + np.repeat(rng.standard_normal(80), sizes)
    X = np.column_stack([size + 0.1 * rng.standard_normal(len(y)), rng.standard_normal(len(y))])
    selector = RelevanceSelector(random_state=0)
    assert selector.fit(X, y, groups=groups).relevance_classes_[0] > 0
    audit = selector.audit(X, y, 6, groups=groups)
    assert audit.n_found == 0
    assert "The groups differ in size" in str(audit)


def test_folds_are_used_as_they_are(problem, judged):
    fold, groups = np.arange(150) % 3, np.arange(150) // 5
    numbers = np.arange(150)
    given = ((numbers[fold != k], numbers[fold == k]) for k in range(3))
    marked = np.column_stack([fold, problem.X])
    RelevanceSelector(cv=given, random_state=0, n_jobs=2).audit(marked, problem.y, 3)
    for table in judged:
        tested = [table.X[test] for _, test in table.folds]
        assert any(
            all(len(np.unique(rows[:, j])) == 1 for rows in tested) for j in range(table.n_columns)
        )
    RelevanceSelector(cv=GroupKFold(3), random_state=0).audit(
        problem.X, problem.y, 2, groups=groups
    )
    assert len(judged[-1].folds) == 3


def test_targets_that_folds_cannot_be_trained_on_are_shuffled_again():
    rng = np.random.default_rng(0)
    y = np.array(["rare"] * 3 + ["often"] * 57)
    # Two of the three rare ones are in the only training rows, or the fold could not be trained.
    cv = [(np.r_[0:2, 3:30], np.r_[2, 30:60])]
    audit = lax(cv=cv).audit(rng.standard_normal((60, 2)), y, 4)
    assert audit.n_shuffles == 4
    y = np.array(["rare", "rare"] + ["often"] * 9998)
    with pytest.raises(InputError, match="y cannot be shuffled: 1000 times in a row"):
        lax(cv=[([0, 2], [1, 3])]).audit(rng.standard_normal((10_000, 1)), y, 1)


def test_tables_of_very_many_rows_are_sampled_as_in_a_fit(small, hospital):
    frame, y = hospital(2600)
    lazily = RelevanceSelector(random_state=0).audit(frame.lazy(), y, 2)
    at_once = RelevanceSelector(random_state=0).audit(frame, y, 2)
    assert lazily.shuffles == at_once.shuffles
    assert lazily.n_found == 0


@pytest.mark.parametrize("n_shuffles", [0, -1, 2.5, "3", None, True])
def test_the_number_of_shuffles_is_checked(problem, n_shuffles):
    with pytest.raises(InputError, match=r"n_shuffles is .*; it must be a whole number at least 1"):
        RelevanceSelector().audit(problem.X, problem.y, n_shuffles)


def test_mistakes_are_those_of_a_fit(problem):
    with pytest.raises(InputError, match="X has 150 rows, but y has 149 values"):
        RelevanceSelector().audit(problem.X, problem.y[1:])
    with pytest.raises(InputError, match="select is 'all'"):
        RelevanceSelector(select="all").audit(problem.X, problem.y)
    with pytest.raises(InputError, match="groups holds one group only"):
        RelevanceSelector().audit(problem.X, problem.y, groups=np.ones(150))
    sizes = np.repeat(np.arange(17), np.arange(17))
    alone = np.where(sizes == 16, "a", "b")
    with pytest.raises(InputError, match="a class was in fewer than two groups"):
        RelevanceSelector().audit(problem.X[:136], alone, groups=sizes)
