"""Results as JSON and back: plain data with a version, nothing that could be executed.

Every dataclass is an object with its fields; arrays are lists, empty ones of several dimensions
are objects with their shape; NaN is null and infinities are
"inf" and "-inf". What is read is checked against the types of the fields, so that a damaged
file is refused with the place of the damage.
"""

from __future__ import annotations

import dataclasses
import json
import math
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from squamish.errors import InputError
from squamish.evidence import CrossfitEvidence, PaperEvidence

if TYPE_CHECKING:
    from squamish.result import RelevanceResult

FORMAT, VERSION = "squamish-result", 1
# What the evidence holds for every column, by the one method or the other.
_PER_COLUMN = (
    *("proof", "p_relevant", "removal_loss", "removal_interval", "p_value", "effect", "explained"),
    *("importance_rounds", "all_relevant", "minimal", "boruta_history", "importances"),
)
_EVIDENCE = {"crossfit": CrossfitEvidence, "paper": PaperEvidence}


def to_json(result: RelevanceResult) -> str:
    """Write a result as JSON text."""
    kind = next(k for k, cls in _EVIDENCE.items() if isinstance(result.evidence, cls))
    head = {"format": FORMAT, "version": VERSION, "evidence_kind": kind}
    return json.dumps(head | _plain(result), allow_nan=False, indent=1)


def from_json(text: str, cls: type[Any]) -> Any:
    """Read a result of this class from JSON text.

    Raises
    ------
    InputError
        If the text is no result, of another version, or damaged; it says where.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"this is no result of squamish: its format is not {FORMAT!r}")
    if content.get("version") != VERSION:
        raise InputError(
            f"the version of this result is {content.get('version')!r}; this squamish reads "
            f"version {VERSION}"
        )
    kind = content.get("evidence_kind")
    if kind not in _EVIDENCE:
        raise InputError(f"evidence_kind is {kind!r}; it must be {' or '.join(_EVIDENCE)}")
    for key in ("format", "version", "evidence_kind"):
        del content[key]
    result = _Reader(_EVIDENCE[kind]).object(cls, content, "")
    _check_sizes(result)
    return result


def _plain(value: Any) -> Any:
    """Turn a value into what JSON knows."""
    if dataclasses.is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        # A list without rows would not tell how many columns there are.
        empty = value.ndim > 1 and value.size == 0
        return {"shape": list(value.shape)} if empty else _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


class _Reader:
    """Turns JSON values into the types that dataclass fields ask for."""

    def __init__(self, evidence: type[Any]) -> None:
        self.evidence = evidence

    def object(self, cls: type[Any], value: Any, where: str) -> Any:
        """Read a dataclass."""
        if not isinstance(value, dict):
            raise _wrong(where or "the result", value, "an object")
        hints = get_type_hints(cls)
        names = [f.name for f in dataclasses.fields(cls)]
        for name in names:
            if name not in value:
                raise InputError(f"the result is damaged: {_join(where, name)} is missing")
        unknown = sorted(set(value) - set(names))
        if unknown:
            raise InputError(f"the result is damaged: {_join(where, unknown[0])} is unknown")
        return cls(
            **{name: self.value(hints[name], value[name], _join(where, name)) for name in names}
        )

    def value(self, hint: Any, value: Any, where: str) -> Any:
        """Read a value of any type that occurs in results."""
        if hint == CrossfitEvidence | PaperEvidence:
            return self.object(self.evidence, value, where)
        origin, inner = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            if value is None and NoneType in inner:
                return None
            return self.value(next(t for t in inner if t is not NoneType), value, where)
        if origin is np.ndarray:
            return _array(get_args(inner[1])[0], value, where)
        if origin is tuple:
            items = _of(list, value, where, "a list")
            return tuple(self.value(inner[0], v, f"{where}[{i}]") for i, v in enumerate(items))
        if origin is dict:
            return {
                _key(inner[0], k, where): self.value(inner[1], v, _join(where, k))
                for k, v in _of(dict, value, where, "an object").items()
            }
        if dataclasses.is_dataclass(hint):
            return self.object(hint, value, where)  # type: ignore[arg-type]
        if hint is float:
            return _number(value, where)
        return _of(hint, value, where, "text" if hint is str else "a whole number")


def _array(dtype: Any, value: Any, where: str) -> Any:
    kind = np.dtype(dtype).kind
    if isinstance(value, dict) and list(value) == ["shape"]:
        shape = tuple(_of(int, n, f"{where}.shape", "a whole number") for n in value["shape"])
        if min(shape, default=1) != 0 or len(shape) > 3:
            raise _wrong(f"{where}.shape", value["shape"], "the shape of an empty array")
        return np.zeros(shape, dtype=dtype)
    items = _of(list, value, where, "a list")
    if items and isinstance(items[0], list):
        rows = [_array(dtype, row, f"{where}[{i}]") for i, row in enumerate(items)]
        if len({len(row) for row in rows}) > 1:
            raise InputError(f"the result is damaged: the rows of {where} differ in length")
        return np.array(rows, dtype=dtype)
    if kind == "f":
        return np.array([_number(v, f"{where}[{i}]") for i, v in enumerate(items)], dtype=dtype)
    item: tuple[type, str] = (bool, "true or false") if kind == "b" else (int, "a whole number")
    values = [_of(item[0], v, f"{where}[{i}]", item[1]) for i, v in enumerate(items)]
    return np.array(values, dtype=dtype)


def _number(value: Any, where: str) -> float:
    if value is None:
        return math.nan
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(where, value, "a number or null")
    return float(value)


def _key(hint: Any, key: str, where: str) -> Any:
    if hint is str:
        return key
    if not key.isdecimal():
        raise _wrong(f"a key of {where}", key, "a column number")
    return int(key)


def _of(kind: type, value: Any, where: str, allowed: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(where, value, allowed)
    return value


def _wrong(where: str, value: Any, allowed: str) -> InputError:
    shown = repr(value)
    shown = shown if len(shown) < 60 else f"{shown[:57]}..."
    return InputError(f"the result is damaged: {where} is {shown}; it must be {allowed}")


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _check_sizes(result: Any) -> None:
    """Refuse a result whose parts do not belong together."""
    d = len(result.columns.names)
    sized = {
        "columns.dtypes": len(result.columns.dtypes),
        "columns.missing": len(result.columns.missing),
        "classes": len(result.classes),
    }
    for name in _PER_COLUMN:
        value = getattr(result.evidence, name, None)
        if value is not None:
            sized[f"evidence.{name}"] = len(value) if isinstance(value, tuple) else value.shape[-1]
    for where, size in sized.items():
        if size != d:
            raise InputError(f"the result is damaged: {where} has {size} entries, not {d}")
    if not np.isin(result.classes, (0, 1, 2)).all():
        raise InputError("the result is damaged: classes holds something else than 0, 1 and 2")
    evidence = result.evidence
    columns = [j for sets in evidence.substitutes.values() for group in sets for j in group]
    columns += [*evidence.substitutes, *evidence.leaks]
    columns += [j for group in (*evidence.groups, *evidence.representatives) for j in group]
    if any(not 0 <= j < d for j in columns):
        raise InputError("the result is damaged: its evidence is about columns that it has not")
