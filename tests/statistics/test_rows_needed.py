"""How many rows would decide a close call."""

import numpy as np
import pytest
from scipy import stats

from squamish.statistics.multiplicity import Level
from squamish.statistics.rows_needed import growth_to_level, growth_to_limit, rounded_rows


@pytest.mark.parametrize("z", [1.5, 2.2, 3.0])
def test_with_so_many_rows_a_test_finds_the_effect_in_four_of_five_tables(z):
    (growth,) = growth_to_level(np.array([stats.norm.sf(z)]), 0.01)
    found = stats.norm.sf(stats.norm.isf(0.01), loc=z * np.sqrt(growth))
    assert found == pytest.approx(0.8)


@pytest.mark.parametrize("error_rate", ["fwer", "fdr"])
def test_corrected_p_values_are_those_of_single_tests_again(error_rate):
    single = np.array([1e-9, 0.002, 0.3, 0.9])
    p = Level(0.01, error_rate).adjusted(single)
    growth = growth_to_level(p, 0.01, error_rate)
    n_tests = p[1] / single[1]
    z_level, z = stats.norm.isf(0.01 / n_tests), stats.norm.isf(single[1])
    assert growth[1] == pytest.approx(((z_level + stats.norm.isf(0.2)) / z) ** 2)
    assert growth[0] < 1 < growth[1] < growth[2]


def test_where_there_is_no_effect_nothing_is_said():
    growth = growth_to_level(np.array([np.nan, 1.0, 0.6]), 0.01)
    assert np.isnan(growth[:2]).all()
    assert np.isnan(growth_to_limit(np.array([np.nan]), np.array([0.1]), 0.01)).all()


@pytest.mark.parametrize("effect", [0.008, 0.013])
def test_the_interval_of_an_effect_leaves_its_limit_out_in_four_of_five_tables(effect):
    (growth,) = growth_to_limit(np.array([effect]), np.array([0.004]), 0.01)
    error = 0.004 / np.sqrt(growth)
    assert stats.norm.sf(1.96 - abs(effect - 0.01) / error) == pytest.approx(0.8, abs=1e-3)
    assert growth_to_limit(np.array([0.01]), np.array([0.004]), 0.01) == [np.inf]


def test_rows_are_told_to_two_digits():
    assert [rounded_rows(442, g) for g in (1.1, 2.74, 90.0)] == [490, 1200, 40000]
