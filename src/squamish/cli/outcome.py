"""squamish fit --target, --time with --event, and --exposure: what is to be explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from squamish.cli.roles import column
from squamish.errors import InputError

if TYPE_CHECKING:
    import polars as pl

# The most values of a column that a message shows.
MOST_SHOWN = 5


@dataclass(frozen=True)
class Outcome:
    """The columns of the target.

    Attributes
    ----------
    target : str
        Its column; empty for times.
    time, event : str
        When rows had the event or were lost, and what tells which; empty for other targets.
    value : str or None
        The value of ``event`` that is one; None if it holds true and false, or ones and zeros.
    exposure : str
        How long rows were exposed, for counts; empty if all were alike.
    """

    target: str
    time: str = ""
    event: str = ""
    value: str | None = None
    exposure: str = ""

    @classmethod
    def of(cls, target: str, time: str, event: str, exposure: str, names: Sequence[str]) -> Outcome:
        """Tell from the options which columns are meant."""
        if bool(time) != bool(event):
            raise InputError("--time and --event belong together: when, and whether it was seen")
        if bool(target) == bool(time):
            said = "both are given" if target else "neither is given"
            raise InputError(
                "say what to explain by --target COLUMN, or by --time COLUMN and --event COLUMN; "
                + said
            )
        if exposure and time:
            raise InputError("--exposure belongs to counts, not to --time and --event")
        name, is_named, value = event.rpartition("=")
        if event in names or not is_named:
            return cls(target, time, event, None, exposure)
        return cls(target, time, name, value, exposure)

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        names = (self.target, self.time, self.event, self.exposure)
        return tuple(name for name in names if name)

    def task(self, asked: str) -> str | None:
        """Return the task: times are survival."""
        if self.time and asked not in ("", "survival"):
            raise InputError(f"--task is {asked!r}, but --time and --event take 'survival'")
        if asked == "survival" and not self.time:
            raise InputError("--task survival takes --time COLUMN and --event COLUMN")
        return "survival" if self.time else asked or None

    def label(self) -> str:
        """Name the target, for the report."""
        if not self.time:
            return self.target
        value = "" if self.value is None else f"={self.value}"
        return f"{self.time} ({self.event}{value})"

    def read(self, table: pl.LazyFrame) -> Any:
        """Read the target."""
        import polars as pl

        if not self.time:
            return column(table, self.target)
        return pl.DataFrame({"event": self._events(table), "time": column(table, self.time)})

    def _events(self, table: pl.LazyFrame) -> pl.Series:
        """Tell which rows had the event."""
        import polars as pl

        values = column(table, self.event)
        if self.value is None:
            self._check_flags(values)
            return values
        if values.dtype.is_numeric():
            try:
                return values == float(self.value)
            except ValueError:
                pass
        found = values.cast(pl.String) == self.value
        if values.dtype == pl.Boolean:
            found = values.cast(pl.String) == self.value.lower()
        return found

    def _check_flags(self, values: pl.Series) -> None:
        """Refuse values of which nothing says which of them is the event."""
        import polars as pl

        known = values.drop_nulls().unique().sort()
        if values.dtype == pl.Boolean or (
            values.dtype.is_numeric() and all(v in (0, 1) for v in known.to_list())
        ):
            return
        shown = ", ".join(map(str, known.head(MOST_SHOWN).to_list()))
        more = ", ..." if len(known) > MOST_SHOWN else ""
        last = known[-1] if len(known) else 1
        raise InputError(
            f"--event is {self.event!r}, which holds {shown}{more}; it must hold true and false, "
            f"or 1 and 0, or say which value is an event, such as --event {self.event}={last}"
        )
