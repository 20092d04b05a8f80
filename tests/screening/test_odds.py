"""The partial test on the scale of log odds."""

import numpy as np
import pytest
from scipy import special, stats

from squamish.families.logistic import fit_logistic
from squamish.screening.odds import odds_tests
from squamish.screening.partial import Design, partial_tests


def drawn(rng, n, d, slopes, intercept, values="normal"):
    """Standardised columns, and two classes by a logistic model of the first ones."""
    X = rng.standard_normal((n, d))
    if values == "flags":
        X = (rng.uniform(-0.5, 1.5, d) < X).astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    shares = special.expit(intercept + X[:, : len(slopes)] @ np.asarray(slopes))
    return X, (rng.random(n) < shares).astype(float)


def design_of(X, abstains=False):
    d = X.shape[1]
    return Design(X, np.arange(d), np.broadcast_to(abstains, d))


def p_values(X, y):
    return odds_tests(design_of(X), (y - y.mean())[:, np.newaxis]).single


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
    p = odds_tests(design_of(X), targets).single
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
    p = odds_tests(design_of(X, np.array([True, False, False])), targets).single
    assert p[0] == 1
    assert p[1] < 0.01


def with_a_category(rng, n, shares, effects, class_share):
    """Two numbers and the levels of a category, and two classes by a logistic model of them."""
    level = rng.choice(len(shares), n, p=shares)
    X = rng.standard_normal((n, 2))
    X[:, 1] += level > 0
    levels = (level[:, np.newaxis] == np.arange(len(shares))) * 1.0
    Z = np.column_stack([X, levels])
    intercept = special.logit(class_share)
    y = rng.random(n) < special.expit(intercept + 0.5 * X[:, 1] + np.asarray(effects)[level])
    Z = (Z - Z.mean(axis=0)) / np.maximum(Z.std(axis=0), 1e-9)
    targets = (y - y.mean())[:, np.newaxis]
    feature = np.minimum(np.arange(Z.shape[1]), 2)
    return Design.of(Z, targets, feature), targets


@pytest.mark.parametrize("tests", [partial_tests, odds_tests])
@pytest.mark.parametrize(
    ("shares", "class_share"), [([0.4, 0.3, 0.2, 0.1], 0.3), ([0.86, 0.05, 0.05, 0.04], 0.1)]
)
def test_levels_of_a_category_hold_their_level_one_by_one_and_jointly(tests, shares, class_share):
    rng = np.random.default_rng(5)
    drawings = [with_a_category(rng, 400, shares, np.zeros(4), class_share) for _ in range(400)]
    found = [tests(*drawing) for drawing in drawings]
    single = np.concatenate([p.single[2:] for p in found])
    jointly = np.array([p.jointly[2:].min() for p in found])
    for level in (0.05, 0.01, 0.001):
        assert np.sum(jointly <= level) <= stats.binom.ppf(0.999, len(jointly), level)
        assert np.sum(single <= level) <= stats.binom.ppf(0.999, len(single), level)


def test_a_category_is_found_as_by_a_likelihood_ratio():
    rng = np.random.default_rng(6)
    effects = [0.0, 0.6, 0.9, 1.5]
    p = []
    for _ in range(20):
        design, targets = with_a_category(rng, 500, [0.4, 0.4, 0.14, 0.06], effects, 0.2)
        ratio = _log_likelihood(design.Z, targets) - _log_likelihood(design.Z[:, :2], targets)
        p.append([odds_tests(design, targets).jointly[2], stats.chi2.sf(2 * ratio, 3)])
    ours, theirs = np.log(p).T
    assert np.median(ours - theirs) < np.log(3)


def _log_likelihood(Z, targets):
    is_class = targets[:, 0] > 0
    intercept, coefficients = fit_logistic(Z, is_class, 1e4, None)
    return -np.logaddexp(0, np.where(is_class, -1, 1) * (intercept[0] + Z @ coefficients[0])).sum()
