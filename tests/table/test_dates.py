"""Text that holds dates: read as such where there is one way to, and said otherwise."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from squamish.table.dates import DAY_FIRST, ISO, MONTH_FIRST, date_formats

DAYS = pd.date_range("2023-01-17", periods=200, freq="D")
WAYS = {
    "2023-01-17": ("%Y-%m-%d", "year, month, day"),
    "2023-01-17T14:05:00Z": ("%Y-%m-%dT14:05:00Z", "year, month, day"),
    "01/17/2023": ("%m/%d/%Y", "month, day, year"),
    "01/17/23 2:05 PM": ("%m/%d/%y 2:05 PM", "month, day, year"),
    "17.01.2023": ("%d.%m.%Y", "day, month, year"),
    "17-Jan-2023": ("%d-%b-%Y", "day, name, year"),
    "January 17, 2023": ("%B %d, %Y", "name, day, year"),
}


def seen(kind, texts):
    """Return a table with a column of text, and what follows a trend along it."""
    rng = np.random.default_rng(0)
    y = np.arange(len(texts)) / 40 + rng.standard_normal(len(texts))
    columns = {"day": list(texts), "x": rng.standard_normal(len(texts))}
    if kind == "array":
        return np.array(list(zip(*columns.values(), strict=True)), dtype=object), y
    return (pd.DataFrame if kind == "pandas" else pl.DataFrame)(columns), y


@pytest.mark.parametrize("way", WAYS)
def test_text_that_holds_dates_is_read_as_such_and_a_note_says_how(verdict, way):
    form, order = WAYS[way]
    table, y = seen("pandas", DAYS.strftime(form))
    result = verdict(table, y).result_
    as_dates = verdict(table.assign(day=DAYS), y).result_
    assert result.classes.tolist() == as_dates.classes.tolist() == [2, 0]
    (note,) = result.notes
    assert note.startswith("'day' is text that holds dates, such as '")
    assert note.endswith(f"and is read as such ({order})")


@pytest.mark.parametrize("kind", ["polars", "array"])
def test_other_kinds_of_tables_are_read_alike(verdict, kind):
    table, y = seen(kind, DAYS.strftime("%m/%d/%Y"))
    result = verdict(table, y).result_
    assert result.classes.tolist() == [2, 0]
    assert "holds dates" in result.notes[0]


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ([f"{1 + i % 12}/{1 + i % 11}/{1990 + i // 12}" for i in range(200)], "it could be month"),
        ([*DAYS.strftime("%Y-%m-%d")[:190], *["not yet"] * 10], "not all of it is"),
    ],
)
def test_text_that_may_be_dates_stays_a_category_and_is_no_id(verdict, texts, why):
    table, y = seen("pandas", texts)
    notes = verdict(table, y).result_.notes
    assert notes[0].startswith("'day' is text that looks like dates, such as")
    assert why in notes[0]
    assert not any("ID" in note for note in notes)


def test_gaps_stay_gaps_and_categories_stay_categories(verdict):
    texts = [*DAYS.strftime("%Y-%m-%d")[:150], *[None] * 50]
    table, y = seen("pandas", texts)
    result = verdict(table, y).result_
    assert result.columns.missing == (0.25, 0.0)
    assert "holds dates" in result.notes[0]
    named = table.assign(day=pd.Categorical(table["day"]))
    assert not any("dates" in note for note in verdict(named, y).result_.notes)


@pytest.mark.parametrize("text", ["1.2.10", "10-11-12", "2023-13-01", "31/31/2023", "May", "12"])
def test_what_is_no_date_is_none(text):
    assert date_formats([text] * 5) == ()


def test_dates_are_seconds():
    def seconds(text, order):
        return next(f for f in date_formats([text]) if f.order == order).seconds(text)

    day = (datetime(2023, 2, 1) - datetime(1970, 1, 1)).total_seconds()
    assert seconds("2023-02-01", ISO) == seconds("1.2.2023", DAY_FIRST) == day
    assert seconds("2/1/23 12:30 AM", MONTH_FIRST) == day + 1800
    assert seconds("2023-02-01 01:00:00.5+01:00", ISO) == day + 0.5
