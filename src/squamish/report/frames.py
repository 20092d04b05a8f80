"""Results as data frames, of whichever library is there."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

import narwhals as nw
import numpy as np

from squamish.errors import check_choice
from squamish.evidence.relevance import CLASS_NAMES, IRRELEVANT
from squamish.report.wording import alternatives, listed, ordered, suggested

if TYPE_CHECKING:
    from squamish.result.audit import Audit
    from squamish.result.necessity import NecessityTable
    from squamish.result.result import RelevanceResult
    from squamish.result.stability import Stability

Library = Literal["pandas", "polars", "pyarrow"]
LIBRARIES: tuple[Library, ...] = get_args(Library)
# What is counted over half-samples.
KINDS_OF_SHARES = ("strong", "weak", "irrelevant", "minimal")


def result_frame(result: RelevanceResult, library: Library | None = None) -> Any:
    """Return a frame with a row for each column of the table that was judged."""
    return _frame(result_columns(result), _SCHEMA, library)


def by_worth(result: RelevanceResult, library: Library | None = None) -> Any:
    """Return the same with the rows by what the columns are worth, irrelevant ones last."""
    order = [*ordered(result), *np.flatnonzero(result.classes == IRRELEVANT).tolist()]
    columns = result_columns(result)
    rows = {name: [values[j] for j in order] for name, values in columns.items()}
    return _frame(rows, _SCHEMA, library)


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


def path_frame(result: RelevanceResult, library: Library | None = None) -> Any:
    """Return a frame with a row for each size of the path."""
    return _frame(path_columns(result), _PATH_SCHEMA, library)


def path_columns(result: RelevanceResult) -> dict[str, list[Any]]:
    """Return what `path_frame` shows, a list for each of its columns; None is missing."""
    evidence, names = result.evidence, result.feature_names
    steps, gain = evidence.worth.path, result.gain
    sets = [frozenset(step.columns) for step in steps]
    before = [frozenset[int](), *sets][: len(sets)]

    def listed_columns(columns: frozenset[int]) -> str:
        return ", ".join(names[j] for j in sorted(columns))

    return {
        "size": [step.size for step in steps],
        "columns": [listed_columns(own) for own in sets],
        "loss": _numbers([evidence.loss + step.growth for step in steps]),
        "kept": _numbers([1 - step.growth / gain for step in steps]),
        "kept_low": _numbers([1 - step.high / gain for step in steps]),
        "kept_high": _numbers([1 - step.low / gain for step in steps]),
        "added": [listed_columns(own - old) for own, old in zip(sets, before, strict=True)],
        "left": [listed_columns(old - own) for own, old in zip(sets, before, strict=True)],
        "minimal": [own == {*np.flatnonzero(evidence.minimal).tolist()} for own in sets],
    }


def necessity_frame(necessity: NecessityTable, library: Library | None = None) -> Any:
    """Return a frame with a row for each column, and for each group after them."""
    rows = [(name, "column", shares) for name, shares in necessity.items()]
    rows += [(", ".join(group), "group", shares) for group, shares in necessity.groups.items()]
    columns: dict[str, list[Any]] = {
        "feature": [name for name, _, _ in rows],
        "kind": [kind for _, kind, _ in rows],
    }
    for bound in ("least", "most", "low", "high"):
        columns[bound] = _numbers([getattr(shares, bound) for _, _, shares in rows])
    return _frame(columns, _NECESSITY_SCHEMA, library)


def stability_frame(stability: Stability, library: Library | None = None) -> Any:
    """Return a frame with a row for each column of the table that half-samples were drawn of."""
    columns: dict[str, list[Any]] = {"feature": list(stability.columns)}
    for name in KINDS_OF_SHARES:
        columns[name] = [getattr(counts, name) for counts in stability.columns.values()]
    return _frame(columns, _STABILITY_SCHEMA, library)


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
    "p_relevant": nw.Float64,
    "relevant_through": nw.String,
    "p_association": nw.Float64,
    "removal_loss": nw.Float64,
    "removal_low": nw.Float64,
    "removal_high": nw.Float64,
    "p_removal": nw.Float64,
    "effect": nw.Float64,
    "tested_effect": nw.Float64,
    "least": nw.Float64,
    "most": nw.Float64,
    "minimal": nw.Boolean,
    "small": nw.Boolean,
    "importance": nw.Float64,
    "missing": nw.Float64,
    "dtype": nw.String,
    "undecided": nw.Boolean,
    "more_rows": nw.Float64,
    "share_strong": nw.Float64,
    "share_weak": nw.Float64,
    "share_irrelevant": nw.Float64,
    "share_minimal": nw.Float64,
}
_PATH_SCHEMA: Any = {
    "size": nw.Int64,
    "columns": nw.String,
    "loss": nw.Float64,
    "kept": nw.Float64,
    "kept_low": nw.Float64,
    "kept_high": nw.Float64,
    "added": nw.String,
    "left": nw.String,
    "minimal": nw.Boolean,
}
_NECESSITY_SCHEMA: Any = {
    "feature": nw.String,
    "kind": nw.String,
    "least": nw.Float64,
    "most": nw.Float64,
    "low": nw.Float64,
    "high": nw.Float64,
}
_STABILITY_SCHEMA: Any = {
    "feature": nw.String,
    "strong": nw.Int64,
    "weak": nw.Int64,
    "irrelevant": nw.Int64,
    "minimal": nw.Int64,
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
        "representative": [None if g is None else listed(suggested(result, g)) for g in group],
        "substitutes": [
            alternatives(substitutes[name]) if substitutes.get(name) else None
            for name in result.feature_names
        ],
        "proof": [proof or None for proof in evidence.proof],
        "p_relevant": _numbers(evidence.p_relevant),
        "relevant_through": [
            None if a is None else listed([result.feature_names[k] for k in a.columns])
            for a in associations
        ],
        "p_association": [None if a is None else a.p_value for a in associations],
        "removal_loss": _numbers(evidence.removal_loss),
        "removal_low": _numbers(low),
        "removal_high": _numbers(high),
        "p_removal": _numbers(evidence.p_removal),
        "effect": _numbers(evidence.effect),
        "tested_effect": _numbers(evidence.tested_effect),
        "least": _shares(result, "least"),
        "most": _shares(result, "most"),
        "minimal": evidence.minimal.tolist(),
        "small": [j in evidence.small for j in range(d)],
        "importance": _numbers(evidence.importance),
        "missing": list(result.columns.missing),
        "dtype": list(result.columns.dtypes),
        "undecided": evidence.undecided.tolist(),
        "more_rows": [result.more_rows.get(name) for name in result.feature_names],
        **{f"share_{kind}": _half_samples(result, kind) for kind in KINDS_OF_SHARES},
    }


def _half_samples(result: RelevanceResult, kind: str) -> list[float | None]:
    """Return the share of half-samples in which every column was of a kind."""
    stability = result.stability
    if stability is None or not stability.n_finished:
        return [None] * len(result.classes)
    return [getattr(counts, kind) / stability.n_finished for counts in stability.columns.values()]


def _shares(result: RelevanceResult, bound: str) -> list[float | None]:
    necessity = result.necessity
    return [
        getattr(necessity[name], bound) if name in necessity else None
        for name in result.feature_names
    ]


def _numbers(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
