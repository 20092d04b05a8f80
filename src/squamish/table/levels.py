"""Categories: labels, and the number of the level in every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Mask
from squamish.table.dates import DateFormat, date_formats
from squamish.table.values import as_number, is_missing

# A text column is taken for a mistake if so many of its levels, and so large a share, are numbers.
LEAST_NUMBERS, MOST_OF_THEM = 5, 0.8


@dataclass(frozen=True, eq=False)
class Levels:
    """A category: the number of the level in every row, and where there is none.

    Attributes
    ----------
    codes : ndarray of float
        Level numbers, in the order of the labels; what is missing comes last.
    missing : ndarray of bool
        Rows without a value.
    labels : ndarray
        What the levels stand for, in the order of their numbers; None is not among them.
    like_a_number : str
        One of the labels, if most of them could be numbers; else empty.
    like_dates : tuple of DateFormat
        The formats in which most of the labels could be dates.
    """

    codes: Array
    missing: Mask
    labels: NDArray[Any]
    like_a_number: str = ""
    like_dates: tuple[DateFormat, ...] = ()

    @classmethod
    def of_text(cls, labels: Sequence[Any]) -> Levels:
        """Enumerate text labels in their order.

        Examples
        --------
        >>> from squamish.table.levels import Levels
        >>> Levels.of_text(["red", None, "blue", "red"]).codes
        array([1., 2., 0., 1.])
        """
        missing = np.array([is_missing(label) for label in labels], dtype=bool)
        text = [str(label) for label, gap in zip(labels, missing, strict=True) if not gap]
        # No array of text: every entry of one takes as much memory as the longest.
        levels = sorted(set(text))
        places = {label: place for place, label in enumerate(levels)}
        codes = np.full(len(labels), float(len(levels)))
        codes[~missing] = [places[label] for label in text]
        numbers = [label for label in levels if as_number(label.replace(",", ".")) is not None]
        likely = len(numbers) >= max(LEAST_NUMBERS, MOST_OF_THEM * len(levels))
        like_a_number = numbers[0] if likely else ""
        return cls(
            codes, missing, np.array(levels, dtype=object), like_a_number, date_formats(levels)
        )

    @classmethod
    def of_numbers(cls, values: Array) -> Levels:
        """Enumerate the different values of a numeric column."""
        levels, codes = np.unique(values, return_inverse=True)
        return cls(codes.astype(np.float64), np.isnan(values), levels[~np.isnan(levels)])

    @property
    def date_format(self) -> DateFormat | None:
        """The format in which all labels are dates, if there is a single one."""
        if len(self.like_dates) != 1:
            return None
        (found,) = self.like_dates
        return found if all(found.seconds(label) is not None for label in self.labels) else None

    def moments(self, form: DateFormat) -> Array:
        """Return seconds since 1970 for dates in a format, NaN for gaps and whatever is none."""
        found = (form.seconds(label) for label in self.labels)
        seconds = [np.nan if value is None else value for value in found]
        return np.array([*seconds, np.nan])[self.codes.astype(np.intp)]

    def again(self, labels: NDArray[Any]) -> Array:
        """Return the numbers of labels; that of None, and one more for what is not known."""
        known = {label: float(code) for code, label in enumerate(self.labels.tolist())}
        none, unknown = float(len(known)), float(len(known) + 1)
        found = (none if is_missing(v) else known.get(v, unknown) for v in labels.tolist())
        return np.fromiter(found, dtype=np.float64, count=len(labels))
