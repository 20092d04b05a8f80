"""Targets: classes or amounts, of any kind, with and without gaps."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from squamish import InputError, RelevanceSelector


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["yes", "no"]),
        pd.Series([True, False]),
        pd.Series(["yes", "no"], dtype="category"),
        pl.Series(["yes", "no"]),
        pa.array(["yes", "no"]),
        pd.Series([7, 9]),
        pd.array([7, 9], dtype="Int64"),
    ],
    ids=["text", "bool", "category", "polars", "arrow", "int", "nullable"],
)
def test_targets_of_any_kind(verdict, labels):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    chosen = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(int)
    target = labels.take(pa.array(chosen)) if isinstance(labels, pa.Array) else labels[chosen]
    selector = verdict(X, target)
    assert selector.result_.task == "classification"
    assert selector.relevance_classes_.tolist() == [2, 0, 0]


def test_whole_numbers_with_many_values_are_amounts_and_a_note_says_so(verdict):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    counts = rng.poisson(np.exp(2.5 + 0.5 * X[:, 0]))
    result = verdict(X, counts).result_
    assert result.task == "regression"
    assert "taken for an amount; task='classification'" in result.notes[0]
    assert verdict(X, counts, task="regression").result_.notes == ()


def likert(rare=()):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = np.clip(np.rint(3 + 1.2 * X[:, 0] + 0.5 * rng.standard_normal(300)), 1, 5).astype(int)
    y[: len(rare)] = rare
    return X, y


def test_few_whole_numbers_are_classes_and_a_note_says_so(verdict):
    X, y = likert()
    result = verdict(X, y).result_
    assert result.task == "classification"
    assert result.notes[0].startswith("y holds 5 different whole numbers and is taken for classes")
    for task in ("ordinal", "counts", "regression"):
        assert f"task='{task}'" in result.notes[0]
        told = verdict(X, y, task=task).result_
        assert told.task == task
        assert not any("taken for" in note for note in told.notes)
    assert verdict(X, y > 3).result_.notes == ()


@pytest.mark.parametrize("rare", [[9], [9, -3, 12]])
def test_a_rare_value_does_not_change_what_a_target_is_taken_for(verdict, rare):
    X, y = likert(rare)
    result = verdict(X, y).result_
    assert result.task == "classification"
    assert result.classes.tolist() == [2, 0]
    assert result.n_samples == 300 - len(rare)
    assert any(
        "with a value of y that no other row has were left out: 9" in n for n in result.notes
    )
    assert not any("without a target" in note for note in result.notes)
    assert verdict(X, y, task="regression").result_.n_samples == 300


def test_numbers_most_of_which_are_their_own_are_amounts(verdict):
    X, _ = likert()
    amounts = np.rint(400 * (X[:100, 0] + X[:100, 1])).astype(int)
    assert verdict(X[:100], amounts).result_.task == "regression"


def test_rows_without_a_target_are_an_error_or_left_out(verdict, mixed, truth):
    table, y, amounts = mixed()
    gaps = amounts.copy()
    gaps[:40] = np.nan
    with pytest.raises(ValueError, match="y has 40 missing values of 500"):
        verdict(table, gaps)
    result = verdict(table, gaps, missing_target="drop").result_
    assert result.n_samples == 460
    assert result.notes == ("40 rows without a target were left out",)
    gaps[1:40] = amounts[1:40]
    one = verdict(table, gaps, missing_target="drop").result_
    assert one.notes == ("1 row without a target was left out",)
    labels = pd.Series(np.where(y, "ill", "well"), dtype=object)
    labels[:40] = None
    dropped = verdict(table, labels, missing_target="drop")
    assert dropped.relevance_classes_.tolist() == list(truth.values())


def test_more_classes_than_fit_into_memory_are_refused_in_words():
    n = 400_000
    y = np.array([f"day {k}" for k in np.arange(n) % 700])
    with pytest.raises(InputError, match="y has 700 classes in 400,000 rows, more than can"):
        RelevanceSelector().fit(np.arange(2.0 * n).reshape(n, 2), y)


@pytest.mark.parametrize("kind", [np.array, pd.DataFrame, pl.DataFrame, list])
def test_several_targets_get_one_error_that_suggests_a_loop(kind):
    targets = kind(np.random.default_rng(0).standard_normal((40, 2)))
    X = np.arange(80.0).reshape(40, 2)
    with pytest.raises(InputError, match="y has 2 columns, but one target is explained at a time"):
        RelevanceSelector().fit(X, targets)
    with pytest.raises(InputError, match="in a loop such as"):
        RelevanceSelector().audit(X, targets, n_shuffles=1)
