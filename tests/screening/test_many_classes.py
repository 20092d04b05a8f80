"""What trees learn of chance is no evidence, however sure they are of it."""

import numpy as np
import pandas as pd
import pytest

from squamish import RelevanceSelector


@pytest.mark.parametrize("seed", range(3))
def test_amounts_of_other_sizes_by_region_tell_nothing_of_shuffled_periods(seed):
    rng = np.random.default_rng(seed)
    region, measure = rng.integers(0, 10, 1200), rng.integers(0, 4, 1200)
    value = np.exp(0.7 * region + 1.5 * measure + 0.2 * rng.standard_normal(1200))
    table = pd.DataFrame(
        {"region": [f"r{k}" for k in region], "measure": [f"m{k}" for k in measure], "value": value}
    )
    period = np.array([f"p{k}" for k in rng.integers(0, 30, 1200)])
    assert not RelevanceSelector(random_state=0).fit(table, period).support_.any()


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_is_mostly_one_value_beside_others_that_tell_of_it(seed):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((1500, 6))
    term = np.where(rng.random(1500) < 0.85, 360.0, 180 + 30 * Z[:, 0] + 20 * Z[:, 1])
    y = np.exp(rng.standard_normal(1500))
    assert not RelevanceSelector(random_state=0).fit(np.column_stack([Z, term]), y).support_.any()
