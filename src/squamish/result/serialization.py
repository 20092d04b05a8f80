"""Results as JSON and back: plain data with a version, nothing that could be executed.

Every dataclass is an object with its fields; arrays are lists, empty ones of several dimensions
are objects with their shape; NaN is null and infinities are "inf" and "-inf". What is read is
checked against the types of the fields and against each other, so that a damaged file is
refused with the place of the damage; a digest of the content finds damage that has no place.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from squamish.errors import InputError, legible
from squamish.evidence import KINDS, Evidence
from squamish.evidence.consistency import (
    wrong_classes,
    wrong_numbers,
    wrong_rounds,
    wrong_size,
)
from squamish.evidence.relevance import CLASS_NAMES, WEAK

if TYPE_CHECKING:
    from squamish.result.result import RelevanceResult

FORMAT, VERSION = "squamish-result", 3
# What is read: of an older version, fields that it did not have yet get their defaults.
READABLE = (1, 2, VERSION)
# Files of the first version have no digest.
DIGESTED = 2
# Losses are of targets from -1 to 1, gains add up over rows: nothing that is measured comes near.
LARGEST = 1e100
# The longest value that a message shows in full.
LONGEST_VALUE = 60


def to_json(result: RelevanceResult) -> str:
    """Write a result as JSON text, a line for each of its parts."""
    head = {"format": FORMAT, "version": VERSION, "evidence_kind": result.evidence.kind}
    content = head | _plain(result)
    content["digest"] = digest_of(content)
    lines = [f"{json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what a file says, whatever its spaces and the order of its keys.

    Examples
    --------
    >>> from squamish.result.serialization import digest_of
    >>> digest_of({"a": 1.0, "digest": "old"}) == digest_of({"a": 1.0})
    True
    """
    told = {key: value for key, value in content.items() if key != "digest"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def from_json(text: str, cls: type[Any]) -> Any:
    """Read a result of this class from JSON text.

    Raises
    ------
    InputError
        If the text is no result, of another version, or damaged; it says where.
    """
    content = _parsed(text)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"this is no result of squamish: its format is not {FORMAT!r}")
    version = content.get("version")
    if type(version) is not int or version not in READABLE:
        raise InputError(
            f"the version of this result is {_shown(version)}; this squamish reads "
            f"versions {' and '.join(map(str, READABLE))}"
        )
    kind = content.get("evidence_kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"evidence_kind is {_shown(kind)}; it must be {' or '.join(KINDS)}")
    head = {"format", "version", "evidence_kind"} | ({"digest"} if version >= DIGESTED else set())
    fields = {key: value for key, value in content.items() if key not in head}
    result = _Reader(KINDS[kind], version).object(cls, fields, "")
    # What has a place is named first; the digest finds the rest.
    _check(result)
    if version >= DIGESTED and content.get("digest") != digest_of(content):
        raise _damaged("its content is not what was written; the digest is another")
    return result


def _parsed(text: str) -> Any:
    """Read JSON of our kind: no key comes twice, and numbers are numbers."""
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no JSON: {error}") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(k for k, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise _damaged(f"the key {_shown(twice)} is there twice")
    return found


def _no_number(word: str) -> Any:
    raise _damaged(f"it holds {word}, which is no JSON")


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

    def __init__(self, evidence: type[Evidence], version: int) -> None:
        self.evidence = evidence
        self.version = version

    def object(self, cls: type[Any], value: Any, where: str) -> Any:
        """Read a dataclass."""
        if not isinstance(value, dict):
            raise _wrong(where or "the result", value, "an object")
        if self.version < VERSION:
            names = getattr(cls, "renamed", {})
            value = {names.get(key, key): old for key, old in value.items()}
        hints = get_type_hints(cls)
        fields = dataclasses.fields(cls)
        for field in fields:
            if field.name not in value and not self._may_lack(field):
                raise _damaged(f"{_join(where, field.name)} is missing")
        unknown = sorted(set(value) - {field.name for field in fields})
        if unknown:
            raise _damaged(f"{_join(where, unknown[0])} is unknown")
        return cls(**{k: self.value(hints[k], v, _join(where, k)) for k, v in value.items()})

    def _may_lack(self, field: dataclasses.Field[Any]) -> bool:
        """Tell whether a file of this version may be older than a field."""
        has_default = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        return self.version < VERSION and has_default

    def value(self, hint: Any, value: Any, where: str) -> Any:
        """Read a value of any type that occurs in results."""
        if hint is Evidence:
            return self.object(self.evidence, value, where)
        origin, inner = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            if value is None and NoneType in inner:
                return None
            return self.value(next(t for t in inner if t is not NoneType), value, where)
        if (scalar := scalar_type(hint)) is not None:
            return _array(scalar, value, where)
        if origin is Literal:
            return _choice(inner, value, where)
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
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST:
        raise _wrong(where, value, "a number or null")
    return float(value)


def _choice(allowed: tuple[Any, ...], value: Any, where: str) -> Any:
    if value not in allowed:
        raise _wrong(where, value, " or ".join(map(repr, allowed)))
    return value


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
    return _damaged(f"{where} is {_shown(value)}; it must be {allowed}")


def _shown(value: Any) -> str:
    """Write a value that may be anything, in a few characters."""
    try:
        return legible(repr(value), LONGEST_VALUE)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists in lists
        return "something very long"


def _damaged(reason: str) -> InputError:
    return InputError(f"the result is damaged: {reason}")


def _join(where: str, name: str) -> str:
    name = legible(name, LONGEST_VALUE)
    return f"{where}.{name}" if where else name


def _check(result: RelevanceResult) -> None:
    """Refuse a result whose parts do not belong together."""
    # Numbers of a damaged file may be anything.
    with np.errstate(all="ignore"):
        for inconsistency in _inconsistencies(result):
            raise _damaged(inconsistency)


def _inconsistencies(result: RelevanceResult) -> Iterator[str]:
    columns, d = result.columns, len(result.columns.names)
    if len(set(columns.names)) < d:
        yield "columns.names has a name twice"
    yield from wrong_size("columns.dtypes", (len(columns.dtypes),), ("d",), d)
    yield from wrong_size("columns.missing", (len(columns.missing),), ("d",), d)
    yield from wrong_size("classes", result.classes.shape, ("d",), d)
    if not np.isin(result.classes, list(CLASS_NAMES)).all():
        yield "classes holds something else than 0, 1 and 2"
    yield from result.evidence.inconsistencies(d, np.flatnonzero(result.classes == WEAK).tolist())
    yield from wrong_numbers("columns.missing", columns.missing, at_most=1)
    yield from wrong_numbers("n_samples", [result.n_samples])
    yield from wrong_numbers("seconds", [result.seconds])
    yield from wrong_rounds(result.evidence)
    yield from wrong_classes(result.evidence, result.classes)
    if {*result.adjusted_for} & {*columns.names}:
        yield "adjusted_for names columns that are judged"
    if result.stability is not None:
        yield from result.stability.inconsistencies(columns.names)
