"""Tables from files, CSV, TSV, Parquet, Feather and Arrow, compressed or not; and into files."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import lzma
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO, StringIO
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING

from squamish.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
# polars unpacks these itself.
_PACKED_CSV = (".zst",)
_TEXT = {".csv": None, ".tsv": "\t", ".tab": "\t", ".txt": None}
_PARQUET = (".parquet", ".pq")
_BINARY = (*_PARQUET, ".feather", ".arrow", ".ipc")
_MISSING = ["", "NA", "N/A", "na", "n/a", "N.A.", "NaN", "nan", "NaT", "null", "NULL", "None"]
_MISSING += ["<NA>", "#N/A", "?"]
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
# So many bytes are enough for the names of the columns.
_HEAD = 4_000_000


def read_file(path: str | Path) -> pl.DataFrame:
    r"""Read a table; the ending of the name tells how.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .tsv, .parquet, .feather or .arrow, or in one of these and
        .gz, .bz2, .xz or (CSV and TSV) .zst.

    Returns
    -------
    polars.DataFrame
        The table. In text, empty fields, NA, NaN, null and ? are missing values, columns that
        hold dates throughout are dates, and a decimal comma is one where semicolons or tabs
        separate the columns.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from squamish.table.files import read_file
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_text("age;city\n31;Bonn\nNA;Oslo\n")
    ...     table = read_file(path)
    >>> table.columns, table["age"].null_count()
    (['age', 'city'], 1)
    """
    path = Path(path)
    kind, packing = _kind(path)
    import polars as pl

    with _naming(path):
        content = path.read_bytes()
        content = _DECOMPRESS[packing](content) if packing in _DECOMPRESS else content
        if kind in _TEXT:
            return _read_text(content, _TEXT[kind])
        if kind in _PARQUET:
            return pl.read_parquet(BytesIO(content))
        return pl.read_ipc(BytesIO(content))


def scan_file(path: str | Path) -> pl.LazyFrame:
    """Read a table when it is asked for, if it is Parquet; any other one now.

    Takes the same files as `read_file`.
    """
    path = Path(path)
    kind, packing = _kind(path)
    if kind not in _PARQUET or packing:
        return read_file(path).lazy()
    import polars as pl

    with _naming(path):
        # Of the very file, whatever its name holds; workers may have another working folder.
        frame = pl.scan_parquet(path.resolve(), glob=False)
        frame.collect_schema()
        return frame


def _kind(path: Path) -> tuple[str, str]:
    """Tell by the endings of a file what it is, and how it is packed."""
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the file")
    endings = [ending.lower() for ending in path.suffixes]
    packing = endings.pop() if endings and endings[-1] in (*_DECOMPRESS, *_PACKED_CSV) else ""
    kind = endings[-1] if endings else ""
    if kind not in (*_TEXT, *_BINARY) or (packing in _PACKED_CSV and kind not in _TEXT):
        raise InputError(
            f"{path.name!r} does not end in .csv, .tsv, .parquet, .feather or .arrow, nor in one "
            "of these and .gz, .bz2, .xz or (text) .zst"
        )
    return kind, packing


def name_of_data(path: Path) -> str:
    """Return the name of a file without the endings that tell how to read it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from squamish.table.files import name_of_data
    >>> name_of_data(Path("data/patients.2024.csv.gz"))
    'patients.2024'
    """
    for endings in ((*_DECOMPRESS, *_PACKED_CSV), (*_TEXT, *_BINARY)):
        path = path.with_suffix("") if path.suffix.lower() in endings else path
    return path.name


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say which file it is that cannot be read."""
    import polars as pl

    try:
        yield
    except (
        OSError,
        EOFError,
        ValueError,
        csv.Error,
        zlib.error,
        lzma.LZMAError,
        pl.exceptions.PolarsError,
    ) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name!r} cannot be read: {reason}") from None


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file at once: whoever reads it sees all of the new one or all of the old one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from squamish.table.files import write_whole
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "names.txt"), "age")
    ...     Path(folder, "names.txt").read_text()
    'age'
    """
    path = Path(path)
    data = content.encode(errors="replace") if isinstance(content, str) else content
    temporary = ""
    try:
        if path.exists() and not path.is_file():
            # A pipe, a device or a folder is never replaced.
            path.write_bytes(data)
            return
        # What a link points to is written, and the link stays.
        path = path.resolve()
        handle, temporary = mkstemp(dir=path.parent, prefix=".squamish-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{str(path)!r} cannot be written: {reason}") from None
    finally:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)


def _umask() -> int:
    """Return which permissions new files do not get; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_table(table: pl.DataFrame | pl.LazyFrame, path: str | Path) -> None:
    """Write a table; the name tells how: .csv, .tsv, .parquet, .feather or .arrow."""
    path, buffer = Path(path), BytesIO()
    check_writable(path)
    kind = path.suffix.lower()
    table = table.lazy().collect()
    if kind in _TEXT:
        table.write_csv(buffer, separator=_TEXT[kind] or ",")
    elif kind in _PARQUET:
        table.write_parquet(buffer)
    else:
        table.write_ipc(buffer)
    write_whole(path, buffer.getvalue())


def check_writable(path: Path, made: Path | None = None) -> None:
    """Refuse early what `write_table` could not write; one folder may still be made."""
    if path.suffix.lower() not in (*_TEXT, *_BINARY):
        raise InputError(f"{path.name!r} does not end in .csv, .tsv, .parquet, .feather or .arrow")
    if not path.parent.is_dir() and (made is None or path.parent.resolve() != made.resolve()):
        raise InputError(f"there is no folder {str(path.parent)!r}")


def refuse_to_replace(inputs: Mapping[str, Path], outputs: Mapping[str, Path]) -> None:
    """Refuse to write over what is read, or twice to the same file, whatever it is called.

    Parameters
    ----------
    inputs, outputs : mapping of str to Path
        The files, by what a message calls them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from squamish.table.files import refuse_to_replace
    >>> refuse_to_replace({"the data": Path("a.csv")}, {"--reduced": Path("./A.csv")})
    Traceback (most recent call last):
    squamish.errors.InputError: --reduced would replace the data, 'a.csv'; give another name
    """
    known = dict(inputs)
    for name, path in outputs.items():
        for other, there in known.items():
            if _is_same_file(path, there):
                raise InputError(f"{name} would replace {other}, {str(there)!r}; give another name")
        known[name] = path


def _is_same_file(one: Path, other: Path) -> bool:
    """Tell whether two names are, or could be, those of one file: by links or by letter case."""
    with suppress(OSError):
        if os.path.samefile(one, other):
            return True
    # Some systems do not tell small letters from capital ones.
    return str(one.resolve()).casefold() == str(other.resolve()).casefold()


def _read_text(content: bytes, separator: str | None) -> pl.DataFrame:
    """Read CSV or TSV: by polars, or slowly where it stumbles over line breaks in quotes."""
    import polars as pl

    is_packed = content.startswith(_ZSTANDARD)
    head = _first_line(content) if is_packed else content
    separator = separator or _separator(head)
    names = _header(head, separator)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"more than one column is called {', '.join(map(repr, repeated))}")
    try:
        table = _parse(content, separator)
    except pl.exceptions.PolarsError:
        if is_packed:
            raise
        table = _parse(_without_line_breaks(content, separator), separator)
    if len(names) != table.width:
        raise ValueError(
            f"the first line has {len(names)} names, the rows have {table.width} values; a name "
            "with a line break is not read from a file that is packed by zstd: unpack it"
        )
    table.columns = names
    return table if separator == "," else _with_decimal_points(table)


def _parse(content: bytes, separator: str) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(
        content,
        separator=separator,
        null_values=_MISSING,
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
        text = decoder.decode(content[:_HEAD])
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


def _without_line_breaks(content: bytes, separator: str) -> bytes:
    """Put every record on one line, and say which line is wrong if one is."""
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
            if record and len(record) != n_columns:
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
