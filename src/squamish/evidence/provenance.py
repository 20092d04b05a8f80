"""Where a verdict comes from: the columns, the target, the seed and the versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Columns:
    """What the columns of the table were like.

    Attributes
    ----------
    names : tuple of str
        Their names, in the order of the table; numbers if they had none.
    dtypes : tuple of str
        Their types, as the table's library calls them.
    missing : tuple of float
        Share of missing values.
    """

    names: tuple[str, ...]
    dtypes: tuple[str, ...]
    missing: tuple[float, ...]

    def some(self, places: Iterable[int]) -> Columns:
        """Return some of the columns, in this order."""
        kept = list(places)
        return Columns(
            tuple(self.names[j] for j in kept),
            tuple(self.dtypes[j] for j in kept),
            tuple(self.missing[j] for j in kept),
        )


@dataclass(frozen=True)
class Provenance:
    """Where a verdict comes from.

    Attributes
    ----------
    data, target : str
        Name of the table and of the target; empty if unknown.
    target_summary : str
        The classes and how many rows each has, or the range of the amounts.
    class_order : tuple of str
        The classes from the least to the greatest; empty if they have no order.
    command : str
        The call or the command line that gives the same verdict.
    seed : int or None
        The seed, if one was given.
    created : str
        When the fit ended, in UTC.
    versions : dict of str to str
        Versions of squamish and of what it computes with.
    """

    data: str = ""
    target: str = ""
    target_summary: str = ""
    class_order: tuple[str, ...] = ()
    command: str = ""
    seed: int | None = None
    created: str = ""
    versions: dict[str, str] = field(default_factory=dict)
