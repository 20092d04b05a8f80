"""The shadow test."""

import numpy as np
import pytest

from squamish.families import family_of
from squamish.screening.shadow import ShadowGains, shadow_set


def family_of_target(y):
    return family_of("regression" if y.dtype.kind == "f" else "classification")


@pytest.mark.parametrize("task", ["two", "four", "amount"])
def test_shadow_test_finds_copies_that_share_their_gain(task):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(300)
    X = np.column_stack([x, x + 1, -x, 2 * x, rng.standard_normal((300, 8))])
    y = {"two": (x > 0).astype(int), "four": np.digitize(x, [-0.7, 0, 0.7]), "amount": x}[task]
    groups = np.r_[np.zeros(4, int), np.arange(1, 9)]
    sets = [shadow_set(X, y, family_of_target(y), groups, rng, n_rounds=2) for _ in range(4)]
    gains = ShadowGains.of(sets, groups)
    assert np.all(gains.p_values[:4] < 1e-3)
    assert np.all(gains.p_values[4:] > 1e-3)
    assert np.all(gains.real.mean(axis=(0, 1))[1:] < gains.threshold(1e-3))
