"""What does not fit together in evidence that was read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from squamish.evidence.association import Association
from squamish.evidence.relevance import PROOFS

if TYPE_CHECKING:
    from squamish.evidence.interface import Evidence

# The sizes of an array; "d" is the number of columns, None is any number.
Shape = tuple[int | Literal["d"] | None, ...]


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
    if any(not 0 <= j < n_columns for j in [*named, *evidence.leaks]):
        yield "its evidence is about columns that it has not"
