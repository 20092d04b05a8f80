"""CSV and TSV as they come: separators, line breaks in quotes, decimal commas, missing values."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from io import StringIO
from typing import TYPE_CHECKING

from squamish.table.files.zstandard import MAGIC

if TYPE_CHECKING:
    import polars as pl

# What a missing value is written as.
MISSING = ["", "NA", "N/A", "na", "n/a", "N.A.", "NaN", "nan", "NaT", "null", "NULL", "None"]
MISSING += ["<NA>", "#N/A", "?"]
BLANK_LINE = re.compile(rb"\n\r?\n")
# So many bytes are enough for the names of the columns.
HEAD = 4_000_000


def read_text(content: bytes, separator: str | None) -> pl.DataFrame:
    """Read CSV or TSV: by polars, or slowly where it stumbles over line breaks in quotes."""
    import polars as pl

    is_packed = content.startswith(MAGIC)
    if not is_packed and b"\n" not in content:
        # Line ends of old spreadsheets.
        content = content.replace(b"\r", b"\n")
    head = _first_line(content) if is_packed else content
    separator = separator or _separator(head)
    names = _header(head, separator)
    _refuse_repeated(names)
    # polars takes a blank line for a row of gaps, which it is in a table of one column only.
    is_tidy = is_packed or len(names) < 2 or not BLANK_LINE.search(content)
    try:
        table = _parse(content if is_tidy else _one_line_each(content, separator), separator)
    except pl.exceptions.PolarsError:
        if is_packed:
            raise
        table = _parse(_one_line_each(content, separator), separator)
    if len(names) != table.width:
        _refuse_width(names, table.width, is_packed)
    table.columns = names
    return table if separator == "," else _with_decimal_points(table)


def _refuse_width(names: list[str], width: int, is_packed: bool) -> None:
    hint = "; a name with a line break is not read from a file that is packed by zstd: unpack it"
    raise ValueError(
        f"the first line has {len(names)} names, the rows have {width} values"
        f"{hint if is_packed else ''}"
    )


def _refuse_repeated(names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"more than one column is called {', '.join(map(repr, repeated))}")


def _parse(content: bytes, separator: str) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(
        content,
        separator=separator,
        null_values=MISSING,
        infer_schema_length=None,
        try_parse_dates=True,
    )


def _first_line(packed: bytes) -> bytes:
    """Return the first line of text that only polars can unpack."""
    import polars as pl

    # A sign that no text holds, so that the line stays whole.
    line = pl.read_csv(
        packed,
        separator="\x1f",
        has_header=False,
        quote_char=None,
        n_rows=1,
        infer_schema=False,
    )
    return str(line.item()).encode()


def _header(content: bytes, separator: str) -> list[str]:
    """Return the names of the columns; one without a name is called by its place."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        text = decoder.decode(content[:HEAD])
    except UnicodeDecodeError as error:
        raise _not_utf8(content, error) from None
    names = next(csv.reader(StringIO(text, newline=""), delimiter=separator), [])
    return [name or f"unnamed_{place}" for place, name in enumerate(names, start=1)]


def _separator(content: bytes) -> str:
    """Guess what separates the columns: that which divides the first line into most."""

    def n_columns(separator: str) -> int:
        try:
            return len(_header(content, separator))
        except csv.Error:  # a field longer than any name: all of a wide table's names in one
            return 1

    return max(",;\t|", key=n_columns)


def _one_line_each(content: bytes, separator: str) -> bytes:
    """Put every record on one line without blank ones; say which line is wrong if one is."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(content, error) from None
    out = StringIO(newline="")
    writer = csv.writer(out, delimiter=separator)
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        n_columns = 0
        for record in reader:
            n_columns = n_columns or len(record)
            if not record:
                continue
            if len(record) != n_columns:
                raise ValueError(
                    f"line {reader.line_num} has {len(record)} fields, the first has {n_columns}"
                )
            writer.writerow([" ".join(field.splitlines()) for field in record])
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
    return out.getvalue().encode()


def _not_utf8(content: bytes, error: UnicodeDecodeError) -> ValueError:
    wrong = f"the byte 0x{content[error.start]:02x} at {error.start}"
    return ValueError(f"it is no UTF-8 text ({wrong}); save it as UTF-8")


def _with_decimal_points(table: pl.DataFrame) -> pl.DataFrame:
    """Read numbers with a decimal comma, which only a file without commas between can hold."""
    import polars as pl

    number = r"^[+-]?\d*,?\d+([eE][+-]?\d+)?$"
    # All columns in one go, as they may be many; by number, as names may mean patterns.
    names, table = table.columns, table.clone()
    table.columns = [str(place) for place in range(table.width)]
    texts = [pl.col(name) for name, kind in table.schema.items() if kind == pl.String]
    is_amount = table.select(
        text.str.contains(",", literal=True).any()
        & text.str.strip_chars().str.contains(number).all()
        for text in texts
    )
    table = table.with_columns(
        text.str.strip_chars().str.replace(",", ".", literal=True).cast(pl.Float64)
        for text, found in zip(texts, is_amount.row(0) if texts else (), strict=True)
        if found
    )
    table.columns = names
    return table
