"""Each proof holds its level on columns that have nothing to do with the target."""

import math

import numpy as np
import pytest
from scipy import stats

from squamish.screening import proofs
from squamish.screening.shadow import ShadowGains, shadow_set
from squamish.statistics import pairs
from squamish.statistics.scores import atom_shares, normal_scores
from squamish.table.table import Table


def table(X, y):
    return Table(X, y, "regression" if y.dtype.kind == "f" else "classification")


def targets(rng, n):
    return {
        "two": rng.integers(0, 2, n),
        "four": rng.integers(0, 4, n),
        "amount": rng.standard_t(2, n),
    }


def product_p_values(Z, scores):
    """The test of all products, in one call."""
    d, n_targets = Z.shape[1], scores.shape[1]
    least, cut, largest = proofs.least_product(d, n_targets), pairs.blocks(d), []
    for r in scores.T:
        ordered = pairs.ordered_variances(Z, r)
        found = [pairs.largest_products(Z, r, pairs.sides(ordered, b), b, least) for b in cut]
        largest.append(pairs.merged(d, cut, found))
    return proofs.product_tails(np.max(largest, axis=0), n_targets, atom_shares(Z))


def residual_p_values(Z, residuals, model):
    """All tests of what a model leaves unexplained, in one call."""
    basis = proofs.model_basis(Z, residuals, model)
    own = proofs.own_residual_p_values(Z, basis, residuals)
    return proofs.combined_residual_p_values(own, product_p_values(Z, residuals))


@pytest.mark.parametrize("kind", ["two", "four", "amount"])
@pytest.mark.parametrize("columns", ["normal", "binary", "sparse"])
def test_marginal_and_partial_tests_hold_their_level(kind, columns):
    rng = np.random.default_rng(0)
    rejected = {"marginal": [], "partial": []}
    for _ in range(25):
        X = rng.standard_normal((120, 30))
        if columns == "binary":
            X = (X > 0.5).astype(float)
        if columns == "sparse":
            X = np.where(np.abs(X) < 1.7, 0, X)
            X[0] = 1  # no column is constant
        problem = table(X, targets(rng, 120)[kind])
        scores = proofs.target_scores(problem)
        rejected["marginal"].append(proofs.marginal_p_values(problem))
        rejected["partial"].append(proofs.partial_p_values(normal_scores(X), scores))
    for name, p in rejected.items():
        assert np.mean(np.array(p) < 0.01) < 0.02, name


@pytest.mark.parametrize("kind", ["two", "four", "amount"])
def test_product_and_residual_tests_hold_their_level_beside_a_relevant_column(kind):
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(60):
        X = rng.standard_normal((150, 12))
        X[:, 6:] = (X[:, 6:] > 1).astype(float)
        y = targets(rng, 150)[kind]
        X[:, 0] += 2 * y
        Z, scores = normal_scores(X), proofs.target_scores(table(X, y))
        residual = scores - Z[:, :1] @ np.linalg.lstsq(Z[:, :1], scores, rcond=None)[0]
        found += np.any(product_p_values(Z, scores)[1:] < 0.01 / 11)
        found += np.any(residual_p_values(Z, residual, np.array([0]))[1:] < 0.01 / 11)
    assert found <= 6  # 120 families at 1%


def test_product_test_finds_the_partners_of_an_xor():
    X = np.random.default_rng(0).standard_normal((300, 8))
    y = (X[:, 2] * X[:, 5] > 0).astype(int)
    p = product_p_values(normal_scores(X), proofs.target_scores(table(X, y)))
    assert np.flatnonzero(p < 1e-6).tolist() == [2, 5]


def test_partial_test_finds_a_suppressor():
    X = np.random.default_rng(0).standard_normal((200, 6))
    y = X[:, 0] + 0.1 * X[:, 5]
    X[:, 0] += X[:, 1]
    Z, scores = normal_scores(X), proofs.target_scores(table(X, y))
    assert proofs.marginal_p_values(table(X, y))[1] > 0.01
    assert proofs.partial_p_values(Z, scores)[1] < 1e-6


def test_partial_test_agrees_with_ordinary_least_squares():
    rng = np.random.default_rng(0)
    Z = normal_scores(rng.standard_normal((80, 4)))
    y = normal_scores(Z[:, :1] + rng.standard_normal((80, 1)))
    coef, rss, *_ = np.linalg.lstsq(Z, y[:, 0], rcond=None)
    error = np.sqrt(rss[0] / 75 * np.diag(np.linalg.inv(Z.T @ Z)))
    expected = 2 * stats.t.sf(np.abs(coef / error), 75)
    assert proofs.partial_p_values(Z, y) == pytest.approx(expected)


def test_residual_test_finds_what_the_model_leaves():
    X = np.random.default_rng(0).standard_normal((300, 6))
    Z = normal_scores(X)
    residual = (0.4 * X[:, 1] * X[:, 0] + X[:, 5])[:, np.newaxis]
    p = residual_p_values(Z, residual - residual.mean(), np.array([0]))
    assert p[1] < 1e-4
    assert np.all(p[2:5] > 1e-3)


def test_residual_test_finds_a_bowl_that_many_model_columns_would_drown():
    X = np.random.default_rng(0).uniform(size=(100, 40))
    residual = (np.square(X[:, 30] - 0.5) + 0.05 * np.sin(np.arange(100)))[:, np.newaxis]
    p = residual_p_values(normal_scores(X), residual - residual.mean(), np.arange(30))
    assert np.flatnonzero(p < 1e-6).tolist() == [30]


@pytest.mark.parametrize("tails", ["normal", "lognormal", "student"])
def test_residual_tests_hold_their_level_whatever_the_tails(tails):
    rng = np.random.default_rng(0)
    draws = {"normal": rng.standard_normal, "lognormal": rng.lognormal}
    residual = draws.get(tails, lambda size: rng.standard_t(3, size))(size=(60, 1))
    Z = normal_scores(rng.standard_normal((60, 40_000)))
    basis = proofs.model_basis(Z, residual, np.array([], dtype=int))
    for p in proofs.own_residual_p_values(Z, basis, residual):
        assert np.mean(p < 1e-3) < 2e-3


def test_a_rare_value_is_tested_exactly():
    y = np.repeat([0, 1], [90, 10])
    x = np.zeros(100)
    x[90:93] = [1.0, 2.0, 3.0]
    p = proofs.marginal_p_values(table(x[:, np.newaxis], y))
    odds = stats.hypergeom.sf(2, 100, 10, 3)
    assert p[0] == pytest.approx(2 * odds)


def test_share_of_the_most_common_value():
    X = np.array([[0, 1], [0, 2], [0, 2], [5, 3]], dtype=float)
    assert proofs.atom_shares(X).tolist() == [0.75, 0.5]


@pytest.mark.parametrize("task", ["two", "four", "amount"])
def test_shadow_test_finds_copies_that_share_their_gain(task):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(300)
    X = np.column_stack([x, x + 1, -x, 2 * x, rng.standard_normal((300, 8))])
    y = {"two": (x > 0).astype(int), "four": np.digitize(x, [-0.7, 0, 0.7]), "amount": x}[task]
    groups = np.r_[np.zeros(4, int), np.arange(1, 9)]
    sets = [shadow_set(table(X, y), groups, rng, n_rounds=2) for _ in range(4)]
    gains = ShadowGains.of(sets, groups)
    assert np.all(gains.p_values[:4] < 1e-3)
    assert np.all(gains.p_values[4:] > 1e-3)
    assert np.all(gains.real.mean(axis=(0, 1))[1:] < gains.threshold(1e-3))


def test_what_is_close_to_a_relevant_column_is_proven_and_faint_correlations_are_not():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((5000, 4))
    Z[:, 1] += 0.8 * Z[:, 0]
    Z[:, 2] += 0.1 * Z[:, 0]
    p = proofs.association_p_values((Z - Z.mean(axis=0)) / Z.std(axis=0), np.array([0]))
    assert p[1] < 1e-6
    assert p[[0, 2, 3]].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("cap", [np.minimum, np.maximum])
def test_an_amount_that_is_capped_is_tested_all_the_same(cap):
    x = np.random.default_rng(0).standard_normal((300, 2))
    y = cap(np.square(x[:, 0]), 0.05 if cap is np.minimum else 2.0)
    assert proofs.in_fifths(y).max() > 0
    assert proofs.marginal_p_values(table(x, y))[0] < 1e-6


@pytest.mark.parametrize("share", [0.36, 0.38, 0.39, 0.4])
@pytest.mark.parametrize("side", [-1, 1])
def test_few_rows_between_a_cap_and_the_next_cut_silence_nothing(share, side):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 1))
    y = side * (np.square(x[:, 0]) + 0.7 * rng.standard_normal(500))
    y = np.minimum(y, np.quantile(y, 1 - share))
    assert np.bincount(proofs.in_fifths(y)).min() >= 25
    assert proofs.marginal_p_values(table(x, y))[0] < 1e-6


@pytest.mark.parametrize(
    ("n", "n_claims", "share"), [(1000, 30, 0.01), (1000, 100, 0.01), (200, 30, 0.1), (40, 4, 0.1)]
)
def test_flags_and_amounts_that_are_mostly_zero_hold_their_level(n, n_claims, share):
    rng, found = np.random.default_rng(0), []
    for _ in range(100):
        X = (rng.random((n, 100)) < share).astype(float)
        y = np.zeros(n)
        y[:n_claims] = rng.exponential(size=n_claims)
        found.append(proofs.marginal_p_values(table(X[:, X.any(axis=0)], y)))
    assert np.mean(np.concatenate(found) < 1e-4) < 3e-4


def test_counts_of_few_values_hold_their_level_in_a_rare_class():
    rng, found = np.random.default_rng(0), []
    y = (np.arange(2000) < 40).astype(int)
    for _ in range(100):
        X = rng.binomial(2, 0.067, (2000, 100)).astype(float)
        found.append(proofs.marginal_p_values(table(X, y)))
    assert np.mean(np.concatenate(found) < 1e-4) < 3e-4


def test_a_flag_that_most_claims_have_is_found():
    rng = np.random.default_rng(0)
    flag = rng.random(1000) < 0.03
    y = np.where(flag & (rng.random(1000) < 0.7), rng.exponential(size=1000), 0.0)
    assert proofs.marginal_p_values(table(flag[:, np.newaxis].astype(float), y))[0] < 1e-6


def test_a_rare_class_does_not_hide_what_tells_the_others():
    x = np.random.default_rng(0).standard_normal((60, 2))
    y = (x[:, 0] > 0).astype(int)
    y[:4] = 2
    assert proofs.marginal_p_values(table(x, y))[0] < 1e-6


def test_linear_tests_hold_their_level_where_a_class_has_few_rows():
    rng, found = np.random.default_rng(0), []
    y = (np.arange(300) < 4).astype(int)
    scores = proofs.target_scores(table(np.zeros((300, 1)), y))
    for _ in range(300):
        Z = normal_scores((rng.random((300, 10)) < 0.12).astype(float))
        found.append(proofs.partial_p_values(Z, scores))
        found.append(proofs.own_residual_p_values(Z, np.zeros((300, 0)), scores)[0])
    assert np.mean(np.array(found) < 1e-3) < 2e-3


@pytest.mark.parametrize("n", [4, 5, 6])
def test_the_best_of_few_orders_is_no_wonder(n):
    X = np.column_stack([np.arange(n), np.arange(n)[::-1]]).astype(float)
    assert proofs.marginal_p_values(table(X, np.arange(n) + 0.5)).min() > 1 / math.factorial(n)


def test_a_flag_is_tested_exactly_in_a_class_of_some_rows():
    y = (np.arange(1000) < 50).astype(int)
    flag = np.zeros((1000, 1))
    flag[:16], flag[50:144] = 1, 1
    expected = stats.fisher_exact([[16, 34], [94, 856]], alternative="greater")[1]
    assert proofs.marginal_p_values(table(flag, y))[0] == pytest.approx(2 * expected)


@pytest.mark.parametrize("n_clusters", [2, 8, 20])
def test_tests_of_few_groups_of_rows_hold_their_level(n_clusters):
    rng, found = np.random.default_rng(0), []
    clusters = np.repeat(np.arange(n_clusters), 10)
    halves = np.arange(n_clusters) % 2
    for _ in range(300):
        X = np.column_stack([rng.permutation(halves)[clusters] for _ in range(5)]).astype(float)
        y = rng.permutation(halves)[clusters][:, np.newaxis]
        found.append(proofs.score_p_values(X, y, None, clusters))
    assert np.mean(np.array(found) < 0.01) < 0.015
    # Means of so few groups say nothing of what goes with what.
    if n_clusters == 2:
        means = rng.standard_normal((2, 3))
        assert proofs.association_p_values(means, np.array([0])).tolist() == [1, 1, 1]
