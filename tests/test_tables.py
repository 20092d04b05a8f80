"""Tables as people have them: any library, kind of column, gaps, weights and groups."""

import datetime
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline

from squamish import InputError, LeakWarning, RelevanceSelector
from squamish.table.files import read_file, scan_file, write_whole


def verdict(X, y, **given):
    fit = {name: given.pop(name) for name in ("sample_weight", "groups") if name in given}
    return RelevanceSelector(random_state=0, **given).fit(X, y, **fit)


def classes(X, y, **given):
    selector = verdict(X, y, **given)
    return dict(
        zip(selector.result_.feature_names, selector.relevance_classes_.tolist(), strict=True)
    )


def mixed(seed=0, n=500):
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


TRUTH = {
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_categories_and_gaps_get_their_right_class(seed, task):
    table, labels, amounts = mixed(seed)
    assert classes(table, labels if task == "classification" else amounts) == TRUTH


def test_a_category_under_other_labels_replaces_it_even_with_many_levels():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 40, 800)
    y = rng.standard_normal(40)[city] + 0.5 * rng.standard_normal(800)
    code = rng.permutation(40)[city]
    table = pd.DataFrame(
        {"city": city.astype(str), "code": code.astype(str), "x": y * 0 + city[::-1]}
    )
    for columns in (["city", "code", "x"], ["city", "code"]):
        selector = verdict(table[columns], y)
        assert selector.relevance_classes_[:2].tolist() == [1, 1]
        assert not selector.relevance_classes_[2:].any()
        assert selector.result_.groups == (("city", "code"),)


def test_categories_that_matter_only_together_are_strong():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 600))
    y = ((a + b) % 3 == 0).astype(int)
    table = pd.DataFrame(
        {"a": a.astype(str), "b": b.astype(str), "c": rng.integers(0, 3, 600).astype(str)}
    )
    assert classes(table, y) == {"a": 2, "b": 2, "c": 0}


@pytest.mark.parametrize("seed", range(5))
def test_many_random_levels_buy_nothing(seed):
    rng = np.random.default_rng(seed)
    n = 400
    table = pd.DataFrame(
        {
            "x": rng.standard_normal(n),
            "40 levels": rng.integers(0, 40, n).astype(str),
            "200 levels": rng.integers(0, 200, n).astype(str),
            "1,000 levels": rng.integers(0, 1000, n).astype(str),
            "id": [f"id {i}" for i in range(n)],
            "row": np.arange(n),
        }
    )
    found = classes(table, table["x"] + 0.5 * rng.standard_normal(n) > 0)
    assert found == {"x": 2} | dict.fromkeys(list(table.columns)[1:], 0)
    assert set(classes(table, rng.standard_normal(n)).values()) == {0}


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
def test_the_verdict_does_not_depend_on_the_library(kind):
    table, y, _ = mixed()
    found = verdict(kind(table), y)
    expected = verdict(table, y)
    assert found.relevance_classes_.tolist() == expected.relevance_classes_.tolist()
    assert found.result_.evidence.p_relevant == pytest.approx(expected.result_.evidence.p_relevant)


@pytest.mark.parametrize(
    "ending", ["csv", "csv.gz", "tsv", "csv.bz2", "parquet", "feather", "csv.zst"]
)
def test_the_verdict_does_not_depend_on_the_file(tmp_path, ending):
    table, y, _ = mixed()
    path = tmp_path / f"table.{ending}"
    if ending == "parquet":
        table.to_parquet(path)
    elif ending == "feather":
        pl.from_pandas(table).write_ipc(path)
    elif ending == "csv.zst":
        path.write_bytes(pa.compress(table.to_csv(index=False).encode(), "zstd", asbytes=True))
    else:
        table.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    assert classes(read_file(path), y) == classes(table, y)


def test_packed_text_is_read_like_plain_text(tmp_path):
    path = tmp_path / "table.csv.zst"
    path.write_bytes(pa.compress(b"size;city\n1,5;Bonn\nNA;Oslo\n", "zstd", asbytes=True))
    assert read_file(path).to_dict(as_series=False) == {
        "size": [1.5, None],
        "city": ["Bonn", "Oslo"],
    }
    path.write_bytes(pa.compress(b"size,size\n1,2\n", "zstd", asbytes=True))
    with pytest.raises(InputError, match="more than one column is called 'size'"):
        read_file(path)
    path.write_bytes(pa.compress(b"001\n1\n2\n", "zstd", asbytes=True))
    assert read_file(path).columns == ["001"]
    path.write_bytes(pa.compress(b'"a\nb",c\n1,2\n', "zstd", asbytes=True))
    with pytest.raises(InputError, match="a name with a line break is not read"):
        read_file(path)


def test_decimal_commas_are_read_in_columns_of_any_name(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("^.*$;b;none;words\n1,5;2;;1,5\n+2,5e1;3;;x,y\n")
    assert read_file(path).to_dict(as_series=False) == {
        "^.*$": [1.5, 25.0],
        "b": [2, 3],
        "none": [None, None],
        "words": ["1,5", "x,y"],
    }


def test_very_wide_text_is_read(tmp_path):
    names = [f"ENSG{j:011d}" for j in range(10_000)]
    path = tmp_path / "genes.csv"
    path.write_text(";".join(names) + "\n" + ";".join(["1,5"] * len(names)) + "\n")
    table = read_file(path)
    assert table.columns == names
    assert table.row(0)[-1] == 1.5


def test_the_very_file_is_read_whatever_its_name(tmp_path):
    pl.DataFrame({"mine": [1]}).write_parquet(tmp_path / "run[1].parquet")
    pl.DataFrame({"other": [1]}).write_parquet(tmp_path / "run1.parquet")
    assert scan_file(tmp_path / "run[1].parquet").collect().columns == ["mine"]


@pytest.mark.parametrize("name", ["collect", "column_names", "columns", "shape"])
def test_columns_may_be_called_like_attributes_of_frames(name):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: np.repeat([1.0, 2.0], 50), "b": rng.standard_normal(100)})
    assert classes(table, table[name] + rng.standard_normal(100)) == {name: 2, "b": 0}


def test_one_long_text_does_not_cost_the_memory_of_many():
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Oslo", "Rome"], 400).astype(object)
    y = (city == "Bonn") + 0.3 * rng.standard_normal(400)
    city[0] = "x" * 1_000_000
    tracemalloc.start()
    try:
        assert classes(pd.DataFrame({"city": city}), y) == {"city": 2}
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def test_frames_stay_what_they_are():
    table, y, _ = mixed()
    selector = verdict(table, y)
    kept = list(TRUTH)[:5]
    assert selector.transform(table).dtypes.equals(table[kept].dtypes)
    polars = pl.from_pandas(table)
    assert selector.transform(polars).equals(polars.select(kept))
    assert selector.transform(as_arrow(table)).column_names == kept
    assert isinstance(selector.set_output(transform="pandas").transform(polars), pd.DataFrame)
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(table[list(table.columns)[::-1]])


def test_dates_and_durations_are_numbers():
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


def test_sparse_tables_give_the_verdict_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (300, 8)) * rng.random((300, 8))
    X[:, 7] = 0
    y = (X[:, 0] + X[:, 1] > 0.3).astype(int)
    dense = verdict(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        found = verdict(kind(X), y)
        assert found.relevance_classes_.tolist() == dense.relevance_classes_.tolist()
        assert sparse.issparse(found.transform(kind(X)))


def test_infinite_values_may_be_taken_for_missing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    gaps = X.copy()
    X[:20, 0], gaps[:20, 0] = np.inf, np.nan
    assert classes(X, y, infinite="missing") == classes(gaps, y)
    assert np.isinf(X[:20, 0]).all()


def test_columns_that_belong_together_are_judged_as_one():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 4, 400)
    one_hot = pd.get_dummies(pd.Series(level), prefix="level")
    table = one_hot.assign(x=rng.standard_normal(400), noise=rng.standard_normal(400))
    y = np.array([0, 1, 2, 0])[level] + table["x"] + 0.3 * rng.standard_normal(400)
    apart = classes(table, y)
    assert apart["level_1"] == 1
    together = verdict(table, y, feature_groups={"level": list(one_hot.columns)})
    assert together.relevance_classes_.tolist() == [2, 2, 2, 2, 2, 0]
    by_number = verdict(table.to_numpy(dtype=float), y, feature_groups=[[0, 1, 2, 3]])
    assert by_number.relevance_classes_.tolist() == [2, 2, 2, 2, 2, 0]


def test_numbers_may_be_declared_categories():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 2)).astype(float)
    y = np.array([0, 3, 1, 3, 0, 1])[X[:, 0].astype(int)] + rng.standard_normal(300)
    by_number = verdict(X, y, categorical_features=[0, 1])
    as_text = verdict(pd.DataFrame(X.astype(int).astype(str)), y)
    assert by_number.relevance_classes_.tolist() == as_text.relevance_classes_.tolist() == [2, 0]


def test_a_weight_of_zero_is_removal():
    table, y, amounts = mixed()
    rng = np.random.default_rng(1)
    weights = np.where(rng.random(len(y)) < 0.3, 0.0, 1.0)
    for target in (y, amounts):
        weighted = verdict(table, target, sample_weight=weights)
        removed = verdict(table[weights > 0], target[weights > 0])
        assert weighted.relevance_classes_.tolist() == removed.relevance_classes_.tolist()
        assert weighted.result_.evidence.p_relevant == pytest.approx(
            removed.result_.evidence.p_relevant
        )
    uneven = np.where(weights > 0, rng.uniform(0.5, 2, len(y)), 0.0)
    weighted = verdict(table, y, sample_weight=uneven)
    removed = verdict(table[weights > 0], y[weights > 0], sample_weight=uneven[weights > 0])
    assert weighted.relevance_classes_.tolist() == removed.relevance_classes_.tolist()
    assert {name for name, c in TRUTH.items() if c} <= set(
        weighted.result_.strong + weighted.result_.weak
    )


def test_weights_decide_which_rows_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    first = np.arange(600) < 300
    y = np.where(first, X[:, 0], X[:, 1]) + 0.3 * rng.standard_normal(600)
    for side, column in ((first, 0), (~first, 1)):
        found = verdict(X, y, sample_weight=np.where(side, 1.0, 1e-6))
        assert found.relevance_classes_[column] == 2
        assert found.result_.evidence.effect[column] > 0.5


def patients(seed):
    """Sixty patients measured ten times; what differs between them has nothing to do with y."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(60), 10)
    level = rng.standard_normal(60)
    X = rng.standard_normal((60, 5))[patient] + 0.1 * rng.standard_normal((600, 5))
    return X, level[patient] + 0.3 * rng.standard_normal(600), patient, level


def test_rows_of_one_patient_are_one_observation():
    by_row, by_patient = 0, 0
    for seed in range(2):
        X, y, patient, _ = patients(seed)
        by_row += verdict(X, y).support_.any()
        by_patient += verdict(X, y, groups=patient).support_.any()
    assert by_row == 2
    assert by_patient == 0


def test_a_class_in_one_group_only_is_never_trained_without():
    X, y, patient, _ = patients(0)
    ill = (patient == 3).astype(int)
    with pytest.raises(ValueError, match="every class must occur in 2 or more groups"):
        verdict(X, ill, groups=ill)
    rare = np.where(patient == 3, 2, y > 0).astype(int)
    assert verdict(X, rare, groups=patient).relevance_classes_.shape == (5,)


@pytest.mark.parametrize("kind", ["classes", "amounts"])
def test_categories_of_many_levels_are_found_within_patients(kind):
    rng = np.random.default_rng(0)
    patient, city = np.repeat(np.arange(50), 20), rng.integers(0, 20, 1000)
    y = 3 * rng.standard_normal(20)[city] + 0.5 * rng.standard_normal(1000)
    other = rng.integers(0, 20, 1000)
    table = pd.DataFrame({"city": city.astype(str), "other": other.astype(str)})
    target = (y > 0).astype(int) if kind == "classes" else y
    assert classes(table, target, groups=patient) == {"city": 2, "other": 0}
    assert classes(table, target, sample_weight=rng.uniform(0.5, 2, 1000)) == {
        "city": 2,
        "other": 0,
    }


def test_rows_that_hardly_count_prove_nothing():
    rng = np.random.default_rng(0)
    n, half = 1000, np.arange(1000) < 500
    x, z, noise = rng.standard_normal((3, n))
    level = rng.integers(0, 30, n)
    y = x + 0.5 * noise
    z[half] = x[half] + 0.1 * z[half]
    y[half] += 3 * rng.standard_normal(30)[level[half]]
    table = pd.DataFrame({"x": x, "z": z, "level": level.astype(str)})
    found = classes(table, y, sample_weight=np.where(half, 1e-9, 1.0))
    assert found == {"x": 2, "z": 0, "level": 0}


def test_every_member_of_a_feature_group_may_prove_it():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        city, other = rng.integers(0, 20, (2, 500))
        y = rng.standard_normal(20)[city] + 0.5 * rng.standard_normal(500)
        table = pd.DataFrame({"city": city.astype(str), "other": other.astype(str)})
        assert classes(table, y, feature_groups=[["city", "other"]]) == {"city": 2, "other": 2}


def test_folds_of_one_patient_or_one_row_will_do():
    X, y, patient, level = patients(0)
    X[:, 0] = level[patient]
    found = verdict(X, y, groups=patient, cv=LeaveOneGroupOut())
    assert found.relevance_classes_.tolist() == [2, 0, 0, 0, 0]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = 3 * X[:, 0] + rng.standard_normal(60)
    assert verdict(X, y, cv=LeaveOneOut()).relevance_classes_.tolist() == [2, 0]


def test_a_number_of_folds_keeps_groups_whole_and_forgets_the_order_of_rows():
    X, y, patient, level = patients(0)
    X[:, 0] = level[patient] + rng_noise(600)
    order = np.random.default_rng(2).permutation(600)
    one = verdict(X, y, groups=patient, cv=4).result_.evidence
    other = verdict(X[order], y[order], groups=patient[order] * 7, cv=4).result_.evidence
    assert one.loss == pytest.approx(other.loss)


def rng_noise(n):
    return 0.5 * np.random.default_rng(1).standard_normal(n)


def test_masked_values_are_missing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    mask = rng.random(X.shape) < 0.2
    masked = np.ma.masked_array(np.where(mask, 99.0, X), mask)
    assert classes(masked, y) == classes(np.where(mask, np.nan, X), y)
    target = np.ma.masked_array(np.where(mask[:, 0], 99.0, y), mask[:, 0])
    assert verdict(X, target, missing_target="drop").result_.n_samples == (~mask[:, 0]).sum()


def test_what_is_wrong_in_rows_of_weight_zero_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    expected = verdict(X[1:], y[1:]).result_.evidence.loss
    X[0, 1], y[0] = np.inf, np.nan
    weights = np.r_[0.0, np.ones(199)]
    assert verdict(X, y, sample_weight=weights).result_.evidence.loss == pytest.approx(expected)


def test_nothing_selected_keeps_the_rows_of_a_pandas_frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((50, 2)), columns=["a", "b"], index=range(50, 100))
    selector = verdict(table, rng.standard_normal(50))
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(table).index.equals(table.index)
    with config_context(transform_output="polars"):
        table["a"] = table["a"].astype(float)
        found = verdict(table, table["a"] + rng.normal(0, 0.5, 50))
        assert found.transform(as_arrow(table)).columns == ["a"]


def test_what_differs_with_the_target_between_patients_is_found():
    X, y, patient, level = patients(0)
    X[:, 0] = (0.8 * level + 0.6 * np.random.default_rng(1).standard_normal(60))[patient]
    names = np.array([f"patient {p}" for p in patient])
    for target in (y, (y > 0).astype(int)):
        assert verdict(X, target, groups=names).relevance_classes_.tolist() == [2, 0, 0, 0, 0]
    found = verdict(X, y, groups=patient, cv=GroupKFold(4))
    assert found.relevance_classes_.tolist() == [2, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "cv",
    [3, KFold(4), TimeSeriesSplit(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)],
    ids=["number", "KFold", "TimeSeriesSplit", "RepeatedKFold"],
)
def test_any_splitter_will_do(cv):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(300)
    y = X[:, 0] - X[:, 2] + 0.3 * rng.standard_normal(300)
    assert verdict(X, y, cv=cv).relevance_classes_.tolist() == [1, 1, 2, 0]
    assert verdict(X, y > 0, cv=cv).relevance_classes_.tolist() == [1, 1, 2, 0]


def test_row_numbers_of_folds_are_those_of_the_table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(200)
    fold = np.arange(200) % 4
    weights = np.where(np.arange(200) < 60, 0.0, 1.0)
    predefined = verdict(X, y, cv=PredefinedSplit(fold), sample_weight=weights)
    removed = verdict(X[60:], y[60:], cv=PredefinedSplit(fold[60:]))
    assert predefined.result_.evidence.loss == pytest.approx(removed.result_.evidence.loss)
    assert predefined.relevance_classes_.tolist() == [2, 0, 0]


def test_a_time_ordered_split_sees_what_does_not_last():
    # The column follows the target by accident of time: both drift, in pieces.
    rng = np.random.default_rng(0)
    n = 600
    x = np.concatenate([np.full(n // 2, -1.0), np.full(n // 2, 1.0)]) + 0.1 * rng.standard_normal(n)
    y = np.where(np.arange(n) < n // 2, 0.0, 1.0) + 0.3 * rng.standard_normal(n)
    shuffled = verdict(x[:, np.newaxis], y)
    ordered = verdict(x[:, np.newaxis], y, cv=TimeSeriesSplit(2, test_size=200))
    assert shuffled.relevance_classes_.tolist() == [2]
    assert ordered.result_.evidence.loss > 2 * shuffled.result_.evidence.loss


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
def test_targets_of_any_kind(labels):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    chosen = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(int)
    target = labels.take(pa.array(chosen)) if isinstance(labels, pa.Array) else labels[chosen]
    selector = verdict(X, target)
    assert selector.result_.task == "classification"
    assert selector.relevance_classes_.tolist() == [2, 0, 0]


def test_whole_numbers_with_many_values_are_amounts_and_a_note_says_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    counts = rng.poisson(np.exp(2.5 + 0.5 * X[:, 0]))
    result = verdict(X, counts).result_
    assert result.task == "regression"
    assert "taken for an amount; task='classification'" in result.notes[0]
    assert verdict(X, counts, task="regression").result_.notes == ()


def test_rows_without_a_target_are_an_error_or_left_out():
    table, y, amounts = mixed()
    gaps = amounts.copy()
    gaps[:40] = np.nan
    with pytest.raises(ValueError, match="y has 40 missing values of 500"):
        verdict(table, gaps)
    result = verdict(table, gaps, missing_target="drop").result_
    assert result.n_samples == 460
    assert result.notes == ("40 rows without a target were left out",)
    labels = pd.Series(np.where(y, "ill", "well"), dtype=object)
    labels[:40] = None
    dropped = verdict(table, labels, missing_target="drop")
    assert dropped.relevance_classes_.tolist() == list(TRUTH.values())


@pytest.mark.parametrize("kind", ["classes", "amounts", "text"])
def test_a_leak_is_named(kind):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.standard_normal(300), "outcome code": rng.standard_normal(300)})
    y = table["outcome code"] * 3
    if kind != "amounts":
        y = (y > 0).astype(int)
    if kind == "text":
        table["outcome code"] = np.where(y, "code 17", "code 3")
    with pytest.warns(LeakWarning, match="'outcome code' alone tells the target"):
        selector = verdict(table, y)
    assert selector.result_.notes[-1].startswith("'outcome code' alone")


def test_leaks_that_a_line_sees_and_that_only_trees_see_are_both_named():
    rng = np.random.default_rng(0)
    score, x = rng.standard_normal((2, 300))
    y = (score > 0).astype(int)
    table = pd.DataFrame({"x": x, "score": score, "sign": np.where(y, 0, rng.choice([-1, 1], 300))})
    with pytest.warns(LeakWarning) as warned:
        verdict(table, y)
    assert [str(w.message).split()[0] for w in warned] == ["'score'", "'sign'"]


def test_the_callers_frame_is_left_alone():
    table, y, _ = mixed()
    before = table.copy(deep=True)
    verdict(table, y, infinite="missing")
    pd.testing.assert_frame_equal(table, before)


def test_rare_and_unseen_levels_break_nothing():
    rng = np.random.default_rng(0)
    n = 300
    levels = rng.choice([f"level {i}" for i in range(60)], n, p=np.r_[[0.7], [0.3 / 59] * 59])
    x = rng.standard_normal(n)
    table = pd.DataFrame({"x": x, "rare": levels, "once": ["one"] + ["other"] * (n - 1)})
    y = x + (levels == "level 0") + 0.3 * rng.standard_normal(n)
    selector = verdict(table, y)
    assert selector.relevance_classes_.tolist() == [2, 2, 0]
    new = table.assign(rare="never seen")
    assert selector.transform(new).columns.tolist() == ["x", "rare"]


def test_infinite_values_of_sparse_tables_are_named():
    dense = np.eye(20)
    dense[3, 2] = np.inf
    X = sparse.csr_matrix(dense)
    with pytest.raises(ValueError, match="column 2 holds inf in row 3; values must be finite"):
        verdict(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="categorical_features cannot be columns of a sparse"):
        verdict(sparse.csr_matrix(np.eye(20)), np.arange(20) % 2, categorical_features=[0])


def test_weights_and_groups_are_routed_through_pipelines():
    X, y, patient, level = patients(0)
    X[:, 0] = level[patient]
    with config_context(enable_metadata_routing=True):
        selector = RelevanceSelector(random_state=0).set_fit_request(
            sample_weight=True, groups=True
        )
        pipeline = make_pipeline(selector, LinearRegression().set_fit_request(sample_weight=False))
        pipeline.fit(X, y, sample_weight=np.ones(600), groups=patient)
    assert pipeline[0].relevance_classes_.tolist() == [2, 0, 0, 0, 0]


def test_line_breaks_in_quotes_decimal_commas_and_marks_of_gaps_are_read(tmp_path):
    rows = "".join(f'{i},5;"a\nb";{"?" if i % 3 else i};x{i % 2}\n' for i in range(300))
    (tmp_path / "excel.csv").write_text(f'"size\nin cm";note;;kind\n{rows}')
    table = read_file(tmp_path / "excel.csv")
    assert table.columns == ["size\nin cm", "note", "unnamed_3", "kind"]
    assert [str(dtype) for dtype in table.dtypes] == ["Float64", "String", "Int64", "String"]
    assert table["size\nin cm"][1] == 1.5
    assert table["unnamed_3"].null_count() == 200
    assert table["note"][0] in ("a\nb", "a b")


def test_files_are_written_whole_and_links_stay(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.txt", "real.txt"]
    for wrong in (tmp_path, tmp_path / "none" / "x", tmp_path / ("x" * 300)):
        with pytest.raises(InputError, match="cannot be written"):
            write_whole(wrong, "x")


def many_levels(n, n_levels=40):
    rng = np.random.default_rng(0)
    level = rng.integers(0, n_levels, n)
    return np.array([f"city {c}" for c in level]), rng.standard_normal(n_levels)[level], rng


def test_a_category_of_many_levels_is_judged_among_very_many_columns():
    city, effect, rng = many_levels(500)
    table = pd.DataFrame(rng.standard_normal((500, 170))).add_prefix("x")
    table["city"] = city
    y = 1.5 * effect + table["x0"] + 0.3 * rng.standard_normal(500)
    assert {name for name, c in classes(table, y).items() if c == 2} == {"city", "x0"}


def test_what_replaces_a_category_of_many_levels_is_found_in_a_series_of_time():
    city, effect, rng = many_levels(2400, 20)
    table = pd.DataFrame({"city": city, "height": effect, "noise": rng.standard_normal(2400)})
    y = effect + rng.standard_normal(2400)
    result = verdict(table, y, cv=TimeSeriesSplit(5)).result_
    assert result.classes.tolist() == [1, 1, 0]
    assert result.evidence.groups == ((0, 1),)


def test_a_relevant_column_may_be_missing_in_all_rows_that_are_tested():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(600)
    X[500:, 0] = np.nan
    folds = [(np.arange(500), np.arange(500, 600))]
    assert verdict(X, y, cv=folds).relevance_classes_.tolist()[1:] == [2, 0, 0]
