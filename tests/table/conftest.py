"""Tables that many tests of reading share."""

import numpy as np
import pandas as pd
import pytest

from squamish import RelevanceSelector


@pytest.fixture(scope="session")
def verdict():
    """Fit a selector, with a seed and whatever else is given."""

    def fitted(X, y, **given):
        fit = {name: given.pop(name) for name in ("sample_weight", "groups") if name in given}
        return RelevanceSelector(random_state=0, **given).fit(X, y, **fit)

    return fitted


@pytest.fixture(scope="session")
def classes(verdict):
    """Tell the class of every column by its name."""

    def by_name(X, y, **given):
        selector = verdict(X, y, **given)
        return dict(
            zip(selector.result_.feature_names, selector.relevance_classes_.tolist(), strict=True)
        )

    return by_name


@pytest.fixture(scope="session")
def mixed():
    """Make a table of every kind of column, classes and amounts."""

    def table_and_targets(seed=0, n=500):
        """A colour under two names, a city, a number, and a column that tells by being missing."""
        rng = np.random.default_rng(seed)
        colour, city, missing = rng.integers(0, 4, n), rng.integers(0, 30, n), rng.random(n) < 0.3
        x = rng.standard_normal(n)
        y = np.array([0, 1.5, -1.5, 0.5])[colour] + 1.2 * rng.standard_normal(30)[city]
        y = y + x + 1.5 * missing + 0.5 * rng.standard_normal(n)
        table = {
            "colour": np.array(["red", "green", "blue", "grey"])[colour],
            "Farbe": np.array(["rot", "grün", "blau", "grau"])[colour],
            "city": np.array([f"city {c}" for c in city]),
            "x": x,
            "told by its gaps": np.where(missing, np.nan, rng.standard_normal(n)),
            "any colour": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
            "noise with gaps": np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n)),
            "flag": rng.random(n) < 0.5,
            "count": rng.integers(0, 9, n),
        }
        return pd.DataFrame(table), (y > np.median(y)).astype(int), y

    return table_and_targets


@pytest.fixture(scope="session")
def truth():
    """The class of every column of ``mixed``."""
    return {
        "colour": 1,
        "Farbe": 1,
        "city": 2,
        "x": 2,
        "told by its gaps": 2,
        "any colour": 0,
        "noise with gaps": 0,
        "flag": 0,
        "count": 0,
    }


@pytest.fixture(scope="session")
def visits():
    """Make a table of patients that were measured several times."""

    def measurements(seed):
        """Sixty patients measured ten times; what differs between them has nothing to do with y."""
        rng = np.random.default_rng(seed)
        patient = np.repeat(np.arange(60), 10)
        level = rng.standard_normal(60)
        X = rng.standard_normal((60, 5))[patient] + 0.1 * rng.standard_normal((600, 5))
        return X, level[patient] + 0.3 * rng.standard_normal(600), patient, level

    return measurements
