import numpy as np
import pytest
from scipy import optimize, special

from squamish.families.cumulative import fit_cumulative, fit_thresholds, fit_wide_cumulative


def ordered(n=400, d=3, cuts=(-1.0, 0.3, 2.0), seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d))
    y = np.searchsorted(cuts, Z @ np.arange(d, 0.0, -1) / d + rng.logistic(size=n))
    return Z, y, rng.uniform(0.2, 2.0, n)


def loss(thresholds, scores, y, weights):
    """The loss as the textbook writes it."""
    edges = np.concatenate([[-np.inf], thresholds, [np.inf]])
    probability = special.expit(edges[y + 1] - scores) - special.expit(edges[y] - scores)
    return -weights @ np.log(np.maximum(probability, 1e-300))


def brute_force(Z, y, strength, weights):
    k = int(y.max())

    def value(flat):
        thresholds = flat[0] + np.concatenate([[0.0], np.cumsum(np.exp(flat[1:k]))])
        slopes = flat[k:]
        return loss(thresholds, Z @ slopes, y, weights) + slopes @ slopes / (2 * strength)

    start = np.zeros(k + Z.shape[1])
    found = optimize.minimize(value, start, method="BFGS", options={"gtol": 1e-6})
    return found.fun, found.x[k:]


@pytest.mark.parametrize("cuts", [(0.5,), (-1.0, 0.3, 2.0), (-0.1, 0.1, 3.5, 3.6)])
@pytest.mark.parametrize("strength", [0.1, 100.0])
@pytest.mark.parametrize("fit", [fit_cumulative, fit_wide_cumulative])
def test_the_fit_is_the_optimum(fit, strength, cuts):
    Z, y, weights = ordered(cuts=cuts)
    fitted = fit(Z, y, strength, weights)
    least, slopes = brute_force(Z, y, strength, weights)
    found = loss(fitted.thresholds, Z @ fitted.slopes, y, weights)
    found += fitted.slopes @ fitted.slopes / (2 * strength)
    # A slope that is off by a hundredth of its standard error costs 1e-4 / 2.
    assert found - least == pytest.approx(0, abs=1e-3)
    assert fitted.slopes == pytest.approx(slopes, abs=0.01)


def test_without_weights_all_rows_count_the_same():
    Z, y, _ = ordered()
    plain, ones = fit_cumulative(Z, y, 1.0, None), fit_cumulative(Z, y, 1.0, np.ones(len(y)))
    assert plain.slopes.tolist() == ones.slopes.tolist()
    assert fit_wide_cumulative(Z, y, 1.0, None).slopes == pytest.approx(plain.slopes, abs=0.01)


def test_a_weight_of_two_is_a_repeated_row():
    Z, y, _ = ordered(n=100)
    weights = np.where(np.arange(100) < 30, 2.0, 1.0)
    weighted = fit_cumulative(Z, y, 1.0, weights)
    rows = np.repeat(np.arange(100), weights.astype(int))
    repeated = fit_cumulative(Z[rows], y[rows], 1.0, None)
    assert weighted.slopes == pytest.approx(repeated.slopes, abs=1e-6)
    assert weighted.thresholds == pytest.approx(repeated.thresholds, abs=1e-6)


def test_thresholds_given_scores_are_the_optimum():
    Z, y, weights = ordered()
    scores = 3 * Z[:, 0]
    found = fit_thresholds(y, scores, weights)
    for k in range(len(found)):
        for shift in (-0.01, 0.01):
            moved = found + shift * (np.arange(len(found)) == k)
            assert loss(moved, scores, y, weights) > loss(found, scores, y, weights)


def test_classes_that_lie_apart_end_in_finite_slopes():
    x = np.linspace(-1, 1, 60)[:, np.newaxis]
    y = np.repeat([0, 1, 2], 20)
    for fit in (fit_cumulative, fit_wide_cumulative):
        fitted = fit(x, y, 1.0, None)
        edges = np.concatenate([[-np.inf], fitted.thresholds, [np.inf]])
        assert np.isfinite(fitted.slopes).all()
        assert (np.searchsorted(edges[1:-1], x @ fitted.slopes) == y).mean() > 0.9


def test_scores_that_tell_classes_apart_have_finite_thresholds():
    y = np.repeat([0, 1, 2], 20)
    found = fit_thresholds(y, 40.0 * y, None)
    assert 0 < found[0] < 40 < found[1] < 80


def test_reversing_the_order_reverses_the_slopes():
    Z, y, weights = ordered()
    there = fit_cumulative(Z, y, 1.0, weights)
    back = fit_cumulative(Z, y.max() - y, 1.0, weights)
    assert back.slopes == pytest.approx(-there.slopes, abs=1e-4)
    assert back.thresholds == pytest.approx(-there.thresholds[::-1], abs=1e-4)
