"""Tests of independence in tables of counts: Pearson's chi-square, and Fisher's exact test."""

from __future__ import annotations

import numpy as np
from scipy import stats

from squamish.arrays import Array, Indices
from squamish.statistics.scores import skew_of_two
from squamish.statistics.tails import with_skewed_tails

# No bin may expect fewer rows than this in any class; Cochran allows down to one in some cells.
LEAST_EXPECTED = 3
# If the smallest bin has more than this share of an equal part, bins are of about the same size,
# and the skewness of their sums cancels.
ABOUT_EQUAL = 0.5


def chi_square_p_values(counts: Array, sizes: Indices) -> Array:
    """Test for every column whether its bins are independent of the classes.

    Parameters
    ----------
    counts : ndarray of shape (n_columns, n_bins, n_classes)
        Rows of each class in each bin; bins may be empty.
    sizes : ndarray of int of shape (n_classes,)
        Rows of each class.

    Returns
    -------
    ndarray of shape (n_columns,)
        p-values; 1 where fewer than two bins are used, or one expects too few rows.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.counts import chi_square_p_values
    >>> counts = np.array([[[30.0, 10.0], [10.0, 30.0]], [[20.0, 20.0], [20.0, 20.0]]])
    >>> chi_square_p_values(counts, np.array([40, 40])).round(4)
    array([0., 1.])
    """
    n = sizes.sum()
    in_bin = counts.sum(axis=2)
    is_used = in_bin > 0
    expected = in_bin[:, :, np.newaxis] * (sizes / n)
    terms = np.divide(
        np.square(counts - expected), expected, out=np.zeros_like(expected), where=expected > 0
    )
    n_used = is_used.sum(axis=1)
    freedom = (n_used - 1) * (len(sizes) - 1)
    is_sparse = (is_used & (expected.min(axis=2) < LEAST_EXPECTED)).any(axis=1)
    smallest = np.where(is_used, in_bin / n, 1.0).min(axis=1)
    skew = skew_of_two(smallest) * skew_of_two(sizes / n).max() / np.sqrt(n)
    skew[smallest * n_used > ABOUT_EQUAL] = 0.0
    p = stats.chi2.sf(terms.sum(axis=(1, 2)), np.maximum(freedom, 1))
    return np.where((freedom > 0) & ~is_sparse, with_skewed_tails(p, skew), 1.0)


def exact_p_values(drawn: Indices, sizes: Indices) -> Array:
    """Test whether rows are drawn from classes at random: so many of each, of its size.

    Fisher's exact test for each class, corrected for their number; a row of ``drawn`` is a
    draw, a column a class.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.counts import exact_p_values
    >>> exact_p_values(np.array([[0, 4], [2, 2]]), np.array([20, 20])).round(3)
    array([0.106, 1.   ])
    """
    n, m = sizes.sum(), drawn.sum(axis=1, keepdims=True)
    below = stats.hypergeom.cdf(drawn, n, sizes, m)
    above = stats.hypergeom.sf(drawn - 1, n, sizes, m)
    least = np.minimum(below, above).min(axis=1)
    # Of two classes, one says what the other does.
    n_tests = len(sizes) if len(sizes) > 2 else 1
    return np.asarray(np.minimum(1, 2 * n_tests * least))


def exact_shift_p_values(drawn: Indices, sizes: Indices) -> Array:
    """Test whether rows are drawn from ordered classes at random, and not from one of their ends.

    Fisher's exact test of all classes above each threshold, corrected for their number; a row of
    ``drawn`` is a draw, a column a class.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.counts import exact_shift_p_values
    >>> exact_shift_p_values(np.array([[0, 0, 4], [2, 0, 2]]), np.array([20, 10, 10])).round(3)
    array([0.009, 1.   ])
    """
    below, of_all = np.cumsum(drawn, axis=1)[:, :-1], np.cumsum(sizes)[:-1]
    m, n = drawn.sum(axis=1), sizes.sum()
    least = [
        exact_p_values(np.column_stack([some, m - some]), np.array([size, n - size]))
        for some, size in zip(below.T, of_all, strict=True)
    ]
    return np.asarray(np.minimum(1, len(of_all) * np.min(least, axis=0)))
