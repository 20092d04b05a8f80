"""Tails of sums over random orders, against the orders themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from squamish.statistics.permutation import shuffled_tails


def by_orders(weights, values, rng, n_orders=20_000):
    """The share of random orders whose sums are as far from zero."""
    weights, values = weights - weights.mean(), values - values.mean()
    orders = rng.permuted(np.tile(weights, (n_orders, 1)), axis=1)
    return np.mean(np.abs(orders @ values) >= abs(weights @ values) - 1e-9)


@pytest.mark.parametrize("shift", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("kind", ["rare class", "half", "normal", "mostly zero"])
@pytest.mark.parametrize("heavy", [False, True])
def test_tails_are_those_of_random_orders(kind, heavy, shift):
    rng = np.random.default_rng(0)
    n = 200
    values = rng.lognormal(0, 1.2, n) if heavy else rng.standard_normal(n)
    weights = {
        "rare class": (np.arange(n) < 8).astype(float),
        "half": (np.arange(n) < 100).astype(float),
        "normal": rng.standard_normal(n),
        "mostly zero": np.where(np.arange(n) < 20, rng.exponential(size=n), 0.0),
    }[kind]
    # A sum some standard deviations out.
    values = values + shift * values.std() / np.sqrt(n) * (weights - weights.mean()) / weights.std()
    expected = by_orders(weights, values, rng)
    found = shuffled_tails(weights, values[:, np.newaxis])[0]
    assert found == pytest.approx(expected, rel=0.35, abs=2e-3)


def test_two_flags_have_the_tail_of_fishers_test_or_a_larger_one():
    weights, values = np.zeros(300), np.zeros((300, 1))
    weights[:30], values[:12], values[100:118] = 1.0, 1.0, 1.0
    exact = stats.fisher_exact([[12, 18], [18, 252]])[1]
    assert exact <= shuffled_tails(weights, values)[0] <= 3 * exact


def test_no_order_is_less_likely_than_one_of_all():
    weights, values = np.zeros(40), np.zeros((40, 1))
    weights[:2], values[:2] = 1.0, 5.0
    # Two rows of forty fall into two places.
    assert shuffled_tails(weights, values)[0] >= 2 / (40 * 39)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=30),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_tails_are_probabilities_and_do_not_depend_on_units(weights, seed, unit):
    values = np.random.default_rng(seed).standard_cauchy((len(weights), 2))
    p = shuffled_tails(np.array(weights, dtype=float), values)
    assert np.all((p >= 0) & (p <= 1))
    assert shuffled_tails(unit * np.array(weights), -values) == pytest.approx(p, rel=1e-3)


def test_single_rows_far_out_count_in_the_tail():
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(1000)
    weights[:3] = 30.0
    values = rng.standard_normal(1000) * rng.standard_normal(1000)
    values[:2] = 4.0
    expected = by_orders(weights, values, rng)
    assert shuffled_tails(weights, values[:, np.newaxis])[0] > expected / 3
