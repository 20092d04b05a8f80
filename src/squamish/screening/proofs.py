"""Sufficient proofs of relevance: each gives a p-value for every column.

A column is irrelevant if it is independent of the target given any set of the others. So
dependence of any kind disproves it: on its own, in a product with another column, given all
other columns, or in the splits of boosted trees (`squamish.screening.shadow`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.paired import cluster_sums
from squamish.statistics.pairs import (
    in_groups,
    ranges,
)
from squamish.statistics.scores import atom_shares, normal_scores, skew_of_two, skewness
from squamish.statistics.tails import with_skewed_tails
from squamish.table.table import Table

Array = NDArray[np.float64]

# Random orders of the target that the levels of a category are compared with.
N_ORDERS = 200
# Samples of one row from each cluster.
N_SAMPLES = 10
# A correlation below this tells next to nothing, however sure it is.
CLEAR = 0.3
# With fewer rows than these expected to differ in a class, sums over them are not normal.
FEW, FEW_OF_TWO = 5, 50
# Of fewer observations, values that repeat have heavier tails than Student's t.
FEW_ROWS = 50


def target_scores(table: Table) -> Array:
    """Return the target as centred columns: one for an amount, one for each class."""
    if table.task == "regression":
        return normal_scores(table.y[:, np.newaxis])
    indicators = (table.y[:, np.newaxis] == np.unique(table.y)).astype(float)
    centred = indicators - indicators.mean(axis=0)
    return centred[:, 1:] if centred.shape[1] == 2 else centred


def marginal_p_values(table: Table) -> Array:
    """Test each column on its own: by rank, and in bins for what is not monotone.

    Columns with one value in most rows, and few others in some class, are tested exactly: are
    the other rows spread over the classes as a random draw would be?
    """
    p = combined_p_values(np.stack([_rank_p_values(table), _bin_p_values(table)]), [0.5, 0.5])
    if table.task == "regression":
        return p
    sizes, atoms = np.bincount(table.y), atom_shares(table.X)
    others = (1 - atoms) * sizes.min()
    few = np.flatnonzero((atoms > 0.5) & (others < FEW_OF_TWO))
    X = table.X[:, few]
    # Of two values nothing is lost; of more, what the others say among themselves would be.
    two = ((X.min(axis=0) == X) | (X.max(axis=0) == X)).all(axis=0)
    exact = two | (others[few] < FEW)
    # A value of most rows is their median.
    differs = X[:, exact] != np.median(X[:, exact], axis=0)
    drawn = np.stack([differs[table.y == c].sum(axis=0) for c in range(len(sizes))], axis=-1)
    p[few[exact]] = exact_p_values(drawn, sizes)
    return p


def feature_p_values(p: Array, feature: NDArray[np.intp], n_features: int) -> Array:
    """Combine the p-values of parts into one for every feature; 1 for a feature without parts.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.screening.proofs import feature_p_values
    >>> feature_p_values(np.array([0.02, 0.001, 0.7]), np.array([0, 2, 2]), 3).round(3)
    array([0.02 , 1.   , 0.002])
    """
    out = np.ones(n_features)
    counts = np.bincount(feature, minlength=n_features)
    single = counts[feature] == 1
    out[feature[single]] = p[single]
    for members in in_groups(feature):
        if len(members) == 1:
            continue
        own, f = p[members], feature[members[0]]
        out[f] = combined_p_values(own[:, np.newaxis], np.full(len(own), 1 / len(own)))[0]
    return out


def level_p_value(
    levels: NDArray[np.intp],
    targets: Array,
    rng: np.random.Generator,
    weights: Array | None = None,
    clusters: NDArray[np.intp] | None = None,
) -> float:
    """Test whether the levels of a category differ in their targets, however many there are.

    How much the means of the levels differ is compared with the same for targets, and their
    weights, in random order. So many levels that each row has its own cannot differ more or
    less. Rows that belong together cannot change places: samples of one row from each cluster
    are tested instead, and their p-values combined.
    """
    if clusters is not None:
        samples = [_one_of_each(clusters, rng) for _ in range(N_SAMPLES)]
        p_values = [
            level_p_value(levels[s], targets[s], rng, None if weights is None else weights[s])
            for s in samples
        ]
        shares = np.full(N_SAMPLES, 1 / N_SAMPLES)
        return float(combined_p_values(np.array(p_values)[:, np.newaxis], shares)[0])
    w = np.ones(len(levels)) if weights is None else weights
    scores = targets / np.maximum(targets.std(axis=0), 1e-12)
    scores = w[:, np.newaxis] * (scores - w @ scores / w.sum())

    def spread(order: NDArray[np.intp]) -> float:
        counts = np.maximum(np.bincount(levels, weights=np.square(w[order])), 1e-12)
        sums = np.stack([np.bincount(levels, weights=s[order]) for s in scores.T])
        return float((np.square(sums) / counts).sum())

    rows = np.arange(len(levels))
    null = np.array([spread(rng.permutation(rows)) for _ in range(N_ORDERS)])
    if null.std() < 1e-9 * max(null.mean(), 1e-12):
        return 1.0
    # The tail of a sum of squares, fitted by its first three moments.
    standard = (null - null.mean()) / null.std()
    value = (spread(rows) - null.mean()) / null.std()
    return float(stats.pearson3.sf(value, max(stats.skew(standard), 0.05)))


def _one_of_each(clusters: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw one row of every cluster."""
    order = rng.permutation(len(clusters))
    return np.asarray(order[np.unique(clusters[order], return_index=True)[1]])


def score_p_values(
    columns: Array, targets: Array, weights: Array | None, clusters: NDArray[np.intp] | None
) -> Array:
    """Test columns against targets where rows count unequally or belong together.

    The variance of each sum is estimated from its own terms, those of a cluster taken
    together, so that rows of one patient do not pass for many. Corrected for the number
    of targets.
    """
    w = np.ones(len(columns)) if weights is None else weights
    centred = columns - w @ columns / w.sum()
    largest, n = np.zeros(columns.shape[1]), len(columns)
    for r in targets.T:
        terms = cluster_sums((w * (r - w @ r / w.sum()))[:, np.newaxis] * centred, clusters)
        n = len(terms)
        spread = np.sqrt(np.square(terms).sum(axis=0))
        ratio = np.divide(
            np.abs(terms.sum(axis=0)), spread, out=np.zeros_like(spread), where=spread > 1e-12
        )
        largest = np.maximum(largest, ratio)
    # Student's t of the terms.
    t = largest * np.sqrt((n - 1) / np.maximum(n - np.square(largest), 1e-12))
    p = 2 * stats.t.sf(t, max(n - 1, 1))
    if n < FEW_ROWS:
        # Terms may all be equal by chance: a bound for any that are as likely above as below zero.
        p = np.maximum(p, 2 * np.exp(-np.square(largest) / 2))
    p = p * targets.shape[1]
    # A sum over the few rows that differ from the rest is not normal.
    return np.where(atom_shares(columns) > 0.9, 1.0, np.minimum(1, p))


def cautious_p_values(
    Z: Array,
    targets: Array,
    weights: Array | None,
    clusters: NDArray[np.intp] | None,
    partners: NDArray[np.intp],
) -> dict[str, Array]:
    """Test columns on their own, and in products with partners, for rows that are not alike."""
    tests = [score_p_values(f, targets, weights, clusters) for f in (Z, np.square(Z))]
    single = combined_p_values(np.stack(tests), [0.7, 0.3])
    product = np.ones(Z.shape[1])
    for k in partners:
        p = score_p_values(Z * Z[:, [k]], targets, weights, clusters)
        p[k] = 1.0
        product = np.minimum(product, p)
    return {"marginal": single, "product": np.minimum(1, product * max(len(partners), 1))}


def centre(Z: Array) -> Array:
    """Average columns, each turned so that it goes the way of the first."""
    return (Z * np.where(Z[:, 0] @ Z < 0, -1.0, 1.0)).mean(axis=1)


def exact_p_values(drawn: NDArray[np.intp], sizes: NDArray[np.intp]) -> Array:
    """Test whether rows are drawn from classes at random: so many of each, of its size.

    Fisher's exact test for each class; a row of ``drawn`` is a draw, a column a class.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.screening.proofs import exact_p_values
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


def _rank_p_values(table: Table) -> Array:
    """Kruskal and Wallis' test for classes, Spearman's for amounts."""
    n = len(table.y)
    ranks = stats.rankdata(table.X, axis=0)
    ranks -= ranks.mean(axis=0)
    if table.task == "regression":
        y = stats.rankdata(table.y)[:, np.newaxis]
        return correlation_p_values(ranks, y - y.mean())
    classes, counts = np.unique(table.y, return_counts=True)
    sums = np.stack([ranks[table.y == c].sum(axis=0) for c in classes])
    variance = np.square(ranks).sum(axis=0) / (n - 1)
    statistic = (np.square(sums) / counts[:, np.newaxis]).sum(axis=0) / variance
    p = stats.chi2.sf(statistic, len(classes) - 1)
    return with_skewed_tails(p, skewness(ranks) * skew_of_two(counts / n).max() / np.sqrt(n))


def in_fifths(y: Array) -> NDArray[np.intp]:
    """Cut amounts into fifths; a value that many rows share is in one of them.

    There may be fewer than five, since none has less than a twentieth of the rows, unless
    two do not go without.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.screening.proofs import in_fifths
    >>> in_fifths(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    array([0, 1, 2, 3, 4])
    >>> in_fifths(np.array([0.5, 9.0, 9.0, 9.0, 9.0, 9.0]))
    array([0, 1, 1, 1, 1, 1])
    """
    n, cuts = len(y), np.quantile(y, [0.2, 0.4, 0.6, 0.8])
    # What is capped from above is told from the rest, as what is capped from below is.
    cuts = np.unique(np.minimum(cuts, y[y < y.max()].max(initial=y.min())))
    n_below = np.searchsorted(np.sort(y), cuts, side="right")
    kept: list[int] = []
    for k, rows in enumerate(n_below):
        if min(rows - (n_below[kept[-1]] if kept else 0), n - rows) >= n / 20:
            kept.append(k)
    kept = kept or [int(np.minimum(n_below, n - n_below).argmax())]
    return np.searchsorted(cuts[kept], y)


def _bin_p_values(table: Table, most_bins: int = 6) -> Array:
    """Chi-square test of binned values against classes, or against a binned amount."""
    y = in_fifths(table.y) if table.task == "regression" else table.y
    classes, y = np.unique(y, return_inverse=True)
    counts = np.bincount(y)
    # Five expected in every cell, so that the chi-square approximation holds.
    n_bins = int(np.clip(counts.min() // 5, 2, most_bins))
    cuts = np.quantile(table.X, np.linspace(0, 1, n_bins + 1)[1:-1], axis=0)
    bins = sum((cut < table.X).astype(np.int8) for cut in cuts)
    indicators = (y[:, np.newaxis] == np.arange(len(classes))).astype(float)
    statistic, used = np.zeros(table.n_features), np.zeros(table.n_features)
    least = np.ones(table.n_features)
    sparse = np.zeros(table.n_features, dtype=bool)
    for b in range(n_bins):
        member = (bins == b).astype(float)
        observed = member.T @ indicators
        expected = np.outer(member.sum(axis=0), counts / len(y))
        statistic += np.divide(
            np.square(observed - expected),
            expected,
            out=np.zeros_like(expected),
            where=expected > 0,
        ).sum(axis=1)
        used += member.any(axis=0)
        share = member.mean(axis=0)
        least = np.where(share > 0, np.minimum(least, share), least)
        sparse |= member.any(axis=0) & (expected.min(axis=1) < 3)
    freedom = (used - 1) * (len(classes) - 1)
    skew = skew_of_two(least) * skew_of_two(counts / len(y)).max() / np.sqrt(len(y))
    # Bins of about the same size make up for each other.
    skew[least * used > 0.5] = 0.0
    p = with_skewed_tails(stats.chi2.sf(statistic, np.maximum(freedom, 1)), skew)
    return np.where((freedom > 0) & ~sparse, p, 1.0)


def least_product(d: int, n_targets: int) -> float:
    """Return the ratio below which a product proves nothing, being the largest of so many."""
    return float(stats.norm.isf(0.5 / max((d - 1) * n_targets, 1)))


def product_tails(largest: Array, n_targets: int, atoms: Array) -> Array:
    """Turn the largest ratio of target times product of every column into p-values.

    If a column is independent of the other and of the target, the sum of target times
    product has mean zero, and the variance in the denominator: that of the sum of
    independent terms, or that over all orders of the column, whichever is larger.
    Corrected for the number of partners and targets.
    """
    n_tests = (len(largest) - 1) * n_targets
    p = np.minimum(1, 2 * stats.norm.sf(largest) * n_tests) if n_tests else np.ones(len(largest))
    return np.where(atoms > 0.9, 1.0, p)


def association_p_values(
    Z: Array, relevant: NDArray[np.intp], weights: Array | None = None
) -> Array:
    """Test the correlation of each column with columns that are known to be relevant.

    What depends on a relevant column is relevant itself: it tells about the target through
    that column, or, if the column is a common effect of both, once that is known. Only
    clear correlations count, since others say next to nothing. Columns that are known to
    be relevant get 1.
    """
    w = np.ones(len(Z)) if weights is None else weights
    n = float(np.square(w.sum()) / np.square(w).sum())

    def scaled(X: Array) -> Array:
        centred = X - w @ X / w.sum()
        return centred / np.maximum(np.sqrt(w @ np.square(centred) / w.sum()), 1e-12)

    known, r = scaled(Z[:, relevant]), np.zeros(Z.shape[1])
    for start, stop in ranges(Z.shape[1]):
        weighted = scaled(Z[:, start:stop]) * w[:, np.newaxis]
        r[start:stop] = np.abs(weighted.T @ known / w.sum()).max(axis=1)
    r, atoms = np.minimum(r, 1.0), atom_shares(Z)
    skew = skewness(Z) * np.abs(skewness(known)).max() / np.sqrt(n)
    p = np.minimum(1, _correlation_tails(r, n, skew, atoms) * len(relevant))
    p[(r < CLEAR) | (atoms > 0.9)] = 1.0
    p[relevant] = 1.0
    return np.asarray(p)


def combined_residual_p_values(own: Array, product: Array) -> Array:
    """Combine the ways in which a column could explain what a model leaves unexplained.

    The more the better; by its distance from the middle; in products with the columns of the
    model, all at once; in a product with a column outside the model. What the model explains
    no longer drowns what it does not.
    """
    tests = np.vstack([own, product])
    return combined_p_values(tests, np.full(len(tests), 1 / len(tests)))


def model_basis(Z: Array, residuals: Array, model: NDArray[np.intp]) -> Array:
    """Return a basis of what is left unexplained, times the columns of the model and 1."""
    partners = np.column_stack([np.ones(len(Z)), Z[:, model]])
    return _orthonormal(np.hstack([partners * r[:, np.newaxis] for r in residuals.T]))


def own_residual_p_values(Z: Array, basis: Array, residuals: Array) -> Array:
    """Test columns by themselves, by their distance from the middle, and with the model's."""
    # An irrelevant column is independent of the weights, and its scores are standard
    # normal, so its coordinates in an orthonormal basis are, too.
    joint = stats.chi2.sf(np.square(basis.T @ Z).sum(axis=0), max(basis.shape[1], 1))
    atoms = atom_shares(Z)
    joint[atoms > 0.5] = 1.0
    # Of ranks, so that single rows far out do not decide.
    distance = np.square(special.ndtr(Z) - 0.5)
    alone = np.stack([correlation_p_values(scores, residuals) for scores in (Z, distance)])
    return np.vstack([np.where(_are_few(atoms, residuals), 1.0, alone), joint])


def _are_few(atoms: Array, targets: Array) -> NDArray[np.bool_]:
    """Tell whether so few rows differ from the rest that sums over them are not normal.

    Rows of a rare class make up most of its sum, as do large residuals: what counts is how
    many rows that is in effect.
    """
    squares = np.square(targets)
    largest = np.maximum(np.square(squares).sum(axis=0), 1e-300)
    n_rows = float((np.square(squares.sum(axis=0)) / largest).min())
    return (atoms > 0.9) | ((atoms > 0.5) & ((1 - atoms) * n_rows < FEW))


def correlation_p_values(scores: Array, targets: Array) -> Array:
    """Test the correlation of columns with targets, corrected for the number of targets.

    Over all orders of a column, the square of the correlation is distributed like that of
    normal variables (Pitman), up to its second moment, whatever the distributions are.
    """
    n = len(scores)
    centred, around = scores - scores.mean(axis=0), targets - targets.mean(axis=0)
    spread = np.outer(np.linalg.norm(around, axis=0), np.linalg.norm(centred, axis=0))
    r = np.divide(
        np.abs(around.T @ centred), spread, out=np.zeros_like(spread), where=spread > 1e-12
    )
    skew = np.outer(skewness(targets), skewness(scores)) / np.sqrt(n)
    repeated = np.zeros_like(r)
    if n < FEW_ROWS:
        # Of many rows it does not matter, and would take long.
        repeated = np.maximum.outer(atom_shares(targets), atom_shares(scores))
    return np.minimum(1, _correlation_tails(r, n, skew, repeated).min(axis=0) * targets.shape[1])


def _correlation_tails(r: Array, n: float, skew: Array, repeated: Array) -> Array:
    """Return how likely it is that columns in random order have such correlations, or larger.

    Sums of their products have this skewness, and the most common value has this share.
    """
    if n < 3:
        return np.ones_like(r)
    t = r * np.sqrt((n - 2) / np.maximum(1 - np.square(r), 1e-12))
    p = 2 * stats.t.sf(t, n - 2)
    if n < FEW_ROWS:
        # No order is less likely than one of all, and those of few values are few.
        p = np.maximum(p, 2 * np.exp(-special.gammaln(n + 1)))
        bound = 2 * np.exp(-n * np.square(r) / 2)
        p = np.where(repeated > 0.3, np.maximum(p, bound), p)
    return with_skewed_tails(p, skew)


def _orthonormal(X: Array) -> Array:
    """Return a basis of the main directions of some columns, a quarter of the rows at most."""
    # A column of the model may have no value in any of these rows.
    norms = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    basis, singular, _ = np.linalg.svd(X / norms, full_matrices=False)
    kept = singular > 0.1 * singular[0]
    kept[len(X) // 4 :] = False
    return np.asarray(basis[:, kept])


def partial_p_values(Z: Array, targets: Array) -> Array:
    """Test each column given all others in a linear model; 1 where rows are too few for it."""
    n, d = Z.shape
    if n - d - 1 < max(20, d // 2):
        return np.ones(d)
    p = partial_from_sums(Z.T @ Z, Z.T @ targets, np.square(targets).sum(axis=0), n)
    p = with_skewed_tails(p, skewness(Z) * np.abs(skewness(targets)).max() / np.sqrt(n))
    return np.where(_are_few(atom_shares(Z), targets), 1.0, p)


def partial_from_sums(gram: Array, moments: Array, totals: Array, n_rows: int) -> Array:
    """Test each column given all others: from products of columns, with targets, and of these."""
    d, n_targets = moments.shape
    freedom = n_rows - d - 1
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-9 * values[-1]
    basis = vectors[:, kept] / np.sqrt(values[kept])
    scale = np.sqrt(np.square(basis).sum(axis=1))
    p = np.ones(d)
    for moment, total in zip(moments.T, totals, strict=True):
        fitted = basis.T @ moment
        error = np.sqrt(max(total - np.square(fitted).sum(), 1e-12 * total) / freedom)
        # A column without variance has no scale, and proves nothing.
        t = np.divide(basis @ fitted, error * scale, out=np.zeros(d), where=scale > 0)
        p = np.minimum(p, 2 * stats.t.sf(np.abs(t), freedom))
    return np.minimum(1, p * n_targets)
