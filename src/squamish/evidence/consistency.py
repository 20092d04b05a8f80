"""What does not fit together in evidence that was read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Mask
from squamish.evidence.association import Association
from squamish.evidence.relevance import IRRELEVANT, PROOFS, STRONG

if TYPE_CHECKING:
    from squamish.evidence.decisions import Decision
    from squamish.evidence.interface import Evidence

# The sizes of an array; "d" is the number of columns, None is any number.
Shape = tuple[int | Literal["d"] | None, ...]
# What the last decision of every method is called.
STRONG_OR_WEAK = "strong or weak"
# Numbers that come from the same ones by another way differ by less than this share.
ROUNDING = 1e-6


def wrong_size(
    where: str, shape: tuple[int, ...], expected: Shape, n_columns: int
) -> Iterator[str]:
    """Say what is wrong with the shape of an array.

    Examples
    --------
    >>> from squamish.evidence.consistency import wrong_size
    >>> list(wrong_size("classes", (3,), ("d",), 4))
    ['classes has 3 entries, not 4']
    """
    wanted = [n_columns if size == "d" else size for size in expected]
    pairs = zip(shape, wanted, strict=False)
    if len(shape) != len(wanted) or any(w is not None and n != w for n, w in pairs):
        size = " x ".join(map(str, shape))
        said = " x ".join("any" if w is None else str(w) for w in wanted)
        yield f"{where} has {size} entries, not {said}"


def wrong_proofs(proofs: Sequence[str]) -> Iterator[str]:
    """Say whether there is a proof that nobody knows."""
    if any(proof and proof not in PROOFS for proof in proofs):
        yield "evidence.proof holds an unknown proof"


def wrong_associations(
    proofs: Sequence[str], associations: Mapping[int, Association]
) -> Iterator[str]:
    """Say what is wrong with columns that are relevant through others; older results have none."""
    n_columns = len(proofs)
    for j, through in associations.items():
        if not 0 <= j < n_columns or proofs[j] != "association":
            yield f"evidence.associations.{j} is about a column that is not relevant through others"
        elif not through.columns or any(
            not 0 <= k < n_columns or not proofs[k] for k in through.columns
        ):
            yield f"evidence.associations.{j}.columns must be relevant columns"
        elif not (0 <= through.p_value <= 1 and -1 <= through.correlation <= 1):
            yield f"evidence.associations.{j} has a p-value or a correlation that there is not"
        elif _goes_in_circles(j, associations):
            yield f"evidence.associations.{j} leads to no column that is relevant by itself"


def _goes_in_circles(j: int, associations: Mapping[int, Association]) -> bool:
    """Tell whether a column is relevant through others that are so through it."""
    seen: set[int] = set()
    while j in associations and j not in seen:
        seen.add(j)
        j = associations[j].columns[0]
    return j in seen


def wrong_groups(evidence: Evidence, n_columns: int, weak: Sequence[int]) -> Iterator[str]:
    """Say what is wrong with the groups and substitutes of the weak columns."""
    members = sorted(j for group in evidence.groups for j in group)
    if members != list(weak) or sorted(evidence.substitutes) != list(weak):
        yield "evidence.groups and evidence.substitutes must hold every weak column once"
    if len(evidence.groups) != len(evidence.representatives):
        yield "evidence.representatives must have an entry for each group"
    for group, chosen in zip(evidence.groups, evidence.representatives, strict=False):
        if not chosen or not {*chosen} <= {*group}:
            yield "evidence.representatives must be members of their groups"
    named = [j for sets in evidence.substitutes.values() for group in sets for j in group]
    named += [*evidence.leaks, *evidence.small, *evidence.told_by_gaps]
    if any(not 0 <= j < n_columns for j in named):
        yield "its evidence is about columns that it has not"


def wrong_numbers(where: str, values: Any, at_most: float = np.inf) -> Iterator[str]:
    """Say whether there is a number below 0 or above a limit; NaN is neither.

    Examples
    --------
    >>> from squamish.evidence.consistency import wrong_numbers
    >>> list(wrong_numbers("columns.missing", [0.5, 1.5], at_most=1))
    ['columns.missing holds 1.5; it must be from 0 to 1']
    """
    numbers = np.asarray(values, dtype=np.float64)
    wrong = numbers[(numbers < 0) | (numbers > at_most)]
    if len(wrong):
        limits = "0 or more" if at_most == np.inf else f"from 0 to {at_most:g}"
        yield f"{where} holds {wrong[0]:g}; it must be {limits}"


def wrong_rounds(evidence: Evidence) -> Iterator[str]:
    """Say whether an importance is infinite, which no gain in a tree is."""
    for name in ("importance_rounds", "shadow_rounds", "importance"):
        if np.isinf(getattr(evidence, name)).any():
            yield f"evidence.{name} holds an infinite number"


def wrong_classes(evidence: Evidence, classes: NDArray[np.int64]) -> Iterator[str]:
    """Say where a verdict is not what its evidence says.

    Whatever the method: what is relevant has a proof, and nothing else has; a strong column meets
    all that was asked of it; the minimal set holds all strong columns and no irrelevant one. An
    irrelevant column does not meet what makes one relevant, unless time ran out before the end.
    """
    for name in ("p_relevant", "p_removal"):
        yield from wrong_numbers(f"evidence.{name}", getattr(evidence, name), at_most=1)
    relevant, strong = classes != IRRELEVANT, classes == STRONG
    proven = np.array([bool(proof) for proof in evidence.proof], dtype=bool)
    yield from _wrong_where(
        "is relevant without a proof, or has one and is not", proven != relevant
    )
    yield from _wrong_where("is strong and not in the minimal set", strong & ~evidence.minimal)
    yield from _wrong_where("is in the minimal set and not relevant", evidence.minimal & ~relevant)
    yield from _wrong_where(
        "is a leak and not relevant", _among(evidence.leaks, relevant) & ~relevant
    )
    is_weak = relevant & ~strong
    yield from _wrong_where("is small and not weak", _among(evidence.small, is_weak) & ~is_weak)
    for decision in evidence.decisions:
        if decision.question == STRONG_OR_WEAK:
            unmet = strong & ~_meets(decision, ROUNDING)
            yield from _wrong_where("is strong and does not meet what that takes", unmet)
        else:
            met = ~relevant & ~evidence.undecided & _meets(decision)
            yield from _wrong_where("is irrelevant and meets what makes one relevant", met)


def _among(columns: Sequence[int], like: Mask) -> Mask:
    out = np.zeros_like(like)
    out[list(columns)] = True
    return out


def _meets(decision: Decision, rounding: float = 0.0) -> Mask:
    """Tell which columns meet all criteria, or miss one by no more than rounding."""
    met = []
    for criterion in decision.criteria:
        limit, slack = criterion.limit, rounding * abs(criterion.limit)
        values = criterion.values
        met.append(values <= limit + slack if criterion.at_most else values > limit - slack)
    return np.asarray(np.all(met, axis=0))


def _wrong_where(what: str, wrong: Mask) -> Iterator[str]:
    if wrong.any():
        yield f"column {np.flatnonzero(wrong)[0]} {what}"
