"""Results as JSON and back: plain data with a version, nothing that could be executed.

Every dataclass is an object with its fields; arrays are lists, empty ones of several dimensions
are objects with their shape; NaN is null and infinities are "inf" and "-inf". What is read is
checked against the types of the fields and against each other, so that a damaged file is
refused with the place of the damage.
"""

from __future__ import annotations

import dataclasses
import json
import math
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from squamish.errors import InputError
from squamish.evidence import CrossfitEvidence, PaperEvidence
from squamish.evidence.relevance import CLASS_NAMES, PROOFS, WEAK

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

FORMAT, VERSION = "squamish-result", 1
_EVIDENCE = {"crossfit": CrossfitEvidence, "paper": PaperEvidence}
# The shape of every array of the evidence; d is the number of columns, None is any number.
_SHAPES: dict[str, tuple[int | str | None, ...]] = {
    "p_relevant": ("d",),
    "removal_loss": ("d",),
    "removal_interval": (2, "d"),
    "p_value": ("d",),
    "effect": ("d",),
    "explained": ("d",),
    "minimal": ("d",),
    "importance_rounds": (None, "d"),
    "shadow_rounds": (None, None),
    "all_relevant": ("d",),
    "boruta_history": (None, "d"),
    "boruta_shadows": (None, 3),
    "importances": ("d",),
    "undecided": ("d",),
}


def to_json(result: RelevanceResult) -> str:
    """Write a result as JSON text, a line for each of its parts."""
    kind = next(k for k, cls in _EVIDENCE.items() if isinstance(result.evidence, cls))
    content = {"format": FORMAT, "version": VERSION, "evidence_kind": kind} | _plain(result)
    lines = [f"{json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


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
    if not isinstance(kind, str) or kind not in _EVIDENCE:
        raise InputError(f"evidence_kind is {kind!r}; it must be {' or '.join(_EVIDENCE)}")
    for key in ("format", "version", "evidence_kind"):
        del content[key]
    result = _Reader(_EVIDENCE[kind]).object(cls, content, "")
    _check(result)
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
                raise _damaged(f"{_join(where, name)} is missing")
        unknown = sorted(set(value) - set(names))
        if unknown:
            raise _damaged(f"{_join(where, unknown[0])} is unknown")
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
        if (scalar := scalar_type(hint)) is not None:
            return _array(scalar, value, where)
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


def scalar_type(hint: Any) -> Any:
    """Return what an array of this type holds; None if it is no type of an array.

    ``NDArray[T]`` is short for a type of ``ndarray``, or, from NumPy 2.5, a type with a name.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is np.ndarray:
        return get_args(inner[1])[0]
    return inner[0] if origin is NDArray else None


def _array(dtype: Any, value: Any, where: str) -> Any:
    """Read a list, a list of lists, or the shape of an empty array."""
    if isinstance(value, dict):
        shape: Any = value.get("shape")
        whole = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
        if not whole or min(shape) != 0 or max(shape) > 10**9:
            raise _wrong(where, value, "a list, or the shape of an empty array")
        return np.zeros(shape, dtype=dtype)
    items = _of(list, value, where, "a list")
    if not (items and isinstance(items[0], list)):
        return _row(dtype, items, where)
    rows = [
        _row(dtype, _of(list, row, f"{where}[{i}]", "a list"), f"{where}[{i}]")
        for i, row in enumerate(items)
    ]
    if len({len(row) for row in rows}) > 1:
        raise _damaged(f"the rows of {where} differ in length")
    return np.array(rows, dtype=dtype)


def _row(dtype: Any, items: list[Any], where: str) -> Any:
    kind = np.dtype(dtype).kind
    if kind == "f":
        return np.array([_number(v, f"{where}[{i}]") for i, v in enumerate(items)], dtype=dtype)
    item: tuple[type, str] = (bool, "true or false") if kind == "b" else (int, "a whole number")
    values = [_of(item[0], v, f"{where}[{i}]", item[1], bits=62) for i, v in enumerate(items)]
    return np.array(values, dtype=dtype)


def _number(value: Any, where: str) -> float:
    if value is None:
        return math.nan
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e308:
        raise _wrong(where, value, "a number or null")
    return float(value)


def _key(hint: Any, key: str, where: str) -> Any:
    if hint is str:
        return key
    if not (key.isascii() and key.isdecimal() and len(key) < 12):
        raise _wrong(f"a key of {where}", key, "a column number")
    return int(key)


def _of(kind: type, value: Any, where: str, allowed: str, bits: int = 1000) -> Any:
    fits = isinstance(value, kind)
    if kind is int:
        # A seed may have many digits, a number in an array may not.
        fits = type(value) is int and value.bit_length() <= bits
    if not fits:
        raise _wrong(where, value, allowed)
    return value


def _wrong(where: str, value: Any, allowed: str) -> InputError:
    try:
        shown = repr(value)
    except ValueError:  # a number of thousands of digits
        shown = "something very long"
    shown = shown if len(shown) < 60 else f"{shown[:57]}..."
    return _damaged(f"{where} is {shown}; it must be {allowed}")


def _damaged(reason: str) -> InputError:
    return InputError(f"the result is damaged: {reason}")


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _check(result: RelevanceResult) -> None:
    """Refuse a result whose parts do not belong together."""
    columns, evidence, d = result.columns, result.evidence, len(result.columns.names)
    if len(set(columns.names)) < d:
        raise _damaged("columns.names has a name twice")
    sizes = {
        "columns.dtypes": (len(columns.dtypes),),
        "columns.missing": (len(columns.missing),),
        "classes": result.classes.shape,
        "evidence.proof": (len(evidence.proof),),
    }
    for where, shape in sizes.items():
        _check_shape(where, shape, ("d",), d)
    for name, expected in _SHAPES.items():
        value = vars(evidence).get(name)
        if value is not None:
            _check_shape(f"evidence.{name}", value.shape, expected, d)
    if not np.isin(result.classes, list(CLASS_NAMES)).all():
        raise _damaged("classes holds something else than 0, 1 and 2")
    if any(proof and proof not in PROOFS for proof in evidence.proof):
        raise _damaged("evidence.proof holds an unknown proof")
    if isinstance(evidence, CrossfitEvidence):
        _check_groups(evidence, np.flatnonzero(result.classes == WEAK).tolist(), d)
    else:
        for name in ("importance_interval", "loss_interval"):
            interval = getattr(evidence, name)
            if interval is not None and (interval.samples.ndim != 1 or len(interval.samples) < 2):
                raise _damaged(f"evidence.{name} has too few samples")


def _check_shape(
    where: str, shape: tuple[int, ...], expected: tuple[int | str | None, ...], d: int
) -> None:
    wanted = [d if size == "d" else size for size in expected]
    pairs = zip(shape, wanted, strict=False)
    if len(shape) != len(wanted) or any(w is not None and n != w for n, w in pairs):
        size = " x ".join(map(str, shape))
        said = " x ".join("any" if w is None else str(w) for w in wanted)
        raise _damaged(f"{where} has {size} entries, not {said}")


def _check_groups(evidence: CrossfitEvidence, weak: list[int], d: int) -> None:
    for name, p in evidence.proof_p_values.items():
        _check_shape(f"evidence.proof_p_values.{name}", p.shape, ("d",), d)
    members = sorted(j for group in evidence.groups for j in group)
    if members != weak or sorted(evidence.substitutes) != weak:
        raise _damaged("evidence.groups and evidence.substitutes must hold every weak column once")
    if len(evidence.groups) != len(evidence.representatives):
        raise _damaged("evidence.representatives must have an entry for each group")
    for group, chosen in zip(evidence.groups, evidence.representatives, strict=True):
        if not chosen or not {*chosen} <= {*group}:
            raise _damaged("evidence.representatives must be members of their groups")
    named = [j for sets in evidence.substitutes.values() for group in sets for j in group]
    if any(not 0 <= j < d for j in [*named, *evidence.leaks]):
        raise _damaged("its evidence is about columns that it has not")
