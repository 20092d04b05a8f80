"""Finished work in a file, so that a fit that was killed goes on where it was.

A checkpoint is data, not code: a line of JSON that says what it is about, then a record for each
finished task, as a numpy array without objects or as JSON. Every record carries a hash of itself
and of all before it. A record that was not written to its end is dropped; any other change to
the file is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from squamish.errors import InputError

FORMAT, VERSION = "squamish-checkpoint", 2
# How every checkpoint begins, also one whose first line was not finished.
_START = json.dumps({"format": FORMAT}).encode()[:-1]
# In front of each record: the size of its text, a hash of that, and the hash of the record.
_HEAD = struct.Struct(">Q8s32s")


class Checkpoint:
    """The finished tasks of a fit, by the number of the call that asked for them and their own.

    Parameters
    ----------
    path : str or Path
        The file; it is made if there is none.
    about : mapping of str to str
        What the work depends on. A file that is about something else is refused.
    seed : int
        The seed of a new file. One that goes on keeps its own.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from squamish.execution.checkpoint import Checkpoint
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "work.checkpoint")
    ...     with Checkpoint(path, {"data": "a"}, seed=1) as first:
    ...         first.keep(0, 2, (1.5, "done"))
    ...     with Checkpoint(path, {"data": "a"}, seed=2) as again:
    ...         again.recall(0), again.seed
    ({2: (1.5, 'done')}, 1)
    """

    def __init__(self, path: str | PathLike[str], about: Mapping[str, str], seed: int) -> None:
        self.path, self.seed = Path(path), seed
        self._known: dict[int, dict[int, Any]] = {}
        try:
            self._file: BinaryIO = open(self.path, "a+b")  # noqa: SIM115
        except OSError as error:
            raise InputError(
                f"the checkpoint {str(path)!r} cannot be opened: {error.strerror}"
            ) from None
        try:
            self._lock()
            self._load(dict(about))
        except BaseException:
            self._file.close()
            raise

    def recall(self, call: int) -> dict[int, Any]:
        """Return what is finished of a call, by the number of the task."""
        return self._known.get(call, {})

    def keep(self, call: int, task: int, result: Any) -> None:
        """Write what a task found."""
        self._append(_packed(call, task, result))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def _lock(self) -> None:
        """Keep two fits from writing into the same file, where the system can."""
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"the checkpoint {str(self.path)!r} is in use by another fit"
            ) from None
        except OSError:  # not every file system knows locks
            return

    def _load(self, about: dict[str, str]) -> None:
        self._file.seek(0)
        content = self._file.read()
        first, end, _ = content.partition(b"\n")
        if not end and (first.startswith(_START) or _START.startswith(first)):
            self._begin(about)
            return
        found, seed = self._header(first)
        if found != about and len(content) == len(first) + 1:
            # Of a fit that was refused, or stopped before it had done anything.
            self._begin(about)
            return
        self._check(found, about)
        self.seed = seed
        self._digest = hashlib.sha256(first).digest()
        position = good = len(first) + 1
        while position < len(content):
            record, position = self._record(content, position)
            if record is None:
                break
            call, task, result = record
            self._known.setdefault(call, {})[task] = result
            good = position
        self._file.truncate(good)
        self._file.seek(0, os.SEEK_END)

    def _begin(self, about: dict[str, str]) -> None:
        """Write the first line, over one that was not finished."""
        header = {"format": FORMAT, "version": VERSION, "seed": self.seed, "about": about}
        line = json.dumps(header).encode()
        self._file.truncate(0)
        self._file.write(line + b"\n")
        self._file.flush()
        self._digest = hashlib.sha256(line).digest()

    def _header(self, line: bytes) -> tuple[dict[str, str], int]:
        """Return what the first line says the work is about, and the seed."""
        try:
            header = json.loads(line)
            found, seed = dict(header["about"]), int(header["seed"])
            if (header["format"], header["version"]) == (FORMAT, VERSION):
                return found, seed
        except (ValueError, TypeError, KeyError):
            pass
        raise InputError(
            f"{str(self.path)!r} is no checkpoint of this version of squamish; give another "
            "file, or delete it"
        )

    def _check(self, found: dict[str, str], about: dict[str, str]) -> None:
        for what, value in about.items():
            if found.get(what) != value:
                raise InputError(
                    f"the checkpoint {str(self.path)!r} was made with other {what}; give another "
                    "file, or delete it to start anew"
                )

    def _record(self, content: bytes, position: int) -> tuple[tuple[int, int, Any] | None, int]:
        """Read a record; None if it is the last one and was not finished."""
        start = position + _HEAD.size
        if start > len(content):
            return None, position
        size, check, digest = _HEAD.unpack(content[position:start])
        end = start + size
        expected = hashlib.sha256(self._digest + content[start:end]).digest()
        intact = check == self._size_check(size)
        if intact and (end > len(content) or (expected != digest and end == len(content))):
            return None, position
        try:
            if not intact or expected != digest:
                raise ValueError
            record = _unpacked(content[start:end])
        except (ValueError, TypeError, EOFError, MemoryError):
            raise InputError(
                f"the checkpoint {str(self.path)!r} is damaged at byte {position}; delete it to "
                "start anew"
            ) from None
        self._digest = digest
        return record, end

    def _append(self, text: bytes) -> None:
        digest = hashlib.sha256(self._digest + text).digest()
        self._file.write(_HEAD.pack(len(text), self._size_check(len(text)), digest) + text)
        # What the system has is safe from the death of this process.
        self._file.flush()
        self._digest = digest

    def _size_check(self, size: int) -> bytes:
        """Return a hash of a size, so that a wrong one is not taken for a record's torn end."""
        return hashlib.sha256(self._digest + struct.pack(">Q", size)).digest()[:8]


def _packed(call: int, task: int, result: Any) -> bytes:
    is_array = isinstance(result, np.ndarray)
    head = json.dumps([call, task, "array" if is_array else "json"]).encode() + b"\n"
    if not is_array:
        return head + json.dumps(result).encode()
    buffer = BytesIO()
    np.save(buffer, result, allow_pickle=False)
    return head + buffer.getvalue()


def _unpacked(text: bytes) -> tuple[int, int, Any]:
    head, _, body = text.partition(b"\n")
    call, task, kind = json.loads(head)
    if kind == "array":
        return call, task, np.lib.format.read_array(BytesIO(body), allow_pickle=False)
    return call, task, _frozen(json.loads(body))


def _frozen(value: Any) -> Any:
    """Turn lists, which JSON makes of tuples, into tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@contextmanager
def opened(
    path: str | PathLike[str], about: Mapping[str, str], seed: int | None
) -> Iterator[Checkpoint]:
    """Open a checkpoint; without a seed, the file chooses and remembers one."""
    own = int(np.random.SeedSequence().entropy % 2**63) if seed is None else seed  # type: ignore[operator]
    with Checkpoint(path, about, own) as checkpoint:
        yield checkpoint
