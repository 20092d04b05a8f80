"""Text that stands for dates and moments, in the ways in which tables hold them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from squamish.table.values import as_number

_TIME = (
    r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp])?(?:[Mm])?\s*(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# What the three parts of a date are, in their order.
ISO, MONTH_FIRST, DAY_FIRST = "year, month, day", "month, day, year", "day, month, year"
_NAMED_DAY_FIRST, _NAMED_MONTH_FIRST = "day, name, year", "name, day, year"
_PATTERNS = {
    ISO: r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    # Three short numbers are a date between slashes only: 1.2.10 is a version, 10-11-12 a code.
    MONTH_FIRST: r"(?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?:[-/](?P<year>\d{4})|/(?P<short>\d{2}))",
    # Points between numbers are used where the day comes first.
    DAY_FIRST: r"(?P<day>\d{1,2})[-/.](?P<month>\d{1,2})(?:[-/.](?P<year>\d{4})|/(?P<short>\d{2}))",
    _NAMED_DAY_FIRST: r"(?P<day>\d{1,2})[- ](?P<name>[A-Za-z]{3,9})\.?[- ](?P<year>\d{4}|\d{2})",
    _NAMED_MONTH_FIRST: r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
}
_COMPILED = {order: re.compile(rf"\s*{date}{_TIME}\s*") for order, date in _PATTERNS.items()}

# Text is taken for dates if so large a share of it is; if all that is looked at first is none, no
# such share is likely.
MOST_OF_THEM, FIRST_LOOK = 0.8, 50


@dataclass(frozen=True)
class DateFormat:
    """How the text of a column is read as dates.

    Attributes
    ----------
    order : str
        What the parts of a date are, in their order.
    example : str
        One of the dates.
    """

    order: str
    example: str

    def seconds(self, text: str) -> float | None:
        """Return seconds since 1970; None if the text is no date in this order.

        Examples
        --------
        >>> from squamish.table.dates import MONTH_FIRST, DateFormat
        >>> DateFormat(MONTH_FIRST, "1/2/1970").seconds("1/2/1970 6:00 AM")
        108000.0
        """
        found = _COMPILED[self.order].fullmatch(text)
        moment = None if found is None else _moment(found.groupdict())
        return None if moment is None else as_number(moment)


def date_formats(labels: Sequence[str]) -> tuple[DateFormat, ...]:
    """Return the formats in which labels, most of them, are dates.

    Examples
    --------
    >>> from squamish.table.dates import date_formats
    >>> date_formats(["1/31/2024", "2/1/2024"])
    (DateFormat(order='month, day, year', example='1/31/2024'),)
    >>> [found.order for found in date_formats(["1/2/2024", "2/1/2024"])]
    ['month, day, year', 'day, month, year']
    """
    few = labels[:: len(labels) // FIRST_LOOK + 1]
    likely = [order for order in _COMPILED if _share(order, few) > 0]
    shares = {order: _share(order, labels) for order in likely}
    most = max(shares.values(), default=0.0)
    return tuple(
        DateFormat(order, next(label for label in labels if _is(order, label)))
        for order, share in shares.items()
        if share == most >= MOST_OF_THEM
    )


def _is(order: str, label: str) -> bool:
    return DateFormat(order, "").seconds(label) is not None


def _share(order: str, labels: Sequence[str]) -> float:
    """Return the share of labels that are dates in an order."""
    return sum(_is(order, label) for label in labels) / max(len(labels), 1)


def _moment(parts: dict[str, str | None]) -> datetime | None:
    """Put the parts of a moment together; None if there is no such one."""
    month = _month(parts)
    hour = int(parts["hour"] or 0)
    if parts["half"]:
        hour = hour % 12 + 12 * (parts["half"].lower() == "p") if 1 <= hour <= 12 else 99
    try:
        return datetime(
            _year(parts["year"] or parts.get("short") or ""),
            month,
            int(parts["day"] or 0),
            hour,
            int(parts["minute"] or 0),
            int(parts["second"] or 0),
            int((parts["part"] or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(parts["zone"]),
        )
    except ValueError:
        return None


def _month(parts: dict[str, str | None]) -> int:
    name = parts.get("name")
    if name is None:
        return int(parts["month"] or 0)
    return _MONTHS.index(name[:3].lower()) + 1 if name[:3].lower() in _MONTHS else 0


def _year(text: str) -> int:
    """Read a year; of two digits, those from 69 on are of the last century (POSIX)."""
    year = int(text)
    return year if len(text) > 2 else year + (1900 if year >= 69 else 2000)


def _zone(text: str | None) -> timezone | None:
    if text is None or text == "Z":
        return None if text is None else UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))
