"""The order of classes: given, or that of an ordered category, or of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from squamish.errors import InputError
from squamish.table.frames import as_frame
from squamish.table.values import as_number, is_missing

# The most labels that a message names.
MOST_NAMED = 8


def read_order(order: Any, y: Any) -> tuple[Any, ...]:
    """Return the labels from the least to the greatest: as they are given, or as a target has them.

    Empty if nothing tells an order; that of numbers need not be told.
    """
    return order_of_category(y) if order is None else _checked(order)


def order_of_category(y: Any) -> tuple[Any, ...]:
    """Return the levels of an ordered category of pandas, polars or pyarrow; empty for all else.

    Categories of polars are in an order if they are an Enum: any other has that of appearance.

    Examples
    --------
    >>> import polars as pl
    >>> from squamish.table.order import order_of_category
    >>> order_of_category(pl.Series(["low", "high"], dtype=pl.Enum(["low", "mid", "high"])))
    ('low', 'mid', 'high')
    >>> order_of_category(["low", "high"])
    ()
    """
    frame = as_frame(y)
    if frame is not None:
        is_single = frame.shape[1] == 1
        return order_of_category(frame[:, 0].to_native()) if is_single else ()
    dtype = getattr(y, "dtype", None)
    if getattr(dtype, "ordered", False):
        return tuple(dtype.categories)  # type: ignore[union-attr]
    if getattr(getattr(y, "type", None), "ordered", False):
        # Chunks of one column may differ in what they list, but not in its order.
        y = y.unify_dictionaries().chunk(0) if hasattr(y, "unify_dictionaries") else y
        return tuple(y.dictionary.to_pylist())
    series = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series) and isinstance(series.dtype, nw.Enum):
        return tuple(series.to_native().dtype.categories)
    return ()


def in_order(values: NDArray[Any], order: Sequence[Any]) -> tuple[Any, ...]:
    """Return the different values of a target from the least to the greatest.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.table.order import in_order
    >>> in_order(np.array(["low", "high", "low"]), ["low", "medium", "high"])
    ('low', 'high')
    >>> in_order(np.array([3, 1, 2, 1]), [])
    (1, 2, 3)
    """
    different = np.unique(values)
    is_text = different.dtype.kind not in "biuf"
    if len(order) == 0:
        if is_text:
            raise InputError(
                f"y holds text without an order ({_some(different.tolist())}), but task is "
                "'ordinal'; give the order of these labels, from the least to the greatest, or an "
                "ordered category"
            )
        return tuple(different.tolist())
    place = {_key(label, is_text): k for k, label in enumerate(order)}
    if len(place) < len(order):
        raise InputError(f"order holds a label twice: {', '.join(map(str, order))}")
    unknown = [value for value in different.tolist() if _key(value, is_text) not in place]
    if unknown:
        raise InputError(
            f"y holds {unknown[0]!r}, which is not among the classes in order: {_some(order)}"
        )
    return tuple(sorted(different.tolist(), key=lambda value: place[_key(value, is_text)]))


def _key(label: Any, is_text: bool) -> Any:
    """Return what labels are compared by: numbers and truth values may be given as text."""
    if is_text:
        return str(label)
    truth = {"true": 1.0, "false": 0.0}.get(str(label).lower())
    number = as_number(label) if truth is None else truth
    return str(label) if number is None else number


def _checked(order: Any) -> tuple[Any, ...]:
    if isinstance(order, str | bytes) or not isinstance(order, Iterable):
        raise InputError(
            f"order is {order!r}; it must be a list of the labels of y, from the least to the "
            "greatest"
        )
    labels = tuple(order)
    if len(labels) < 2 or any(is_missing(label) for label in labels):
        raise InputError(f"order is {list(labels)!r}; it must hold two labels or more, and no gaps")
    return labels


def _some(labels: Iterable[Any]) -> str:
    named = [repr(label) for label in labels]
    more = ", ..." if len(named) > MOST_NAMED else ""
    return f"{', '.join(named[:MOST_NAMED])}{more}"
