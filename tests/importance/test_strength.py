"""Strong or weak: what draws say, and when refits overrule them."""

import numpy as np
import pytest
from scipy import stats

from squamish.importance.refit import Refits
from squamish.importance.strength import Limits, Strength, overruled
from squamish.statistics.multiplicity import Level
from squamish.statistics.paired import PairedTest


def seemingly_strong(n):
    """Features that cost much when they are drawn anew."""
    ones = np.ones(n)
    yes = np.ones(n, dtype=bool)
    return Strength(yes, ~yes, 0.9 * ones, 0.8 * ones, ones, 1e-8 * ones, 0.9 * ones, 5)


def refits_with(p):
    """Refits of three features that cost so much that their p-values are these."""
    t = stats.t.isf(np.full(3, p), 200)
    return Refits(PairedTest(t, np.ones(3), 200), np.full(3, 0.9), n_fits=10)


@pytest.mark.parametrize(("p", "strong"), [(0.006, False), (0.003, True)])
def test_refits_are_corrected_for_the_number_of_columns(p, strong):
    limits = Limits(Level(0.01), least=0.01)
    found = overruled(seemingly_strong(3), np.arange(3), refits_with(p), np.full(3, 1e-9), limits)
    assert found.strong.tolist() == [strong] * 3
    assert found.p_values == pytest.approx(np.full(3, 3 * p))
    assert found.n_fits == 15


def test_a_refit_that_costs_next_to_nothing_overrules_a_draw():
    refits = Refits(PairedTest(np.array([0.01]), np.array([1e-3]), 200), np.array([0.2]), 1)
    limits = Limits(Level(0.01), least=0.001)
    found = overruled(seemingly_strong(1), np.arange(1), refits, np.array([1e-9]), limits)
    assert not found.strong[0]
    assert found.loss[0] == 0.01
