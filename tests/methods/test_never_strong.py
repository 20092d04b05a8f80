"""What the other columns determine is never strong, however it is hidden."""

import numpy as np
import pandas as pd
import pytest

from squamish import CrossfitMethod, RelevanceSelector


def verdict(X, y, **options):
    return RelevanceSelector(CrossfitMethod(**options), random_state=0).fit(X, y).result_


@pytest.mark.parametrize(("n", "noise"), [(200, 1.0), (500, 0.1)])
def test_shares_that_sum_to_one(n, noise):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), n)
    y = np.log(shares[:, 0] / shares[:, 1]) + 3 * shares[:, 2] + noise * rng.standard_normal(n)
    result = verdict(shares, y)
    assert not result.strong
    assert result.weak


def test_a_coarse_code_of_a_category_of_many_levels():
    rng = np.random.default_rng(0)
    place, z = rng.integers(0, 40, 600), rng.standard_normal(600)
    table = pd.DataFrame(
        {"place": [f"p{k}" for k in place], "region": ["abcd"[k % 4] for k in place], "z": z}
    )
    result = verdict(table, place % 4 + 0.5 * z + rng.standard_normal(600))
    assert result.strong == ("z",)


@pytest.mark.parametrize(("n", "noise"), [(1000, 0.1), (2000, 0.3)])
def test_a_noisy_copy_of_a_jump_that_trees_do_not_place_exactly(n, noise):
    rng = np.random.default_rng(1)
    z = rng.standard_normal((n, 3))
    jump = z[:, 0] > 0.5
    X = np.column_stack([z, jump + 0.3 * rng.standard_normal(n)])
    result = verdict(X, 2.0 * jump + z[:, 1] + noise * rng.standard_normal(n))
    assert result.classes.tolist() == [2, 2, 0, 1]


def test_a_noisy_square_of_another_column_is_not_said_to_add_something_for_certain():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1000, 3))
    X = np.column_stack([z, z[:, 0] ** 2 + 0.3 * rng.standard_normal(1000)])
    y = 3 * z[:, 1] + 2 * z[:, 2] + 0.5 * np.abs(z[:, 0]) + rng.standard_normal(1000)
    assert 3 not in verdict(X, y, min_effect=0.2).evidence.small


def test_what_is_certain_but_small_is_said_to_be_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    y = X[:, 0] + 0.15 * X[:, 1] + 0.5 * rng.standard_normal(3000)
    result = verdict(pd.DataFrame(X, columns=["a", "b", "c"]), y, min_effect=0.5)
    assert result.classes.tolist() == [2, 1, 0]
    assert result.evidence.small == (1,)
    assert "That it adds something to all others is certain, but it is small" in result.explain("b")
    assert "certain to add something, but little  b" in " ".join(str(result).split("\n"))
    assert result.to_frame("pandas")["small"].tolist() == [False, True, False]


@pytest.mark.parametrize("seed", range(2))
def test_a_proxy_of_peaks_that_only_trees_follow(seed):
    rng = np.random.default_rng([1000, seed])
    hour, level = rng.uniform(0, 24, 1000), rng.uniform(0, 6, 1000)
    peak = np.exp(-((hour - 8) ** 2) / 3) + np.exp(-((hour - 18) ** 2) / 3)
    proxy = 0.8 * peak + 0.6 * rng.standard_normal(1000)
    y = np.floor(level) + 1.5 * peak + 0.5 * rng.standard_normal(1000)
    assert verdict(np.column_stack([level, hour, proxy]), y).classes.tolist() == [2, 2, 1]


@pytest.mark.parametrize("seed", range(2))
def test_a_flag_of_a_product_that_others_tell_but_for_a_few_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 4))
    same_sign = X[:, 0] * X[:, 1] > 0
    X[:, 3] = same_sign != (rng.random(1000) < 0.05)
    y = 2.0 * same_sign + X[:, 2] + rng.standard_normal(1000)
    classes = RelevanceSelector(random_state=0).fit(X, y).relevance_classes_
    assert classes[3] != 2


@pytest.mark.parametrize(("n", "seed"), [(400, 2), (400, 4), (1500, 1)])
def test_a_flag_that_says_how_far_a_number_is_from_zero(n, seed):
    rng = np.random.default_rng([n, seed])
    z = rng.standard_normal((n, 4))
    far = np.abs(z[:, 0]) > 1
    y = 2.0 * far + z[:, 1] + rng.standard_normal(n)
    assert verdict(np.column_stack([z, far]), y).classes.tolist() == [1, 2, 0, 0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_a_class_of_age_beside_age(seed):
    rng = np.random.default_rng(seed)
    age, z = rng.uniform(18, 80, 600), rng.standard_normal((600, 2))
    group = np.digitize(age, [30, 45, 60])
    risk = np.array([0.0, 2.0, 1.0, 4.0])[group]
    table = pd.DataFrame({"age": age, "group": np.array(list("abcd"))[group], "z": z[:, 0]})
    result = verdict(table.assign(noise=z[:, 1]), risk + z[:, 0] + rng.standard_normal(600))
    assert result.strong == ("z",)
    assert result.weak == ("age", "group")


def test_a_flag_of_rows_that_only_one_fold_tests_has_a_verdict():
    rng = np.random.default_rng(0)
    z, flag = rng.standard_normal(600), np.arange(600) < 60
    folds = [(np.setdiff1d(np.arange(600), test), test) for test in np.split(np.arange(600), 5)]
    X = np.column_stack([flag, z, rng.standard_normal(600)])
    y = 4 * flag + z + 0.1 * rng.standard_normal(600)
    result = RelevanceSelector(random_state=0, cv=folds).fit(X, y).result_
    assert result.classes[1] == 2
