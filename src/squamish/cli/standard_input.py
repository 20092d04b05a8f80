"""Data that come from standard input, as from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory

from squamish.errors import InputError

# What data begin with, and the ending of a file that holds such; all else is text.
_MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\xfd7zXZ": ".csv.xz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}
LONGEST_MAGIC = max(map(len, _MAGIC))


@contextmanager
def data_at_hand(path: Path) -> Iterator[Path]:
    """Give the file with the data; of standard input, which is called -, one that is made of it."""
    if str(path) != "-":
        yield path
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("there is nothing on standard input; give a file, or pipe one into this")
    with TemporaryDirectory() as folder:
        yield _stored(Path(folder))


def _stored(folder: Path) -> Path:
    """Write standard input to a file whose ending says what it is."""
    source = sys.stdin.buffer
    head = source.read(LONGEST_MAGIC)
    if not head:
        raise InputError("standard input holds nothing")
    endings = (ending for magic, ending in _MAGIC.items() if head.startswith(magic))
    path = folder / f"stdin{next(endings, '.csv')}"
    with path.open("wb") as file:
        file.write(head)
        copyfileobj(source, file)
    return path
