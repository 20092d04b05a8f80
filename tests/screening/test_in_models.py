"""The stage that tests what shows only beside others, through the front door."""

import numpy as np
import pytest

from squamish import CrossfitMethod, RelevanceSelector
from squamish.datasets import load_problem


def test_what_adds_little_to_much_shows_in_the_best_model():
    truth = load_problem("NL 3", shuffle=True, random_state=11)
    result = RelevanceSelector(random_state=11).fit(truth.X, truth.y).result_
    assert np.array_equal(result.classes, truth.classes)
    assert "model" in result.evidence.proof
    shown = result.evidence.proof.index("model")
    assert "best model of the relevant columns" in result.explain(result.feature_names[shown])


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_noise_beside_signals_is_no_better_than_chance_in_the_best_model(task):
    below = 0
    for seed in range(12):
        rng = np.random.default_rng([7, seed])
        X = rng.standard_normal((200, 24))
        signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(200)
        y = (signal > 0).astype(int) if task == "classification" else signal
        evidence = RelevanceSelector(random_state=seed).fit(X, y).result_.evidence
        below += int((evidence.proof_p_values["model"][3:] <= 0.01).sum())
    # Of 252 columns, 2.5 are expected, and 8 or more have a probability of 0.4%.
    assert below <= 7


def test_without_anything_relevant_no_model_is_asked():
    rng = np.random.default_rng(0)
    evidence = (
        RelevanceSelector(CrossfitMethod(), random_state=0)
        .fit(rng.standard_normal((200, 10)), rng.standard_normal(200))
        .result_.evidence
    )
    assert np.array_equal(evidence.proof_p_values["model"], np.ones(10))
