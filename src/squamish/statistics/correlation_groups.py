"""Groups of columns that are correlated on average, without a matrix of all pairs.

Only for reading importances and for tests of whole groups: that two columns are close does not mean
that one replaces the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from squamish.arrays import Array, Indices
from squamish.statistics.pairs import components, in_groups, ranges

# Columns with a rank correlation above this, half of the variance, share their importance.
GROUP_CORRELATION = 0.7
# Of more linked columns than this, a part is grouped first, and the others join it: average linkage
# takes a matrix of all pairs.
MOST_LINKED = 3000


def groups_of_linked(Z: Array, found: Sequence[Indices]) -> Indices:
    """Find the groups of columns that are close to each other on average, numbered from 0.

    Columns that are close on average have a close pair among them, so that no group
    stretches over two parts that are not linked.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Standardised columns.
    found : sequence of ndarray of int of shape (2, n_links)
        Pairs of columns with a correlation above `GROUP_CORRELATION`, from `pairs.links`.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.correlation_groups import groups_of_linked
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


def _average_linkage(Z: Array) -> Indices:
    """Enumerate the groups of columns that are close on average."""
    distance = np.clip(1 - np.abs(np.corrcoef(Z.T)), 0, None)
    distance = (distance + distance.T) / 2
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    labels = fcluster(tree, 1 - GROUP_CORRELATION, "distance")
    return np.unique(labels, return_inverse=True)[1]


def _firsts(groups: Indices) -> Indices:
    """Return the place of the first member of every group."""
    return np.unique(groups, return_index=True)[1]


def _closest_group(Z: Array, others: Array, groups: Indices) -> tuple[Indices, Array]:
    """Find the group to whose members each column is closest on average, and how close it is."""
    home, largest = np.zeros(Z.shape[1], dtype=np.intp), np.zeros(Z.shape[1])
    shares = (groups[:, np.newaxis] == np.arange(groups.max() + 1)) / np.bincount(groups)
    for start, stop in ranges(Z.shape[1]):
        closeness = np.abs(Z[:, start:stop].T @ others) / len(Z) @ shares
        home[start:stop], largest[start:stop] = closeness.argmax(axis=1), closeness.max(axis=1)
    return home, largest
