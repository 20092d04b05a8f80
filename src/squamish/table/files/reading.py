"""Tables from files: CSV, TSV, Parquet, Feather and Arrow, packed or not."""

from __future__ import annotations

import csv
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from squamish.errors import InputError, is_complaint, reason_of
from squamish.table.files.arrow import unpacked_size
from squamish.table.files.kinds import Kind
from squamish.table.files.text import read_text
from squamish.table.files.unpacking import MAX_SIZE, check_size, read_bytes

if TYPE_CHECKING:
    import polars as pl


# What reading a file may raise, beside what libraries say about data.
_COMPLAINTS = (OSError, EOFError, csv.Error, zlib.error, lzma.LZMAError)


def read_file(path: str | Path, max_size: int = MAX_SIZE) -> pl.DataFrame:
    r"""Read a table; the ending of the name tells how.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .tsv, .parquet, .feather or .arrow, or in one of these and
        .gz, .bz2, .xz or (CSV and TSV) .zst.
    max_size : int
        The most bytes that it may hold, unpacked.

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
    kind = _kind(path)
    import polars as pl

    with _naming(path):
        content = read_bytes(path, kind.packing, max_size)
        if kind.is_text:
            return read_text(content, kind.separator)
        if kind.is_parquet:
            return pl.read_parquet(BytesIO(content))
        # polars unpacks its buffers, and would do so without a limit.
        check_size(unpacked_size(content), path, max_size)
        return pl.read_ipc(BytesIO(content))


def scan_file(path: str | Path, max_size: int = MAX_SIZE) -> pl.LazyFrame:
    """Read a table when it is asked for, if it is Parquet; any other one now.

    Takes the same files as `read_file`. What is read when it is asked for may have any size.
    """
    path = Path(path)
    kind = _kind(path)
    if not kind.is_parquet or kind.packing:
        return read_file(path, max_size).lazy()
    import polars as pl

    with _naming(path):
        # Of the very file, whatever its name holds; workers may have another working folder.
        frame = pl.scan_parquet(path.resolve(), glob=False)
        frame.collect_schema()
        return frame


def _kind(path: Path) -> Kind:
    """Tell how to read a file that is there."""
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the file")
    return Kind.of(path)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say which file it is that cannot be read."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not (is_complaint(error) or isinstance(error, _COMPLAINTS)):
            raise
        raise InputError(f"{path.name!r} cannot be read: {reason_of(error)}") from None
