"""The most columns that a table or a picture shows."""

from __future__ import annotations

from squamish.errors import check_range


def check_cap(max_features: int | None) -> None:
    """Refuse a cap that is no number of columns."""
    if max_features is not None:
        check_range("max_features", max_features, at_least=1, integer=True)


def left_out(n_all: int, n_shown: int, what: str) -> list[str]:
    """Say how many are left out, and how to see them."""
    if n_shown == n_all:
        return []
    return [f"{n_all - n_shown:,} of {n_all:,} {what} not shown (max_features=None shows all)"]
