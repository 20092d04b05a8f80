"""One bit of a file is another: CSV, Parquet, Arrow, packed text, results and checkpoints."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np

from attacks.command import Ended, judged, run
from attacks.outcome import Outcome

N_ROWS = 40
_DATA = ("csv", "csv.gz", "csv.bz2", "csv.xz", "parquet", "feather", "arrow")
KINDS = (*_DATA, "result.json", "checkpoint")


def attempt(seed: int, folder: Path) -> Outcome:
    """Flip a bit of a file of some kind, and let the command that reads it have it."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    outcome = {"result.json": _result, "checkpoint": _checkpoint}.get(kind, _data)(
        rng, kind, folder
    )
    return Outcome(f"{kind}: {outcome.kind}", outcome.fault)


def _data(rng: np.random.Generator, kind: str, folder: Path) -> Outcome:
    path = folder / f"table.{kind}"
    _write_table(path, kind)
    _flip(rng, path)
    return judged(run(["fit", path.name, "--target", "y", "--json", "--quiet"], folder))


def _result(rng: np.random.Generator, kind: str, folder: Path) -> Outcome:
    _fit(folder, [])
    path, whole = folder / "out" / kind, (folder / "out" / kind).read_bytes()
    _flip(rng, path)
    (folder / "whole.json").write_bytes(whole)
    ended = run(["compare", path, "whole.json"], folder)
    outcome = judged(ended)
    if outcome.kind == "accepted" and json.loads(path.read_bytes()) != json.loads(whole):
        return Outcome("fault", "read with other content")
    return outcome


def _checkpoint(rng: np.random.Generator, kind: str, folder: Path) -> Outcome:
    _fit(folder, ["--checkpoint", kind])
    before = json.loads((folder / "out" / "result.json").read_text())["evidence"]
    _flip(rng, folder / kind)
    ended = _fit(folder, ["--checkpoint", kind])
    outcome = judged(ended)
    after = json.loads((folder / "out" / "result.json").read_text())["evidence"]
    return outcome if before == after else Outcome("fault", "other evidence")


def _fit(folder: Path, more: list[str]) -> Ended:
    _write_table(folder / "table.csv", "csv")
    return run(["fit", "table.csv", "--target", "y", "--out", "out", "--quiet", *more], folder)


def _flip(rng: np.random.Generator, path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(content)


def _write_table(path: Path, kind: str) -> None:
    """Write the same small table in any kind, by pyarrow: polars may not be called here."""
    rng = np.random.default_rng(0)
    age, city = rng.standard_normal(N_ROWS).round(3), rng.choice(["Bonn", "Oslo"], N_ROWS)
    y = (age > 0).astype(int)
    rows = [f"{a},{c},{t}" for a, c, t in zip(age, city, y, strict=True)]
    text = "\n".join(["age,city,y", *rows, ""]).encode()
    packings: dict[str, Callable[[bytes], bytes]] = {
        "csv": bytes,
        "csv.gz": gzip.compress,
        "csv.bz2": bz2.compress,
        "csv.xz": lzma.compress,
    }
    if kind in packings:
        path.write_bytes(packings[kind](text))
        return
    import pyarrow as pa
    from pyarrow import feather, parquet

    table = pa.table({"age": age, "city": city.tolist(), "y": y})
    if kind == "parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(
            table, path, compression="lz4" if kind == "feather" else "uncompressed"
        )
