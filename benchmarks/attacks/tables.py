"""Random tables of odd values, types and names: a verdict, or an error of our own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from attacks.outcome import Outcome

NAMES = ("a", "", "*", "^a$", "^.*$", "1", "a\nb", "\x1b[31m", "=1+1", "ä", "column", "y", " ")
_NUMBERS = (0.0, -0.0, 1e-310, 1.7e308, -1.7e308, np.nan, np.inf, 1.0, 2.5, -3.0)
_ANYTHING = (None, "a", "", 1, 2.5, True, b"\xff", "\ud800", 10**400, date(1, 1, 1), "1,5")
COLUMNS: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "floats": lambda rng, n: rng.standard_normal(n).tolist(),
    "odd floats": lambda rng, n: rng.choice(_NUMBERS, n).tolist(),
    "few numbers": lambda rng, n: rng.integers(0, 3, n).tolist(),
    "large numbers": lambda rng, n: rng.integers(-(2**62), 2**62, n).tolist(),
    "larger numbers": lambda rng, n: [2**70 + int(k) for k in rng.integers(0, 9, n)],
    "flags": lambda rng, n: [(True, False, None)[k] for k in rng.integers(0, 3, n)],
    "words": lambda rng, n: [("a", "b", None, "ü", "")[k] for k in rng.integers(0, 5, n)],
    "bytes": lambda rng, n: [(b"a", b"\xff")[k] for k in rng.integers(0, 2, n)],
    "dates": lambda rng, n: [
        date(1970, 1, 1) + timedelta(int(k)) for k in rng.integers(0, 9999, n)
    ],
    "moments": lambda rng, n: [
        datetime(1, 1, 1) + timedelta(seconds=float(k)) for k in rng.uniform(0, 1e11, n)
    ],
    "spans": lambda rng, n: [timedelta(float(k)) for k in rng.uniform(-1e8, 1e8, n)],
    "one value": lambda rng, n: [3.5] * n,
    "nothing": lambda rng, n: [None] * n,
    "anything": lambda rng, n: [_ANYTHING[k] for k in rng.integers(0, len(_ANYTHING), n)],
    "lists": lambda rng, n: [[1]] * n,
}


def attempt(seed: int, folder: Path) -> Outcome:
    """Fit a random table of any library."""
    from squamish import InputError, RelevanceSelector

    rng = np.random.default_rng(seed)
    try:
        X, y = _table(rng), _target(rng)
    except Exception as error:  # the library itself does not take it
        return Outcome(f"no table: {type(error).__name__}")
    selector = RelevanceSelector(random_state=0, missing_target="drop")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            found = selector.fit(X, y[: len(X)]).relevance_classes_
    except InputError as error:
        said = str(error)
        return Outcome("our error") if said.isprintable() else Outcome("fault", repr(said[:300]))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome("fault", f"{type(error).__name__}: {str(error)[:300]!r}")
    return Outcome("a verdict") if len(found) == X.shape[1] else Outcome("fault", f"{len(found)}")


def _table(rng: np.random.Generator) -> Any:
    n = int(rng.choice([0, 1, 2, 5, 20, 30, 40], p=[0.02, 0.02, 0.06, 0.1, 0.3, 0.3, 0.2]))
    names = rng.choice(NAMES, int(rng.integers(1, 4)), replace=False).tolist()
    kinds = rng.choice(sorted(COLUMNS), len(names))
    columns = {name: COLUMNS[kind](rng, n) for name, kind in zip(names, kinds, strict=True)}
    return _in_library(str(rng.choice(["pandas", "polars", "pyarrow", "numpy"])), columns, rng)


def _in_library(library: str, columns: dict[str, list[Any]], rng: np.random.Generator) -> Any:
    """Return a table of a library, with far dates and wide numbers where there are such types."""
    if library == "polars":
        import polars as pl

        frame = pl.DataFrame(columns, strict=False)
        if rng.random() < 0.1:
            days = pl.Series(rng.integers(-(2**31), 2**31, frame.height).tolist(), dtype=pl.Int32)
            wide = getattr(pl, "Int128", pl.Int64)
            frame = frame.with_columns(far=days.cast(pl.Date), wide=days.cast(wide))
        return frame
    if library == "pyarrow":
        import pyarrow as pa

        table = pa.table(columns)
        if rng.random() < 0.1:
            days = pa.array(rng.integers(-(2**31), 2**31, table.num_rows).tolist(), pa.int32())
            table = table.append_column("far", days.cast(pa.date32()))
        return table
    import pandas as pd

    frame = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()})
    if library == "numpy":
        return frame.to_numpy()
    return frame if rng.random() < 0.5 else frame.infer_objects()


def _target(rng: np.random.Generator) -> Any:
    usual = rng.random() < 0.8
    kind = str(rng.choice(["few numbers", "floats", "words"] if usual else sorted(COLUMNS)))
    values = np.empty(40, dtype=object)
    values[:] = COLUMNS[kind](rng, 40)
    return values
