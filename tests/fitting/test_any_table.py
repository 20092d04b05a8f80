"""Whatever is thrown at fit ends in a verdict or in an error of our own."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from squamish import InputError, RelevanceSelector

NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1e-310, 1.7e308, -1.7e308, np.nan]),
)
VALUES = {
    "floats": NUMBERS,
    "floats and infinities": st.floats(),
    "small numbers": st.integers(-2, 2),
    "large numbers": st.integers(-(2**62), 2**62),
    "flags": st.booleans(),
    "flags with gaps": st.sampled_from([True, False, None]),
    "text": st.text(max_size=3),
    "few words": st.sampled_from(["a", "b", "ä", None]),
    "nothing": st.none(),
    "one value": st.just(3.5),
    "dates": st.dates(),
    "moments": st.datetimes(),
    "spans": st.timedeltas(),
    "lists": st.lists(st.integers(), max_size=2),
    "anything": st.one_of(st.text(max_size=2), st.integers(-5, 5), st.none(), st.booleans()),
}


@st.composite
def tables(draw):
    n = draw(st.one_of(st.integers(0, 3), st.integers(20, 120)))
    names = draw(st.lists(st.text(max_size=4), min_size=1, max_size=5, unique=True))
    # Long columns are repeats of a short draw: drawing every value would take too long.
    columns = {}
    for name in names:
        kind = draw(st.sampled_from(sorted(VALUES)))
        some = draw(st.lists(VALUES[kind], min_size=min(n, 1), max_size=8))
        order = np.random.default_rng(draw(st.integers(0, 99))).integers(0, max(len(some), 1), n)
        columns[name] = [some[i] for i in order]
    if draw(st.booleans()):
        columns[names[0] + " again"] = list(columns[names[0]])
    return columns


@st.composite
def targets(draw, columns):
    told = st.sampled_from(["told", "told in amounts"])
    other = st.sampled_from(["two", "three", "text", "amounts", "one", "gaps", "anything"])
    kind = draw(st.one_of(told, other))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    first = [repr(value) for value in next(iter(columns.values()))]
    n = len(first)
    number = np.unique(first, return_inverse=True)[1] if n else np.zeros(0, dtype=int)
    return {
        "told": np.where(rng.random(n) < 0.1, rng.integers(0, 2, n), number % 2),
        "told in amounts": number + 0.1 * rng.standard_normal(n),
        "two": rng.integers(0, 2, n),
        "three": rng.integers(0, 3, n),
        "text": rng.choice(["yes", "no"], n),
        "amounts": rng.standard_normal(n),
        "one": np.zeros(n),
        "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.standard_normal(n)),
        "anything": np.array(draw(st.lists(VALUES["anything"], min_size=n, max_size=n)), object),
    }[kind]


def fitted(selector, table, y):
    """The verdict, or the one error that is allowed: ours, or scikit-learn's about the shape."""
    try:
        return selector.fit(table, y).relevance_classes_, ""
    except InputError as error:
        return None, str(error)
    except ValueError as error:
        if any(word in str(error) for word in ("sample(s)", "feature(s)", "1d array")):
            return None, str(error).splitlines()[0]
        raise


@pytest.mark.filterwarnings("default")
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), columns=tables(), kind=st.sampled_from(["pandas", "polars", "numpy"]))
def test_a_verdict_for_every_column_or_one_clear_error(data, columns, kind):
    y = data.draw(targets(columns))
    try:
        table = {
            "pandas": lambda: pd.DataFrame(columns),
            "polars": lambda: pl.DataFrame(columns, strict=False),
            "numpy": lambda: pd.DataFrame(columns).to_numpy(),
        }[kind]()
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return  # the library itself does not take it
    before = table.clone() if kind == "polars" else table.copy()
    selector = RelevanceSelector(
        random_state=0, missing_target=data.draw(st.sampled_from(["error", "drop"]))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, complaint = fitted(selector, table, y)
    if complaint:
        event(" ".join(complaint.split()[:3]))
        assert "\n" not in complaint
    else:
        event("verdict" if found.any() else "nothing relevant")
        assert found.shape == (table.shape[1],)
        assert set(found.tolist()) <= {0, 1, 2}
    unchanged = {
        "pandas": lambda: pd.testing.assert_frame_equal(table, before),
        "polars": lambda: pl.testing.assert_frame_equal(table, before),
        "numpy": lambda: pd.testing.assert_frame_equal(pd.DataFrame(table), pd.DataFrame(before)),
    }
    unchanged[kind]()
