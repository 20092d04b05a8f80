"""Whatever is in a message, it is one line that is safe to print."""

import pickle

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from squamish import InputError
from squamish.errors import LONGEST_LINE, in_one_line, legible, warn_caller


@given(st.text(st.characters(), max_size=50), st.integers(1, 40))
def test_a_legible_text_is_one_printable_line_and_stays_as_it_is(text, longest):
    shown = legible(text, longest)
    assert shown.isprintable()
    assert len(shown) <= longest
    assert legible(shown, longest) == shown
    shown.encode("utf-8")


@given(st.text(max_size=20))
def test_what_is_printable_and_short_is_shown_as_it_is(text):
    if text.isprintable():
        assert legible(text) == text


def test_an_error_holds_one_line_however_long_the_names_in_it():
    error = InputError("the columns are " + "\x1b[31m\n" * 10**6 + "; give one")
    assert str(error).isprintable()
    assert len(str(error)) == LONGEST_LINE
    assert str(error).endswith("; give one")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_warning_holds_one_line():
    with pytest.warns(UserWarning, match=r"^a\\x1b\[31m$"):
        warn_caller("a\x1b[31m")


def test_a_panic_of_polars_is_a_complaint_like_any_other():
    far = pl.Series([2**31 - 1], dtype=pl.Int32).cast(pl.Date)
    with pytest.raises(InputError, match="date"), in_one_line():
        far.to_list()


def test_an_interruption_is_no_complaint():
    with pytest.raises(KeyboardInterrupt), in_one_line():
        raise KeyboardInterrupt
