"""Random samples of rows."""

import numpy as np
import pytest

from squamish.table.drawing import LEAST_OF_CLASS, draw_rows, without_rare_classes
from squamish.table.table import Table


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_all_rows_are_drawn_if_there_are_no_more(rng):
    assert draw_rows(9, rng, np.zeros(9), "regression").tolist() == list(range(9))
    assert len(draw_rows(8, rng, np.zeros(9), "regression")) == 8


def test_every_class_has_rows_in_the_sample_if_it_has_any(rng):
    y = np.repeat([0, 1, 2], [9000, 970, 30])
    counts = np.bincount(y[draw_rows(200, rng, y, "classification")])
    assert counts[1] >= LEAST_OF_CLASS
    assert counts[2] == 30


def test_amounts_are_drawn_whatever_they_are(rng):
    assert len(draw_rows(200, rng, np.repeat([0.5, 9.5], [9999, 1]), "regression")) == 200


def test_few_clusters_are_thinned_and_of_many_some_are_drawn(rng):
    few = np.repeat(np.arange(5), 400)
    drawn = few[draw_rows(500, rng, np.zeros(2000), "regression", few)]
    assert np.bincount(drawn).tolist() == [100] * 5
    many = np.repeat(np.arange(1000), 2)
    drawn = many[draw_rows(500, rng, np.zeros(2000), "regression", many)]
    assert set(np.bincount(drawn).tolist()) == {0, 2}
    assert 500 <= len(drawn) <= 502


def test_rare_classes_are_left_out_as_long_as_two_stay():
    y = np.repeat([0, 1, 2], [20, 2, 30])
    table = Table(np.arange(52.0)[:, np.newaxis], y, "classification", ("a", "b", "c"))
    some = without_rare_classes(table, 5)
    assert some.labels == ("a", "c")
    assert np.bincount(some.y).tolist() == [20, 30]
    assert some.X.min() == 0
    assert 21 not in some.X
    assert without_rare_classes(table, 25) is table
    assert without_rare_classes(Table(table.X, y / 7, "regression"), 5).X is table.X
