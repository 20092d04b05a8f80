"""Names that mean patterns, dates beyond the calendar, wide numbers and bytes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from squamish import InputError, RelevanceSelector
from squamish.table.lazy import take_by_name, take_lazily

N = 30
Y = np.arange(N) % 2
NOISE = np.random.default_rng(0).standard_normal(N)
PATTERNS = st.sampled_from(["*", "^x.*$", "^.*$", "x1", "x", "0", "1", "", "^x1$"])


def fitted(X, y=Y):
    return RelevanceSelector(random_state=0).fit(X, y)


@given(st.lists(PATTERNS, min_size=1, unique=True), st.data())
def test_names_are_names_and_never_patterns(names, data):
    table = pl.LazyFrame({name: [place] for place, name in enumerate(names)})
    places = data.draw(st.lists(st.sampled_from(range(len(names))), min_size=1, unique=True))
    taken = take_lazily(table, places).collect()
    assert taken.columns == [names[j] for j in places]
    assert taken.row(0) == tuple(places)
    assert take_by_name(table, taken.columns).collect().equals(taken)


@pytest.mark.parametrize("names", [("^t$", "t"), ("*", "a"), ("^.*$", "*")])
def test_a_frame_with_names_like_patterns_is_judged(names):
    words = np.random.default_rng(1).choice(["u", "v"], N)
    table = pl.DataFrame({names[0]: words, names[1]: NOISE})
    assert fitted(table).result_.feature_names == names


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"t": pl.Series(range(10**9, 10**9 + N), dtype=pl.Int32).cast(pl.Date)}),
        pa.table({"t": pa.array(range(10**9, 10**9 + N), pa.int32()).cast(pa.date32())}),
    ],
    ids=["polars", "arrow"],
)
def test_dates_beyond_the_calendar_are_numbers(table):
    assert fitted(table).result_.columns.missing == (0.0,)


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this polars has no such numbers")
def test_numbers_too_wide_for_numpy_are_numbers():
    table = pl.DataFrame({"t": pl.Series(range(N)).cast(pl.Int128)})
    assert fitted(table).result_.columns.missing == (0.0,)


def test_moments_that_no_library_reads_are_refused_by_name():
    table = pa.table({"t": pa.array(range(10**15, 10**15 + N), pa.timestamp("s"))})
    with pytest.raises(InputError, match=r"column 't' holds a Datetime.* that cannot be read"):
        fitted(table)


def test_text_that_is_no_utf8_is_refused_by_name():
    offsets = pa.py_buffer(np.arange(N + 1, dtype=np.int32).tobytes())
    text = pa.Array.from_buffers(pa.string(), N, [None, offsets, pa.py_buffer(b"\xff\xfe" * N)])
    with pytest.raises(InputError, match="column 'a' holds a String that cannot be read"):
        fitted(pa.table({"a": text}))


def test_names_that_are_equal_without_being_the_same_text_are_refused():
    table = pd.DataFrame({0: NOISE, 1: NOISE}).set_axis([1, True], axis=1)
    with pytest.raises(InputError, match="more than one column is called 1"):
        fitted(table)


def test_bytes_of_any_kind_are_labels_of_a_target():
    for labels in ([b"\xff", b"\xfe"] * (N // 2), np.array([b"\xff", b"yes"] * (N // 2), object)):
        summary = fitted(NOISE[:, np.newaxis], labels).result_.provenance.target_summary
        assert r"\xff" in summary


def test_a_target_beyond_all_floats_is_refused():
    with pytest.raises(InputError, match="y holds a number that is too large"):
        fitted(NOISE[:, np.newaxis], [10**400, 1] * (N // 2))


def test_a_target_in_a_column_warns_whoever_passed_it():
    with pytest.warns(DataConversionWarning, match="column-vector y") as caught:
        fitted(NOISE[:, np.newaxis], Y.reshape(-1, 1))
    assert caught[0].filename == __file__


def test_a_column_that_spans_all_floats_is_judged_without_a_warning():
    rng = np.random.default_rng(2)
    table = np.column_stack([np.where(rng.random(N) < 0.5, 1.7e308, -1.7e308), NOISE])
    assert fitted(table).relevance_classes_.shape == (2,)


def test_many_columns_without_a_row_are_refused():
    with pytest.raises(InputError, match="X has 0 rows"):
        fitted(pl.DataFrame({str(j): pl.Series([], dtype=pl.String) for j in range(5)}), [])
