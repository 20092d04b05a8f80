"""Work in a child process, so that there is an answer even if compiled code ends it.

Libraries that read files may abort where these are damaged, or where memory ends: no exception
tells of it, and what they print is not meant for users. The process that was started does nothing
but wait: it passes signals on, and says in one line what ended the child.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import IO, Any

from squamish.cli.running import CRASH, INTERRUPTED, MISTAKE
from squamish.errors import legible

# Signals that are meant for whoever does the work.
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
# One press of Ctrl-C may come twice, from the terminal and passed on, within so many seconds.
_SAME_PRESS = 1.0
# How libraries say that memory has ended, in small letters.
_NO_MEMORY = ("memory allocation of", "bad_alloc", "out of memory", "cannot allocate memory")
# So much of what a library printed before it ended us is looked at.
_LAST_BYTES = 10_000


def supervised(work: Callable[[], int]) -> int:
    """Do work in a child process, and return the exit code.

    Where the system has no such processes, or does not tell who sent a signal, it is done here.
    """
    if not hasattr(signal, "sigwaitinfo"):
        return work()
    with TemporaryFile() as printed:
        alive, parents_end = os.pipe()
        awaited = {signal.SIGCHLD, *(getattr(signal, name) for name in _PASSED_ON)}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
        child = os.fork()
        if child == 0:
            os.close(parents_end)
            _begin(alive, printed)
            return _worked(work, before)
        os.close(alive)
        code = _waited_for(child, awaited)
        return code if code >= 0 else _answer_to_signal(-code, before, printed)


def _begin(alive: int, printed: IO[bytes]) -> None:
    """Prepare the child: it ends with its parent, and libraries print to a file."""
    threading.Thread(target=_end_with_parent, args=(alive,), daemon=True).start()
    if sys.stderr is not None:
        sys.stderr = open(  # noqa: SIM115
            os.dup(2), "w", encoding=sys.stderr.encoding, errors="backslashreplace", buffering=1
        )
    os.dup2(printed.fileno(), 2)
    signal.signal(signal.SIGINT, _Interruption())


def _worked(work: Callable[[], int], before: set[int]) -> int:
    """Take signals from here on, and do the work, unless one has come already."""
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        code = work()
    except KeyboardInterrupt:
        print("squamish: interrupted; no file is half-written", file=sys.stderr)
        code = INTERRUPTED
    if code == INTERRUPTED:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process at once, after what has to be done at its end.

    Python ends by a signal, and not with a code, if an interruption came while ``exec`` ran some
    text, as data classes do when they are made, even though it was answered.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end_with_parent(alive: int) -> None:
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGKILL)


class _Interruption:
    """Interrupts once, however many signals one press of Ctrl-C is."""

    def __init__(self) -> None:
        self.last = -_SAME_PRESS

    def __call__(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        is_new, self.last = now - self.last >= _SAME_PRESS, now
        if is_new:
            raise KeyboardInterrupt


def _waited_for(child: int, awaited: set[signal.Signals]) -> int:
    """Pass signals on until the child ends; return its exit code, or minus its signal."""
    while True:
        news = signal.sigwaitinfo(awaited)
        if news.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
        # The terminal, which is no process, has told the child already.
        elif news.si_pid != 0:
            os.kill(child, news.si_signo)


def _answer_to_signal(number: int, before: set[int], printed: IO[bytes]) -> int:
    """Say what ended the child; a signal that was meant to end it ends us as well."""
    name = signal.Signals(number).name
    if name != "SIGINT" and name in (*_PASSED_ON, "SIGPIPE"):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.kill(os.getpid(), number)
    line, code = _epitaph(name, _last_lines(printed))
    print(legible(f"squamish: {line}"), file=sys.stderr)
    return code


def _epitaph(name: str, lines: list[str]) -> tuple[str, int]:
    if name == "SIGINT":
        # It came at the very end, where Python no longer answers.
        return "interrupted; no file is half-written", INTERRUPTED
    said = " ".join(lines).lower()
    if any(words in said for words in _NO_MEMORY):
        return "there is not enough memory, or the file is damaged", MISTAKE
    if name == "SIGKILL":
        return "killed from outside, as systems do when memory ends", 128 + signal.SIGKILL
    last = f": {lines[-1]}" if lines else ""
    return f"a library crashed ({name}), as some do when a file is damaged{last}", CRASH


def _last_lines(printed: IO[bytes]) -> list[str]:
    """Return what libraries printed before they ended the process."""
    printed.seek(0, os.SEEK_END)
    printed.seek(max(printed.tell() - _LAST_BYTES, 0))
    lines = printed.read().decode(errors="replace").split("\n")
    return [line.strip() for line in lines if line.strip()]
