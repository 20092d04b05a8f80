"""Marginal, partial, product and residual tests hold their level and find what they are for."""

import numpy as np
import pytest
from scipy import stats

from squamish.families import family_of
from squamish.screening import product
from squamish.screening import residual as residual_test
from squamish.screening.marginal import marginal_p_values
from squamish.screening.partial import Design, partial_tests
from squamish.statistics import pairs
from squamish.statistics.scores import atom_shares, normal_scores


def family_of_target(y):
    return family_of("regression" if y.dtype.kind == "f" else "classification")


def marginal(X, y):
    return marginal_p_values(X, y, family_of_target(y))


def targets(rng, n):
    return {
        "two": rng.integers(0, 2, n),
        "four": rng.integers(0, 4, n),
        "amount": rng.standard_t(2, n),
    }


def product_p_values(Z, scores):
    """The test of all products, in one call."""
    d, n_targets = Z.shape[1], scores.shape[1]
    least, cut = product.least_ratio(d, n_targets), pairs.blocks(d)
    found = []
    for t, r in enumerate(scores.T):
        ordered = product.ordered_variances(Z, r)
        blocks = [product.largest_ratios(Z, r, pairs.sides(ordered, b), b, least) for b in cut]
        numbered = [np.pad(b, ((0, 0), (0, 0), (0, 1)), constant_values=t) for b in blocks]
        found.append(product.merged(d, cut, numbered))
    return product.product_p_values(Z, scores, np.concatenate(found, axis=1), atom_shares(Z))


def residual_p_values(Z, residuals, model):
    """All tests of what a model leaves unexplained, in one call."""
    basis = residual_test.model_basis(Z, residuals, model)
    own = residual_test.own_p_values(Z, basis, residuals)
    return residual_test.residual_p_values(own, product_p_values(Z, residuals))


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
        y = targets(rng, 120)[kind]
        scores = family_of_target(y).scores(y)
        rejected["marginal"].append(marginal(X, y))
        rejected["partial"].append(
            partial_tests(Design.of(normal_scores(X), scores), scores).single
        )
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
        Z, scores = normal_scores(X), family_of_target(y).scores(y)
        residual = scores - Z[:, :1] @ np.linalg.lstsq(Z[:, :1], scores, rcond=None)[0]
        found += np.any(product_p_values(Z, scores)[1:] < 0.01 / 11)
        found += np.any(residual_p_values(Z, residual, np.array([0]))[1:] < 0.01 / 11)
    assert found <= 6  # 120 families at 1%


def test_product_test_finds_the_partners_of_an_xor():
    X = np.random.default_rng(0).standard_normal((300, 8))
    y = (X[:, 2] * X[:, 5] > 0).astype(int)
    p = product_p_values(normal_scores(X), family_of_target(y).scores(y))
    assert np.flatnonzero(p < 1e-6).tolist() == [2, 5]


def test_partial_test_finds_a_suppressor():
    X = np.random.default_rng(0).standard_normal((200, 6))
    y = X[:, 0] + 0.1 * X[:, 5]
    X[:, 0] += X[:, 1]
    Z, scores = normal_scores(X), family_of_target(y).scores(y)
    assert marginal(X, y)[1] > 0.01
    assert partial_tests(Design.of(Z, scores), scores).single[1] < 1e-6


def test_partial_test_agrees_with_ordinary_least_squares():
    rng = np.random.default_rng(0)
    Z = normal_scores(rng.standard_normal((80, 4)))
    y = normal_scores(Z[:, :1] + rng.standard_normal((80, 1)))
    coef, rss, *_ = np.linalg.lstsq(Z, y[:, 0], rcond=None)
    error = np.sqrt(rss[0] / 75 * np.diag(np.linalg.inv(Z.T @ Z)))
    expected = 2 * stats.t.sf(np.abs(coef / error), 75)
    assert partial_tests(Design.of(Z, y), y).single == pytest.approx(expected, rel=0.3)


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
    basis = residual_test.model_basis(Z, residual, np.array([], dtype=int))
    for p in residual_test.own_p_values(Z, basis, residual):
        assert np.mean(p < 1e-3) < 2e-3


def test_linear_tests_hold_their_level_where_a_class_has_few_rows():
    rng, found = np.random.default_rng(0), []
    y = (np.arange(300) < 4).astype(int)
    scores = family_of_target(y).scores(y)
    for _ in range(300):
        Z = normal_scores((rng.random((300, 10)) < 0.12).astype(float))
        found.append(partial_tests(Design.of(Z, scores), scores).single)
        found.append(residual_test.own_p_values(Z, np.zeros((300, 0)), scores)[0])
    assert np.mean(np.array(found) < 1e-3) < 2e-3


def test_a_product_that_is_its_partner_again_proves_nothing():
    """A gap times the values that are not missing is these values again."""
    rng = np.random.default_rng(0)
    signal, gap = rng.standard_normal(500), rng.random(500) < 0.25
    Z = normal_scores(np.column_stack([np.where(gap, 0.0, signal), gap, rng.standard_normal(500)]))
    y = normal_scores(signal[:, np.newaxis] + 0.5 * rng.standard_normal((500, 1)))
    assert product_p_values(Z, y)[1:].min() > 0.01


def test_products_hold_their_level_for_skewed_columns_and_a_rare_class():
    rng = np.random.default_rng(0)
    y = (np.arange(600) < 12).astype(int)
    scores = family_of_target(y).scores(y)
    shared = rng.lognormal(0, 1, (600, 1))
    X = np.round(shared * rng.lognormal(0, 1, (600, 12)), 1)
    Z = normal_scores(np.where(np.quantile(X, 0.8) < X, X, 0.0))
    found = [product_p_values(Z, rng.permutation(scores)).min() * 12 for _ in range(60)]
    assert np.sum(np.array(found) <= 0.05) <= 8  # 60 families at 5%


def test_a_partner_that_is_the_target_itself_makes_no_product_look_like_evidence():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((int(rng.integers(60, 400)), 10))
        y = rng.standard_normal(len(X))
        X[:, 0] = np.exp(y)
        p = product_p_values(normal_scores(X), family_of_target(y).scores(y))
        found += p[1:].min() < 1e-3
    assert found <= 1
