"""Substitutes: what predicts a feature as well as all others do."""

import numpy as np
import pytest

from squamish.models.crossfit import CrossFit
from squamish.redundancy.substitutes import find_all_substitutes, substitutes
from squamish.table.table import Table


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def crossfit(X):
    table = Table(X, X[:, 0] + np.arange(len(X)) % 2, "regression")
    return CrossFit.over(table, 5, np.random.default_rng(0))


def sums_and_copies(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    more = [X[:, 0] + X[:, 1], X[:, 2] + 0.1 * rng.standard_normal(n), X[:, 3] * X[:, 4]]
    return standardised(np.column_stack([X, *more]))


@pytest.mark.parametrize(("n", "d"), [(300, 9), (60, 30)])
def test_features_that_are_asked_together_have_the_same_substitutes_as_alone(n, d):
    fit = crossfit(sums_and_copies(n, d))
    relevant = np.arange(d + 3)
    together = find_all_substitutes(fit, relevant, relevant.tolist())
    for feature in relevant.tolist():
        assert find_all_substitutes(fit, relevant, [feature])[feature] == together[feature]


def test_sums_copies_and_products_are_found():
    found = find_all_substitutes(crossfit(sums_and_copies(300, 9)), np.arange(12), range(12))
    assert found[9] == ((0, 1),)
    assert found[2] == ((10,),)
    assert found[10] == ((2,),)
    assert found[11] == ((3, 4),)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a * b,
        lambda a, b: a / (1 + b**2),
        lambda a, b: np.sin(2 * a) + b**2,
        lambda a, b: np.maximum(a, b),
    ],
)
@pytest.mark.parametrize("n", [300, 1200])
def test_a_smooth_function_of_two_others_is_found_among_many(function, n):
    X = np.random.default_rng(1).standard_normal((n, 12))
    table = standardised(np.column_stack([X, function(X[:, 2], X[:, 7])]))
    assert substitutes([table], np.arange(13), 12) == ((2, 7),)
