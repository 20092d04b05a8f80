"""Tables with many columns: nothing grows with the number of pairs."""

import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from squamish import RelevanceSelector
from squamish.datasets import load_problem
from squamish.screening import product
from squamish.statistics import correlation_groups, pairs
from squamish.statistics.scores import normal_scores
from squamish.statistics.tails import exponential_tail_p_values


def modules(n, sizes, noise=0.5, seed=0):
    """Columns in modules of these sizes, of which each is a noisy copy of something hidden."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, len(sizes)))
    X = np.repeat(hidden, sizes, axis=1)
    return normal_scores(X + noise * rng.standard_normal(X.shape)), np.repeat(
        np.arange(len(sizes)), sizes
    )


def groups_by_a_matrix(Z):
    """What groups are by definition, with a matrix of all pairs."""
    distance = np.clip(1 - np.abs(np.corrcoef(Z.T)), 0, None)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform((distance + distance.T) / 2, checks=False), "average")
    return fcluster(tree, 1 - correlation_groups.GROUP_CORRELATION, "distance")


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(1, 8), min_size=2, max_size=12),
    noise=st.floats(0.05, 1.2),
    block=st.integers(2, 30),
)
def test_groups_are_those_of_all_pairs_whatever_the_blocks(seed, sizes, noise, block):
    Z, _ = modules(60, sizes, noise, seed)
    cut = pairs.blocks(Z.shape[1], block)
    found = [pairs.links(Z, b, correlation_groups.GROUP_CORRELATION) for b in cut]
    groups = correlation_groups.groups_of_linked(Z, found)
    assert adjusted_rand_score(groups, groups_by_a_matrix(Z)) == pytest.approx(1)


def test_groups_of_more_linked_columns_than_fit_at_once(monkeypatch):
    Z, module = modules(200, [30] * 10, noise=0.3)
    # A chain through all modules: one part of 300 linked columns.
    monkeypatch.setattr(correlation_groups, "MOST_LINKED", 40)
    monkeypatch.setattr(correlation_groups, "components", lambda n, _: np.zeros(n, dtype=np.intp))
    assert adjusted_rand_score(correlation_groups.groups_of_linked(Z, []), module) == 1


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 25), block=st.integers(1, 9))
def test_products_in_blocks_are_those_of_all_pairs(seed, d, block):
    rng = np.random.default_rng(seed)
    Z = normal_scores(rng.standard_normal((80, d)))
    r = np.sign(Z[:, 0] * Z[:, 1]) + rng.standard_normal(80)
    r -= r.mean()
    expected = np.zeros(d)
    for column, partner in permutations(range(d), 2):
        z = Z[:, partner]
        both = np.column_stack([r, Z[:, column] * z - np.mean(Z[:, column] * z)])
        target, beyond = (both - np.outer(z, z @ both / (z @ z))).T
        variance = max(np.square(target * beyond).sum(), 80 * np.var(z * target))
        expected[column] = max(expected[column], abs(r @ beyond) / np.sqrt(variance))
    least = product.least_ratio(d, 1)
    cut, ordered = pairs.blocks(d, block), product.ordered_variances(Z, r)
    found = [product.largest_ratios(Z, r, pairs.sides(ordered, b), b, least) for b in cut]
    numbered = [np.pad(b, ((0, 0), (0, 0), (0, 1))) for b in found]
    largest = product.merged(d, cut, numbered)[:, 0, 0]
    assert largest == pytest.approx(np.where(expected >= least, expected, 0))


def test_a_wide_table_takes_a_few_times_its_own_memory():
    rng = np.random.default_rng(0)
    X, _ = modules(60, [5] * 1600)
    y = (X[:, 0] + X[:, 7] + 0.3 * rng.standard_normal(60) > 0).astype(int)
    tracemalloc.start()
    result = RelevanceSelector(random_state=0).fit(X, y).result_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert set(np.flatnonzero(result.classes)) <= set(range(10))
    # All pairs would take 130 times as much as the table.
    assert peak < 30 * X.nbytes


def test_modules_of_co_expressed_columns_are_found():
    problem = load_problem("modules 200 x 3,000", random_state=0)
    result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    assert np.mean((result.classes > 0) == (problem.classes > 0)) > 0.99


def test_shadows_that_mostly_gain_nothing_do_not_make_chance_look_rare():
    rng = np.random.default_rng(0)
    null = np.where(rng.random(20_000) < 0.02, rng.exponential(size=20_000), 0.0)
    more = np.where(rng.random(20_000) < 0.02, rng.exponential(size=20_000), 0.0)
    p = exponential_tail_p_values(more, null)
    for level in (1e-2, 1e-3, 1e-4):
        assert np.mean(p <= level) < 2.5 * level + 3e-4
