"""Answers to mistakes: a line each, in the words of the command line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from squamish.cli.running import CRASH, INTERRUPTED, MISTAKE
from squamish.cli.streams import say
from squamish.errors import InputError, LeakWarning, is_complaint, legible, reason_of

# What messages call parameters, and what the command line calls them.
_WORDS = {
    r"\b(missing_target|missing|infinite|method|task|error_rate)='(\w+)'": r"--\1 \2",
    r"^(alpha|cv|groups|infinite|method|missing|order|select|task) ": r"--\1 ",
    r"^(error_rate|missing_target|time_budget) ": r"--\1 ",
    r"^adjust_for ": "--adjust-for ",
    # In quotes they are names of columns.
    r"(?<!['\w])random_state(?!['\w])": "--seed",
    r"(?<!['\w])n_jobs(?!['\w])": "--jobs",
    r"(?<!['\w])sample_weight(?!['\w])": "--weights",
    r"^y\b": "the target",
}


@dataclass(frozen=True)
class Answer:
    """What is said when a command ends early.

    Attributes
    ----------
    text : str
        A line, or the whole help where a command was given nothing.
    code : int
        The exit code.
    """

    text: str
    code: int = MISTAKE

    @classmethod
    def to(cls, error: BaseException) -> Answer:
        """Answer whatever was raised."""
        if isinstance(error, KeyboardInterrupt | typer.Abort):
            return cls("squamish: interrupted; no file is half-written", INTERRUPTED)
        if isinstance(error, SystemExit):
            # 1 is what verdicts that differ are told by, and nothing else.
            return cls(
                "", error.code if isinstance(error.code, int) and error.code != 1 else MISTAKE
            )
        if hasattr(error, "format_message"):  # what typer says about arguments
            return _answer_to_usage(error)
        reason = legible(_reason(error))
        return cls(f"squamish: {reason}", MISTAKE if _is_mistake(error) else CRASH)

    def say(self) -> None:
        """Print it."""
        if self.text:
            say(self.text, err=True)


def _is_mistake(error: BaseException) -> bool:
    """Tell what is wrong with what was given from what is wrong with us."""
    own = isinstance(error, InputError | MemoryError | OSError)
    # A ValueError of another library may well be our mistake.
    return own or (is_complaint(error) and not isinstance(error, ValueError))


def _reason(error: BaseException) -> str:
    """Say in the words of the command line what is wrong."""
    if isinstance(error, InputError):
        return in_options(str(error))
    if isinstance(error, OSError):  # a full disk
        said = error.strerror or reason_of(error)
        return said if error.filename is None else f"{str(error.filename)!r}: {said}"
    if _is_mistake(error):
        # What is wrong in the middle of a file is found only when that is read.
        return f"the data cannot be read: {reason_of(error)}"
    kind = type(error).__name__
    return f"this is a mistake in squamish itself, please report it: {kind}: {reason_of(error)}"


def _answer_to_usage(error: BaseException) -> Answer:
    """Answer a wrong argument in one line, and none at all with the help."""
    message = str(error.format_message())  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":
        return Answer(message)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "squamish"
    said = legible(" ".join(message.split()).rstrip("."))
    return Answer(f"squamish: {said}; {command} --help tells more")


@contextmanager
def answering() -> Iterator[None]:
    """Answer mistakes in one line, and print warnings at the end."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # The notes of the verdict say so.
            warnings.simplefilter("ignore", LeakWarning)
            yield
    except BaseException as error:
        answer = Answer.to(error)
        # Interruptions come at any time, and are answered where all of them arrive.
        if answer.code in (CRASH, INTERRUPTED) or isinstance(error, SystemExit | typer.Exit):
            raise
        answer.say()
        raise typer.Exit(answer.code) from None
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"squamish: warning: {legible(message)}", err=True)


def in_options(message: str) -> str:
    """Say the same in the words of the command line.

    Examples
    --------
    >>> from squamish.cli.answers import in_options
    >>> in_options("time_budget is -1; it must be a number above 0")
    '--time-budget is -1; it must be a number above 0'
    """
    for python, shell in _WORDS.items():
        message = re.sub(python, shell, message)
    return re.sub(r"--(error|missing|time)_", r"--\1-", message)
