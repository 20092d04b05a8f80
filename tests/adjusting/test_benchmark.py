"""The benchmark of adjusting."""

import numpy as np
import pytest

import adjusting


def test_the_test_in_the_true_model_finds_large_effects_and_nothing_else():
    problem = adjusting.make_confounded(400, effect=0.8, random_state=0)
    assert adjusting.found_by_model(problem, "curve") == 1.0
    nothing = adjusting.make_confounded(400, effect=0.0, random_state=0)
    assert adjusting.found_by_model(nothing, "curve") == 0.0


def test_a_table_is_judged_and_counted():
    row = adjusting.judge("line", "regression", 200, adjusting.N_UNADJUSTED)
    assert row["false"] == 0
    assert np.isnan(row["unadjusted"])
    lines = adjusting.page([row, row | {"seed": 1.0, "false": 1}], "make adjusting").splitlines()
    assert lines[-2].startswith("| line, regression | 200 | 2 | 1 | 0.500 |")
    assert lines[-1].startswith("| all |  | 2 | 1 |")


@pytest.mark.parametrize("test", [adjusting.least_squares, adjusting.logistic])
def test_p_values_of_columns_that_tell_nothing_are_uniform(test):
    rng = np.random.default_rng(0)
    found = [test(rng.standard_normal((200, 4)), rng.integers(0, 2, 200)) for _ in range(100)]
    assert 0.02 < np.mean(np.concatenate(found) < 0.05) < 0.08
