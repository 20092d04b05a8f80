"""How much a file that zstd packed can hold, without unpacking it.

Only polars unpacks it, and all at once. The format (RFC 8878) says before each block how many bytes
it has, and a block holds 128 KiB at most, unpacked: so the blocks are counted.
"""

from __future__ import annotations

MAGIC = b"\x28\xb5\x2f\xfd"
# Frames without content begin with one of 16 numbers, the lowest of which is this.
_SKIPPABLE = 0x184D2A50
LARGEST_BLOCK = 128 * 1024
_STORED, _REPEATED, _PACKED = 0, 1, 2
# How many bytes the size of a frame takes, by the first two bits of its descriptor.
_BYTES_OF_SIZE, _BYTES_OF_DICTIONARY = (0, 2, 4, 8), (0, 1, 2, 4)


def largest_size(packed: bytes | bytearray) -> int:
    r"""Return how many bytes there are at most when unpacked, as far as the file is whole.

    Examples
    --------
    >>> from squamish.table.files.zstandard import MAGIC, largest_size
    >>> block_of_a_million_spaces = ((1_000_000 << 3) | (1 << 1) | 1).to_bytes(3, "little") + b" "
    >>> largest_size(MAGIC + b"\x00\x58" + block_of_a_million_spaces)
    1000000
    """
    size, place = 0, 0
    while place + 4 <= len(packed):
        magic = int.from_bytes(packed[place : place + 4], "little")
        if magic & ~0xF == _SKIPPABLE:
            place += 8 + int.from_bytes(packed[place + 4 : place + 8], "little")
        elif packed.startswith(MAGIC, place):
            in_frame, place = _frame(packed, place + 4)
            size += in_frame
        else:  # no frame: the reader will say so
            break
    return size


def _frame(packed: bytes | bytearray, place: int) -> tuple[int, int]:
    """Return the largest size of a frame, and where the next one begins."""
    descriptor = packed[place] if place < len(packed) else 0
    has_checksum, is_single = bool(descriptor & 4), bool(descriptor & 32)
    size_flag = descriptor >> 6
    of_size = 1 if is_single and size_flag == 0 else _BYTES_OF_SIZE[size_flag]
    place += 1 + (not is_single) + _BYTES_OF_DICTIONARY[descriptor & 3] + of_size
    size, is_last = 0, False
    while not is_last and place + 3 <= len(packed):
        head = int.from_bytes(packed[place : place + 3], "little")
        is_last, kind, n = bool(head & 1), (head >> 1) & 3, head >> 3
        size += LARGEST_BLOCK if kind == _PACKED else n
        place += 3 + (1 if kind == _REPEATED else n)
    return size, place + 4 * has_checksum
