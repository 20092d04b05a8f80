"""Rows of what was passed: in the order of the table, or recognisably in another one."""

from __future__ import annotations

from typing import Any

from squamish.errors import InputError


def refuse_other_order(X: Any, rows: Any, name: str) -> None:
    """Refuse a pandas object with the labels of the table's rows in another order.

    Rows are matched by their places, as everywhere in scikit-learn. The same labels in another
    order say that the places do not belong together.

    Examples
    --------
    >>> import pandas as pd
    >>> from squamish.table.alignment import refuse_other_order
    >>> X, y = pd.DataFrame({"x": [1, 2, 3]}), pd.Series([3, 1, 2], index=[2, 0, 1])
    >>> refuse_other_order(X, y, "y")
    Traceback (most recent call last):
    squamish.errors.InputError: y has the labels of X's rows in another order...
    """
    own: Any = getattr(X, "index", None)
    other: Any = getattr(rows, "index", None)
    if not (hasattr(own, "is_unique") and hasattr(other, "is_unique")) or len(own) != len(other):
        return
    if own.equals(other) or not (own.is_unique and other.is_unique):
        return
    if len(own.intersection(other)) == len(own):
        raise InputError(
            f"{name} has the labels of X's rows in another order, but rows are matched by their "
            f"places; pass {name}.loc[X.index], or .to_numpy() if the places are right"
        )
