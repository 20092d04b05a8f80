"""Regression of rates, and what families of events predict, lose and leave unexplained."""

import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import PoissonRegressor

from squamish.errors import InputError
from squamish.families import family_of
from squamish.families.poisson import fit_rates, fit_wide_rates
from squamish.models.polynomial import fit_polynomial
from squamish.models.trees import fit_trees

TIMES, COUNTS = family_of("survival"), family_of("counts")


def draw_times(n=300, seed=0, lost=1.0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 3))
    time = rng.exponential(size=n) / np.exp(Z @ [1.0, -0.5, 0.0])
    end = lost * rng.exponential(size=n)
    return Z, np.where(time <= end, time, -end), rng


def draw_counts(n=300, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 3))
    return Z, rng.poisson(np.exp(0.5 + Z @ [0.5, -0.3, 0.0])).astype(float), rng


def partial_likelihood(Z, y, penalty):
    """Cox's, by its definition."""

    def value(beta):
        scores, total = Z @ beta, penalty * beta @ beta / 2
        for i in np.flatnonzero(y > 0):
            at_risk = np.abs(y) >= y[i]
            total += np.log(np.exp(scores[at_risk]).sum()) - scores[i]
        return total

    return optimize.minimize(value, np.zeros(Z.shape[1])).x


def test_a_regression_of_times_is_close_to_coxs():
    Z, y, _ = draw_times()
    ours = TIMES.fit_linear(Z, TIMES.prepared(y), 1.0, None)[1][0]
    cox = partial_likelihood(Z, y, 1.0)
    # Half a standard error: eight pieces of the baseline are not one for each event.
    assert np.abs(ours - cox).max() < 0.04


def test_a_regression_of_counts_is_poissons():
    Z, y, _ = draw_counts()
    intercept, beta = COUNTS.fit_linear(Z, y, np.inf, None)
    theirs = PoissonRegressor(alpha=0, tol=1e-8).fit(Z, y)
    dispersed = COUNTS.dispersion(y)
    assert dispersed > 1
    assert np.allclose(beta[0], theirs.coef_, atol=1e-4)
    fitted = COUNTS.profiled(intercept + Z @ beta.T, y, None)
    assert np.allclose(fitted.link(Z @ beta.T)[:, 0], theirs.predict(Z), rtol=1e-3)


@pytest.mark.parametrize("family", [TIMES, COUNTS])
def test_a_row_of_weight_two_counts_as_two_rows(family):
    Z, y, _ = draw_times() if family is TIMES else draw_counts()
    y, w = family.prepared(y), np.ones(len(y))
    w[:50] = 2.0
    twice = np.r_[np.arange(len(y)), np.arange(50)]
    weighted = family.fit_linear(Z, y, 1.0 * family.dispersion(y), w)[1]
    repeated = family.fit_linear(Z[twice], y[twice], 1.0 * family.dispersion(y[twice]), None)[1]
    assert np.allclose(weighted, repeated, atol=1e-3)
    scores = Z @ weighted.T
    ours, theirs = family.profiled(scores, y, w), family.profiled(scores[twice], y[twice], None)
    assert np.allclose(ours.link(scores), theirs.link(scores))


def test_many_terms_are_fitted_to_the_same_coefficients():
    Z, y, _ = draw_times()
    rows = TIMES.rate_rows(TIMES.prepared(y), None)
    assert np.allclose(fit_rates(Z, rows, 1.0), fit_wide_rates(Z, rows, 1.0), atol=0.01)


def test_only_the_order_of_times_counts():
    _, y, _ = draw_times()
    stretched = np.sign(y) * np.exp(np.abs(y))
    assert np.array_equal(TIMES.prepared(y), TIMES.prepared(stretched))


def test_scores_of_all_rows_sum_to_zero():
    _, y, _ = draw_times()
    assert abs(TIMES.scores(TIMES.prepared(y)).sum()) < 1e-9


@pytest.mark.parametrize("family", [TIMES, COUNTS])
def test_no_loss_is_negative_and_the_constant_loses_more_than_the_truth(family):
    Z, y, _ = draw_times(2000) if family is TIMES else draw_counts(2000)
    y = family.prepared(y)
    slopes = np.array([1.0, -0.5, 0.0]) if family is TIMES else np.array([0.5, -0.3, 0.0])
    truth = family.profiled(Z @ slopes[:, np.newaxis], y, None)
    constant = np.broadcast_to(family.constant(y), (len(y), *family.constant(y).shape))
    told, nothing = (family.losses(p, y) for p in (truth.link(Z @ slopes[:, np.newaxis]), constant))
    assert told.min() >= 0
    assert nothing.min() >= 0
    assert told.mean() < nothing.mean()
    # Rates that are too extreme, or too even, lose more than true ones.
    for factor in (0.5, 2.0):
        scores = factor * Z @ slopes[:, np.newaxis]
        other = family.profiled(scores, y, None).link(scores)
        assert family.losses(other, y).mean() > told.mean()


@pytest.mark.parametrize("family", [TIMES, COUNTS])
def test_as_many_events_are_expected_as_there_were(family):
    Z, y, _ = draw_times() if family is TIMES else draw_counts()
    y = family.prepared(y)
    model = fit_polynomial(Z, y, family, 1.0, None, quadratic=True)
    trees = fit_trees(Z, y, family, None, 30)
    for found in (model, trees, trees.after(5)):
        expected = found.family.expected(found.predict(Z), y).sum()
        assert expected == pytest.approx(family.events(y).sum(), rel=1e-3)


def test_trees_of_fewer_rounds_are_those_that_were_trained_so_long():
    Z, y, _ = draw_times()
    y = TIMES.prepared(y)
    long, short = fit_trees(Z, y, TIMES, None, 20), fit_trees(Z, y, TIMES, None, 7)
    assert np.allclose(long.after(7).predict(Z), short.predict(Z))


def test_trees_of_columns_that_cannot_be_split_predict_the_constant():
    _, y, _ = draw_times(60)
    y, Z = TIMES.prepared(y), np.zeros((60, 2))
    Z[0] = 1.0
    assert np.allclose(fit_trees(Z, y, TIMES, None, 10).predict(Z), TIMES.constant(y))


@pytest.mark.parametrize("family", [TIMES, COUNTS])
def test_errors_of_a_model_of_chance_are_shrunk_to_those_of_the_target(family):
    _, y, rng = draw_times() if family is TIMES else draw_counts()
    y = family.prepared(y)
    noise = rng.standard_normal((4, len(y), 1))
    constant = family.profiled(np.zeros((len(y), 1)), y, None)
    shrunk = family.calibrated_errors(constant.link(noise), y)
    target = family.errors(constant.link(np.zeros((len(y), 1))), y)
    distance = np.abs(shrunk - target).mean()
    assert distance < 0.2 * np.abs(family.errors(constant.link(noise), y) - target).mean()


@pytest.mark.parametrize("family", [TIMES, COUNTS])
def test_errors_of_the_truth_stay_as_they_are(family):
    Z, y, _ = draw_times(3000) if family is TIMES else draw_counts(3000)
    y = family.prepared(y)
    slopes = np.array([[1.0], [-0.5], [0.0]]) if family is TIMES else [[0.5], [-0.3], [0.0]]
    truth = family.profiled(Z @ slopes, y, None).link(Z @ slopes)
    plain, shrunk = family.errors(truth, y), family.calibrated_errors(truth[np.newaxis], y)[0]
    assert np.abs(plain - shrunk).mean() < 0.05 * np.abs(plain).mean()
    # Of states, what is expected over all of them.
    shares = np.full((2, len(y)), 0.5)
    both = family.calibrated_errors(np.stack([truth, truth]), y, shares)
    assert np.allclose(both, shrunk)


def test_single_counts_cannot_decide():
    y = np.r_[np.zeros(99), 1e6]
    assert COUNTS.prepared(y).max() < 10
    usual = np.random.default_rng(0).poisson(5, 1000).astype(float)
    assert np.array_equal(COUNTS.prepared(usual), usual)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1.0, 2.5, 0.0]), r"holds 2.5; counts must be whole numbers, 0 or more"),
        (np.array([1.0, -2.0, 0.0]), r"holds -2.0; counts must be whole"),
        (np.array(["many", "few", "few"]), r"holds many; counts must be whole"),
    ],
)
def test_what_is_no_count_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        COUNTS.encode(values)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1.0, -2.0, -3.0], r"y has no event in 3 rows; there must be 2 or more"),
        ([1.0, -2.0, -3.0], r"y has one event in 3 rows"),
        ([2.0, 2.0, -1.0], r"all its events at time 2, and nobody is observed for longer"),
    ],
)
def test_times_without_an_order_are_refused(y, message):
    with pytest.raises(InputError, match=message):
        TIMES.check(np.array(y), ())


def test_events_at_one_time_that_others_outlive_can_be_told():
    TIMES.check(np.array([2.0, 2.0, -3.0]), ())


def test_a_single_count_above_zero_is_refused():
    with pytest.raises(InputError, match=r"y has one count above 0 in 3 rows"):
        COUNTS.check(np.array([0.0, 0.0, 3.0]), ())
