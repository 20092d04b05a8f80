"""Logistic regression of two classes, of few terms and of many."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from squamish.families.logistic import TOLERANCE, fit_logistic, fit_wide_logistic


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strength", [0.001, 0.1, 1.0])
def test_many_terms_are_fitted_as_closely_as_by_scikit_learn(strength, weighted):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((200, 300))
    y = (Z[:, 0] + Z[:, 1] + rng.standard_normal(200) > 0).astype(int)
    weights = rng.uniform(0.5, 2, 200) if weighted else None
    intercept, coefficients = fit_wide_logistic(Z, y, strength, weights)
    model = LogisticRegression(C=strength, tol=TOLERANCE, max_iter=300).fit(Z, y, weights)
    np.testing.assert_allclose(coefficients, model.coef_, atol=1e-4)
    np.testing.assert_allclose(intercept, model.intercept_, atol=1e-4)


def test_few_and_many_terms_come_to_the_same():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((400, 5))
    y = (Z[:, 0] + rng.standard_normal(400) > 0).astype(int)
    for few, many in zip(
        fit_logistic(Z, y, 0.1, None), fit_wide_logistic(Z, y, 0.1, None), strict=True
    ):
        np.testing.assert_allclose(few, many, atol=0.01)


@pytest.mark.parametrize("fit", [fit_logistic, fit_wide_logistic])
def test_classes_that_lie_apart_have_a_solution(fit):
    Z = np.random.default_rng(0).standard_normal((100, 600))
    intercept, coefficients = fit(Z, (Z[:, 0] > 0).astype(int), 1000.0, None)
    assert np.isfinite(intercept).all()
    assert np.isfinite(coefficients).all()
