"""Groups of weak features that replace each other, and sets that cover the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from squamish.arrays import Array, Indices

# For every weak feature, the sets of features each of which replaces it.
Substitutes = Mapping[int, tuple[tuple[int, ...], ...]]


def replaceable_groups(
    weak: Sequence[int], replaced_by: Substitutes
) -> tuple[tuple[int, ...], ...]:
    """Join weak features that replace each other, directly or through others.

    A feature leads to all that take part in replacing it; features that lead to each other
    (strongly connected components) are a group. One that nobody needs, but that members of a
    single group replace, joins them.

    Examples
    --------
    >>> from squamish.redundancy.groups import replaceable_groups
    >>> replaceable_groups([0, 1, 2, 5], {0: ((1,),), 1: ((0,),), 2: ((1, 9),), 5: ()})
    ((0, 1), (2,), (5,))
    >>> replaceable_groups([0, 1, 2, 3], {0: ((1, 2),), 1: ((2,),), 2: ((0,),), 3: ((0, 1),)})
    ((0, 1, 2, 3),)
    """
    place = {feature: i for i, feature in enumerate(sorted(weak))}
    # By their places; -1 for a strong feature.
    sets = [
        [[place.get(k, -1) for k in s] for s in replaced_by.get(feature, ()) if s]
        for feature in place
    ]
    links = {(i, k) for i, own in enumerate(sets) for s in own for k in s if k >= 0}
    group = _with_followers(_strong_components(len(sets), links), sets)
    members: dict[int, list[int]] = {}
    for feature, number in zip(place, group, strict=True):
        members.setdefault(int(number), []).append(feature)
    return tuple(tuple(group) for group in members.values())


def _strong_components(n: int, links: Iterable[tuple[int, int]]) -> Indices:
    """Give all nodes that lead to each other the same number."""
    ends = np.array(sorted(links), dtype=np.intp).reshape(-1, 2).T
    graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n))
    return np.asarray(connected_components(graph, connection="strong")[1], dtype=np.intp)


def _with_followers(group: Indices, sets: Sequence[Sequence[Sequence[int]]]) -> Indices:
    """Let features that are alone join the group whose members replace them, if it is one."""
    group = group.copy()
    alone = [i for i, own in enumerate(sets) if own and np.sum(group == group[i]) == 1]
    moved = True
    while moved:  # one that joined can be the home of another
        before = group.copy()
        for i in alone:
            homes = ({int(group[k]) if k >= 0 else -1 for k in s} for s in sets[i])
            single = [home for home in homes if len(home) == 1 and min(home) >= 0]
            group[i] = min(single[0]) if single else group[i]
        moved = bool(np.any(group != before))
    return group


def covering_set(
    strong: Sequence[int],
    groups: Sequence[Sequence[int]],
    representatives: Sequence[Sequence[int]],
    replaced_by: Substitutes,
    p_values: Array,
    first: Collection[int] = (),
) -> list[int]:
    """Choose features so that every relevant one is among them or is replaced by them.

    Features leave one after the other, as long as something that replaces them, and those
    that left before them, stays: those of ``first`` before all others, then those that tell least
    on their own, the representative of each group last.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.redundancy.groups import covering_set
    >>> copies, a_sum = {1: ((2,),), 2: ((1,),)}, {3: ((4, 5),), 4: ((3, 5),), 5: ((3, 4),)}
    >>> groups, representatives = [(1, 2), (3, 4, 5)], [(1,), (3,)]
    >>> covering_set([0], groups, representatives, copies | a_sum, np.zeros(6))
    [0, 1, 3, 5]
    """
    chosen = {j for features in representatives for j in features}
    weak = [j for group in groups for j in group]
    kept: set[int] = {*strong, *weak}
    gone: set[int] = set()
    needed_by: dict[int, set[int]] = {}
    for j in weak:
        for features in replaced_by.get(j, ()):
            for k in features:
                needed_by.setdefault(k, set()).add(j)

    def is_replaced(j: int) -> bool:
        return any(kept.issuperset(features) for features in replaced_by.get(j, ()) if features)

    for j in sorted(weak, key=lambda j: (j not in first, j in chosen, -p_values[j], j)):
        kept.discard(j)
        if is_replaced(j) and all(is_replaced(i) for i in needed_by.get(j, set()) & gone):
            gone.add(j)
        else:
            kept.add(j)
    return sorted(kept)
