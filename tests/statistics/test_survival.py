"""Concordance, survival curves and log-rank sums, against their definitions."""

import numpy as np
import pytest
from scipy import stats

from squamish.statistics.logrank import RiskSets
from squamish.statistics.survival import concordance, kaplan_meier, thirds


def pairs_one_by_one(y, risk):
    times, is_event = np.abs(y), y > 0
    right, known = np.zeros(len(y)), np.zeros(len(y))
    total = n_pairs = 0.0
    for i in np.flatnonzero(is_event):
        for j in range(len(y)):
            if times[i] < times[j] or (times[i] == times[j] and not is_event[j]):
                is_right = float(risk[i] > risk[j]) + 0.5 * float(risk[i] == risk[j])
                total, n_pairs = total + is_right, n_pairs + 1
                right[[i, j]] += is_right
                known[[i, j]] += 1
    value = total / n_pairs
    return value, np.sqrt(np.square(right - value * known).sum()) / n_pairs


@pytest.mark.parametrize("seed", range(5))
def test_concordance_is_the_share_of_pairs_in_order(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(1, 8, 30) * rng.choice([-1.0, 1.0], 30)
    risk = rng.integers(0, 6, 30).astype(float)
    assert concordance(y, risk) == pytest.approx(pairs_one_by_one(y, risk))


def test_its_standard_error_covers_the_truth():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(200):
        y = rng.exponential(size=80) * rng.choice([-1.0, 1.0], 80)
        found = concordance(y, rng.standard_normal(80))
        inside += abs(found.value - 0.5) < 2 * found.error
    assert 180 <= inside <= 199


def test_without_pairs_there_is_no_concordance():
    assert np.isnan(concordance(np.array([-1.0, -2.0]), np.zeros(2)).value)


def test_survival_is_that_of_the_empirical_distribution_without_losses():
    times = np.random.default_rng(0).exponential(size=50)
    curve = kaplan_meier(times)
    assert np.allclose(curve.surviving, 1 - np.arange(1, 51) / 50)
    assert np.array_equal(curve.times, np.sort(times))


def test_survival_with_losses_is_scipys():
    rng = np.random.default_rng(0)
    y = rng.integers(1, 12, 60) * rng.choice([-1.0, 1.0], 60)
    data = stats.CensoredData(uncensored=y[y > 0], right=-y[y < 0])
    theirs = stats.ecdf(data).sf
    curve = kaplan_meier(y)
    assert np.allclose(curve.surviving, theirs.evaluate(curve.times))


def test_equal_risks_stay_in_one_third():
    assert [len(rows) for rows in thirds(np.zeros(7))] == [7]
    assert [len(rows) for rows in thirds(np.arange(9.0))] == [3, 3, 3]


@pytest.mark.parametrize("seed", range(3))
def test_log_rank_sums_of_two_groups_are_scipys(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(1, 15, 80) * rng.choice([-1.0, 1.0], 80)
    group = (rng.random(80) < 0.4).astype(float)
    at_risk = RiskSets.of(y)
    x, rest = (
        stats.CensoredData(uncensored=v[v > 0], right=-v[v < 0])
        for v in (y[group == 1], y[group == 0])
    )
    theirs = stats.logrank(x, rest)
    risk = np.array(
        [
            sum(
                np.sum((y > 0) & (np.abs(y) == t)) / np.sum(np.abs(y) >= t)
                for t in np.unique(y[y > 0])
                if t <= abs(own)
            )
            for own in y
        ]
    )
    moment = ((y > 0) - risk) @ group
    variance = at_risk.variances(group[:, np.newaxis])[0]
    assert abs(moment) / np.sqrt(variance) == pytest.approx(abs(theirs.statistic), rel=1e-6)
    assert at_risk.covariance(group[:, np.newaxis])[0, 0] == pytest.approx(variance)
