"""Results as data frames, of whichever library is there."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import numpy as np

from squamish.errors import check_choice
from squamish.evidence.relevance import CLASS_NAMES
from squamish.report.wording import alternatives, listed

if TYPE_CHECKING:
    from squamish.result.audit import Audit
    from squamish.result.result import RelevanceResult

Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = get_args(Library)


def result_frame(result: RelevanceResult, library: Library | None = None) -> Any:
    """Return a frame with a row for each column of the table that was judged."""
    return _frame(result_columns(result), _SCHEMA, library)


def audit_frame(audit: Audit, library: Library | None = None) -> Any:
    """Return a frame with a row for each shuffled target that was judged."""
    shuffles = audit.shuffles
    columns: dict[str, list[Any]] = {
        "shuffle": [shuffle.number for shuffle in shuffles],
        "seed": [shuffle.seed for shuffle in shuffles],
        "n_relevant": [len(shuffle.proofs) for shuffle in shuffles],
        "n_strong": [len(shuffle.strong) for shuffle in shuffles],
        "relevant": [", ".join(shuffle.proofs) for shuffle in shuffles],
        "proofs": [", ".join(shuffle.proofs.values()) for shuffle in shuffles],
    }
    return _frame(columns, _AUDIT_SCHEMA, library)


def _frame(columns: dict[str, list[Any]], schema: Any, library: Library | None) -> Any:
    """Make a frame of a library, or of the first that is installed."""
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name)), None)
        if library is None:
            raise ImportError("a data frame needs one of pip install pandas, polars or pyarrow")
    check_choice("library", library, LIBRARIES)
    columns = {
        name: _encodable(values) if schema[name] == nw.String else values
        for name, values in columns.items()
    }
    if library == "pandas":
        import pandas as pd

        # The number of a group may be missing, which this type of pandas allows.
        kinds = {nw.String: None, nw.Int64: "Int64", nw.Float64: "float64", nw.Boolean: "bool"}
        return pd.DataFrame(
            {name: pd.Series(values, dtype=kinds[schema[name]]) for name, values in columns.items()}
        )
    return nw.from_dict(columns, schema=schema, backend=library).to_native()


def _encodable(texts: list[str | None]) -> list[str | None]:
    """Escape halves of characters, which JSON and pandas may hold and no frame can."""
    return [
        text if text is None else text.encode(errors="backslashreplace").decode() for text in texts
    ]


_SCHEMA: Any = {
    "feature": nw.String,
    "class": nw.String,
    "group": nw.Int64,
    "representative": nw.String,
    "substitutes": nw.String,
    "proof": nw.String,
    "p_value": nw.Float64,
    "relevant_through": nw.String,
    "p_association": nw.Float64,
    "removal_loss": nw.Float64,
    "removal_low": nw.Float64,
    "removal_high": nw.Float64,
    "removal_p_value": nw.Float64,
    "effect": nw.Float64,
    "small": nw.Boolean,
    "importance": nw.Float64,
    "missing": nw.Float64,
    "dtype": nw.String,
    "undecided": nw.Boolean,
}
_AUDIT_SCHEMA: Any = {
    "shuffle": nw.Int64,
    "seed": nw.Int64,
    "n_relevant": nw.Int64,
    "n_strong": nw.Int64,
    "relevant": nw.String,
    "proofs": nw.String,
}


def result_columns(result: RelevanceResult) -> dict[str, list[Any]]:
    """Return what `result_frame` shows, a list for each of its columns; None is missing."""
    evidence, d = result.evidence, len(result.classes)
    group = [result.group_numbers.get(j) for j in range(d)]
    substitutes = result.substitutes
    low, high = evidence.removal_interval
    associations = [evidence.associations.get(j) for j in range(d)]
    return {
        "feature": list(result.feature_names),
        "class": [CLASS_NAMES[int(c)] for c in result.classes],
        "group": [None if g is None else g + 1 for g in group],
        "representative": [None if g is None else listed(result.representatives[g]) for g in group],
        "substitutes": [
            alternatives(substitutes[name]) if substitutes.get(name) else None
            for name in result.feature_names
        ],
        "proof": [proof or None for proof in evidence.proof],
        "p_value": _numbers(evidence.p_relevant),
        "relevant_through": [
            None if a is None else listed([result.feature_names[k] for k in a.columns])
            for a in associations
        ],
        "p_association": [None if a is None else a.p_value for a in associations],
        "removal_loss": _numbers(evidence.removal_loss),
        "removal_low": _numbers(low),
        "removal_high": _numbers(high),
        "removal_p_value": _numbers(evidence.p_value),
        "effect": _numbers(evidence.effect),
        "small": [j in evidence.small for j in range(d)],
        "importance": _numbers(evidence.importance),
        "missing": list(result.columns.missing),
        "dtype": list(result.columns.dtypes),
        "undecided": evidence.undecided.tolist(),
    }


def _numbers(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
