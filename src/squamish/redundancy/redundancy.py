"""Who replaces whom: groups of columns before the tests, substitutes after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from squamish.importance.redraw import depends_on_others, fit_smooth, smooth_function, thinned
from squamish.statistics.pairs import components, in_groups, ranges

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Two rank-correlated columns this close stand for each other when importance is read.
GROUP_CORRELATION = 0.7
# Of more linked columns than this, a part is grouped first, and the others join it.
MOST_LINKED = 3000
# A substitute explains this share of what all other columns explain together.
ENOUGH = 0.9
# The most features among which substitutes are looked for: the closest ones.
MOST_NEAR = 150
# Less than this explained is no replacement.
LEAST = 1 / 3


def groups_of_linked(Z: Array, found: Sequence[Rows]) -> NDArray[np.intp]:
    """Find the groups of columns that are close to each other on average, numbered from 0.

    Columns that are close on average have a close pair among them, so that no group
    stretches over two parts that are not linked. Only for reading importances and for tests
    of whole groups: that two columns are close does not mean that one replaces the other.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Standardised columns.
    found : sequence of ndarray of int of shape (2, n_links)
        Pairs of columns with a correlation above `GROUP_CORRELATION`, from `pairs.links`.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.redundancy.redundancy import groups_of_linked
    >>> x = np.random.default_rng(0).standard_normal((100, 2))
    >>> groups_of_linked(np.column_stack([x, -x[:, 0]]), [np.array([[0], [2]])])
    array([0, 1, 0])
    """
    d = Z.shape[1]
    groups = np.arange(d)
    for members in in_groups(components(d, np.hstack([np.zeros((2, 0), dtype=np.intp), *found]))):
        while len(members) > 1:
            # Of too many, some are grouped first; those that belong to them join, then the rest.
            some, rest = members[:MOST_LINKED], members[MOST_LINKED:]
            local = _average_linkage(Z[:, some])
            groups[some] = some[_firsts(local)][local]
            if len(rest):
                home, closeness = _closest_group(Z[:, rest], Z[:, some], local)
                joins = closeness > GROUP_CORRELATION
                groups[rest[joins]] = groups[some[_firsts(local)]][home[joins]]
                rest = rest[~joins]
            members = rest
    # Numbered in the order in which they appear.
    return np.unique(groups, return_inverse=True)[1]


def _average_linkage(Z: Array) -> NDArray[np.intp]:
    """Enumerate the groups of columns that are close on average."""
    distance = np.clip(1 - np.abs(np.corrcoef(Z.T)), 0, None)
    distance = (distance + distance.T) / 2
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    labels = fcluster(tree, 1 - GROUP_CORRELATION, "distance")
    return np.unique(labels, return_inverse=True)[1]


def _firsts(groups: NDArray[np.intp]) -> Rows:
    """Return the place of the first member of every group."""
    return np.unique(groups, return_index=True)[1]


def _closest_group(
    Z: Array, others: Array, groups: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Array]:
    """Find the group to whose members each column is closest on average, and how close it is."""
    home, largest = np.zeros(Z.shape[1], dtype=np.intp), np.zeros(Z.shape[1])
    shares = (groups[:, np.newaxis] == np.arange(groups.max() + 1)) / np.bincount(groups)
    for start, stop in ranges(Z.shape[1]):
        closeness = np.abs(Z[:, start:stop].T @ others) / len(Z) @ shares
        home[start:stop], largest[start:stop] = closeness.argmax(axis=1), closeness.max(axis=1)
    return home, largest


def substitutes(
    views: Sequence[Array], feature: Rows, j: int, most: int = 6
) -> tuple[tuple[int, ...], ...]:
    """Find the features that predict feature ``j`` as well as all others do together.

    Parameters
    ----------
    views : sequence of ndarray of shape (n_samples, d)
        The parts of all features, plain and transformed, each standardised.
    feature : ndarray of int of shape (d,)
        The feature of each part.
    j : int
        The feature to be replaced.
    most : int
        Largest size of a set.

    Returns
    -------
    tuple of tuples of int
        Every single feature that is enough by itself, the best first; or else one set that
        is enough together, found greedily or as what a smooth function needs. Empty if not
        even all others explain a third.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.redundancy.redundancy import substitutes
    >>> x = np.random.default_rng(0).standard_normal((200, 3))
    >>> table = np.column_stack([x, x[:, 0] + x[:, 1], 2 * x[:, 2]])
    >>> substitutes([table / table.std(axis=0)], np.arange(5), 3)
    ((0, 1),)
    >>> substitutes([table / table.std(axis=0)], np.arange(5), 2)
    ((4,),)
    """
    own = feature == j
    target = views[0][:, own] - views[0][:, own].mean(axis=0)
    near = _nearest(views, feature, own)
    views, feature = [view[:, near] for view in views], feature[near]
    own = feature == j
    others = [k for k in np.unique(feature).tolist() if k != j]
    if not others:
        return ()
    ridge = _Ridge.of(views, target)

    def explained(features: Sequence[int]) -> float:
        return ridge.explained(np.flatnonzero(np.isin(feature, features)))

    everything = explained(others)
    if everything < ENOUGH and own.sum() == 1:
        rest = np.flatnonzero(~own)
        curved = _curved_substitute(views[0][:, rest], target[:, 0], everything)
        if len(curved):
            return (tuple(np.unique(feature[rest[curved]]).tolist()),)
    if everything < LEAST:
        return ()
    alone = {k: explained([k]) for k in others}
    enough = [k for k in others if alone[k] >= ENOUGH * everything]
    if enough:
        return tuple((k,) for k in sorted(enough, key=lambda k: (-round(alone[k], 9), k)))
    chosen: list[int] = []
    while len(chosen) < most and explained(chosen) < ENOUGH * everything:
        left = [k for k in others if k not in chosen]
        if not left:
            break
        chosen.append(max(left, key=lambda k: explained([*chosen, k])))
    return (tuple(sorted(chosen)),)


def _curved_substitute(X: Array, target: Array, linear: float) -> Rows:
    """Find columns of which the target is a smooth function, if that says more than a line."""
    rows = np.arange(len(target))
    folds = [(rows[rows % 3 != 0], rows[rows % 3 == 0])]
    if not depends_on_others(target, X, folds):
        return np.empty(0, dtype=np.intp)
    smooth = fit_smooth(X, target)
    if smooth.explained < max(LEAST, 1 - (1 - linear) / 2):
        return np.empty(0, dtype=np.intp)
    some = thinned(rows)
    columns = smooth.columns
    for column in smooth.columns[::-1]:
        rest = columns[columns != column]
        if len(rest) and smooth_function(X[some], target[some], rest).explained >= (
            ENOUGH * smooth.explained
        ):
            columns = rest
    return columns


def _nearest(views: Sequence[Array], feature: Rows, own: NDArray[np.bool_]) -> Rows:
    """Return a feature's own columns and those of the features that are closest to it.

    All others, unless they are more than a model of so many rows can tell apart.
    """
    n = len(views[0])
    most = int(np.clip(n // (3 * len(views)), 10, MOST_NEAR))
    features = np.unique(feature[~own])
    if len(features) <= most:
        return np.arange(len(feature))
    closeness = np.max([np.abs(view[:, own].T @ view).max(axis=0) for view in views], axis=0)
    largest = np.zeros(feature.max() + 1)
    np.maximum.at(largest, feature, closeness)
    nearest = features[np.argsort(-largest[features], kind="stable")[:most]]
    return np.flatnonzero(own | np.isin(feature, nearest))


@dataclass(frozen=True, eq=False)
class _Ridge:
    """Sums of products of columns, in all their views, and of them and a target."""

    gram: Array
    moment: Array
    total: float
    n_rows: int
    n_views: int

    @classmethod
    def of(cls, views: Sequence[Array], target: Array) -> _Ridge:
        """Add up the products."""
        X = np.hstack(views)
        X = X - X.mean(axis=0)
        gram = X.T @ X
        gram[np.diag_indices_from(gram)] += 1e-6 * len(X)
        total = max(float(np.square(target).sum()), 1e-300)
        return cls(gram, X.T @ target, total, len(X), len(views))

    def explained(self, columns: Rows) -> float:
        """Share of the variance that these columns explain, corrected for their number."""
        if len(columns) == 0:
            return 0.0
        d = len(self.gram) // self.n_views
        seen = np.concatenate([columns + v * d for v in range(self.n_views)])
        moment = self.moment[seen]
        solved = np.linalg.solve(self.gram[np.ix_(seen, seen)], moment)
        fitted = float(np.sum(moment * solved)) / self.total
        free = max(self.n_rows - len(seen) - 1, 1)
        return 1 - (1 - min(fitted, 1.0)) * (self.n_rows - 1) / free


def replaceable_groups(
    weak: Sequence[int], replaced_by: dict[int, tuple[tuple[int, ...], ...]]
) -> tuple[tuple[int, ...], ...]:
    """Join weak columns that replace each other, directly or through others.

    A column leads to all that take part in replacing it; columns that lead to each other are
    a group. One that nobody needs, but that members of a single group replace, joins them.

    Examples
    --------
    >>> from squamish.redundancy.redundancy import replaceable_groups
    >>> replaceable_groups([0, 1, 2, 5], {0: ((1,),), 1: ((0,),), 2: ((1, 9),), 5: ()})
    ((0, 1), (2,), (5,))
    >>> replaceable_groups([0, 1, 2, 3], {0: ((1, 2),), 1: ((2,),), 2: ((0,),), 3: ((0, 1),)})
    ((0, 1, 2, 3),)
    """
    columns = sorted(weak)
    place = {column: i for i, column in enumerate(columns)}
    sets = [[s for s in replaced_by.get(column, ()) if s] for column in columns]
    links = {(place[j], place[k]) for j in columns for s in sets[place[j]] for k in s if k in place}
    group = _strong_components(len(columns), links)
    waiting = [i for i in range(len(columns)) if sets[i] and np.sum(group == group[i]) == 1]
    moved = True
    while moved:  # one that joined can be the home of another
        before = group.copy()
        for i in waiting:
            homes = ({group[place[k]] if k in place else -1 for k in s} for s in sets[i])
            single = [home for home in homes if len(home) == 1 and min(home) >= 0]
            group[i] = min(single[0]) if single else group[i]
        moved = bool(np.any(group != before))
    members: dict[int, list[int]] = {}
    for column, number in zip(columns, group, strict=True):
        members.setdefault(int(number), []).append(column)
    return tuple(tuple(group) for group in members.values())


def _strong_components(n: int, links: set[tuple[int, int]]) -> NDArray[np.intp]:
    """Give all nodes that lead to each other the same number."""
    ends = np.array(sorted(links), dtype=np.intp).reshape(-1, 2).T
    graph = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n))
    return np.asarray(connected_components(graph, connection="strong")[1], dtype=np.intp)


def minimal_set(
    strong: Sequence[int],
    groups: Sequence[Sequence[int]],
    representatives: Sequence[Sequence[int]],
    replaced_by: dict[int, tuple[tuple[int, ...], ...]],
    p_values: Array,
) -> list[int]:
    """Choose features so that every relevant one is among them or is replaced by them.

    Features leave one after the other, as long as something that replaces them, and those
    that left before them, stays: those first that tell least on their own, the representative
    of each group last.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.redundancy.redundancy import minimal_set
    >>> copies, a_sum = {1: ((2,),), 2: ((1,),)}, {3: ((4, 5),), 4: ((3, 5),), 5: ((3, 4),)}
    >>> groups, representatives = [(1, 2), (3, 4, 5)], [(1,), (3,)]
    >>> minimal_set([0], groups, representatives, copies | a_sum, np.zeros(6))
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

    for j in sorted(weak, key=lambda j: (j in chosen, -p_values[j], j)):
        kept.discard(j)
        if is_replaced(j) and all(is_replaced(i) for i in needed_by.get(j, set()) & gone):
            gone.add(j)
        else:
            kept.add(j)
    return sorted(kept)
