"""Frames that are read when they are asked for, and need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from squamish.arrays import Array, Indices, Mask
from squamish.errors import InputError
from squamish.table.dates import DateFormat
from squamish.table.frames import read_frame
from squamish.table.infinite import without_infinite
from squamish.table.levels import Levels


def is_lazy(X: Any) -> bool:
    """Tell whether a table is a polars LazyFrame."""
    return bool(nw.dependencies.is_polars_lazyframe(X))


def take_lazily(X: Any, columns: Indices | Sequence[int]) -> Any:
    """Return some columns of a LazyFrame, which stays one, whatever the names of columns mean.

    polars takes names such as ``*`` and ``^x.*$`` for patterns. Numbers are none.

    Examples
    --------
    >>> import polars as pl
    >>> from squamish.table.lazy import take_lazily
    >>> table = pl.LazyFrame({"^x.*$": [1], "x1": [2]})
    >>> take_lazily(table, [0]).collect().columns
    ['^x.*$']
    """
    names = X.collect_schema().names()
    wanted = [names[j] for j in columns]
    if not any(map(_is_pattern, wanted)):
        return X.select(wanted)
    numbered = X.rename({name: str(place) for place, name in enumerate(names)})
    return numbered.select([str(j) for j in columns]).rename(
        {str(j): names[j] for j in columns},
    )


def take_by_name(X: Any, names: Iterable[str]) -> Any:
    """Return the columns of a LazyFrame that have these very names."""
    places = {name: place for place, name in enumerate(X.collect_schema().names())}
    return take_lazily(X, [places[name] for name in names])


def _is_pattern(name: str) -> bool:
    """Tell whether polars would take a name for something else, in any version."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


@dataclass(frozen=True, eq=False)
class LazyRows:
    """The rows of a polars LazyFrame, which are read when they are asked for.

    Attributes
    ----------
    frame : polars.LazyFrame
        The table.
    n_rows : int
        How many rows it has.
    levels : mapping of int to Levels
        Its categories, as they were read in some of the rows.
    dates : mapping of int to DateFormat
        Its columns of text that are dates, as they were read there.
    infinite : {"error", "missing"}
        What to do with infinite values.
    used : ndarray of bool or None
        Which rows are used; None for all.
    """

    frame: Any
    n_rows: int
    levels: Mapping[int, Levels] = field(default_factory=dict)
    dates: Mapping[int, DateFormat] = field(default_factory=dict)
    infinite: str = "error"
    used: Mask | None = None

    @classmethod
    def of(cls, frame: Any, n_rows: int) -> LazyRows:
        """Check that a frame has as many rows as there are targets."""
        import polars as pl

        found = int(frame.select(pl.len()).collect().item())
        if found != n_rows:
            raise InputError(f"X has {found} rows, and y has {n_rows}; they must have the same")
        return cls(frame, n_rows)

    def rows(self, numbers: Indices, portions: Sequence[tuple[int, int]]) -> Any:
        """Return some rows, given in ascending order, as a frame."""
        import polars as pl

        cut = np.searchsorted(numbers, [start for start, _ in portions][1:])
        return pl.concat(
            [
                self._frame(start, stop)[some - start]
                for (start, stop), some in zip(portions, np.split(numbers, cut), strict=True)
                if len(some)
            ]
        )

    def portion(self, start: int, stop: int) -> Array:
        """Return some rows as floats, numbered as the levels were before."""
        some = nw.from_native(self._frame(start, stop), eager_only=True)
        columns = read_frame(some)
        values = np.column_stack([self._numbers(j, column) for j, column in enumerate(columns)])
        used = np.ones(len(values), dtype=bool) if self.used is None else self.used[start:stop]
        numbers = np.arange(start, stop)
        return np.asarray(without_infinite(values, used, some.columns, self.infinite, numbers))

    def _numbers(self, j: int, column: Array | Levels) -> Array:
        if isinstance(column, Levels) and j in self.dates:
            column = column.moments(self.dates[j])
        if isinstance(column, Levels):
            known = self.levels[j].again(np.array([*column.labels.tolist(), None], dtype=object))
            return known[column.codes.astype(np.intp)]
        return self.levels[j].again(column) if j in self.levels else column

    def _frame(self, start: int, stop: int) -> Any:
        return self.frame.slice(start, stop - start).collect()
