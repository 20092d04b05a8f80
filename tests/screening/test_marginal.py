"""The marginal test: level on what has nothing to do with the target, and power on what has."""

import math

import numpy as np
import pytest
from scipy import stats

from squamish.families import family_of
from squamish.screening.marginal import marginal_p_values
from squamish.statistics.scores import atom_shares


def family_of_target(y):
    return family_of("regression" if y.dtype.kind == "f" else "classification")


def marginal(X, y):
    return marginal_p_values(X, y, family_of_target(y))


def test_a_rare_value_is_tested_exactly():
    y = np.repeat([0, 1], [90, 10])
    x = np.zeros(100)
    x[90:93] = [1.0, 2.0, 3.0]
    p = marginal(x[:, np.newaxis], y)
    odds = stats.hypergeom.sf(2, 100, 10, 3)
    assert p[0] == pytest.approx(2 * odds)


def test_share_of_the_most_common_value():
    X = np.array([[0, 1], [0, 2], [0, 2], [5, 3]], dtype=float)
    assert atom_shares(X).tolist() == [0.75, 0.5]


@pytest.mark.parametrize("cap", [np.minimum, np.maximum])
def test_an_amount_that_is_capped_is_tested_all_the_same(cap):
    x = np.random.default_rng(0).standard_normal((300, 2))
    y = cap(np.square(x[:, 0]), 0.05 if cap is np.minimum else 2.0)
    assert family_of_target(y).strata(y).max() > 0
    assert marginal(x, y)[0] < 1e-6


@pytest.mark.parametrize("share", [0.36, 0.38, 0.39, 0.4])
@pytest.mark.parametrize("side", [-1, 1])
def test_few_rows_between_a_cap_and_the_next_cut_silence_nothing(share, side):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 1))
    y = side * (np.square(x[:, 0]) + 0.7 * rng.standard_normal(500))
    y = np.minimum(y, np.quantile(y, 1 - share))
    assert np.bincount(family_of_target(y).strata(y)).min() >= 25
    assert marginal(x, y)[0] < 1e-6


@pytest.mark.parametrize(
    ("n", "n_claims", "share"), [(1000, 30, 0.01), (1000, 100, 0.01), (200, 30, 0.1), (40, 4, 0.1)]
)
def test_flags_and_amounts_that_are_mostly_zero_hold_their_level(n, n_claims, share):
    rng, found = np.random.default_rng(0), []
    for _ in range(100):
        X = (rng.random((n, 100)) < share).astype(float)
        y = np.zeros(n)
        y[:n_claims] = rng.exponential(size=n_claims)
        found.append(marginal(X[:, X.any(axis=0)], y))
    assert np.mean(np.concatenate(found) < 1e-4) < 3e-4


def test_counts_of_few_values_hold_their_level_in_a_rare_class():
    rng, found = np.random.default_rng(0), []
    y = (np.arange(2000) < 40).astype(int)
    for _ in range(100):
        X = rng.binomial(2, 0.067, (2000, 100)).astype(float)
        found.append(marginal(X, y))
    assert np.mean(np.concatenate(found) < 1e-4) < 3e-4


def test_a_flag_that_most_claims_have_is_found():
    rng = np.random.default_rng(0)
    flag = rng.random(1000) < 0.03
    y = np.where(flag & (rng.random(1000) < 0.7), rng.exponential(size=1000), 0.0)
    assert marginal(flag[:, np.newaxis].astype(float), y)[0] < 1e-6


def test_a_rare_class_does_not_hide_what_tells_the_others():
    x = np.random.default_rng(0).standard_normal((60, 2))
    y = (x[:, 0] > 0).astype(int)
    y[:4] = 2
    assert marginal(x, y)[0] < 1e-6


@pytest.mark.parametrize("n", [4, 5, 6])
def test_the_best_of_few_orders_is_no_wonder(n):
    X = np.column_stack([np.arange(n), np.arange(n)[::-1]]).astype(float)
    assert marginal(X, np.arange(n) + 0.5).min() > 1 / math.factorial(n)


def test_a_flag_is_tested_exactly_in_a_class_of_some_rows():
    y = (np.arange(1000) < 50).astype(int)
    flag = np.zeros((1000, 1))
    flag[:16], flag[50:144] = 1, 1
    expected = stats.fisher_exact([[16, 34], [94, 856]], alternative="greater")[1]
    assert marginal(flag, y)[0] == pytest.approx(2 * expected)
