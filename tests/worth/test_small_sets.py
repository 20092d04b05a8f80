"""The path of sets: for every size the best one, and the smallest that is enough."""

from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import make_classification

from squamish import InputError, RelevanceSelector
from squamish.datasets import load_problem
from squamish.models.learners import BuiltIn
from squamish.worth import measure


def test_the_minimal_set_has_one_of_each_group_and_all_strong_columns(copies):
    minimal = set(copies.select("minimal"))
    assert {"a", "b"} <= minimal
    assert [len(minimal & {"c0", "c1", "c2"}), len(minimal & {"d0", "d1"})] == [1, 1]
    assert len(minimal) == 4


def test_the_path_has_a_set_of_every_size(copies):
    path = copies.path
    n = len(copies.select("relevant"))
    assert path["size"].tolist() == list(range(1, n + 1))
    assert [len(copies.select(k)) for k in path["size"]] == list(range(1, n + 1))
    assert path["columns"].tolist()[3] == ", ".join(copies.select(4))
    assert path.loc[path["minimal"], "size"].tolist() == [4]


def test_every_column_buys_something_until_the_set_is_minimal(copies):
    path = copies.path.set_index("size")
    kept = path["kept"]
    assert kept[1] < kept[2] < kept[3] < 0.99 <= kept[4]
    assert kept[7] == pytest.approx(1)
    assert np.allclose(path["loss"][7], copies.evidence.loss)
    known = path.dropna()
    assert (known["kept_low"] <= known["kept"]).all()
    assert (known["kept"] <= known["kept_high"]).all()


def test_the_loss_of_the_minimal_set_is_not_one_that_it_was_chosen_by(copies):
    # Sets and their size come from other rows; that of the set itself is close here.
    grown = copies.evidence.minimal_loss - copies.evidence.loss
    assert abs(grown) < 0.02 * copies.gain


def test_interactions_stay_in_the_minimal_set():
    problem = load_problem("XOR with copies", random_state=0)
    result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    assert len(result.select("minimal")) == 2


def test_a_cover_that_loses_by_the_learner_that_other_folds_choose_is_no_start():
    problem = load_problem("XOR with copies", shuffle=True, random_state=6)
    result = RelevanceSelector(random_state=6).fit(problem.X, problem.y).result_
    assert set(result.select("cover")) < set(result.select("minimal"))
    path = result.path.set_index("size")
    assert path["kept"][len(result.select("cover"))] < 0.99 <= path["kept"].max()


def test_more_than_a_cover_may_be_needed():
    problem = load_problem("NL 3", shuffle=True, random_state=8)
    result = RelevanceSelector(random_state=8).fit(problem.X, problem.y).result_
    assert len(result.select("minimal")) > len(result.select("cover"))
    assert result.path["size"].tolist() == list(range(1, len(result.select("relevant")) + 1))


def test_what_spans_five_dimensions_is_not_needed_twenty_times():
    X, y = make_classification(
        1000, 20, n_informative=4, n_redundant=12, shuffle=False, random_state=0
    )
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    path = result.path.set_index("size")
    assert len(path) >= 16
    assert path["kept"][5] > 0.9
    assert len(result.select("minimal")) < len(path)


def test_transform_keeps_as_many_columns_as_are_asked_for(copies):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    selector = RelevanceSelector(random_state=0, select=2).fit(X, X[:, 0] + X[:, 1] + X[:, 2])
    assert selector.transform(X).shape == (200, 2)
    assert selector.support_.sum() == 2
    selector.set_params(select=4)
    with pytest.raises(InputError, match="columns can be chosen from 1 to 3, the relevant ones"):
        selector.transform(X)


@pytest.mark.parametrize("learner", ["linear", "boosted"])
def test_no_set_is_fitted_twice_in_a_search(learner, monkeypatch):
    # Strong columns go last at first, and like all others below the minimal set: on the same ways.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    X[:, 6:] = 2 * X[:, :2] + 0.1 * rng.standard_normal((300, 2))
    y = X[:, :6].sum(axis=1) if learner == "linear" else np.sign(X[:, :6]) @ [4, 3, 3, 2, 2, 2]
    fitted, searches, fit = Counter(), [], BuiltIn.fit
    search = measure.search_small_sets

    def counted(self, X, *others):
        # Trees of fewer rounds are those of more rounds at an earlier time.
        strength = None if self.kind == "boosted" else self.strength
        fitted[self.kind, self.view, strength, X.tobytes()] += 1
        return fit(self, X, *others)

    def watched(*given):
        before = Counter(fitted)
        found = search(*given)
        searches.extend(fitted[key] for key in fitted - before)
        return found

    monkeypatch.setattr(BuiltIn, "fit", counted)
    monkeypatch.setattr(measure, "search_small_sets", watched)
    verdict = RelevanceSelector(random_state=0, n_jobs=1).fit(X, y + rng.standard_normal(300))
    assert verdict.result_.evidence.learner.startswith(learner)
    assert len(verdict.result_.strong) > 2
    # Nor is one that was fitted in the race.
    assert len(searches) > 20
    assert {*searches} == {1}


def test_nothing_relevant_has_no_path():
    rng = np.random.default_rng(0)
    result = RelevanceSelector(random_state=0).fit(rng.standard_normal((80, 4)), rng.random(80))
    verdict = result.result_
    assert len(verdict.path) == 0
    assert verdict.select("minimal") == ()
    assert verdict.signatures.count == 1
    assert len(verdict.necessity) == 0


def test_small_sets_do_not_depend_on_workers_or_the_order_of_columns(copies):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6))
    X[:, 3] = X[:, 0]
    y = X[:, 0] + X[:, 1] + 0.5 * X[:, 2] + rng.standard_normal(200)
    order = rng.permutation(6)
    one = RelevanceSelector(random_state=0).fit(X, y).result_
    two = RelevanceSelector(random_state=0, n_jobs=2).fit(X[:, order], y).result_
    assert np.array_equal(one.path["loss"], two.path["loss"], equal_nan=True)
    assert one.signatures.count == two.signatures.count
    # Exact repeats may take each other's place.
    places = {int(order[int(name)]) % 3 for name in two.select("minimal")}
    assert places == {int(name) % 3 for name in one.select("minimal")}


@pytest.mark.parametrize("options", [{"sample_weight": True}, {"groups": True}])
def test_weights_and_groups_of_rows_have_a_path(options):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((300, 2))
    X = np.column_stack([z, z[:, 0] * 2 + 1, rng.standard_normal(300)])
    y = z.sum(axis=1) + 0.5 * rng.standard_normal(300)
    given = {
        "sample_weight": rng.uniform(0.5, 2, 300) if "sample_weight" in options else None,
        "groups": np.repeat(np.arange(100), 3) if "groups" in options else None,
    }
    result = RelevanceSelector(random_state=0).fit(X, y, **given).result_
    assert len(result.select("minimal")) == 2
    assert result.signatures.count == 2
