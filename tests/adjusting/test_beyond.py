"""What adjustments tell of other columns, and what they leave."""

import numpy as np
import pytest

from squamish.models.beyond import Terms, level_means
from squamish.table.parts import encode
from squamish.table.table import Table


def terms_of(*columns, is_category=False):
    X = np.column_stack(columns)
    flags = np.full(X.shape[1], is_category)
    return Terms.of(encode(Table(X, np.arange(float(len(X))), "regression", is_category=flags)))


def folds_of(n):
    rows = np.arange(n)
    return [(rows[rows % 5 != k], rows[rows % 5 == k]) for k in range(5)]


@pytest.mark.parametrize("curve", [np.sin, np.square, np.abs, lambda z: (z > 0.5) * 1.0])
def test_curves_of_a_number_are_told_out_of_sample(curve):
    rng = np.random.default_rng(0)
    z, noise = rng.uniform(-2, 2, 1000), rng.standard_normal(1000)
    truth = curve(2 * z)
    x = (truth + 0.3 * noise)[:, np.newaxis]
    found = terms_of(z).means(x, folds_of(1000))[:, 0]
    assert np.square(found - truth).mean() < 0.02 * (1 + truth.var())


def test_functions_of_two_numbers_are_told():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1000, 2))
    x = (z[:, 0] * z[:, 1])[:, np.newaxis]
    left = x - terms_of(*z.T).means(x, folds_of(1000))
    assert left.var() < 0.15 * x.var()


def test_of_noise_next_to_nothing_is_told():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 20))
    left = x - terms_of(rng.standard_normal(500)).means(x, folds_of(500))
    assert (np.square(left).mean(axis=0) / x.var(axis=0)).max() < 1.03


def test_cells_of_categories_say_all():
    rng = np.random.default_rng(0)
    sex, centre = rng.integers(0, 2, 300).astype(float), rng.integers(0, 4, 300).astype(float)
    terms = terms_of(sex, centre, is_category=True)
    assert terms.cells is not None
    assert terms.cells.max() == 7
    x = (10 * sex * centre + rng.standard_normal(300))[:, np.newaxis]
    left = terms.without_lines(x)
    assert np.abs(level_means(left, terms.cells)).max() < 1e-12


def test_levels_of_many_are_taken_off_and_lines_beside_them():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 30, 600).astype(float)
    age = rng.standard_normal(600)
    parts = encode(
        Table(
            np.column_stack([town, age]),
            np.arange(600.0),
            "regression",
            is_category=np.array([True, False]),
        )
    )
    terms = Terms.of(parts)
    left = terms.without_lines((town**2 + 3 * age)[:, np.newaxis])
    assert np.abs(left).max() < 1e-6
    # 30 levels and two lines (age, and its ranks) take as many rows.
    assert (1 - terms.spare).sum() == pytest.approx(32, abs=0.1)
