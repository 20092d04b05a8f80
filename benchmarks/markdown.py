"""Tables of figures in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import stats

from journal import Row
from scoring import mean_of_defined


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Lay out lines of cells under a header."""
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rule, *lines]) + "\n"


def number(value: float, digits: int = 2) -> str:
    """Write a number; a dash if it is not defined."""
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def with_error(values: Sequence[float], digits: int = 2) -> str:
    """Write the mean of the defined values, with its standard error."""
    defined = [value for value in values if not np.isnan(value)]
    if len(defined) < 2:
        return number(mean_of_defined(values), digits)
    error = np.std(defined, ddof=1) / np.sqrt(len(defined))
    return f"{np.mean(defined):.{digits}f} ± {error:.{digits}f}"


def share(part: int, whole: int) -> list[str]:
    """Write a share, and its 95% interval (Clopper and Pearson)."""
    if not whole:
        return ["-", "-"]
    low, high = stats.binomtest(part, whole).proportion_ci()
    return [f"{part / whole:.3f}", f"{low:.3f} to {high:.3f}"]


def select(rows: Iterable[Row], **wanted: str) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def values(rows: Iterable[Row], column: str) -> list[float]:
    """Return a column of numbers."""
    return [float(row[column]) for row in rows]


def cell(rows: Sequence[Row], measured: Sequence[float], digits: int = 2) -> str:
    """Write the mean of what was measured in runs, and which of them gave no verdict."""
    # What is behind a colon is a message.
    given_up = Counter(str(row["status"]).split(":")[0] for row in rows if row["status"])
    notes = [f"{status} ({n} of {len(rows)})" for status, n in given_up.items()]
    if given_up.total() == len(rows) and rows:
        return "; ".join(given_up)
    return "; ".join([with_error(measured, digits), *notes])
