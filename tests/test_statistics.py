import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from squamish.errors import InputError
from squamish.statistics import prediction_interval


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
