"""Ordered classes: recognised, given, or those of numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from squamish import InputError, RelevanceSelector

LEVELS = ["low", "medium", "high"]


@pytest.fixture(scope="module")
def graded():
    """A column that moves rows along the order, and another."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    places = np.searchsorted([-1.0, 1.0], 2 * X[:, 0] + rng.logistic(size=150))
    return X, np.array(LEVELS)[places]


def as_enum(labels):
    return pl.Series(labels, dtype=pl.Enum([*LEVELS, "never"]))


def as_category(labels):
    return pd.Categorical(labels, categories=["never", *LEVELS], ordered=True)


def as_arrow(labels):
    places = pa.array([LEVELS.index(label) for label in labels])
    return pa.DictionaryArray.from_arrays(places, pa.array(LEVELS), ordered=True)


@pytest.mark.parametrize(
    "make",
    [
        as_category,
        lambda labels: pd.Series(as_category(labels)),
        lambda labels: pd.CategoricalIndex(as_category(labels)),
        as_enum,
        as_arrow,
        lambda labels: pa.chunked_array([as_arrow(labels[:50]), as_arrow(labels[50:])]),
    ],
    ids=["categorical", "pandas", "index", "polars", "arrow", "chunks"],
)
def test_ordered_categories_are_ordered_classes_and_a_note_says_so(graded, make):
    X, labels = graded
    result = RelevanceSelector(random_state=0).fit(X, make(labels.tolist())).result_
    assert result.task == "ordinal"
    assert result.provenance.class_order == ("low", "medium", "high")
    assert (
        "taken for ordered classes, low < medium < high; task='classification'" in result.notes[0]
    )
    assert result.classes.tolist() == [2, 0]
    low, medium, high = (int(np.sum(labels == level)) for level in LEVELS)
    assert result.provenance.target_summary == (
        f"3 ordered classes: low ({low}) < medium ({medium}) < high ({high})"
    )


def test_a_column_of_a_frame_keeps_its_order(graded):
    X, labels = graded
    frame = pl.DataFrame({"grade": as_enum(labels)})
    with pytest.warns(UserWarning, match="column-vector"):
        result = RelevanceSelector(random_state=0).fit(X, frame).result_
    assert result.provenance.class_order == ("low", "medium", "high")


@pytest.mark.parametrize(
    ("make", "task"),
    [
        (lambda labels: pd.Series(labels, dtype="category"), None),
        (lambda labels: pl.Series(labels, dtype=pl.Categorical), None),
        (as_category, "classification"),
        (lambda labels: as_category(np.where(labels == "low", "low", "high")), None),
    ],
    ids=["unordered", "polars", "asked for", "two"],
)
def test_without_an_order_classes_are_classes(graded, make, task):
    X, labels = graded
    result = RelevanceSelector(task=task, random_state=0).fit(X, make(labels)).result_
    assert result.task == "classification"
    assert result.provenance.class_order == ()
    assert not any("ordered" in note for note in result.notes)


def test_an_order_can_be_given(graded):
    X, labels = graded
    given = RelevanceSelector(order=["none at all", *LEVELS], random_state=0).fit(X, labels)
    category = RelevanceSelector(random_state=0).fit(X, as_category(labels))
    assert given.result_.task == "ordinal"
    assert given.result_.evidence.loss == category.result_.evidence.loss
    back = RelevanceSelector(order=LEVELS[::-1], random_state=0).fit(X, labels).result_
    assert back.provenance.class_order == ("high", "medium", "low")
    assert back.classes.tolist() == [2, 0]


@pytest.mark.parametrize("order", [None, [1, 2, 3], ["1", "2", "3"], [1.0, 2.0, 3.0]])
def test_numbers_have_the_order_of_their_size_unless_another_is_given(graded, order):
    X, labels = graded
    y = np.array([LEVELS.index(label) + 1 for label in labels])
    selector = RelevanceSelector(task="ordinal", order=order, random_state=0).fit(X, y)
    assert selector.result_.provenance.class_order == ("1", "2", "3")


def test_truth_values_are_two_ordered_classes(graded):
    X, labels = graded
    selector = RelevanceSelector(order=["false", "true"], random_state=0).fit(X, labels == "high")
    assert selector.result_.provenance.class_order == ("False", "True")
    assert selector.relevance_classes_.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"task": "ordinal"},
            r"y holds text without an order \('high', 'low', 'medium'\), but task",
        ),
        (
            {"order": ["low", "high"]},
            "y holds 'medium', which is not among the classes in order",
        ),
        ({"order": [*LEVELS, "low"]}, "order holds a label twice: low, medium, high, low"),
        ({"order": "low,medium,high"}, "order is 'low,medium,high'; it must be a list of the lab"),
        ({"order": 3}, "order is 3; it must be a list of the labels of y"),
        ({"order": ["low"]}, r"order is \['low'\]; it must hold two labels or more"),
        ({"order": ["low", None]}, "it must hold two labels or more, and no gaps"),
        ({"order": LEVELS, "task": "classification"}, "order belongs to task='ordinal', but task"),
    ],
)
def test_what_is_no_order_of_the_target_is_refused(graded, parameters, said):
    X, labels = graded
    with pytest.raises(InputError, match=said):
        RelevanceSelector(**parameters).fit(X, labels)


def test_classes_of_a_single_row_and_ever_new_ones_are_refused_as_without_an_order(graded):
    X, labels = graded
    with pytest.raises(InputError, match="y has one row only of class never"):
        RelevanceSelector(order=["never", *LEVELS]).fit(X, np.append(labels[1:], "never"))
    with pytest.raises(InputError, match="y has 150 different values in 150 rows; classes must"):
        RelevanceSelector(task="ordinal").fit(X, X[:, 0])


def test_many_classes_are_summed_up_by_the_first_and_the_last():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1))
    y = rng.integers(0, 15, 300)
    result = RelevanceSelector(order=range(15), random_state=0).fit(X, y).result_
    assert result.provenance.target_summary.startswith("15 ordered classes: 0 (")
    assert " < 5 more < 14 (" in result.provenance.target_summary
    assert "0 < 1 < 2 < 3 < 4 < 5 < ... < 14;" in result.notes[0]


def test_hundreds_of_ordered_classes_are_not_taken_for_names():
    X, y = np.ones((300, 1)), np.arange(100).repeat(3)
    notes = RelevanceSelector(task="ordinal", random_state=0).fit(X, y).result_.notes
    assert not any("classes" in note for note in notes)
