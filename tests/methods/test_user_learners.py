"""Learners of users race beside the built-in ones."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from squamish import CrossfitMethod, InputError, RelevanceResult, RelevanceSelector
from squamish.datasets import make_linear

SMOOTH = GaussianProcessRegressor(RBF() + WhiteKernel(0.01), optimizer=None)
# Random, unless it is given a seed, and still better than what is built in.
RANDOM = BaggingRegressor(SMOOTH, n_estimators=2)
LEARNERS = "relevanceselector__method__learners"


def smooth_table(seed, n=200):
    """Waves in two directions, which formulas and trees hardly follow, and a small effect."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 5))
    y = np.sin(3 * X[:, 0] + 2 * X[:, 1]) + np.sin(3 * X[:, 1] - 2 * X[:, 0]) + 0.1 * X[:, 2]
    return X, y + 0.03 * rng.standard_normal(n)


def in_waves(X):
    # Learners see standardised columns.
    return np.sin(8 / np.sqrt(3) * X)


def fitted(X, y, learners=(), weights=None, **settings):
    method = CrossfitMethod(learners=learners)
    selector = RelevanceSelector(method, **{"random_state": 0} | settings)
    return selector.fit(X, y, sample_weight=weights).result_


def findings(result):
    """Everything in a result but its time and place."""
    return result.to_json().partition('"task"')[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_learner_that_suits_the_table_wins(seed):
    X, y = smooth_table(seed)
    without, beside = fitted(X, y), fitted(X, y, (SMOOTH,))
    assert beside.classes.tolist() == [2, 2, 2, 0, 0]
    assert beside.evidence.loss < 0.5 * without.evidence.loss
    assert beside.evidence.learner == (
        "GaussianProcessRegressor(kernel=RBF(length_scale=1) + WhiteKernel(noise_level=0.01), "
        "optimizer=None)"
    )


def test_a_learner_that_suits_the_table_finds_what_others_miss():
    X, y = smooth_table(1)
    assert fitted(X, y).classes[2] < 2
    assert fitted(X, y, (SMOOTH,)).classes[2] == 2


def test_a_learner_of_classes_wins_where_it_is_best():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (250, 4))
    y = np.where(np.sin(8 * X[:, 0]) + np.sin(8 * X[:, 1]) > 0, "yes", "no")
    waves = make_pipeline(FunctionTransformer(in_waves), LogisticRegression(C=100.0))
    result = fitted(X, y, (HistGradientBoostingClassifier(max_iter=10), waves))
    assert result.evidence.learner.startswith("Pipeline(steps=[('functiontransformer'")
    assert result.evidence.loss < 0.9 * fitted(X, y).evidence.loss
    assert result.classes.tolist() == [2, 2, 0, 0]


def test_a_learner_that_is_worse_changes_nothing():
    X, y = smooth_table(0)
    plain, beside = fitted(X, y), fitted(X, y, (DummyRegressor(), DummyRegressor()))
    assert beside.evidence.n_fits > plain.evidence.n_fits
    for name in ("p_removal", "p_relevant", "removal_loss"):
        ours, theirs = getattr(plain.evidence, name), getattr(beside.evidence, name)
        assert np.array_equal(ours, theirs, equal_nan=True)
    assert beside.evidence.learner == plain.evidence.learner


@pytest.mark.parametrize("seed", range(4))
def test_a_learner_that_is_only_by_chance_better_gives_way_to_a_built_in_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 4))
    y = X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(150)
    plain, beside = fitted(X, y), fitted(X, y, (HuberRegressor(), LinearRegression(), Lasso(0.02)))
    assert beside.evidence.learner == plain.evidence.learner
    assert beside.classes.tolist() == plain.classes.tolist()


def test_the_same_seed_gives_the_same_verdict_for_any_n_jobs_and_order():
    X, y = smooth_table(0)
    first = fitted(X, y, (RANDOM,))
    assert first.evidence.learner.startswith("BaggingRegressor(")
    assert findings(fitted(X, y, (RANDOM,), n_jobs=2)) == findings(first)
    columns, rows = np.array([3, 1, 4, 0, 2]), np.random.default_rng(1).permutation(len(y))
    other = fitted(X[np.ix_(rows, columns)], y[rows], (RANDOM,))
    assert np.array_equal(
        other.evidence.p_removal, first.evidence.p_removal[columns], equal_nan=True
    )
    assert other.evidence.loss == first.evidence.loss
    assert fitted(X, y, (RANDOM,), random_state=1).evidence.loss != first.evidence.loss


def test_weights_go_to_learners_that_take_them_and_others_are_refused():
    X, y = smooth_table(0)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    ridge = KernelRidge(alpha=0.01, kernel="rbf", gamma=0.5)
    assert fitted(X, y, (ridge,), weights).evidence.learner.startswith("KernelRidge(")
    with pytest.raises(InputError, match=r"learners\[1\] is GaussianProcess.* no sample_weight"):
        fitted(X, y, (ridge, SMOOTH), weights)
    assert not fitted(X, y, (ridge, SMOOTH)).evidence.learner.startswith("kernel")


def test_a_result_is_saved_and_read_with_its_learner():
    result = fitted(*smooth_table(0), (SMOOTH,))
    again = RelevanceResult.from_json(result.to_json())
    assert again.evidence.learner == result.evidence.learner
    assert again.method.startswith("CrossfitMethod(learners=(GaussianProcessRegressor(kernel=")
    assert "GaussianProcessRegressor(" in result.to_html()
    assert json.loads(result.to_json())["evidence"]["learner"] == result.evidence.learner


def test_a_checkpoint_goes_on_and_belongs_to_its_learners(tmp_path):
    X, y = smooth_table(0)
    path = tmp_path / "work.checkpoint"

    def stop(news):
        if news.share > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(X, y, (RANDOM,), checkpoint=path, callback=stop)
    other = BaggingRegressor(SMOOTH, n_estimators=3)
    for learners in ((other,), (), (RANDOM, SMOOTH)):
        with pytest.raises(InputError, match="was made with other settings"):
            fitted(X, y, learners, checkpoint=path)
    again = fitted(X, y, (clone(RANDOM),), checkpoint=path)
    assert findings(again) == findings(fitted(X, y, (RANDOM,)))


def test_a_checkpoint_tells_learners_apart_whose_texts_are_the_same(tmp_path):
    X, y = smooth_table(0)
    path, noise = tmp_path / "work.checkpoint", np.full(5000, 0.01)
    tabulated = [Tabulated(noise), Tabulated(np.where(np.arange(5000) == 2500, 0.02, noise))]
    assert repr(tabulated[0]) == repr(tabulated[1])
    fitted(X, y, tabulated[:1], checkpoint=path)
    with pytest.raises(InputError, match="was made with other settings"):
        fitted(X, y, tabulated[1:], checkpoint=path)


class Tabulated(LinearRegression):
    """Has a parameter whose text leaves out most of it."""

    def __init__(self, values=None):
        super().__init__()
        self.values = values


def test_learners_are_parameters_as_others_are():
    method = CrossfitMethod(learners=(SVR(),))
    copy = clone(method)
    assert repr(copy) == repr(method) == "CrossfitMethod(learners=(SVR(),))"
    assert copy.learners[0] is not method.learners[0]
    assert CrossfitMethod().get_params()["learners"] == ()
    selector = RelevanceSelector(method).set_params(method__learners=[SMOOTH], random_state=0)
    X, y = smooth_table(0)
    assert selector.fit(X, y).result_.evidence.learner.startswith("Gaussian")
    assert not hasattr(SMOOTH, "X_train_")


def test_a_grid_search_chooses_among_learners():
    X, y = smooth_table(0)
    steps = make_pipeline(RelevanceSelector(CrossfitMethod(), random_state=0), clone(SMOOTH))
    grid = {LEARNERS: [(), (SMOOTH,)]}
    search = GridSearchCV(steps, grid, cv=2, error_score="raise").fit(X, y)
    (chosen,) = search.best_params_.values()
    assert [len(candidate) for candidate in search.cv_results_["param_" + LEARNERS]] == [0, 1]
    assert len(search.best_estimator_[0].method.learners) == len(chosen)


AMOUNTS = np.random.default_rng(0).standard_normal(60)
LABELS = np.arange(60) % 2


class NoPredictions(BaseEstimator):
    def fit(self, X, y):
        return self


class NotCopied(LinearRegression):
    def __init__(self, given=()):
        super().__init__()
        self.given = list(given)


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        (SVR(), r"learners is SVR\(\); it must be a tuple of estimators: \(SVR\(\),\)"),
        (SVR, r"learners is SVR; it must be a tuple of estimators$"),
        (None, "learners is None; it must be a tuple of estimators$"),
        ("svr", "learners is 'svr'; it must be a tuple of estimators$"),
        ((SVR(), SVR), r"learners\[1\] is SVR, a class; it must be an estimator, such as SVR\(\)"),
        ((3,), r"learners\[0\] is 3; it must be an estimator of scikit-learn, with fit, get_par"),
        ((KMeans(),), r"learners\[0\] is KMeans\(\), a clusterer; it must be a regressor or a cl"),
        ([StandardScaler()], r"learners\[0\] is StandardScaler\(\).*it must "),
        ((NoPredictions(),), "NoPredictions.* must have predict, for amounts, or predict_proba"),
        ((SVC(),), r"learners\[0\] is SVC\(\); it has no predict_proba, which a classifier must"),
        ((NotCopied(),), r"learners\[0\] is NotCopied.*; .* sklearn.base.clone can copy"),
    ],
)
def test_what_cannot_be_a_learner_is_refused_before_a_table_is_seen(learners, message):
    with pytest.raises(InputError, match=message):
        CrossfitMethod(learners=learners).check_parameters()
    with pytest.raises(InputError, match=message):
        fitted("not a table", AMOUNTS, learners)


@pytest.mark.filterwarnings("ignore:the table has")
@pytest.mark.parametrize(
    ("learner", "y", "message"),
    [
        (SVR(), LABELS, r"is SVR\(\), a regressor; y holds classes, so that it must be a classif"),
        (
            DummyClassifier(),
            AMOUNTS,
            r"is Dummy.*, a classifier; y holds amounts, so that it must be a regre",
        ),
    ],
)
def test_learners_of_another_kind_of_target_are_refused(learner, y, message):
    X = np.random.default_rng(1).standard_normal((60, 3))
    with pytest.raises(InputError, match=r"^learners\[0\] " + message):
        fitted(X, y, (learner,))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_learner_raises_ends_the_fit_with_its_name(n_jobs):
    problem = make_linear(100, n_strong=2, n_irrelevant=2, random_state=0)
    with pytest.raises(
        InputError, match=r"learners\[0\] is LogisticRegression\(C=-1\.0\), whose f"
    ):
        fitted(problem.X, problem.y, (LogisticRegression(C=-1.0),), n_jobs=n_jobs)
