"""Tables from files, CSV, TSV, Parquet, Feather and Arrow, compressed or not; and into files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
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
_BINARY = (".parquet", ".pq", ".feather", ".arrow", ".ipc")
_MISSING = ["", "NA", "N/A", "na", "NaN", "nan", "null", "NULL", "None"]


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
        The table. In text, empty fields, NA, NaN and null are missing values, and columns
        that hold dates throughout are dates.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from squamish.files import read_file
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_text("age;city\n31;Bonn\nNA;Oslo\n")
    ...     table = read_file(path)
    >>> table.columns, table["age"].null_count()
    (['age', 'city'], 1)
    """
    path = Path(path)
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
            "of these and .gz, .bz2 or .xz"
        )
    import polars as pl

    try:
        content = path.read_bytes()
        content = _DECOMPRESS[packing](content) if packing in _DECOMPRESS else content
        if kind in _TEXT:
            return _read_text(content, _TEXT[kind])
        if kind in (".parquet", ".pq"):
            return pl.read_parquet(BytesIO(content))
        return pl.read_ipc(BytesIO(content))
    except (
        OSError,
        EOFError,
        ValueError,
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
    >>> from squamish.files import write_whole
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "names.txt"), "age")
    ...     Path(folder, "names.txt").read_text()
    'age'
    """
    path = Path(path)
    data = content.encode(errors="replace") if isinstance(content, str) else content
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def write_table(table: pl.DataFrame, path: str | Path) -> None:
    """Write a table; the ending of the name tells how, as in `read_file`."""
    path, buffer = Path(path), BytesIO()
    check_writable(path)
    kind = path.suffix.lower()
    if kind in _TEXT:
        table.write_csv(buffer, separator=_TEXT[kind] or ",")
    elif kind in (".parquet", ".pq"):
        table.write_parquet(buffer)
    else:
        table.write_ipc(buffer)
    write_whole(path, buffer.getvalue())


def check_writable(path: Path) -> None:
    """Refuse early what `write_table` could not write."""
    if path.suffix.lower() not in (*_TEXT, *_BINARY):
        raise InputError(f"{path.name!r} does not end in .csv, .tsv, .parquet, .feather or .arrow")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {str(path.parent)!r}")


def _read_text(content: bytes, separator: str | None) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(
        content,
        separator=separator or _separator(content),
        null_values=_MISSING,
        infer_schema_length=None,
        try_parse_dates=True,
    )


def _separator(content: bytes) -> str:
    """Guess what separates the columns: that which divides the first line into most."""
    import polars as pl

    def n_columns(separator: str) -> int:
        head = pl.read_csv(
            content,
            separator=separator,
            has_header=False,
            n_rows=1,
            infer_schema=False,
            truncate_ragged_lines=True,
        )
        return int(head.width)

    return max(",;\t|", key=n_columns)
