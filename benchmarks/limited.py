"""Processes that answer one question after the other, and end where one takes too long."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

# Processes start empty: one that was copied from a process with threads could hang.
_CONTEXT = get_context("spawn")
# On a busy machine a process may get a quarter of a processor. One that had more time than that
# and did not use it waits for something that does not come.
ELAPSED_FOR_USED = 4

Question = TypeVar("Question", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Ending:
    """How a process ended that gave no answer.

    Attributes
    ----------
    code : int
        Its exit code, or minus the number of the signal that ended it.
    """

    code: int

    @property
    def over_the_limit(self) -> bool:
        """Whether it took too long."""
        return self.code in (-signal.SIGPROF, -signal.SIGALRM)

    def __str__(self) -> str:
        how = f"by {signal.Signals(-self.code).name}" if self.code < 0 else f"with code {self.code}"
        return f"the process ended {how}"


def answers(
    function: Callable[..., Any], questions: Iterable[Question], *, jobs: int, limit: float
) -> Iterator[tuple[Question, Any]]:
    """Call a function in several processes, and yield each question with its answer.

    Parameters
    ----------
    function : callable
        One that another process can import; what it raises ends that process.
    questions : iterable of tuple
        The arguments of each call.
    jobs : int
        How many processes there are.
    limit : float
        Seconds of a processor that a call may use; it may take four times as long by the clock.

    Yields
    ------
    question : tuple
        The arguments.
    answer : object or Ending
        What the function returned, or how its process ended, in whose place comes another.
    """
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}; it must be 1 or more")
    waiting = iter(questions)
    idle: list[_Worker] = []
    busy: dict[Any, tuple[_Worker, Question]] = {}
    try:
        while True:
            for question in islice(waiting, jobs - len(busy)):
                worker = idle.pop() if idle else _Worker(function, limit)
                worker.ask(question)
                busy[worker.pipe] = worker, question
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker, question = busy.pop(pipe)
                answer = worker.answer()
                if not isinstance(answer, Ending):
                    idle.append(worker)
                yield question, answer
    finally:
        for worker in (*idle, *(worker for worker, _ in busy.values())):
            worker.end()


class _Worker:
    """A process that answers questions."""

    def __init__(self, function: Callable[..., Any], limit: float) -> None:
        self.pipe, theirs = _CONTEXT.Pipe()
        arguments = theirs, function, limit
        self._process = _CONTEXT.Process(target=_answer_all, args=arguments, daemon=True)
        self._process.start()
        # Only the process holds its end now, so that the pipe tells when it is gone.
        theirs.close()

    def ask(self, question: tuple[Any, ...]) -> None:
        """Send a question; if the process is gone, its ending is the answer."""
        with suppress(BrokenPipeError):
            self.pipe.send(question)

    def answer(self) -> Any:
        """Wait for the answer."""
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            self.end()
            return Ending(0 if code is None else code)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()


def _answer_all(pipe: Connection, function: Callable[..., Any], limit: float) -> None:
    """Answer questions until there is nobody to ask them."""
    # An interrupt is for the process that asks, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            question = pipe.recv()
            _end_after(limit)
            value = function(*question)
            _end_after(0)
            pipe.send(value)


def _end_after(limit: float) -> None:
    """Let the system end this process after some time, also inside of compiled code; 0: never."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    signal.setitimer(signal.ITIMER_REAL, ELAPSED_FOR_USED * limit)
