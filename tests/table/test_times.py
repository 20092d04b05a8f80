"""Times, events and exposures as users pass them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from squamish.errors import InputError
from squamish.table.exposures import with_exposure
from squamish.table.times import is_paired, signed, with_times

EVENT, TIME = [True, False, True, False], [3.0, 5.0, 1.5, 0.0]
SURV = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("cens", "?"), ("days", "<f8")])
FORMS = {
    "structured array": SURV,
    "fields the other way round": SURV[["days", "cens"]].astype([("days", "<f8"), ("cens", "?")]),
    "frame of pandas": pd.DataFrame({"time": TIME, "event": EVENT}),
    "frame of polars": pl.DataFrame({"event": EVENT, "time": TIME}),
    "ones and zeros": pd.DataFrame({"time": TIME, "event": np.array(EVENT).astype(int)}),
    "pair": (EVENT, TIME),
    "pair of series": (pd.Series(TIME), pd.Series(EVENT)),
    "array of two columns": np.column_stack([EVENT, TIME]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_as_the_same(form):
    y, task = with_times(FORMS[form], "survival")
    assert task == "survival"
    assert is_paired(y)
    assert y["event"].tolist() == EVENT
    assert y["time"].tolist() == TIME


def test_booleans_beside_numbers_are_recognised():
    for form in ("structured array", "pair", "pair of series"):
        assert with_times(FORMS[form], None)[1] == "survival"
    assert with_times(([1.0, 2.0], [0.5, 3.0]), None)[1] is None
    assert with_times(np.arange(4.0), None)[1] is None
    assert with_times(FORMS["frame of pandas"], None)[1] is None


def test_what_was_read_stays_as_it_is():
    y, _ = with_times(SURV, None)
    assert with_times(y, "survival")[0] is y


def test_a_time_of_zero_tells_whether_it_was_an_event():
    y, _ = with_times(([True, False, True], [0.0, 0.0, 1.0]), "survival")
    assert (signed(y) > 0).tolist() == [True, False, True]


def test_gaps_are_missing_targets():
    y, _ = with_times(pd.DataFrame({"t": [1.0, None, 3.0], "e": [1.0, 0.0, None]}), "survival")
    assert np.isnan(y["time"]).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, r"requires y to be passed"),
        ([1.0, 2.0, 3.0], r"task is 'survival', but y has one column; it must hold an event"),
        (np.zeros((4, 3)), r"but y has 3 columns; it must hold an event"),
        ((EVENT, TIME[:3]), r"y holds 4 and 3 values"),
        (pd.DataFrame({"a": [0, 1], "b": [1, 0]}), r"'a' and 'b', of which both may tell events"),
        (pd.DataFrame({"a": [0, 2], "b": [5, 7]}), r"of which neither may tell events"),
        (([True, False], [1.0, -3.0]), r"holds the time -3.0 in row 1; times must be 0 or more"),
        (([True, False], [1.0, np.inf]), r"holds the time inf in row 1"),
        (([True, False], ["1", "soon"]), r"holds the time soon in row 1"),
    ],
)
def test_what_are_no_times_gets_one_clear_error(y, message):
    with pytest.raises(InputError, match=message):
        with_times(y, "survival")


def test_exposures_stay_with_their_counts():
    y = with_exposure([1, 2, None], "counts", [0.5, 1.0, 2.0])
    assert y["count"].tolist() == [1, 2, None]
    assert y["exposure"].tolist() == [0.5, 1.0, 2.0]
    assert with_exposure([1, 2], "counts", None) == [1, 2]


@pytest.mark.parametrize(
    ("task", "exposure", "message"),
    [
        ("regression", [1, 1], r"exposure takes task='counts', but task is 'regression'"),
        ("counts", [1, 1, 1], r"exposure has 3 values, but y has 2"),
        ("counts", [1, 0], r"exposure holds 0 in row 1; exposures must be above 0"),
        ("counts", ["long", 1], r"exposure holds long in row 0"),
    ],
)
def test_what_is_no_exposure_gets_one_clear_error(task, exposure, message):
    with pytest.raises(InputError, match=message):
        with_exposure([1, 2], task, exposure)
