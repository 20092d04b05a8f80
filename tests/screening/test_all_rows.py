"""Tests on all rows of very long tables."""

import numpy as np
import pytest

from squamish.execution.workers import Workers
from squamish.families import family_of
from squamish.screening.all_rows import AllRows, InMemory
from squamish.screening.marginal import marginal_p_values
from squamish.screening.partial import Design, partial_tests
from squamish.screening.scored_parts import score_parts
from squamish.statistics.scores import normal_scores
from squamish.table.drawing import draw_rows
from squamish.table.parts import encode
from squamish.table.table import Table


def test_rare_values_and_rare_classes_make_no_false_findings_on_all_rows():
    rng, found = np.random.default_rng(0), 0
    for _ in range(15):
        X = (rng.random((40_000, 20)) < 1e-3).astype(float)
        y = (rng.random(40_000) < 2e-3).astype(int)
        sample = Table(X, y, "classification")
        p = AllRows.of(InMemory(X), sample, y).p_values(sample, Workers())
        found += min(values.min() for values in p.values()) < 1e-5
    assert found == 0


def test_a_few_gaps_do_not_hide_what_is_not_monotone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2))
    y = (np.abs(X[:, 0]) + rng.logistic(size=20_000) > 1).astype(int)
    X[:3, 0] = np.nan
    table = Table(X, y, "classification")
    p = AllRows.of(InMemory(X), table, y).p_values(table, Workers())
    assert p["marginal"][0] < 1e-20


def test_tests_on_all_rows_are_uniform_for_noise_and_tiny_for_effects():
    rng, p = np.random.default_rng(0), []
    for _ in range(60):
        X = rng.standard_normal((3000, 4))
        X[:, 3] = rng.integers(0, 3, 3000)
        y = (X[:, 0] + rng.logistic(size=3000) > 0).astype(int)
        table = Table(X, y, "classification")
        everything = AllRows.of(
            InMemory(X), table.rows(draw_rows(500, rng, y, "classification")), y
        )
        p.append(everything.p_values(table, Workers()))
    marginal, partial, product = (
        np.array([values[name] for values in p]) for name in ("marginal", "partial", "product")
    )
    assert marginal[:, 0].max() < 1e-6
    assert partial[:, 0].max() < 1e-6
    for values in (marginal, partial, product):
        assert np.mean(values[:, 1:] < 0.05) < 0.09
        assert values[:, 1:].min() > 1e-5


def test_tests_on_all_rows_find_products_and_what_is_not_monotone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 5))
    y = (X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + rng.logistic(size=5000) > 1).astype(int)
    table = Table(X, y, "classification")
    everything = AllRows.of(InMemory(X), table.rows(np.arange(0, 5000, 10)), y)
    p = everything.p_values(table, Workers())
    assert p["product"][:2].max() < 1e-10
    assert p["marginal"][2] < 1e-10
    assert min(values[3:].min() for values in p.values()) > 1e-4


def screened_alone(X, y, task):
    """The tests on all rows of a table that is its own sample."""
    table = Table(X, y, task)
    return AllRows.of(InMemory(X), table, y).p_values(table, Workers())


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_all_rows_have_the_tests_of_tables_in_memory(task):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 6))
    X[:, 4] = X[:, 4] > 0
    y = 0.05 * X[:, 0] + 0.05 * X[:, 1] * X[:, 2] + rng.standard_normal(4000)
    y = (y > 0).astype(int) if task == "classification" else y
    family, Z = family_of(task), normal_scores(X)
    p = screened_alone(X, y, task)
    partial = partial_tests(Design.of(Z, family.scores(y)), family.scores(y)).single
    assert p["partial"] == pytest.approx(partial, rel=0.05, abs=1e-3)
    in_memory = marginal_p_values(X, y, family)
    # Of two values, ranks and their normal scores are the same; those of amounts differ a little.
    close = 0.01 if family.has_classes else 0.2
    assert p["marginal"][4] == pytest.approx(in_memory[4], rel=close)
    assert p["marginal"][0] < 0.05 > in_memory[0]


def test_a_column_has_the_same_parts_in_memory_and_over_all_rows():
    columns = {
        "constant but for three gaps": np.where(np.arange(60) < 3, np.nan, 1.0),
        "with three gaps": np.where(np.arange(60) < 3, np.nan, np.arange(60.0)),
        "with many gaps": np.where(np.arange(60) % 2, np.nan, np.arange(60.0)),
    }
    X = np.column_stack(list(columns.values()))
    table = Table(X, np.arange(60) % 2, "classification")
    in_memory = np.bincount(encode(table).feature).tolist()
    scored = [part.part.column for part in score_parts(table, n_bins=2)]
    assert np.bincount(scored).tolist() == in_memory == [1, 1, 2]
