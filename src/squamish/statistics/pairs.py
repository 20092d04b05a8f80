"""All pairs of columns, block by block: no matrix of all pairs is ever held.

Most pairs are of no interest. A product in single precision finds those that may be, and only
where that is not sure they are looked at exactly, so that the result does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from squamish.arrays import Array, Floats, Indices

Block = tuple[int, int, int, int]

# Columns on each side of a block: a block of pairs is 16 MB in single precision.
BLOCK = 2048
# How far a first look may be off.
ROUGH = 1e-3
# So many values are multiplied exactly at a time.
AT_ONCE = 4_000_000


def ranges(n_columns: int, size: int = BLOCK) -> list[tuple[int, int]]:
    """Cut columns into ranges.

    Examples
    --------
    >>> from squamish.statistics.pairs import ranges
    >>> ranges(5, size=3)
    [(0, 3), (3, 5)]
    """
    return [(start, min(start + size, n_columns)) for start in range(0, n_columns, size)]


def blocks(n_columns: int, size: int = BLOCK) -> list[Block]:
    """Cut the pairs of columns into blocks, each pair in one of them.

    Examples
    --------
    >>> from squamish.statistics.pairs import blocks
    >>> blocks(5, size=3)
    [(0, 3, 0, 3), (0, 3, 3, 5), (3, 5, 3, 5)]
    """
    cut = ranges(n_columns, size)
    return [(*left, *right) for k, left in enumerate(cut) for right in cut[k:]]


def sides(values: Array, block: Block) -> tuple[Array, Array]:
    """Return what is known of the columns on the left and on the right side of a block."""
    return values[..., block[0] : block[1]], values[..., block[2] : block[3]]


def links(Z: Array, block: Block, least: float) -> Indices:
    """Link the columns of a block whose correlation, of either sign, is stronger than this.

    ``Z`` is standardised. Columns that are linked through others need no link of their own,
    so that there are fewer links than columns. Returns an array of shape (2, n_links).

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.pairs import blocks, links
    >>> Z = np.array([[1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    >>> links(Z, blocks(3)[0], least=0.7).tolist()
    [[1], [0]]
    """
    left, right = sides(Z, block)
    i, j, rough = large_sums(left, right, least * len(Z))
    unsure = np.flatnonzero(rough < least * len(Z) * (1 + ROUGH))
    close = np.ones(len(i), dtype=bool)
    close[unsure] = np.abs(sums_of_products(left, right, i[unsure], j[unsure])) > least * len(Z)
    i, j = i[close] + block[0], j[close] + block[2]
    i, j = i[i < j], j[i < j]
    # One link from every column to the first of those that it hangs together with.
    nodes, place = np.unique(np.concatenate([i, j]), return_inverse=True)
    component = components(len(nodes), place.reshape(2, -1))
    first = nodes[np.unique(component, return_index=True)[1]][component]
    return np.stack([nodes, first])[:, nodes != first]


def components(n: int, pairs: Indices) -> Indices:
    """Enumerate the parts that hang together by links, in the order in which they appear.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.pairs import components
    >>> components(4, np.array([[3], [1]]))
    array([0, 1, 2, 1])
    """
    graph = coo_array((np.ones(pairs.shape[1], dtype=np.int8), (pairs[0], pairs[1])), shape=(n, n))
    labels = connected_components(graph, directed=False)[1]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.intp)


def large_sums(left: Array, right: Array, least: float) -> tuple[Indices, Indices, Floats]:
    """Find the pairs whose sum of products may be this large, of either sign, and about what."""
    return large_entries(left.astype(np.float32).T @ right.astype(np.float32), least * (1 - ROUGH))


def large_entries(sums: Floats, least: float) -> tuple[Indices, Indices, Floats]:
    """Find the entries of a matrix that are this large, of either sign, and how large."""
    # Rows without any, which are many, are passed over.
    rows = np.flatnonzero((sums.max(axis=1) >= least) | (sums.min(axis=1) <= -least))
    size = np.abs(sums[rows])
    i, j = np.nonzero(size >= least)
    return rows[i], j, size[i, j]


def sums_of_products(left: Array, right: Array, i: Indices, j: Indices) -> Array:
    """Return the exact sums of products of some pairs."""
    out = np.zeros(len(i))
    step = max(1, AT_ONCE // len(left))
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        product = left[:, i[some]] * right[:, j[some]]
        out[some] = product.sum(axis=0)
    return out


def in_groups(groups: Indices) -> Iterator[Indices]:
    """Return the members of every group, in the order of their numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.pairs import in_groups
    >>> [members.tolist() for members in in_groups(np.array([1, 0, 1]))]
    [[1], [0, 2]]
    """
    order = np.argsort(groups, kind="stable")
    cuts = np.flatnonzero(np.diff(groups[order])) + 1
    return iter(np.split(order, cuts) if len(groups) else [])
