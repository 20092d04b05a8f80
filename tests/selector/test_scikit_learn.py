"""The selector as a citizen of scikit-learn."""

import pickle
from contextlib import ExitStack
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from squamish import PaperMethod, RelevanceSelector
from squamish.datasets import make_linear
from squamish.execution.workers import one_thread

# Enough to tell apart the features of an easy problem.
QUICK = PaperMethod(n_null_samples=20, n_estimators=50, p=1e-4)
NAMES = ["strong a", "strong,b", "copy{1}", "copy[2]", "größe:3", "copy\t4", '"noise"', "noise"]


@pytest.fixture(scope="module")
def problem():
    return make_linear(300, n_strong=2, group_sizes=[4], n_irrelevant=2, random_state=0)


@pytest.fixture(scope="module")
def fitted(problem):
    return RelevanceSelector(QUICK, random_state=0, n_jobs=1).fit(problem.X, problem.y)


# A weight says how much a row counts. It does not make it several independent rows, which a
# test has to tell apart: in repeated rows of noise something always looks significant.
NO_REPEATS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "weights are not repeats",
)
PAPER = {**NO_REPEATS, "check_sample_weights_not_overwritten": "the paper knows no weights"}


@pytest.mark.filterwarnings("ignore:the table has")
@pytest.mark.filterwarnings("ignore:.*keeps nothing")
@pytest.mark.filterwarnings("ignore:.*alone tells the target")
@parametrize_with_checks(
    [RelevanceSelector(), RelevanceSelector(QUICK, task="regression")],
    expected_failed_checks=lambda e: NO_REPEATS if e.method == "crossfit" else PAPER,
)
def test_scikit_learn_estimator_check(estimator, check):
    check(estimator)


def test_attributes_after_fit(problem, fitted):
    assert fitted.relevance_classes_.tolist() == problem.classes.tolist()
    assert fitted.relevance_classes_.dtype.kind == "i"
    assert fitted.support_.tolist() == [True] * 6 + [False] * 2
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
    assert fitted.n_features_in_ == 8


@pytest.mark.parametrize("select", ["relevant", "strong", "minimal"])
def test_support_is_what_transform_keeps(problem, select):
    selector = RelevanceSelector(random_state=0, select=select).fit(problem.X, problem.y)
    assert np.array_equal(selector.support_, selector.get_support())
    assert np.array_equal(selector.transform(problem.X), problem.X[:, selector.support_])
    assert selector.support_.sum() == {"relevant": 6, "strong": 2, "minimal": 3}[select]
    selector.set_params(select="strong")
    assert selector.support_.tolist() == [True] * 2 + [False] * 6


def test_there_is_no_support_before_fit():
    assert not hasattr(RelevanceSelector(), "support_")
    with pytest.raises(NotFittedError):
        _ = RelevanceSelector().support_


def test_transform_keeps_relevant_columns_and_inverse_puts_them_back(problem, fitted):
    kept = fitted.transform(problem.X)
    assert np.array_equal(kept, problem.X[:, :6])
    restored = fitted.inverse_transform(kept)
    assert np.array_equal(restored[:, :6], problem.X[:, :6])
    assert not restored[:, 6:].any()


def test_frames_come_back_as_frames_with_their_names(problem):
    selector = RelevanceSelector(QUICK, random_state=0)
    for frame_type, output in ((pd.DataFrame, "pandas"), (pl.DataFrame, "polars")):
        frame = frame_type(dict(zip(NAMES, problem.X.T, strict=True)))
        kept = clone(selector).set_output(transform=output).fit_transform(frame, problem.y)
        assert isinstance(kept, frame_type)
        assert list(kept.columns) == NAMES[:6]
    named = selector.fit(pd.DataFrame(problem.X, columns=NAMES), problem.y)
    assert named.feature_names_in_.tolist() == NAMES
    assert named.get_feature_names_out().tolist() == NAMES[:6]
    assert named.result_.feature_names == tuple(NAMES)


def test_works_in_pipeline_and_cross_validation(problem):
    pipeline = make_pipeline(RelevanceSelector(QUICK, random_state=0), LogisticRegression())
    assert cross_val_score(pipeline, problem.X, problem.y, cv=3).mean() > 0.9


def test_grid_search_reaches_the_parameters_of_the_method(problem):
    pipeline = make_pipeline(RelevanceSelector(QUICK, random_state=0), LogisticRegression())
    grid = {"relevanceselector__method__boruta_perc": [70, 100]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(problem.X, problem.y)
    assert search.best_params_["relevanceselector__method__boruta_perc"] in (70, 100)
    assert QUICK.boruta_perc == 70


def test_fitted_selector_survives_pickling(problem, fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.transform(problem.X), fitted.transform(problem.X))
    assert repr(again.result_) == repr(fitted.result_)


def test_same_seed_gives_the_same_evidence_for_any_n_jobs(problem, fitted):
    expected = fitted.result_.evidence
    for n_jobs in (2, 3):
        selector = RelevanceSelector(QUICK, random_state=0, n_jobs=n_jobs)
        evidence = selector.fit(problem.X, problem.y).result_.evidence
        assert np.array_equal(evidence.importances, expected.importances)
        assert np.array_equal(evidence.removal_loss, expected.removal_loss, equal_nan=True)
        assert np.array_equal(evidence.boruta_history, expected.boruta_history, equal_nan=True)
        assert np.array_equal(evidence.loss_interval.samples, expected.loss_interval.samples)


def test_seeds_are_ints_or_generators(problem):
    method = PaperMethod(n_null_samples=2, boruta_max_iter=3)

    def importances(seed):
        selector = RelevanceSelector(method, random_state=seed).fit(problem.X, problem.y)
        return selector.result_.evidence.importances.tolist()

    assert importances(5) == importances(np.int64(5))
    assert importances(np.random.default_rng(5)) == importances(np.random.default_rng(5))
    assert importances(np.random.RandomState(5)) == importances(np.random.RandomState(5))
    assert importances(5) != importances(6)
    shared = np.random.default_rng(5)
    assert importances(shared) != importances(shared)


def test_numbers_as_column_names_are_kept(problem):
    frame = pd.DataFrame(problem.X, columns=range(2019, 2027))
    result = RelevanceSelector(QUICK, random_state=0).fit(frame, problem.y).result_
    assert result.feature_names[0] == "2019"


def test_the_callers_data_stay_as_they_were(problem):
    X, y = problem.X.copy(), problem.y.copy()
    X[0, 0] = np.nan
    before = X.copy(), y.copy()
    RelevanceSelector(QUICK, random_state=0).fit(X, y)
    assert np.array_equal(X, before[0], equal_nan=True)
    assert np.array_equal(y, before[1])


def test_nothing_relevant_is_an_answer():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 5)), rng.integers(0, 2, 200)
    selector = RelevanceSelector(PaperMethod(boruta_perc=100), random_state=0).fit(X, y)
    assert selector.relevance_classes_.tolist() == [0] * 5
    assert selector.result_.evidence.loss_interval is None
    assert repr(selector.result_).startswith(
        "0 strong, 0 weak, 5 irrelevant of 5; no model; paper(boruta_perc=100)"
    )
    selector.set_params(if_none="empty")
    with pytest.warns(UserWarning, match="keeps nothing"):
        assert selector.transform(X).shape == (200, 0)


def test_constant_and_empty_columns_are_irrelevant(problem):
    constant, missing = np.full((300, 1), 7.0), np.full((300, 1), np.nan)
    X = np.hstack([constant, problem.X, missing])
    selector = RelevanceSelector(QUICK, random_state=0).fit(X, problem.y)
    evidence = selector.result_.evidence
    assert selector.relevance_classes_.tolist() == [0, *problem.classes, 0]
    assert evidence.importances[[0, -1]].tolist() == [0, 0]
    assert np.isnan(evidence.removal_loss[[0, -1]]).all()


def test_a_table_of_constants_has_no_relevant_column():
    selector = RelevanceSelector("paper", random_state=0).fit(np.ones((80, 3)), np.arange(80) % 2)
    assert selector.relevance_classes_.tolist() == [0, 0, 0]
    assert selector.result_.evidence.importance_interval is None


def test_too_few_rows_for_a_split_are_reported():
    X = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.warns(UserWarning, match="40 rows, but .* cannot split fewer than 64"):
        selector = RelevanceSelector("paper", random_state=0).fit(X, X[:, 0] > 0)
    assert selector.relevance_classes_.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([True, False] * 30, "classification"),
        ([1.0, 2.0] * 30, "classification"),
        (list(range(20)) * 3, "classification"),
        (list(range(60)), "regression"),
        (np.linspace(0, 1, 60), "regression"),
        (pd.Series(["x", "y"] * 30, dtype="category"), "classification"),
        (pd.Series([True, False] * 30, dtype="boolean"), "classification"),
        (np.array([0.5, 1.5] * 30, dtype=object), "regression"),
        (np.array([Decimal(i) / 7 for i in range(60)]), "regression"),
    ],
)
@pytest.mark.filterwarnings("ignore:the table has")
def test_task_is_inferred_from_the_target(y, task):
    X = np.random.default_rng(0).standard_normal((60, 2))
    assert RelevanceSelector(QUICK, random_state=0).fit(X, y).result_.task == task


def test_task_can_be_given(problem):
    selector = RelevanceSelector(QUICK, task="regression", random_state=0)
    assert selector.fit(problem.X, problem.y).result_.task == "regression"


def test_linear_algebra_keeps_its_threads_after_fit(problem, fitted):
    before = [library["num_threads"] for library in threadpool_info()]
    RelevanceSelector(random_state=0).fit(problem.X, problem.y)
    assert [library["num_threads"] for library in threadpool_info()] == before


def test_fits_in_threads_share_the_limit_of_linear_algebra():
    def threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with ExitStack() as second:
            with one_thread:
                second.enter_context(one_thread)
            # The first is done, the second is not.
            assert threads() == {1}
        assert threads() == {2}
