"""What squamish raises when it cannot take what it was given."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

# Modules that a call goes through before it is ours: pipelines and searches, and their caches.
_BETWEEN = ("squamish.", "sklearn.", "joblib.")


class InputError(ValueError):
    """The table, the target or a parameter cannot be used; the message says which and why."""


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
    warnings.warn(message, category, stacklevel=level)


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
        raise InputTypeError(" ".join(str(error).split())) from None
    except (ValueError, OverflowError) as error:
        raise InputError(" ".join(str(error).split())) from None


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
