import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from squamish.errors import InputError
from squamish.statistics.multiplicity import combined_p_values, holm
from squamish.statistics.paired import paired_test
from squamish.statistics.prediction import prediction_interval
from squamish.statistics.scaling import standardise
from squamish.statistics.scores import normal_scores, skew_of_two
from squamish.statistics.tails import (
    exponential_tail_p_values,
    exponential_tail_quantile,
    with_skewed_tails,
)


def test_normal_scores_of_a_constant_are_0():
    scores = normal_scores(np.column_stack([np.ones(4), np.arange(4.0)]))
    assert scores[:, 0].tolist() == [0.0] * 4
    assert scores[:, 1].std() == pytest.approx(1)


@given(st.integers(0, 2**32), st.integers(2, 60), st.integers(1, 9))
def test_normal_scores_share_the_ranks_of_equal_values(seed, n, n_values):
    X = np.random.default_rng(seed).integers(0, n_values, (n, 3)).astype(float)
    scores = normal_scores(X)
    for x, found in zip(X.T, scores.T, strict=True):
        expected = stats.norm.ppf((stats.rankdata(x) - 0.5) / n)
        expected = (expected - expected.mean()) / (expected.std() or 1)
        assert found == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 2**32), st.integers(2, 60), st.floats(0, 0.9))
def test_scaled_columns_are_centred_whatever_is_missing(seed, n, missing):
    rng = np.random.default_rng(seed)
    X = np.exp(3 * rng.standard_normal((n, 4)))
    X[1:][rng.random((n - 1, 4)) < missing] = np.nan
    scaled = standardise(X)
    assert np.array_equal(np.isnan(scaled), np.isnan(X))
    varies = np.nanmin(X, axis=0) < np.nanmax(X, axis=0)
    assert np.nanmax(scaled, axis=0)[varies] == pytest.approx(1)
    assert np.nanmin(scaled, axis=0)[varies] == pytest.approx(-1)


def test_interval_worked_out_by_hand():
    # Mean 2, standard deviation 1; the t table gives 4.303 for 2 degrees of freedom at 0.025.
    interval = prediction_interval([1, 2, 3], p=0.025)
    margin = 4.303 * 1 * (4 / 3) ** 0.5
    assert interval.lower == pytest.approx(2 - margin, abs=1e-3)
    assert interval.upper == pytest.approx(2 + margin, abs=1e-3)


def test_interval_against_the_density_of_student():
    # The tail beyond the bound, integrated from the density and not taken from a quantile.
    draws = np.array([0.3, 1.9, -0.4, 2.2, 0.8])
    upper = prediction_interval(draws, p=0.01).upper
    statistic = (upper - draws.mean()) / (draws.std(ddof=1) * np.sqrt(1 + 1 / 5))
    tail, _ = integrate.quad(lambda t: (3 / 8) * (1 + t**2 / 4) ** -2.5, statistic, np.inf)
    assert tail == pytest.approx(0.01, rel=1e-6)


def test_interval_of_the_paper_agrees_with_scipy():
    draws = np.random.default_rng(0).normal(5, 2, 50)
    interval = prediction_interval(draws, p=1e-6)
    scale = draws.std(ddof=1) * np.sqrt(1 + 1 / 50)
    expected = stats.t.interval(1 - 2e-6, 49, loc=draws.mean(), scale=scale)
    assert (interval.lower, interval.upper) == pytest.approx(expected)


def test_a_further_draw_leaves_the_interval_as_often_as_promised():
    draws = np.random.default_rng(1).standard_normal((5_000, 9))
    intervals = [prediction_interval(row[:8], p=0.05) for row in draws]
    above = np.mean([row[8] > i.upper for row, i in zip(draws, intervals, strict=True)])
    assert above == pytest.approx(0.05, abs=0.01)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30),
    st.floats(0.5, 100),
    st.floats(-100, 100),
)
def test_interval_moves_and_stretches_with_the_samples(draws, scale, shift):
    plain = prediction_interval(draws, p=0.01)
    moved = prediction_interval(np.array(draws) * scale + shift, p=0.01)
    assert moved.upper == pytest.approx(plain.upper * scale + shift, rel=1e-6, abs=1e-3)
    assert moved.lower == pytest.approx(plain.lower * scale + shift, rel=1e-6, abs=1e-3)


def test_equal_samples_give_a_point():
    interval = prediction_interval([2.0, 2.0, 2.0], p=1e-6)
    assert (interval.lower, interval.upper) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("draws", "p", "message"),
    [
        ([1.0], 0.1, "2 or more samples, not 1"),
        ([1.0, 2.0], 0.7, "p is 0.7; it must be a number above 0 and below 0.5"),
    ],
)
def test_impossible_intervals_are_refused(draws, p, message):
    with pytest.raises(InputError, match=message):
        prediction_interval(draws, p)


def test_holm_worked_out_by_hand():
    # Ordered p-values times 4, 3, 2, 1; none is smaller than the one before it, or above 1.
    assert holm([0.03, 0.005, 0.2, 0.02]) == pytest.approx([0.06, 0.02, 0.2, 0.06])
    assert holm([0.01, 0.005, 0.7, 0.9]) == pytest.approx([0.03, 0.02, 1.0, 1.0])
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.001, 0.2))
def test_holm_rejects_what_bonferroni_rejects_and_no_more_than_no_correction(p, alpha):
    rejected = holm(p) <= alpha
    assert np.all(rejected[np.array(p) * len(p) <= alpha])
    assert np.all(np.array(p)[rejected] <= alpha)


def test_paired_test_agrees_with_scipy():
    differences = np.random.default_rng(0).normal(0.2, 1, (40, 3))
    expected = stats.ttest_1samp(differences, 0, alternative="greater").pvalue
    assert paired_test(differences).p_values == pytest.approx(expected)


def test_no_difference_at_all_is_no_evidence():
    assert paired_test(np.zeros((20, 1))).p_values.tolist() == [0.5]


def test_combination_holds_its_level_for_dependent_tests():
    rng = np.random.default_rng(0)
    common = rng.standard_normal(200_000)
    own = rng.standard_normal((3, 200_000))
    p = 2 * stats.norm.sf(np.abs(0.7 * common + np.sqrt(1 - 0.49) * own))
    combined = combined_p_values(p)
    for level in (0.01, 0.001):
        assert np.mean(combined < level) < 1.3 * level


def test_combination_costs_a_single_proof_no_more_than_the_number_of_tests():
    p = np.array([[1e-12], [1.0], [0.8]])
    assert combined_p_values(p)[0] == pytest.approx(3e-12, rel=1e-3)


def test_proofs_that_agree_count_for_more_than_the_best_of_them():
    alone = combined_p_values(np.array([[1e-3], [0.5]]))
    agreed = combined_p_values(np.array([[1e-3], [1e-3]]))
    assert agreed[0] < 0.6 * alone[0]


def test_tail_beyond_the_null_sample_is_cautious_for_a_normal_null():
    rng = np.random.default_rng(0)
    null = rng.standard_normal(400)
    values = np.array([3.5, 4.0, 5.0])
    p = exponential_tail_p_values(values, null)
    assert np.all(p > stats.norm.sf(values))
    assert np.all(np.diff(p) < 0)


@pytest.mark.parametrize("n", [4, 12, 40, 400])
def test_tail_of_few_values_is_no_more_certain_than_it_can_be(n):
    # A further value of the null is below 0.001 about once in a thousand times.
    rng = np.random.default_rng(0)
    p = [
        float(exponential_tail_p_values(sample[:1], sample[1:])[0])
        for sample in rng.exponential(size=(20_000, n + 1))
    ]
    for level in (0.05, 0.001):
        assert np.mean(np.array(p) <= level) <= level + 4 * np.sqrt(level / len(p))


def test_one_large_cluster_is_one_observation():
    rng = np.random.default_rng(0)
    differences = np.append(np.full(950, 0.1), rng.normal(0, 0.1, 50))[:, np.newaxis]
    clusters = np.append(np.zeros(950, dtype=int), np.arange(1, 51))
    assert paired_test(differences, clusters=clusters).p_values[0] > 0.05


def test_a_single_cluster_is_no_evidence():
    rng = np.random.default_rng(0)
    found = paired_test(rng.normal(1, 1, (100, 3)), clusters=np.zeros(100, dtype=int))
    assert found.p_values.tolist() == [0.5, 0.5, 0.5]


def test_values_that_are_all_the_same_say_nothing_of_a_tail():
    p = exponential_tail_p_values(np.array([0.0, 0.3]), np.zeros(4))
    assert p.tolist() == [1.0, 0.2]
    assert np.isnan(exponential_tail_quantile(np.zeros(4), 0.001))


@pytest.mark.parametrize(("rare", "n_rows"), [(30, 1000), (8, 200), (200, 1000)])
def test_skewed_tails_are_those_of_rows_that_differ_in_both(rare, n_rows):
    # How many of the rare rows of one are among those of the other, over all orders.
    found = stats.hypergeom(n_rows, rare, rare)
    counts = np.arange(1, rare + 1)
    z = (counts - found.mean()) / found.std()
    share = np.array([rare / n_rows])
    skew = skew_of_two(share) ** 2 / np.sqrt(n_rows)
    p, exact = with_skewed_tails(2 * stats.norm.sf(np.abs(z)), skew), found.sf(counts - 1)
    tail = (exact < 0.01) & (exact > 1e-12)
    assert np.all(p[tail] > exact[tail])
    # What takes the sum for normal is off by orders of magnitude.
    assert np.any(2 * stats.norm.sf(z[tail]) < 0.1 * exact[tail])
