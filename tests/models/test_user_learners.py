"""Estimators that users bring predict as they do by themselves, or are refused by name."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from squamish import InputError
from squamish.families import family_of
from squamish.models.estimators import name_of
from squamish.models.user_learners import user_learners

X = np.random.default_rng(0).standard_normal((120, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2]
WEIGHTS = np.random.default_rng(1).uniform(0.5, 2, 120)
AMOUNTS, CLASSES = family_of("regression"), family_of("classification")
# As tables come: sorted by the target.
SORTED = np.argsort(SCORE)
X, SCORE = X[SORTED], SCORE[SORTED]


def target(n_classes):
    return np.digitize(SCORE, np.quantile(SCORE, np.arange(1, n_classes) / n_classes))


def learner_of(estimator, family=AMOUNTS, weights=None, seed=0):
    (learner,) = user_learners((estimator,), family, weights, np.random.default_rng(seed))
    return learner


def model_of(estimator, y=SCORE, weights=None, seed=0):
    family = CLASSES if y.dtype.kind == "i" else AMOUNTS
    return learner_of(estimator, family, weights, seed).fit(X, y, family, weights)


class Returning(BaseEstimator):
    """Predicts what it is told to, and does not say whether it is a regressor or a classifier."""

    def __init__(self, prediction=None, classes=None):
        self.prediction = prediction
        self.classes = classes

    def fit(self, X, y):
        self.targets_ = y
        if self.classes is not None:
            self.classes_ = np.array(self.classes)
        return self

    def predict(self, X):
        return self.prediction(X)


class ReturningProbabilities(Returning):
    predict_proba = Returning.predict


class LikeXGBoost(ClassifierMixin, BaseEstimator):
    """Takes classes 0, 1, ... only, and returns float32."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        if not np.array_equal(self.classes_, np.arange(len(self.classes_))):
            raise ValueError(f"Invalid classes inferred from unique values of `y`: {self.classes_}")
        self.model_ = LogisticRegression().fit(X, y, sample_weight)
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X).astype(np.float32)


class LikeCatBoost:
    """Has no base class of scikit-learn and no tags, and returns a column."""

    _estimator_type = "regressor"

    def __init__(self, depth=6):
        self.depth = depth

    def get_params(self, deep=True):
        return {"depth": self.depth}

    def set_params(self, **params):
        self.depth = params["depth"]
        return self

    def fit(self, X, y, sample_weight=None):
        self.model_ = DecisionTreeRegressor(max_depth=self.depth, random_state=0)
        self.model_.fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.model_.predict(X)[:, np.newaxis]


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(
    "estimator", [LinearRegression(), make_pipeline(StandardScaler(), LinearRegression())]
)
def test_amounts_are_predicted_as_by_the_estimator(estimator, weights):
    expected = LinearRegression().fit(X, SCORE, weights).predict(X)
    assert model_of(estimator, weights=weights).predict(X) == pytest.approx(expected, abs=1e-9)
    if weights is not None:
        assert expected != pytest.approx(LinearRegression().fit(X, SCORE).predict(X), abs=1e-3)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_a_library_like_xgboost(n_classes, weights):
    y = target(n_classes)
    found = model_of(LikeXGBoost(), y, weights).predict(X)
    expected = LogisticRegression().fit(X, y, weights).predict_proba(X)
    assert found.dtype == np.float64
    assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_amounts_of_a_library_like_catboost(weights):
    model = model_of(LikeCatBoost(depth=2), weights=weights)
    expected = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, SCORE, weights).predict(X)
    assert model.predict(X) == pytest.approx(expected)


def test_weights_reach_the_last_step_whatever_the_configuration():
    pipeline = make_pipeline(StandardScaler(), LinearRegression())
    plain = model_of(pipeline, weights=WEIGHTS).predict(X)
    with config_context(enable_metadata_routing=True):
        assert np.array_equal(model_of(pipeline, weights=WEIGHTS).predict(X), plain)


@pytest.mark.parametrize("at_once", [1, 10**9])
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("columns", [[1], [0, 2]])
def test_prediction_with_replaced_values_is_that_of_the_table_with_other_values(
    n_classes, columns, at_once, monkeypatch
):
    monkeypatch.setattr("squamish.models.user_learners.MOST_NUMBERS", at_once)
    model = model_of(LikeXGBoost(), target(n_classes)) if n_classes else model_of(SVR())
    values = np.random.default_rng(1).standard_normal((3, 120, len(columns)))
    replaced = model.predict_replaced(X, np.array(columns), values)
    for draw, prediction in zip(values, replaced, strict=True):
        changed = X.copy()
        changed[:, columns] = draw
        assert prediction == pytest.approx(model.predict(changed), abs=1e-6)


def test_draws_are_predicted_in_few_calls_that_bound_memory(monkeypatch):
    sizes = []

    def predict(rows):
        sizes.append(len(rows))
        return rows[:, 0]

    model, draws = model_of(Returning(predict)), np.zeros((4, 120, 1))
    model.predict_replaced(X, np.array([0]), draws)
    # A kernel of 240 rows and 120 training rows, and no more.
    monkeypatch.setattr("squamish.models.user_learners.MOST_NUMBERS", 240 * 120)
    model.predict_replaced(X, np.array([0]), draws)
    assert sizes == [480, 240, 240]


def test_columns_of_probabilities_are_matched_to_classes():
    shares = np.tile([0.7, 0.2, 0.1], (120, 1))
    turned = ReturningProbabilities(lambda rows: shares[: len(rows)], classes=[2, 0, 1])
    assert model_of(turned, target(3)).predict(X)[0] == pytest.approx([0.2, 0.1, 0.7])
    # A class that was not learned has no probability, and columns without names come in order.
    fewer = ReturningProbabilities(lambda rows: shares[:, 1:] / 0.3, classes=[0, 2])
    assert model_of(fewer, target(3)).predict(X)[0] == pytest.approx([2 / 3, 0, 1 / 3])
    unnamed = ReturningProbabilities(lambda rows: shares)
    assert model_of(unnamed, target(3)).predict(X)[0] == pytest.approx([0.7, 0.2, 0.1])


def test_rows_come_in_random_order_and_no_object_of_the_caller_is_changed():
    """Tables are sorted by the target; folds inside of an estimator must not be."""
    own, rows, y = Returning(lambda rows: rows[:, 0]), X.copy(), SCORE.copy()
    model = model_of(own)
    assert sorted(model.fitted.targets_) == SCORE.tolist()
    assert abs(np.corrcoef(model.fitted.targets_, np.arange(120))[0, 1]) < 0.3
    assert not hasattr(own, "targets_")
    in_place = make_pipeline(StandardScaler(copy=False), LinearRegression())
    first = model_of(in_place).predict(rows)
    assert np.array_equal(rows, X)
    assert np.array_equal(SCORE, y)
    assert np.array_equal(model_of(in_place).predict(rows), first)


def test_what_has_no_seed_gets_one_and_a_given_one_stays():
    bagging = BaggingRegressor(DecisionTreeRegressor(), n_estimators=3)
    assert np.array_equal(model_of(bagging).predict(X), model_of(bagging).predict(X))
    assert not np.array_equal(model_of(bagging).predict(X), model_of(bagging, seed=1).predict(X))
    seeds = model_of(bagging).fitted.get_params()
    assert seeds["random_state"] != seeds["estimator__random_state"] is not None
    assert bagging.random_state is bagging.estimator.random_state is None
    given = make_pipeline(StandardScaler(), RandomForestClassifier(2, random_state=7))
    assert model_of(given, target(2)).fitted[-1].random_state == 7


def test_a_learner_is_named_by_what_is_not_at_its_default():
    assert str(learner_of(SVR(C=10.0))) == "SVR(C=10.0)"
    assert name_of(LikeCatBoost(depth=3)) == "LikeCatBoost(depth=3)"
    assert "0x" not in name_of(SVR(kernel=lambda a, b: a @ b.T))
    many_steps = make_pipeline(*[StandardScaler()] * 30, SVR())
    assert len(name_of(many_steps)) <= 120
    assert name_of(many_steps).isprintable()


NO_NUMBERS = np.full(120, np.nan)
HALVES = np.full((120, 2), 0.5)


@pytest.mark.parametrize(
    ("prediction", "message"),
    [
        (SCORE[:50], r"predicts an array of shape \(50,\) for 120 rows; it must be \(120,\)"),
        (X, r"predicts an array of shape \(120, 4\) for 120 rows"),
        (NO_NUMBERS, "predicts nan; what predict returns must be finite"),
        (np.where(SCORE > 0, np.inf, SCORE), "predicts inf"),
        (np.array(["a"] * 120), "whose predict raised ValueError: could not convert string"),
    ],
)
def test_wrong_predictions_of_amounts(prediction, message):
    model = model_of(Returning(lambda rows: prediction))
    with pytest.raises(InputError, match=r"^learners\[0\] is Returning\(.*" + message):
        model.predict(X)


@pytest.mark.parametrize(
    ("prediction", "classes", "message"),
    [
        (HALVES[:, :1], None, r"shape \(120, 1\) for 120 rows; with 2 classes it must be \(120, 2"),
        (HALVES[:50], None, r"shape \(50, 2\) for 120 rows"),
        (HALVES * np.nan, None, "predicts nan; what predict_proba returns must be finite"),
        (
            np.tile([-0.1, 1.1], (120, 1)),
            None,
            "predicts -0.1; what predict_proba returns must be from 0",
        ),
        (
            np.tile([0.5, 1.1], (120, 1)),
            None,
            "predicts 1.1; what predict_proba returns must be from 0 to 1",
        ),
        (HALVES * 2, None, "predicts probabilities that sum to 2; they must sum to 1"),
        (HALVES, ["no", "yes"], r"has classes_ \['no', 'yes'\]; these must be among .*: 0 to 1"),
        (HALVES, [0, 5], r"has classes_ \[0, 5\]"),
        (HALVES, [0, 0], r"has classes_ \[0, 0\]"),
    ],
)
def test_wrong_probabilities(prediction, classes, message):
    model = model_of(ReturningProbabilities(lambda rows: prediction, classes), target(2))
    with pytest.raises(InputError, match=r"^learners\[0\] is ReturningProb.*" + message):
        model.predict(X)


def test_what_an_estimator_raises_names_it_and_is_chained():
    with pytest.raises(InputError, match=r"learners\[0\] is SVR\(C=-1\), whose fit raised") as fit:
        model_of(SVR(C=-1))
    assert isinstance(fit.value.__cause__, ValueError)

    def fails(rows):
        raise ZeroDivisionError("no\nrows")

    model = model_of(Returning(fails))
    with pytest.raises(InputError, match=r"raised ZeroDivisionError: no rows$") as of:
        model.predict(X)
    assert isinstance(of.value.__cause__, ZeroDivisionError)
