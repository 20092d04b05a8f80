"""What a file holds, unpacked in steps: a small file may hold more than there is memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from squamish.errors import InputError
from squamish.table.files.zstandard import largest_size

# The most bytes that are read from one file, unpacked, unless more are allowed. As a table, text
# takes up to four times its size: this much needs some 16 GB of memory.
MAX_SIZE = 4_000_000_000
STEP = 1_000_000
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
# What is not in here, polars unpacks by itself.
_OPEN: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}


def read_bytes(path: Path, packing: str, max_size: int = MAX_SIZE) -> bytes:
    """Return what is in a file, unpacked but for zstd; refuse one that holds more than allowed.

    Parameters
    ----------
    path : Path
        The file.
    packing : str
        How it is packed: ".gz", ".bz2", ".xz", ".zst" or not at all.
    max_size : int
        The most bytes it may hold.
    """
    with open(path, "rb") as file:
        content = read_up_to(max_size, _OPEN[packing](file) if packing in _OPEN else file)
    check_size(len(content), path, max_size)
    # polars unpacks what is packed by zstd, and would do so without a limit.
    check_size(largest_size(content), path, max_size)
    return content


def read_up_to(max_size: int, file: IO[bytes]) -> bytes:
    """Return what is in a file; of one that holds more than allowed, a step more than that.

    Examples
    --------
    >>> from io import BytesIO
    >>> from squamish.table.files.unpacking import read_up_to
    >>> len(read_up_to(10, BytesIO(b"few"))), len(read_up_to(10, BytesIO(b"many" * 5))) > 10
    (3, True)
    """
    content = bytearray()
    while len(content) <= max_size and (some := file.read(STEP)):
        content += some
    return bytes(content)


def check_size(n_bytes: int, path: Path, max_size: int) -> None:
    """Refuse a file that holds more than allowed."""
    if n_bytes > max_size:
        raise InputError(
            f"{path.name!r} holds more than {in_units(max_size)}, unpacked, which is the most that "
            "is read (--max-size allows more)"
        )


def in_units(n_bytes: int) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> from squamish.table.files.unpacking import in_units
    >>> in_units(4_000_000_000), in_units(1500)
    ('4 GB', '1.5 KB')
    """
    unit = max((u for u, size in _UNITS.items() if u and size <= n_bytes), key=_UNITS.__getitem__)
    return f"{n_bytes / _UNITS[unit]:.4g} {unit}"


def read_size(text: str) -> int:
    """Read a number of bytes, such as 500MB.

    Examples
    --------
    >>> from squamish.table.files.unpacking import read_size
    >>> read_size("500MB"), read_size("1.5 gb")
    (500000000, 1500000000)
    """
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?([KMGT]?B?)", text.strip().upper())
    size = int(float(found[1]) * _UNITS.get(found[2], 0)) if found else 0
    if size < 1:
        raise InputError(f"--max-size is {text!r}; it must be a size such as 500MB or 20GB")
    return size
