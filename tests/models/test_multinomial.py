"""Multinomial logistic regression for a path of penalties."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from squamish.models.multinomial import multinomial_path


def table(n=400, d=6, n_states=3, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d))
    Z[:, 1] = 0.9 * Z[:, 0] + 0.3 * Z[:, 1]
    scores = Z @ rng.standard_normal((d, n_states)) + rng.gumbel(size=(n, n_states))
    return Z, scores.argmax(axis=1)


@pytest.mark.parametrize("n_states", [2, 3, 5])
def test_the_path_is_that_of_scikit_learn(n_states):
    Z, states = table(n_states=n_states)
    strengths = (0.1, 10.0)
    for strength, found in zip(
        strengths, multinomial_path(Z, states, n_states, strengths), strict=True
    ):
        # Of two states scikit-learn has one predictor, the difference of two with half the penalty.
        C = 2 * strength if n_states == 2 else strength
        expected = LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(Z, states).predict_proba(Z)
        assert found.predict(Z) == pytest.approx(expected, abs=0.01)


def test_states_that_are_determined_have_probabilities_of_next_to_one():
    Z, states = table()
    indicators = np.eye(3)[states]
    *_, last = multinomial_path(np.hstack([Z, indicators]), states, 3, (1.0, 1000.0))
    own = last.predict(np.hstack([Z, indicators]))[np.arange(len(Z)), states]
    assert own.min() > 0.99


def test_a_state_that_is_not_among_the_rows_is_possible():
    Z, states = table()
    (found,) = multinomial_path(Z, states, 4, (1.0,))
    probabilities = found.predict(Z)
    assert probabilities.shape == (400, 4)
    assert np.all((probabilities[:, 3] > 0) & (probabilities[:, 3] < 0.05))


def test_columns_that_are_copies_do_no_harm():
    Z, states = table()
    (alone,) = multinomial_path(Z, states, 3, (1000.0,))
    (twice,) = multinomial_path(np.hstack([Z, Z]), states, 3, (1000.0,))
    assert twice.predict(np.hstack([Z, Z])) == pytest.approx(alone.predict(Z), abs=0.02)


@pytest.mark.parametrize("n", [200, 20_000])
def test_a_solution_is_off_by_a_small_share_of_its_standard_errors(n):
    Z, states = table(n=n)
    (rough,) = multinomial_path(Z, states, 3, (100.0,))
    (close,) = multinomial_path(Z, states, 3, (100.0,), tolerance=1e-4)
    difference = rough.coefficients - close.coefficients
    difference -= difference.mean(axis=1, keepdims=True)
    # Of six columns, two of which have a correlation of 0.95, and three states.
    assert np.abs(difference).max() < 0.5 / np.sqrt(n)
