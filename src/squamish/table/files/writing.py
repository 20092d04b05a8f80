"""Files that are written whole or not at all, and never over what is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING

from squamish.errors import InputError
from squamish.table.files.kinds import ENDINGS, Kind

if TYPE_CHECKING:
    import polars as pl


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


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text that a spreadsheet would take for a formula.

    Spreadsheets compute text that begins with one of ``= + - @``, a tab or a line break, and show
    text behind an apostrophe as it is.

    Examples
    --------
    >>> import polars as pl
    >>> from squamish.table.files import without_formulas
    >>> without_formulas(pl.DataFrame({"feature": ["=1+1", "age"]}))["feature"].to_list()
    ["'=1+1", 'age']
    """
    import polars as pl

    text = pl.selectors.string()
    begins = text.str.contains(r"^[=+\-@\t\r\n]")
    return table.with_columns(pl.when(begins).then(pl.lit("'") + text).otherwise(text).name.keep())


def write_table(table: pl.DataFrame | pl.LazyFrame, path: str | Path) -> None:
    """Write a table; the name tells how: .csv, .tsv, .parquet, .feather or .arrow."""
    path, buffer = Path(path), BytesIO()
    check_writable(path)
    kind = Kind(path.suffix.lower())
    table = table.lazy().collect()
    if kind.is_text:
        table.write_csv(buffer, separator=kind.separator or ",")
    elif kind.is_parquet:
        table.write_parquet(buffer)
    else:
        table.write_ipc(buffer)
    write_whole(path, buffer.getvalue())


def check_writable(path: Path, made: Path | None = None) -> None:
    """Refuse early what `write_table` could not write; one folder may still be made."""
    if path.suffix.lower() not in ENDINGS:
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
