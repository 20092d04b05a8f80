"""The product test: whether a column depends on the target together with another column.

Hypothesis
    Given any one other column, the target does not depend on this one in a product with it.
Statistic
    The largest ratio, over all partners, of the sum of target times product to its standard
    deviation. The product counts beyond the partner: what that says in a line is taken out of it,
    so that a gap times the values that are not missing, which is these again, says nothing for
    the gap. The variance is that of independent terms, or that over all orders of the column.
Null distribution
    Normal, corrected for the number of partners and targets (Bonferroni). What would be found by
    it is corrected for the tail that shuffled targets have, by a saddlepoint approximation:
    products of skewed columns are heavy-tailed, and so are sums over rare classes.
Validity
    Exchangeable rows. Abstains for columns that are nearly constant.
Literature
    N. Simon, R. Tibshirani: "A permutation approach to testing interactions for binary response by
    comparing correlations between classes", JASA 110 (2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from squamish.arrays import Array, Floats, Indices, Mask
from squamish.screening.validity import NEARLY_CONSTANT, WORTH_CONFIRMING
from squamish.statistics.pairs import ROUGH, Block, large_entries, ranges, sides
from squamish.statistics.permutation import tail_inflation

# So many partners of a column are kept, those of the largest ratios: where a heavy tail explains
# one of them, another may be sound.
KEPT = 3
# A variance below this share of the largest possible is rounding.
ROUNDING = 1e-12
# Columns on the left of a strip of pairs: one of 2,048 partners takes 2 MB in single precision.
STRIP = 256
# So many values of products are made exactly at a time, in some ten arrays of that size.
EXACTLY_AT_ONCE = 500_000


def least_ratio(d: int, n_targets: int) -> float:
    """Return the ratio below which a product proves nothing, being the largest of so many."""
    return float(stats.norm.isf(0.5 / max((d - 1) * n_targets, 1)))


def product_p_values(Z: Array, targets: Array, found: Array, atoms: Array) -> Array:
    """Turn the largest ratios of every column into p-values.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, d)
        Standardised columns.
    targets : ndarray of shape (n_samples, n_targets)
        The target as centred columns.
    found : ndarray of shape (d, n_kept, 3)
        Ratios, partners and targets of the products of every column.
    atoms : ndarray of shape (d,)
        Share of the most common value of every column.
    """
    n_tests = max((len(found) - 1) * targets.shape[1], 1)
    p = np.minimum(1, 2 * stats.norm.sf(found[..., 0]) * n_tests)
    p[atoms > NEARLY_CONSTANT] = 1.0
    columns, places = np.nonzero(p < WORTH_CONFIRMING)
    for t in range(targets.shape[1]):
        of_target = found[columns, places, 2] == t
        own, kept = columns[of_target], places[of_target]
        partners = found[own, kept, 1].astype(np.intp)
        for some, products in _products_beyond(Z, own, partners):
            places_of_some = own[some], kept[some]
            ratios = found[*places_of_some, 0]
            p[places_of_some] *= tail_inflation(targets[:, t], products, ratios)
    return np.asarray(np.minimum(p.min(axis=1), 1))


def p_values_from_ratios(ratios: Array, n_targets: int, abstains: Mask) -> Array:
    """Turn the ratios of all pairs, of very many rows, into p-values; a column for each column."""
    n_tests = max((len(ratios) - 1) * n_targets, 1)
    p = np.minimum(1, 2 * stats.norm.sf(ratios.max(axis=0)) * n_tests)
    return np.where(abstains, 1.0, p)


def sums_beyond_partner(sums: Floats, moments: Floats, squares: Floats, cubes: Floats) -> Floats:
    """Return sums of target times product, less what the partner says in a line.

    Parameters
    ----------
    sums : ndarray of shape (n_partners, n_columns)
        Sums of target times product.
    moments, squares : ndarray of shape (n_partners,)
        Sums of target times partner, and of squares of the partner.
    cubes : ndarray of shape (n_partners, n_columns)
        Sums of the product times the partner.
    """
    slope = moments / np.maximum(squares, 1e-30)
    return np.asarray(sums - cubes * slope[:, np.newaxis])


def ordered_variances(Z: Array, r: Array) -> Array:
    """Return the variance of a sum of products with ``r``, over all orders of the other column.

    What a column says of ``r`` by itself is taken out.
    """
    out = np.zeros(Z.shape[1])
    for start, stop in ranges(Z.shape[1]):
        some = Z[:, start:stop]
        slope = r @ some / np.maximum(np.square(some).sum(axis=0), 1e-300)
        out[start:stop] = len(Z) * (some * (r[:, np.newaxis] - slope * some)).var(axis=0)
    return np.maximum(out, ROUNDING * max(float(r @ r), 1e-288))


def largest_ratios(
    Z: Array, r: Array, ordered: Sequence[Array], block: Block, least: float
) -> Array:
    """Return the largest ratios of every column with partners in a block of pairs.

    Those on its left side come first; of shape (n_left + n_right, n_kept, 2), ratios and
    partners, 0 where there are none above ``least``. ``ordered`` holds the variances over all
    orders of the columns on both sides.
    """
    i, j = _worth_a_look(Z, r, ordered, block, least)
    n_left = block[1] - block[0]
    out = np.zeros((n_left + block[3] - block[2], KEPT, 2))
    for column, partner, first, variances, offset in (
        (i, j, (block[0], block[2]), ordered[1], 0),
        (j, i, (block[2], block[0]), ordered[0], n_left),
    ):
        ratio = np.zeros(len(column))
        for some, products in _products_beyond(Z, column, partner):
            # Without what the partner says of the target: of a leak, nothing but rounding is left.
            terms = _beyond(r[:, np.newaxis], Z[:, partner[some]]) * products
            own = np.square(terms).sum(axis=0)
            variance = np.maximum(own, variances[partner[some] - first[1]])
            ratio[some] = np.abs(terms.sum(axis=0)) / np.sqrt(variance)
        _keep_largest(out[offset:], column - first[0], ratio, partner, least)
    return out


def _worth_a_look(
    Z: Array, r: Array, ordered: Sequence[Array], block: Block, least: float
) -> tuple[Indices, Indices]:
    """Find the pairs whose ratio may be this large, in single precision."""
    left, right = (side.astype(np.float32) for side in sides(Z, block))
    errors = [np.sqrt(variances).astype(np.float32) for variances in ordered]
    weights, squared = r.astype(np.float32), np.square(right)
    of_right, moments = squared.sum(axis=0), weights @ right
    found = []
    # In strips, as it takes several matrices of all pairs in one.
    for start, stop in ranges(left.shape[1], size=STRIP):
        some = left[:, start:stop]
        square = np.square(some)
        sums = (some * weights[:, np.newaxis]).T @ right
        for_right = sums_beyond_partner(sums, weights @ some, square.sum(axis=0), square.T @ right)
        for_left = sums_beyond_partner(sums.T, moments, of_right, squared.T @ some).T
        for_left, for_right = (
            np.abs(for_left) / errors[1],
            np.abs(for_right.T) / errors[0][start:stop],
        )
        i, j, _ = large_entries(np.maximum(for_left, for_right.T), least * (1 - 10 * ROUGH))
        found.append(np.stack([i + start, j]))
    i, j = np.hstack(found)
    i, j = i + block[0], j + block[2]
    # A pair is on both sides of a block on the diagonal.
    once = i < j if block[0] == block[2] else i != j
    return i[once], j[once]


def _products_beyond(
    Z: Array, columns: Indices, partners: Indices
) -> Iterator[tuple[slice, Array]]:
    """Yield products of columns without what their partners say in a line, some at a time."""
    step = max(1, EXACTLY_AT_ONCE // len(Z))
    for start in range(0, len(columns), step):
        some = slice(start, min(start + step, len(columns)))
        partner = Z[:, partners[some]]
        products = Z[:, columns[some]] * partner
        yield some, _beyond(products - products.mean(axis=0), partner)


def _beyond(values: Array, partner: Array) -> Array:
    """Return the residuals of values in regressions on a column each."""
    slope = (values * partner).sum(axis=0) / np.maximum(np.square(partner).sum(axis=0), 1e-300)
    residuals = values - slope * partner
    # Of a product that its partner determines, only rounding is left.
    scale = np.abs(values).max(axis=0, initial=0)
    return np.where(np.abs(residuals).max(axis=0, initial=0) > 1e-9 * scale, residuals, 0.0)


def _keep_largest(out: Array, place: Indices, ratio: Array, partner: Indices, least: float) -> None:
    """Put the largest ratios and their partners into the rows of columns."""
    above = np.flatnonzero(ratio >= least)
    order = above[np.lexsort((partner[above], -ratio[above], place[above]))]
    first = np.unique(place[order], return_index=True)[1]
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    kept = order[rank < KEPT]
    out[place[kept], rank[rank < KEPT]] = np.column_stack([ratio[kept], partner[kept]])


def merged(n_columns: int, cut: list[Block], found: list[Array]) -> Array:
    """Return the largest of what blocks found for every column, of shape (d, n_kept, 3)."""
    out = np.zeros((n_columns, KEPT, 3))
    for block, values in zip(cut, found, strict=True):
        n_left = block[1] - block[0]
        for (start, stop), part in ((block[:2], values[:n_left]), (block[2:], values[n_left:])):
            both = np.concatenate([out[start:stop], part], axis=1)
            order = np.argsort(-both[..., 0], axis=1, kind="stable")[:, :KEPT]
            out[start:stop] = np.take_along_axis(both, order[..., np.newaxis], axis=1)
    return out
