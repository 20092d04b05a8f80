"""Answers to mistakes: a line each, in the words of the command line."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from squamish.errors import InputError, LeakWarning

# What messages call parameters, and what the command line calls them.
_WORDS = {
    r"\b(missing_target|infinite|task)='(\w+)'": r"--\1 \2",
    r"^(alpha|cv|groups|infinite|method|select|task) ": r"--\1 ",
    r"^(error_rate|missing_target|time_budget) ": r"--\1 ",
    # In quotes they are names of columns.
    r"(?<!['\w])random_state(?!['\w])": "--seed",
    r"(?<!['\w])n_jobs(?!['\w])": "--jobs",
    r"(?<!['\w])sample_weight(?!['\w])": "--weights",
    r"^y\b": "the target",
}


@contextmanager
def answering() -> Iterator[None]:
    """Answer mistakes and interruptions in one line, and print warnings at the end."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # The notes of the verdict say so.
            warnings.simplefilter("ignore", LeakWarning)
            yield
    except InputError as error:
        typer.echo(f"squamish: {in_options(str(error))}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("squamish: interrupted; no file is half-written", err=True)
        raise typer.Exit(130) from None
    except Exception as error:
        # What is wrong in the middle of a file is found only when that is read.
        if not type(error).__module__.startswith("polars"):
            raise
        typer.echo(f"squamish: the data cannot be read: {str(error).splitlines()[0]}", err=True)
        raise typer.Exit(2) from None
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        typer.echo(f"squamish: warning: {message}", err=True)


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
