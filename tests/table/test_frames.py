"""Tables of any library come in, and go out as what they were."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import config_context

from squamish import InputError, RelevanceSelector


def as_arrow(table):
    return pa.Table.from_pandas(table, preserve_index=False)


@pytest.mark.parametrize(
    "kind",
    [
        pl.from_pandas,
        as_arrow,
        lambda table: table.convert_dtypes(),
        lambda table: table.astype({"colour": "category", "Farbe": "category"}),
        lambda table: table.astype(object),
        lambda table: table.to_numpy(dtype=object),
        lambda table: pl.from_pandas(table).with_columns(pl.col("city").cast(pl.Categorical)),
    ],
    ids=["polars", "arrow", "nullable", "category", "object", "numpy", "polars categories"],
)
def test_the_verdict_does_not_depend_on_the_library(verdict, mixed, kind):
    table, y, _ = mixed()
    found = verdict(kind(table), y)
    expected = verdict(table, y)
    assert found.relevance_classes_.tolist() == expected.relevance_classes_.tolist()
    assert found.result_.evidence.p_relevant == pytest.approx(expected.result_.evidence.p_relevant)


@pytest.mark.parametrize("name", ["collect", "column_names", "columns", "shape"])
def test_columns_may_be_called_like_attributes_of_frames(classes, name):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: np.repeat([1.0, 2.0], 50), "b": rng.standard_normal(100)})
    assert classes(table, table[name] + rng.standard_normal(100)) == {name: 2, "b": 0}


def test_dates_and_durations_are_numbers(classes):
    rng = np.random.default_rng(0)
    days = rng.permutation(300)
    start = datetime.datetime(2020, 1, 1)
    moments = [start + datetime.timedelta(days=int(d)) for d in days]
    y = days + 20 * rng.standard_normal(300)
    noise = pd.to_timedelta(rng.integers(0, 1000, 300), unit="h")
    table = pd.DataFrame({"moment": moments, "length": noise})
    assert classes(table, y) == {"moment": 2, "length": 0}
    days_only = [None if i < 3 else m.date() for i, m in enumerate(moments)]
    frame = pl.DataFrame(
        {"date": days_only, "clock": [datetime.time(int(h)) for h in noise.seconds % 24]}
    )
    assert classes(frame, y) == {"date": 2, "clock": 0}
    assert classes(table.astype(object).rename(columns=str.upper), y) == {"MOMENT": 2, "LENGTH": 0}


def test_sparse_tables_give_the_verdict_of_dense_ones(verdict):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (300, 8)) * rng.random((300, 8))
    X[:, 7] = 0
    y = (X[:, 0] + X[:, 1] > 0.3).astype(int)
    dense = verdict(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, sparse.dok_array):
        found = verdict(kind(X), y)
        assert found.relevance_classes_.tolist() == dense.relevance_classes_.tolist()
        assert sparse.issparse(found.transform(kind(X)))


def test_the_callers_frame_is_left_alone(verdict, mixed):
    table, y, _ = mixed()
    before = table.copy(deep=True)
    verdict(table, y, infinite="missing")
    pd.testing.assert_frame_equal(table, before)


def test_frames_stay_what_they_are(verdict, mixed, truth):
    table, y, _ = mixed()
    selector = verdict(table, y)
    kept = list(truth)[:5]
    assert selector.transform(table).dtypes.equals(table[kept].dtypes)
    polars = pl.from_pandas(table)
    assert selector.transform(polars).equals(polars.select(kept))
    assert selector.transform(as_arrow(table)).column_names == kept
    assert isinstance(selector.set_output(transform="pandas").transform(polars), pd.DataFrame)
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(table[list(table.columns)[::-1]])


def test_nothing_selected_keeps_the_rows_of_a_pandas_frame(verdict):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((50, 2)), columns=["a", "b"], index=range(50, 100))
    selector = verdict(table, rng.standard_normal(50), if_none="empty")
    with pytest.warns(UserWarning, match="keeps nothing"):
        assert selector.transform(table).index.equals(table.index)
    with config_context(transform_output="polars"):
        table["a"] = table["a"].astype(float)
        found = verdict(table, table["a"] + rng.normal(0, 0.5, 50))
        assert found.transform(as_arrow(table)).columns == ["a"]


def test_a_table_without_rows_is_refused_before_its_columns_are_looked_at():
    X = pl.DataFrame({"a": pl.Series([], dtype=pl.List(pl.Int8))})
    with pytest.raises(InputError, match="X has 0 rows"):
        RelevanceSelector().fit(X, [])
