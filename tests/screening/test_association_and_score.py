"""Association with relevant columns, and tests of rows that belong together."""

import numpy as np
import pytest

from squamish.screening.association import associated
from squamish.screening.score import score_p_values


def test_what_is_close_to_a_relevant_column_is_proven_and_faint_correlations_are_not():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((5000, 4))
    Z[:, 1] += 0.8 * Z[:, 0]
    Z[:, 2] += 0.1 * Z[:, 0]
    Z[:, 1] *= -1
    found = associated((Z - Z.mean(axis=0)) / Z.std(axis=0), np.array([0, 3]))
    assert found.p_values[1] < 1e-6
    assert found.partner[1] == 0
    assert found.correlation[1] == pytest.approx(0.62, abs=0.03)
    assert found.p_values[[0, 2, 3]].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("n_clusters", [2, 8, 20])
def test_tests_of_few_groups_of_rows_hold_their_level(n_clusters):
    rng, found = np.random.default_rng(0), []
    clusters = np.repeat(np.arange(n_clusters), 10)
    halves = np.arange(n_clusters) % 2
    for _ in range(300):
        X = np.column_stack([rng.permutation(halves)[clusters] for _ in range(5)]).astype(float)
        y = rng.permutation(halves)[clusters][:, np.newaxis]
        found.append(score_p_values(X, y, None, clusters))
    assert np.mean(np.array(found) < 0.01) < 0.015
    # Means of so few groups say nothing of what goes with what.
    if n_clusters == 2:
        means = rng.standard_normal((2, 3))
        assert associated(means, np.array([0])).p_values.tolist() == [1, 1, 1]
