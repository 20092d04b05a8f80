"""New values of a column given all others."""

import numpy as np
import pytest

from squamish.importance.conditional_sampling import Support, draw


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_a_draw_keeps_the_prediction_and_draws_the_rest():
    guess = np.arange(1000.0)[:, np.newaxis]
    pool = np.array([[1.0], [-1.0], [-1.0]])
    drawn = draw(guess, pool, 4, np.random.default_rng(0))
    assert drawn.shape == (4, 1000, 1)
    assert set((drawn - guess).ravel()) == {-1.0, 1.0}
    assert (drawn - guess).mean() == pytest.approx(-1 / 3, abs=0.1)


def test_drawn_levels_have_their_probabilities():
    rng = np.random.default_rng(0)
    support = Support(
        low=np.zeros(4), high=np.ones(4), gap=np.full(4, -1), exclusive=np.array([3, 3, 3, -1])
    )
    guess = np.tile([0.2, 0.5, 0.3, 0.9], (4000, 1))
    drawn = draw(guess, np.zeros((10, 4)), 2, rng, support)
    assert drawn.mean(axis=(0, 1)) == pytest.approx([0.2, 0.5, 0.3, 0.9], abs=0.03)
    assert np.array_equal(drawn[:, :, :3].sum(axis=2), np.ones((2, 4000)))
    one = Support(np.zeros(1), np.ones(1), np.array([-1]), np.array([3]))
    drawn = draw(guess[:, :1], np.zeros((10, 1)), 2, rng, one)
    assert drawn.mean() == pytest.approx(0.2, abs=0.03)


def test_what_is_drawn_as_missing_has_no_value():
    support = Support(
        low=np.array([np.nan, 0.0]),
        high=np.array([np.nan, 1.0]),
        gap=np.array([1, -1]),
        exclusive=np.full(2, -1),
    )
    guess = np.column_stack([np.full(500, 7.0), np.full(500, 0.4)])
    drawn = draw(guess, np.ones((5, 2)), 1, np.random.default_rng(0), support)[0]
    assert set(drawn[drawn[:, 1] == 1, 0]) == {0.0}
    assert set(drawn[drawn[:, 1] == 0, 0]) == {8.0}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.7, 0.9])
def test_gaps_are_drawn_as_gaps_however_many_there_are(share):
    rng = np.random.default_rng(0)
    for _ in range(20):
        gaps = standardised(np.asarray(rng.random(997) < share, dtype=float))
        low, high = gaps.min(), gaps.max()
        support = Support(
            np.array([np.nan, low]), np.array([np.nan, high]), np.array([1, -1]), np.full(2, -1)
        )
        guess = np.column_stack([np.ones(50), np.full(50, (low + high) / 2)])
        drawn = draw(guess, np.zeros((5, 2)), 2, rng, support)
        missing = drawn[..., 1] > 0
        assert missing.any()
        assert np.array_equal(drawn[..., 0] == 0, missing)
