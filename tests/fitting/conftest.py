"""Long tables that are quick to test."""

import numpy as np
import polars as pl
import pytest

from squamish.fitting import sampling
from squamish.models import sample_size
from squamish.screening import all_rows


@pytest.fixture
def small(monkeypatch):
    """Let tables be very long that are quick to test."""
    monkeypatch.setattr(all_rows, "PORTION", 700)
    monkeypatch.setattr(sampling, "FEW_ROWS", 2000)
    monkeypatch.setattr(sample_size, "PILOT", 500)
    monkeypatch.setattr(sample_size, "MOST_ROWS", 3000)


@pytest.fixture(scope="session")
def hospital():
    """Make a frame of every kind of column, and who is ill."""

    def frame_and_state(n, seed=0):
        """A frame of every kind of column: a, b and its copies, ward and gap matter."""
        rng = np.random.default_rng(seed)
        a, b = rng.standard_normal((2, n))
        ward = rng.choice(["east", "north", "west"], n)
        gap = rng.random(n) < 0.3
        frame = pl.DataFrame(
            {
                "a": a,
                "b": b,
                "copy of b": 3 - 2 * b,
                "ward": ward,
                "gap": np.where(gap, np.nan, rng.standard_normal(n)),
                "code": rng.integers(0, 4, n),
                "noise": rng.standard_normal(n),
                "colour": rng.choice(["red", "green"], n),
                "town": rng.choice([f"t{i}" for i in range(200)], n),
            }
        ).with_columns(gap=pl.col("gap").fill_nan(None))
        risk = a + b + 2.0 * (ward == "west") + 1.5 * gap + rng.logistic(size=n)
        return frame, np.where(risk > 1, "ill", "well")

    return frame_and_state


@pytest.fixture(scope="session")
def expected():
    """The relevant columns of it: a, b and its copy, ward and gap."""
    return {"a": 2, "b": 1, "copy of b": 1, "ward": 2, "gap": 2}


@pytest.fixture(scope="session")
def relevant():
    """Tell the class of every relevant column by its name."""

    def by_name(result):
        return {k: int(v) for k, v in zip(result.feature_names, result.classes, strict=True) if v}

    return by_name
