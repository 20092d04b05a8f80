"""How much an Arrow or Feather file holds, without unpacking it.

Its buffers may be packed one by one, and polars unpacks them all at once. The format (Arrow
columnar format, "IPC file format") lists its batches at the end of the file, and each batch its
buffers; a packed buffer begins with its size when unpacked, which is what the reader sets aside.
The lists are Flatbuffers: tables whose fields are found by their number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAGIC = b"ARROW1"
_CONTINUATION = 0xFFFFFFFF
_DICTIONARY, _BATCH = 2, 3  # kinds of messages that have buffers
_NOT_PACKED = -1  # the size of a buffer that was left as it is
_BLOCK = "<qi4xq"  # where a message begins, the size of its head and of its body
_BUFFER = "<qq"  # where a buffer begins in the body, and its size


def unpacked_size(content: bytes) -> int:
    """Return how many bytes the batches of a file take when they are unpacked.

    A row counts for a byte at least, as columns of nothing have no buffers.

    Raises
    ------
    ValueError
        If the lists of batches and buffers point to what is not there.

    Examples
    --------
    >>> from io import BytesIO
    >>> import polars as pl
    >>> from squamish.table.files.arrow import unpacked_size
    >>> file = BytesIO()
    >>> pl.DataFrame({"x": [0.0] * 1000}).write_ipc(file, compression="zstd")
    >>> len(file.getvalue()) < 8 * 1000 <= unpacked_size(file.getvalue())
    True
    """
    # What does not end like a file of Arrow is none: the reader will say so.
    if not content.endswith(MAGIC):
        return 0
    (size,) = _unpack("<i", content, len(content) - len(MAGIC) - 4)
    footer = _Table.root(content, len(content) - len(MAGIC) - 4 - size)
    blocks = [*footer.structs(2, _BLOCK), *footer.structs(3, _BLOCK)]
    return sum(_size_of_batch(content, start, head) for start, head, _ in blocks)


def _size_of_batch(content: bytes, start: int, head: int) -> int:
    """Return the size of the batch in a message."""
    (first,) = _unpack("<I", content, start)
    # Old files have no mark in front of the size of the message.
    message = _Table.root(content, start + (8 if first == _CONTINUATION else 4))
    kind, batch = message.scalar(1, "<B"), message.table(2)
    if kind == _DICTIONARY and batch:
        batch = batch.table(1)
    if kind not in (_DICTIONARY, _BATCH) or batch is None:
        return 0
    sizes = _sizes(content, batch, start + head)
    return max(sum(sizes), batch.scalar(0, "<q"))


def _sizes(content: bytes, batch: _Table, body: int) -> Iterator[int]:
    """Return the sizes of the buffers of a batch."""
    is_packed = batch.table(3) is not None
    for place, size in batch.structs(2, _BUFFER):
        unpacked = _unpack("<q", content, body + place)[0] if is_packed and size else size
        yield size if unpacked == _NOT_PACKED else max(unpacked, 0)


@dataclass(frozen=True)
class _Table:
    """A table of a Flatbuffer; fields that are not there are none, or 0."""

    content: bytes
    start: int

    @classmethod
    def root(cls, content: bytes, start: int) -> _Table:
        return cls(content, start + _unpack("<I", content, start)[0])

    def scalar(self, field: int, layout: str) -> int:
        place = self._place(field)
        return int(_unpack(layout, self.content, place)[0]) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self._place(field)
        return _Table.root(self.content, place) if place else None

    def structs(self, field: int, layout: str) -> Iterator[tuple[Any, ...]]:
        place = self._place(field)
        if not place:
            return iter(())
        place += _unpack("<I", self.content, place)[0]
        end = place + 4 + _unpack("<I", self.content, place)[0] * struct.calcsize(layout)
        if end > len(self.content):
            raise _damaged()
        return struct.iter_unpack(layout, memoryview(self.content)[place + 4 : end])

    def _place(self, field: int) -> int:
        """Return where a field is; 0 if it is not there."""
        fields = self.start - _unpack("<i", self.content, self.start)[0]
        if 4 + 2 * field >= _unpack("<H", self.content, fields)[0]:
            return 0
        offset = int(_unpack("<H", self.content, fields + 4 + 2 * field)[0])
        return self.start + offset if offset else 0


def _unpack(layout: str, content: bytes, place: int) -> tuple[Any, ...]:
    if not 0 <= place <= len(content) - struct.calcsize(layout):
        raise _damaged()
    return struct.unpack_from(layout, content, place)


def _damaged() -> ValueError:
    return ValueError("its lists of batches and buffers are damaged")
