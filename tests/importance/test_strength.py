"""Strong or weak: what draws say, and when refits overrule them."""

import numpy as np
import pytest

from squamish.importance.refit import Refits
from squamish.importance.strength import Limits, Strength, overruled
from squamish.statistics.multiplicity import Level
from squamish.statistics.paired import PairedTest


def seemingly_strong(n):
    """Features that cost much when they are drawn anew."""
    ones = np.ones(n)
    yes = np.ones(n, dtype=bool)
    drawn = PairedTest(0.4 * ones, 0.1 * ones, 200)
    measured = (0.9 * ones, drawn, ~yes, 1e-8 * ones, 0.9 * ones)
    return Strength(yes, ~yes, *measured, least=0.01, small=~yes, n_fits=5)


def refits_with(p):
    """Refits of three features that cost much, and whose scores have these p-values."""
    costs = PairedTest(np.full(3, 0.5), np.full(3, 0.1), 200)
    return Refits(costs, np.full(3, p), np.full(3, 0.9), n_fits=10)


@pytest.mark.parametrize(("p", "strong"), [(0.006, False), (0.003, True)])
def test_refits_are_corrected_for_the_number_of_columns(p, strong):
    limits = Limits(Level(0.01), 0.01, 0.01)
    found = overruled(seemingly_strong(3), np.arange(3), refits_with(p), np.full(3, 1e-9), limits)
    assert found.strong.tolist() == [strong] * 3
    assert found.p_values == pytest.approx(np.full(3, 3 * p))
    assert found.n_fits == 15


def test_a_refit_that_costs_next_to_nothing_overrules_a_draw():
    costs = PairedTest(np.array([0.01]), np.array([1e-3]), 200)
    refits = Refits(costs, np.array([1e-9]), np.array([0.2]), 1)
    limits = Limits(Level(0.01), 0.001, 0.001)
    found = overruled(seemingly_strong(1), np.arange(1), refits, np.array([1e-9]), limits)
    assert not found.strong[0]
    assert found.loss[0] == 0.01


def test_what_is_certain_but_small_is_told_from_what_is_not_certain():
    costs = PairedTest(np.full(3, 0.005), np.full(3, 1e-4), 200)
    refits = Refits(costs, np.array([1e-9, 0.5, 1e-9]), np.full(3, 0.9), 1)
    limits = Limits(Level(0.01), 0.01, 0.01)
    found = overruled(seemingly_strong(3), np.arange(3), refits, np.full(3, 1e-9), limits)
    assert not found.strong.any()
    assert found.small.tolist() == [True, False, True]


def test_a_cost_between_both_limits_of_a_refit_is_neither_strong_nor_certain():
    costs = PairedTest(np.array([0.005]), np.array([1e-4]), 200)
    refits = Refits(costs, np.array([1e-9]), np.array([0.9]), 1)
    limits = Limits(Level(0.01), 0.001, 0.01)
    found = overruled(seemingly_strong(1), np.arange(1), refits, np.array([1e-9]), limits)
    assert not found.strong[0]
    assert not found.small[0]


def test_what_a_removal_costs_is_what_a_refit_loses_whatever_draws_say():
    costs = PairedTest(np.array([0.1, 0.7]), np.array([0.01, 0.1]), 200)
    refits = Refits(costs, np.full(2, 1e-9), np.full(2, 0.9), 1)
    limits = Limits(Level(0.01), 0.01, 0.01)
    found = overruled(seemingly_strong(2), np.arange(2), refits, np.full(2, 1e-9), limits)
    assert found.refitted.all()
    assert found.removal.mean.tolist() == [0.1, 0.7]
    assert found.removal.error.tolist() == [0.01, 0.1]
