"""Finished work in a file, so that a fit that was killed goes on where it was.

A checkpoint is data, not code: a line of JSON that says what it is about, then a record for each
finished task, as a numpy array without objects or as JSON. Every record carries a hash of itself
and of all before it. A record that was not written to its end is dropped, also where a power cut
left zeros instead; any other change to the file is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO, FileIO
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from squamish.errors import InputError
from squamish.execution.progress import comes_from_listener

FORMAT, VERSION = "squamish-checkpoint", 3
# How every checkpoint begins, also one whose first line was not finished.
_START = json.dumps({"format": FORMAT}).encode()[:-1]
# In front of each record: the size of its text, a hash of that, and the hash of the record.
_HEAD = struct.Struct(">Q8s32s")
# What work raises that is given other results than its own.
WRONG_RESULTS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)


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
        self._file = self._opened()
        try:
            self._lock()
            self._load(dict(about))
        except BaseException:
            self._file.close()
            raise

    @property
    def has_records(self) -> bool:
        """Whether there was anything finished in the file."""
        return bool(self._known)

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
        # Some file systems tell only now that there is no room.
        with self._named("written"):
            self._file.close()

    def _opened(self) -> FileIO:
        """Open a regular file: what is read from anything else need not end, or ever begin."""
        try:
            mode = self.path.stat().st_mode if self.path.exists() else stat.S_IFREG
            if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                # Without a buffer that would fail once more when it is closed on a full disk.
                return open(self.path, "a+b", buffering=0)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"the checkpoint {str(self.path)!r} cannot be opened: {why}") from None
        raise InputError(
            f"the checkpoint {str(self.path)!r} is a device or a pipe; it must be a file"
        )

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
        with self._named("read"):
            self._file.seek(0)
            content = self._file.read()
        first, end, _ = content.partition(b"\n")
        first = first if end else first.rstrip(b"\0")
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
        written = len(content.rstrip(b"\0"))
        while position < len(content):
            record, position = self._record(content, position, written)
            if record is None:
                break
            call, task, result = record
            self._known.setdefault(call, {})[task] = result
            good = position
        with self._named("written"):
            self._file.truncate(good)
            self._file.seek(0, os.SEEK_END)

    def _begin(self, about: dict[str, str]) -> None:
        """Write the first line, over one that was not finished."""
        header = {"format": FORMAT, "version": VERSION, "seed": self.seed, "about": about}
        line = json.dumps(header | {"hash": _hash_of(header)}).encode()
        with self._named("written"):
            self._file.truncate(0)
        self._write(line + b"\n")
        self._digest = hashlib.sha256(line).digest()

    def _header(self, line: bytes) -> tuple[dict[str, str], int]:
        """Return what the first line says the work is about, and the seed."""
        try:
            header = json.loads(line)
            known = (header["format"], header["version"]) == (FORMAT, VERSION)
        except (ValueError, TypeError, KeyError, RecursionError):
            known = False
        if not known:
            raise InputError(
                f"{str(self.path)!r} is no checkpoint of this version of squamish; give another "
                "file, or delete it"
            )
        hashed, about, seed = header.pop("hash", None), header.get("about"), header.get("seed")
        if hashed != _hash_of(header) or not isinstance(about, dict) or not _is_count(seed):
            raise self._damaged(at=0)
        return about, seed

    def _damaged(self, at: int) -> InputError:
        return InputError(
            f"the checkpoint {str(self.path)!r} is damaged at byte {at}; delete it to start anew"
        )

    def _check(self, found: dict[str, str], about: dict[str, str]) -> None:
        for what, value in about.items():
            if found.get(what) != value:
                raise InputError(
                    f"the checkpoint {str(self.path)!r} was made with other {what}; give another "
                    "file, or delete it to start anew"
                )

    def _record(
        self, content: bytes, position: int, written: int
    ) -> tuple[tuple[int, int, Any] | None, int]:
        """Read a record; None if it is the last one and was not finished.

        Zeros behind what was ``written`` may be what a power cut left of a record.
        """
        start = position + _HEAD.size
        if start > len(content) or position >= written:
            return None, position
        size, check, digest = _HEAD.unpack(content[position:start])
        end = start + size
        expected = hashlib.sha256(self._digest + content[start:end]).digest()
        intact = check == self._size_check(size)
        torn = end >= min(written + 1, len(content)) if intact else start > written
        if expected != digest and torn:
            return None, position
        try:
            if not intact or expected != digest:
                raise ValueError
            record = _unpacked(content[start:end])
        except (ValueError, TypeError, EOFError, MemoryError, OverflowError, RecursionError):
            raise self._damaged(at=position) from None
        self._digest = digest
        return record, end

    def _append(self, text: bytes) -> None:
        digest = hashlib.sha256(self._digest + text).digest()
        # What the system has is safe from the death of this process.
        self._write(_HEAD.pack(len(text), self._size_check(len(text)), digest) + text)
        self._digest = digest

    def _write(self, text: bytes) -> None:
        rest = memoryview(text)
        with self._named("written"):
            while rest:
                rest = rest[self._file.write(rest) :]

    @contextmanager
    def _named(self, done: str) -> Iterator[None]:
        """Say which file it is that cannot be read, or written."""
        try:
            yield
        except OSError as error:
            why = f"the checkpoint {str(self.path)!r} cannot be {done}: {error.strerror}"
            raise OSError(error.errno, why) from None

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
    if not _is_count(call) or not _is_count(task) or kind not in ("array", "json"):
        raise ValueError
    if kind == "array":
        return call, task, np.lib.format.read_array(BytesIO(body), allow_pickle=False)
    return call, task, _frozen(json.loads(body))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _hash_of(header: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header).encode()).hexdigest()


def _frozen(value: Any) -> Any:
    """Turn lists, which JSON makes of tuples, into tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@contextmanager
def opened(
    path: str | PathLike[str], about: Mapping[str, str], seed: int | None
) -> Iterator[Checkpoint]:
    """Open a checkpoint; without a seed, the file chooses and remembers one.

    Records that are whole need not be results of the tasks they say they are: work that fails
    on what was read raises an InputError that names the file.
    """
    own = int(np.random.SeedSequence().entropy % 2**63) if seed is None else seed  # type: ignore[operator]
    with Checkpoint(path, about, own) as checkpoint:
        try:
            yield checkpoint
        except InputError:
            raise
        except WRONG_RESULTS as error:
            if not checkpoint.has_records or comes_from_listener(error):
                raise
            raise InputError(
                f"the fit cannot go on from the checkpoint {str(path)!r} "
                f"({type(error).__name__}: {error}); delete it to start anew"
            ) from error
