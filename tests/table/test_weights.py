"""Rows that count more or less than others."""

import numpy as np
import pandas as pd
import pytest


def test_a_weight_of_zero_is_removal(verdict, mixed, truth):
    table, y, amounts = mixed()
    rng = np.random.default_rng(1)
    weights = np.where(rng.random(len(y)) < 0.3, 0.0, 1.0)
    for target in (y, amounts):
        weighted = verdict(table, target, sample_weight=weights)
        removed = verdict(table[weights > 0], target[weights > 0])
        assert weighted.relevance_classes_.tolist() == removed.relevance_classes_.tolist()
        assert weighted.result_.evidence.p_relevant == pytest.approx(
            removed.result_.evidence.p_relevant
        )
    uneven = np.where(weights > 0, rng.uniform(0.5, 2, len(y)), 0.0)
    weighted = verdict(table, y, sample_weight=uneven)
    removed = verdict(table[weights > 0], y[weights > 0], sample_weight=uneven[weights > 0])
    assert weighted.relevance_classes_.tolist() == removed.relevance_classes_.tolist()
    assert {name for name, c in truth.items() if c} <= set(
        weighted.result_.strong + weighted.result_.weak
    )


def test_weights_decide_which_rows_matter(verdict):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    first = np.arange(600) < 300
    y = np.where(first, X[:, 0], X[:, 1]) + 0.3 * rng.standard_normal(600)
    for side, column in ((first, 0), (~first, 1)):
        found = verdict(X, y, sample_weight=np.where(side, 1.0, 1e-6))
        assert found.relevance_classes_[column] == 2
        assert found.result_.evidence.effect[column] > 0.5


def test_rows_that_hardly_count_prove_nothing(classes):
    rng = np.random.default_rng(0)
    n, half = 1000, np.arange(1000) < 500
    x, z, noise = rng.standard_normal((3, n))
    level = rng.integers(0, 30, n)
    y = x + 0.5 * noise
    z[half] = x[half] + 0.1 * z[half]
    y[half] += 3 * rng.standard_normal(30)[level[half]]
    table = pd.DataFrame({"x": x, "z": z, "level": level.astype(str)})
    found = classes(table, y, sample_weight=np.where(half, 1e-9, 1.0))
    assert found == {"x": 2, "z": 0, "level": 0}


def test_what_is_wrong_in_rows_of_weight_zero_does_not_matter(verdict):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    expected = verdict(X[1:], y[1:]).result_.evidence.loss
    X[0, 1], y[0] = np.inf, np.nan
    weights = np.r_[0.0, np.ones(199)]
    assert verdict(X, y, sample_weight=weights).result_.evidence.loss == pytest.approx(expected)
