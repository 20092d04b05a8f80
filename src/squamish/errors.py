"""What squamish raises when it cannot take what it was given."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

# Modules that a call goes through before it is ours: pipelines and searches, and their caches.
_BETWEEN = ("squamish.", "sklearn.", "joblib.")
# The longest line that is raised or printed: names and keys in it may have any length.
LONGEST_LINE = 1000


def legible(text: str, longest: int | None = LONGEST_LINE) -> str:
    r"""Write text in one line that is safe to print, whatever it holds.

    What a terminal would obey, what a line cannot hold and what cannot be encoded is escaped as
    in Python; of a long text the middle is left out. What is legible already stays as it is.

    Parameters
    ----------
    text : str
        A message, or a name in one.
    longest : int or None
        The most characters; None for any number.

    Examples
    --------
    >>> from squamish.errors import legible
    >>> print(legible("bright \x1b[31mred\nline"))
    bright \x1b[31mred\nline
    >>> legible("a column with a long name", longest=9)
    'a co…name'
    """
    text = _shortened(text, longest)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _escaped(c) for c in text)
    return _shortened(text, longest)


def _shortened(text: str, longest: int | None) -> str:
    if longest is None or len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


class InputError(ValueError):
    """The table, the target or a parameter cannot be used; the message says which and why.

    The message is one line that is safe to print, whatever the names and values in it hold.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(legible(str(message)))


class InputTypeError(InputError, TypeError):
    """The table holds something that is neither a number nor text."""


class ClusterLost(ConnectionError):  # noqa: N818 (it says what happened)
    """The scheduler of a cluster went away, or froze, in the middle of a fit."""


class LeakWarning(UserWarning):
    """A column alone tells the target almost perfectly."""


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into squamish, be it directly or through scikit-learn.

    How many calls of ours are in between is nothing that a warning should have to know.
    """
    # Only here, so that whoever waits for the help of the command line does not wait for it.
    import inspect

    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    warnings.warn(legible(message), category, stacklevel=level)


@contextmanager
def in_one_line() -> Iterator[None]:
    """Raise what a library below complains about as an InputError of one line.

    Examples
    --------
    >>> from squamish.errors import in_one_line
    >>> with in_one_line():
    ...     float("x")
    Traceback (most recent call last):
    squamish.errors.InputError: could not convert string to float: 'x'
    """
    try:
        yield
    except InputError:
        raise
    except TypeError as error:
        raise InputTypeError(reason_of(error)) from None
    except BaseException as error:
        if not is_complaint(error):
            raise
        raise InputError(reason_of(error)) from None


def is_complaint(error: BaseException) -> bool:
    """Tell whether an exception is a library's answer to data that it cannot take.

    Libraries of tables raise classes of their own, and polars one for panics that is no Exception;
    they are known by name, as none has to be installed.
    """
    home = type(error).__module__.partition(".")[0]
    return (
        isinstance(error, ValueError | OverflowError | MemoryError | RecursionError)
        or home in ("narwhals", "polars", "pyarrow")
        or type(error).__name__ == "PanicException"
    )


def reason_of(error: BaseException) -> str:
    """Return what an exception says, in one line; its name if it says nothing."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    # Further paragraphs of polars and scikit-learn are hints on how to call them.
    paragraph = str(error).strip().partition("\n\n")[0]
    return legible(" ".join(paragraph.split())) or type(error).__name__


def check_range(
    name: str,
    value: object,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    integer: bool = False,
) -> None:
    """Raise an InputError that names the parameter unless the value is a number in range.

    Examples
    --------
    >>> from squamish.errors import check_range
    >>> check_range("alpha", 1.5, above=0, below=1)
    Traceback (most recent call last):
    squamish.errors.InputError: alpha is 1.5; it must be a number above 0 and below 1
    """
    # Only here, so that whoever waits for the help of the command line does not wait for it.
    import numpy as np

    limits = {"at least": at_least, "at most": at_most, "above": above, "below": below}
    given = " and ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
    kind = "a whole number" if integer else "a number"
    fits = (
        isinstance(value, int | np.integer if integer else int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and (at_least is None or value >= at_least)
        and (at_most is None or value <= at_most)
        and (above is None or value > above)
        and (below is None or value < below)
    )
    if not fits:
        raise InputError(f"{name} is {value!r}; it must be {kind} {given}")


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise an InputError that names the parameter unless the value is one of the choices.

    Examples
    --------
    >>> from squamish.errors import check_choice
    >>> check_choice("task", "ranking", ("classification", "regression"))
    Traceback (most recent call last):
    squamish.errors.InputError: task is 'ranking'; it must be 'classification' or 'regression'
    """
    if value not in choices:
        raise InputError(f"{name} is {value!r}; it must be {' or '.join(map(repr, choices))}")
