"""What the columns of a table are for: the target, groups, weights, folds, categories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from squamish.errors import InputError, check_range

if TYPE_CHECKING:
    import polars as pl

    from squamish.cli.outcome import Outcome


@dataclass(frozen=True)
class Roles:
    """The columns that have a role; all others are judged, and so are most categories.

    Attributes
    ----------
    outcome : Outcome
        The columns of the target.
    groups, weights, fold : str
        A column each; empty if there is none.
    dropped : tuple of str
        Columns that are ignored.
    categories : tuple of str
        Columns that are categories.
    adjusted : tuple of str
        Columns that are adjusted for; they may be categories, too.
    """

    outcome: Outcome
    groups: str = ""
    weights: str = ""
    fold: str = ""
    dropped: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    adjusted: tuple[str, ...] = ()

    @property
    def not_judged(self) -> list[str]:
        """All columns that are not in models."""
        names = (*self.outcome.columns, self.groups, self.weights, self.fold, *self.dropped)
        return [name for name in names if name]

    def check(self, names: Sequence[str]) -> None:
        """Refuse a column that is not in the table or has two roles, and a table of roles only."""
        from squamish.report.wording import no_such_column

        for name in (*self.not_judged, *self.categories, *self.adjusted):
            if name not in names:
                raise InputError(no_such_column(name, names))
            in_models = name in self.categories or name in self.adjusted
            if self.not_judged.count(name) + in_models > 1:
                raise InputError(f"{name!r} is given more than one role")
        if len(self.not_judged) + len(self.adjusted) == len(names):
            raise InputError("no column is left to judge; the target needs others to explain it")


def listed(given: Iterable[str], names: Sequence[str]) -> tuple[str, ...]:
    """Read lists of columns: names, or names with commas between them.

    Examples
    --------
    >>> from squamish.cli.roles import listed
    >>> listed(["age, sex", "height, in cm"], ["age", "sex", "height, in cm"])
    ('age', 'sex', 'height, in cm')
    """
    found: list[str] = []
    for text in given:
        found += [text] if text in names else [part.strip() for part in text.split(",")]
    return tuple(dict.fromkeys(found))


def listed_classes(given: Sequence[str]) -> tuple[str, ...]:
    """Read classes in their order: one text with commas between them, or a text for each.

    Examples
    --------
    >>> from squamish.cli.roles import listed_classes
    >>> listed_classes(["low, high"]), listed_classes(["low, or none", "high"])
    (('low', 'high'), ('low, or none', 'high'))
    """
    if len(given) != 1:
        return tuple(given)
    return tuple(part.strip() for part in given[0].split(","))


def column(table: pl.LazyFrame, name: str) -> pl.Series:
    """Read one column."""
    from squamish.table.lazy import take_by_name

    return take_by_name(table, [name]).collect().to_series()


def splits(cv: str, table: pl.LazyFrame, names: Sequence[str]) -> tuple[Any, str]:
    """Turn what --cv says into what the selector takes, and the name of a column it needs."""
    from sklearn.model_selection import TimeSeriesSplit

    if not cv:
        return None, ""
    word, _, number = cv.partition(":")
    if cv.isdecimal():
        return int(cv), ""
    if word == "time" and (not number or number.isdecimal()):
        check_range("the number of --cv time", int(number or 5), at_least=2, integer=True)
        return TimeSeriesSplit(int(number or 5)), ""
    if cv not in names:
        raise InputError(
            f"--cv is {cv!r}; it must be a number of folds, 'time', 'time:8' or a column of the "
            "table"
        )
    return _splits_by_column(table, cv), cv


def _splits_by_column(table: pl.LazyFrame, name: str) -> Any:
    import numpy as np
    from sklearn.model_selection import PredefinedSplit

    fold = column(table, name)
    if fold.null_count():
        raise InputError(f"the column {name!r} of --cv has gaps; every row needs a fold")
    return PredefinedSplit(np.unique(fold.to_numpy(), return_inverse=True)[1])
