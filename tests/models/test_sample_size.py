"""How many rows models have to see."""

import numpy as np
import pytest

from squamish import RelevanceSelector
from squamish.families import family_of
from squamish.models.sample_size import rows_needed


def test_more_rows_are_needed_for_smaller_effects_and_gains():
    def needed(gain, effect):
        return rows_needed(0.5, gain, family_of("classification"), 20, 0.01, effect, 0.95)

    assert needed(0.1, 0.01) == pytest.approx(2 * needed(0.2, 0.01))
    assert needed(0.1, 0.01) == pytest.approx(2 * needed(0.1, 0.02))
    assert needed(-0.1, 0.01) == np.inf


def test_the_power_that_is_promised_is_kept():
    """A removal that costs the detectable share is found in most tables."""
    found = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((2000, 4))
        y = (2 * X[:, 0] + 0.45 * X[:, 1] + rng.logistic(size=2000) > 0).astype(int)
        evidence = RelevanceSelector(random_state=seed).fit(X, y).result_.evidence
        found += evidence.p_removal[1] <= 0.01
        # The removal of the second column costs more than that.
        assert evidence.effect[1] > 0.5 * evidence.detectable
    assert found >= 7
