"""Folds that the user asks for."""

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    TimeSeriesSplit,
)


@pytest.mark.parametrize(
    "cv",
    [3, KFold(4), TimeSeriesSplit(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)],
    ids=["number", "KFold", "TimeSeriesSplit", "RepeatedKFold"],
)
def test_any_splitter_will_do(verdict, cv):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(300)
    y = X[:, 0] - X[:, 2] + 0.3 * rng.standard_normal(300)
    assert verdict(X, y, cv=cv).relevance_classes_.tolist() == [1, 1, 2, 0]
    assert verdict(X, y > 0, cv=cv).relevance_classes_.tolist() == [1, 1, 2, 0]


def test_row_numbers_of_folds_are_those_of_the_table(verdict):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    fold = np.arange(200) % 4
    weights = np.where(np.arange(200) < 60, 0.0, 1.0)
    predefined = verdict(X, y, cv=PredefinedSplit(fold), sample_weight=weights)
    removed = verdict(X[60:], y[60:], cv=PredefinedSplit(fold[60:]))
    assert predefined.result_.evidence.loss == pytest.approx(removed.result_.evidence.loss)
    assert predefined.relevance_classes_.tolist() == [2, 0, 0]


def test_folds_of_one_patient_or_one_row_will_do(verdict, visits):
    X, y, patient, level = visits(0)
    X[:, 0] = level[patient]
    found = verdict(X, y, groups=patient, cv=LeaveOneGroupOut())
    assert found.relevance_classes_.tolist() == [2, 0, 0, 0, 0]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = 3 * X[:, 0] + rng.standard_normal(60)
    assert verdict(X, y, cv=LeaveOneOut()).relevance_classes_.tolist() == [2, 0]


def test_a_number_of_folds_keeps_groups_whole_and_forgets_the_order_of_rows(verdict, visits):
    X, y, patient, level = visits(0)
    X[:, 0] = level[patient] + 0.5 * np.random.default_rng(1).standard_normal(600)
    order = np.random.default_rng(2).permutation(600)
    one = verdict(X, y, groups=patient, cv=4).result_.evidence
    other = verdict(X[order], y[order], groups=patient[order] * 7, cv=4).result_.evidence
    assert one.loss == pytest.approx(other.loss)


def test_a_time_ordered_split_sees_what_does_not_last(verdict):
    # The column follows the target by accident of time: both drift, in pieces.
    rng = np.random.default_rng(0)
    n = 600
    x = np.concatenate([np.full(n // 2, -1.0), np.full(n // 2, 1.0)]) + 0.1 * rng.standard_normal(n)
    y = np.where(np.arange(n) < n // 2, 0.0, 1.0) + 0.3 * rng.standard_normal(n)
    shuffled = verdict(x[:, np.newaxis], y)
    ordered = verdict(x[:, np.newaxis], y, cv=TimeSeriesSplit(2, test_size=200))
    assert shuffled.relevance_classes_.tolist() == [2]
    assert ordered.result_.evidence.loss > 2 * shuffled.result_.evidence.loss
