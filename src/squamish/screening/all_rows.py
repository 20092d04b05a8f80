"""Stage "screen all rows": the tests without a model on every row of a very long table.

The table need not be in memory: the tests need sums over rows, which are added up portion by
portion. How the parts of a column become numbers is learned from a sample of its values. The tests
themselves are those of tables in memory: marginal, product and partial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices, Mask
from squamish.execution.workers import Workers
from squamish.families import Family
from squamish.screening import marginal, partial, product
from squamish.screening.parts import feature_p_values
from squamish.screening.scored_parts import ScoredPart, score_parts
from squamish.screening.validity import differ_rarely
from squamish.statistics.counts import exact_p_values
from squamish.statistics.scores import skew_of_two, skewness
from squamish.table.drawing import LEAST_OF_CLASS
from squamish.table.ignored_gaps import marked, without_gaps
from squamish.table.levels import Levels
from squamish.table.table import Table

# The stage in which rows are added up, and its share of the time.
STAGE = "screen all rows"
STAGES = {STAGE: 0.3}
# Rows that are added up at a time, and how many of such sums are held at the same time.
PORTION, MOST_SUMS = 20_000, 32
# Products of all pairs are added up for no more parts than this, and no more numbers in all: each
# row costs as many multiplications.
MOST_PAIRED, MOST_PRODUCTS = 300, 2**20


def portions(n_rows: int) -> list[tuple[int, int]]:
    """Cut rows into portions."""
    return [(start, min(start + PORTION, n_rows)) for start in range(0, n_rows, PORTION)]


class Source(Protocol):
    """All rows of a table, wherever they are."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def portion(self, start: int, stop: int) -> Array:
        """Return some rows as floats, read as the sample was read."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """A table that is there already."""

    X: Array

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def portion(self, start: int, stop: int) -> Array:
        """Return some rows."""
        rows = self.X[start:stop]
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


@dataclass(frozen=True, eq=False)
class Filled:
    """All rows of a table in which gaps mean nothing, and are filled.

    Attributes
    ----------
    source : Source
        The rows as they are.
    seed : int
        Draws what they are filled with, together with the number of the first row of a portion.
    levels : mapping of int to Levels
        The columns in which a gap is a level.
    """

    source: Source
    seed: int
    levels: Mapping[int, Levels]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    def portion(self, start: int, stop: int) -> Array:
        """Return some rows."""
        values = marked(self.source.portion(start, stop), self.levels)
        return without_gaps(values, np.random.default_rng([self.seed, start]))


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows of parts as scores, of targets, and of their products.

    Attributes
    ----------
    total, squares : ndarray of shape (q,)
        Of scores, and of their squares.
    moments : ndarray of shape (q, t)
        Of scores times targets.
    ordered : ndarray of shape (q, t)
        Of squared scores times squared targets.
    counts : ndarray of shape (q, n_bins, n_strata)
        Rows in bins and strata.
    gram, cubes : ndarray of shape (q, q)
        Of products of scores, and of squared scores times scores; without entries if there are
        too many parts for pairs.
    products, own : ndarray of shape (t, q, q)
        Of target times product of scores, and of the squares of that.
    """

    total: Array
    squares: Array
    moments: Array
    ordered: Array
    counts: Array
    gram: Array
    cubes: Array
    products: Array
    own: Array

    def flat(self) -> Array:
        """Return all sums one after the other, as they can be added up and kept."""
        return np.concatenate([values.ravel() for values in vars(self).values()])


@dataclass(frozen=True, eq=False)
class AllRows:
    """The rows of a table, portion by portion, and how they are added up.

    Attributes
    ----------
    source : Source
        Where the rows are.
    parts : sequence of ScoredPart
        How parts are made of the columns.
    strata : ndarray of int of shape (n_rows,)
        The class of every row, or the fifth of the amounts that it is in.
    scores : ndarray of shape (n_rows, t) or None
        The target as centred columns; None for classes without an order, which are made when they
        are needed.
    family : Family
        What kind of target it is.
    used : ndarray of bool or None
        Which rows of the source these are; None for all.
    """

    source: Source
    parts: Sequence[ScoredPart]
    strata: Indices
    scores: Array | None
    family: Family
    used: Mask | None = None

    @classmethod
    def of(
        cls, source: Source, sample: Table, y: NDArray[Any], used: Mask | None = None
    ) -> AllRows:
        """Prepare the sums of a table, of which a sample has been read.

        Classes of few rows are left out: their sums are not normal.
        """
        family = sample.family
        if family.has_classes:
            common = np.bincount(y)[y] >= LEAST_OF_CLASS
            if not common.all() and len(np.unique(y[common])) > 1:
                used = np.ones(len(y), dtype=bool) if used is None else used.copy()
                used[used] = common
                y = np.unique(y[common], return_inverse=True)[1]
        strata = np.unique(family.strata(y), return_inverse=True)[1]
        n_bins = marginal.n_bins_for(np.bincount(strata))
        scores = family.scores(y) if family.has_order else None
        return cls(source, score_parts(sample, n_bins), strata, scores, family, used)

    def p_values(self, sample: Table, workers: Workers) -> dict[str, Array]:
        """Test every column on its own, in products and given all others; 1 if it cannot be.

        Columns that are one feature have the same p-values.
        """
        if not self.parts:
            return {}
        owner = np.array([scored.part.column for scored in self.parts], dtype=np.intp)
        feature = np.unique(sample.feature, return_inverse=True)[1]
        sums = self._added_up(workers)
        p = {"marginal": self._marginal(sums)}
        if len(sums.gram):
            p |= {"product": self._product(sums), "partial": self._partial(sums, feature[owner])}
        return {
            name: feature_p_values(values, feature[owner], feature.max() + 1)[feature]
            for name, values in p.items()
        }

    def _added_up(self, workers: Workers) -> Sums:
        spans = portions(self.source.n_rows)
        # Not too many sums at the same time, however many portions there are.
        tasks = [spans[k::MOST_SUMS] for k in range(min(len(spans), MOST_SUMS))]
        workers.reporter.begin(STAGE, len(tasks))
        found = workers.run(AllRows._add_up_some, self, tasks, np.random.default_rng(0))
        flat, start, out = reduce(np.add, found), 0, []
        for shape in self._shapes():
            size = int(np.prod(shape))
            out.append(flat[start : start + size].reshape(shape))
            start += size
        return Sums(*out)

    def _shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the sums, in their order."""
        q, t = len(self.parts), self._n_targets
        k, pairs = int(self.strata.max()) + 1, q if self._is_paired else 0
        n_bins = max(scored.n_bins for scored in self.parts)
        squares = (pairs, pairs)
        return [
            *[(q,), (q,), (q, t), (q, t), (q, n_bins, k)],
            *[squares, squares, (t, *squares), (t, *squares)],
        ]

    @property
    def _is_paired(self) -> bool:
        """Whether parts are few enough for products of all pairs."""
        q, t = len(self.parts), self._n_targets
        return q <= MOST_PAIRED and q**2 * t <= MOST_PRODUCTS

    def _add_up_some(self, spans: Sequence[tuple[int, int]], _: np.random.Generator) -> Array:
        return reduce(np.add, map(self._add_up, spans))

    def _add_up(self, span: tuple[int, int]) -> Array:
        """Return all sums over a portion of the rows, one after the other."""
        X, some = self.source.portion(*span), slice(*span)
        if self.used is not None:
            X = X[self.used[some]]
            start = int(np.sum(self.used[: span[0]]))
            some = slice(start, start + len(X))
        R = self._targets(some)
        Z = np.column_stack([scored.scores(X[:, scored.part.column]) for scored in self.parts])
        paired = Z if self._is_paired else Z[:, :0]
        S = np.square(paired)
        return Sums(
            Z.sum(axis=0),
            np.square(Z).sum(axis=0),
            Z.T @ R,
            np.square(Z).T @ np.square(R),
            self._counts(X, self.strata[some]),
            paired.T @ paired,
            S.T @ paired,
            np.stack([(paired * r[:, np.newaxis]).T @ paired for r in R.T]),
            np.stack([(S * np.square(r)[:, np.newaxis]).T @ S for r in R.T]),
        ).flat()

    def _counts(self, X: Array, strata: Indices) -> Array:
        """Count the rows of every stratum in the bins of every part."""
        _, n_bins, k = self._shapes()[4]
        out = np.zeros((len(self.parts), n_bins, k))
        for scored, counts in zip(self.parts, out, strict=True):
            bins = scored.bins(X[:, scored.part.column])
            counts += np.bincount(bins * k + strata, minlength=counts.size).reshape(counts.shape)
        return out

    @property
    def _n_targets(self) -> int:
        """Number of columns of the target: one of two classes tells the other."""
        if self.scores is not None:
            return self.scores.shape[1]
        return len(self._sizes) if len(self._sizes) > 2 else 1

    def _targets(self, some: slice) -> Array:
        """Return the target of some rows as centred columns."""
        if self.scores is not None:
            return self.scores[some]
        classes = np.arange(len(self._sizes))[-self._n_targets :]
        shares = self._sizes[classes] / self._n_rows
        return (self.strata[some, np.newaxis] == classes) - shares

    @cached_property
    def _target_squares(self) -> Array:
        """Return the sum of squares of every column of the target."""
        if self.scores is not None:
            return np.asarray(np.square(self.scores).sum(axis=0))
        counts = self._sizes[-self._n_targets :]
        return np.asarray(counts * (1 - counts / self._n_rows))

    @cached_property
    def _sizes(self) -> Indices:
        return np.bincount(self.strata)

    @property
    def _n_rows(self) -> int:
        return len(self.strata)

    @cached_property
    def _skew(self) -> Array:
        return np.array([scored.skew for scored in self.parts])

    @cached_property
    def _target_skew(self) -> float:
        if self.scores is None:
            return float(skew_of_two(self._sizes / self._n_rows).max())
        return float(np.abs(skewness(self.scores)).max())

    @cached_property
    def _needs_exact_test(self) -> Mask:
        """Tell the parts that differ from their most common value in too few rows of a class."""
        rarest = self._sizes.min() if self.family.has_classes else self._n_rows
        differ = np.array([1 - scored.atom for scored in self.parts]) * rarest
        two = np.array([scored.part.has_two_values for scored in self.parts])
        return marginal.needs_exact_test(differ, two)

    def _marginal(self, sums: Sums) -> Array:
        """Test parts by their scores, and in bins; rare ones exactly."""
        moments = sums.moments
        if not self.family.has_order and moments.shape[1] == 1:
            moments = np.column_stack([-moments[:, 0], moments[:, 0]])
        p = marginal.p_values_from_sums(
            marginal.MarginalSums(
                n_rows=self._n_rows,
                squares=sums.squares - np.square(sums.total) / self._n_rows,
                moments=moments,
                total=float(self._target_squares[0]),
                skew=self._skew,
                target_skew=self._target_skew,
                repeated=np.zeros(len(self.parts)),
                counts=sums.counts,
                sizes=self._sizes,
            ),
            self.family.has_order,
        )
        if not self.family.has_order:
            for i in np.flatnonzero(self._needs_exact_test):
                p[i] = self._exact_p_value(int(i), sums)
        return p

    def _exact_p_value(self, i: int, sums: Sums) -> float:
        """Test a rare level, or rare gaps, by how many rows of every class have it."""
        scored, n = self.parts[i], self._n_rows
        if not scored.part.has_two_values:
            # Which of its rows differ is not among the sums.
            return 1.0
        n_with = scored.scale * sums.total[i] + scored.mean * n
        shares = self._sizes[-sums.moments.shape[1] :] / n
        of_class = scored.scale * (sums.moments[i] + shares * sums.total[i])
        drawn = np.rint(of_class + scored.mean * shares * n).astype(np.intp)
        if len(self._sizes) == 2:
            drawn = np.array([round(n_with) - drawn[0], drawn[0]])
        return float(exact_p_values(drawn[np.newaxis], self._sizes)[0])

    def _product(self, sums: Sums) -> Array:
        """Test products of two parts, beyond what the partner says."""
        n, mean = self._n_rows, sums.total / self._n_rows
        # Scores are those of a sample, and centred only here.
        squares = np.diag(sums.gram) - n * np.square(mean)
        cubes = self._centred_cubes(sums)
        largest = np.zeros((len(self.parts), len(self.parts)))
        for k in range(self._n_targets):
            moment = sums.moments[:, k]
            shift = np.outer(moment, mean)
            centred = sums.products[k] - shift - shift.T
            beyond = product.sums_beyond_partner(centred, moment, squares, cubes)
            ordered = sums.ordered[:, k] - np.square(moment) / n
            variance = np.maximum(sums.own[k], ordered[:, np.newaxis])
            found = np.abs(beyond) / np.sqrt(np.maximum(variance, 1e-300))
            np.fill_diagonal(found, 0)
            largest = np.maximum(largest, found)
        return product.p_values_from_ratios(largest, self._n_targets, self._abstains)

    def _centred_cubes(self, sums: Sums) -> Array:
        """Return sums of squared scores times scores, of centred ones."""
        n, mean = self._n_rows, sums.total / self._n_rows
        # (z - m)^2 (w - v) = z^2 w - v z^2 - 2 m z w + 2 m v z + m^2 w - m^2 v
        return np.asarray(
            sums.cubes
            - np.outer(sums.squares, mean)
            - 2 * mean[:, np.newaxis] * sums.gram
            + 2 * n * np.outer(np.square(mean), mean)
        )

    def _partial(self, sums: Sums, feature: Indices) -> Array:
        """Test each part given all other features in a linear model."""
        n, mean = self._n_rows, sums.total / self._n_rows
        gram = sums.gram - n * np.outer(mean, mean)
        scale = np.sqrt(np.maximum(np.diag(gram) / n, 1e-300))
        return partial.p_values_from_sums(
            gram / np.outer(scale, scale),
            sums.moments / scale[:, np.newaxis],
            self._target_squares,
            n,
            self._skew * self._target_skew / np.sqrt(n),
            feature,
            self._abstains,
        )

    @cached_property
    def _abstains(self) -> Mask:
        """Tell the parts of which sums over a class are not normal, having too few rows."""
        atoms = np.array([scored.atom for scored in self.parts])
        return differ_rarely((1 - atoms) * self._n_rows, self._sizes.min() / self._n_rows)
