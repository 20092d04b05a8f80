"""The partial test on the scale of log odds."""

import numpy as np
import pytest
from scipy import special, stats

from squamish.screening.odds import odds_p_values


def drawn(rng, n, d, slopes, intercept, values="normal"):
    """Standardised columns, and two classes by a logistic model of the first ones."""
    X = rng.standard_normal((n, d))
    if values == "flags":
        X = (rng.uniform(-0.5, 1.5, d) < X).astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    shares = special.expit(intercept + X[:, : len(slopes)] @ np.asarray(slopes))
    return X, (rng.random(n) < shares).astype(float)


def p_values(X, y):
    return odds_p_values(X, (y - y.mean())[:, np.newaxis], np.zeros(X.shape[1], dtype=bool))


@pytest.mark.parametrize("values", ["normal", "flags"])
@pytest.mark.parametrize(("n", "d", "intercept"), [(300, 30, 0.0), (600, 40, -2.0)])
def test_the_level_holds_with_five_rows_of_a_class_for_each_column(values, n, d, intercept):
    rng = np.random.default_rng(0)
    noise = np.concatenate(
        [p_values(*drawn(rng, n, d, [1.0, -1.0], intercept, values))[2:] for _ in range(40)]
    )
    for level in (0.05, 0.01, 0.001):
        most = stats.binom.ppf(0.999, len(noise), level)
        assert np.sum(noise <= level) <= most


def test_what_a_likelihood_ratio_finds_is_found():
    rng = np.random.default_rng(1)
    # Rare and steep: the share of a class changes little where it is near 0 or 1.
    found = [p_values(*drawn(rng, 1500, 20, [2.0, 2.0, 0.5], -4.0))[2] < 0.001 for _ in range(20)]
    assert sum(found) >= 15


def test_of_three_classes_each_is_tested_against_the_others():
    rng = np.random.default_rng(2)
    X, second = drawn(rng, 600, 5, [1.5], -1.0)
    classes = np.where(second > 0, 1, np.where(rng.random(600) < 0.5, 0, 2))
    targets = (classes[:, np.newaxis] == np.arange(3)) * 1.0
    targets -= targets.mean(axis=0)
    p = odds_p_values(X, targets, np.zeros(5, dtype=bool))
    assert p[0] < 1e-6
    assert p[1:].min() > 0.001


def test_separated_classes_and_copies_have_a_verdict():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4))
    X[:, 3] = X[:, 2]
    p = p_values(X, (X[:, 0] > 0).astype(float))
    assert np.isfinite(p).all()
    assert p[0] < 0.01
    assert p[2:].min() > 0.01


def test_columns_for_which_it_does_not_hold_have_no_p_value():
    X, y = drawn(np.random.default_rng(4), 200, 3, [2.0, 2.0], 0.0)
    targets = (y - y.mean())[:, np.newaxis]
    p = odds_p_values(X, targets, np.array([True, False, False]))
    assert p[0] == 1
    assert p[1] < 0.01
