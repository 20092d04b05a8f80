"""The text of a saved result, from a file that may be anything."""

from __future__ import annotations

from pathlib import Path

from squamish.errors import InputError
from squamish.table.files import in_units, read_up_to

# The most bytes that are read from a file. A column takes 200 to 400, so this is for more than two
# million of them; as objects of Python they take up to ten times as much memory.
MAX_SIZE = 1_000_000_000


def read_saved(path: Path, max_size: int = MAX_SIZE) -> str:
    """Return the text of a file that is not larger than any result.

    Raises
    ------
    InputError
        If it holds more.
    """
    with open(path, "rb") as file:
        content = read_up_to(max_size, file)
    if len(content) > max_size:
        raise InputError(f"it holds more than {in_units(max_size)}, which no result does")
    return content.decode("utf-8")
