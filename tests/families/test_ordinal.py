import numpy as np
import pytest
from scipy import stats

from squamish.families import Ordinal
from squamish.models.learners import BuiltIn
from squamish.models.trees import fit_trees

FAMILY = Ordinal()


@pytest.fixture(scope="module")
def graded():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = np.searchsorted([-2.0, 0.0, 2.5], 2 * X[:, 0] + X[:, 1] + rng.logistic(size=600))
    return X, y


def test_residuals_are_minus_the_slope_of_the_loss(graded):
    X, y = graded
    scores = 1.5 * X[:, :1]
    fitted = FAMILY.profiled(scores, y, None)
    step = 1e-5
    # No probability is near the bound of the loss here.
    ahead, behind = (fitted.losses(fitted.link(scores + s), y) for s in (step, -step))
    assert fitted.residuals(fitted.link(scores), y)[:, 0] == pytest.approx(
        (behind - ahead) / (2 * step), abs=1e-4
    )
    slope, curvature = fitted.derivatives(scores, y)
    assert slope == pytest.approx((ahead - behind) / (2 * step), abs=1e-4)
    further = [fitted.derivatives(scores + s, y)[0] for s in (step, -step)]
    assert curvature == pytest.approx((further[0] - further[1]) / (2 * step), abs=1e-4)


def test_scores_are_ridits(graded):
    _, y = graded
    ranks = stats.rankdata(y) / len(y)
    assert FAMILY.scores(y)[:, 0] == pytest.approx(2 * ranks - 1 - 1 / len(y))


def test_where_nothing_is_known_classes_have_their_shares(graded):
    _, y = graded
    fitted = FAMILY.profiled(np.zeros((600, 1)), y, None)
    assert fitted.link(np.zeros((1, 1)))[0] == pytest.approx(FAMILY.constant(y), abs=1e-4)


def test_two_classes_are_those_of_logistic_regression(graded):
    from squamish.families import family_of

    X, y = graded
    two = (y > 1).astype(int)
    ordered = BuiltIn("linear").fit(X, two, FAMILY).predict(X)
    plain = BuiltIn("linear").fit(X, two, family_of("classification")).predict(X)
    assert ordered == pytest.approx(plain, abs=1e-4)


@pytest.mark.parametrize("kind", ["linear", "single-index", "quadratic"])
def test_formulas_learn_shifts(graded, kind):
    X, y = graded
    train, test = np.arange(600) < 400, np.arange(600) >= 400
    model = BuiltIn(kind).fit(X[train], y[train], FAMILY)
    loss = FAMILY.losses(model.predict(X[test]), y[test]).mean()
    constant = np.broadcast_to(FAMILY.constant(y[train]), (200, 4))
    assert loss < 0.85 * FAMILY.losses(constant, y[test]).mean()
    assert model.predict(X[test]).sum(axis=1) == pytest.approx(1)


def test_trees_learn_shifts_and_have_the_thresholds_of_every_round(graded):
    X, y = graded
    weights = np.random.default_rng(1).uniform(0.5, 1.5, 400)
    trees = fit_trees(X[:400], y[:400], FAMILY, weights, 30)
    losses = [
        np.average(FAMILY.losses(trees.after(n).predict(X[:400]), y[:400]), weights=weights)
        for n in (1, 5, 15, 30)
    ]
    assert losses == sorted(losses, reverse=True)
    # In the rows that trees were trained on, classes have the shares that they have.
    shares = np.average(trees.after(15).predict(X[:400]), axis=0, weights=weights)
    assert shares == pytest.approx(FAMILY.constant(y[:400], weights), abs=0.02)


def test_a_model_without_thresholds_does_not_predict():
    with pytest.raises(ValueError, match="thresholds are fitted"):
        FAMILY.link(np.zeros((3, 1)))
