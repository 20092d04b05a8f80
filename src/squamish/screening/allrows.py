"""Tests on all rows of a very long table, which need not be in memory: sums over portions of it.

Dependence without a model is found by sums over rows, which cost little. How a column becomes
numbers of which sums can be taken is learned from a sample of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from squamish.execution.workers import Workers
from squamish.screening import proofs
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.scores import atom_shares, normal_scores, skew_of_two, skewness
from squamish.statistics.tails import with_skewed_tails
from squamish.table.drawing import LEAST_OF_CLASS
from squamish.table.parts import LEAST_ROWS, few_levels
from squamish.table.table import Table, Task

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Rows that are added up at a time.
PORTION = 20_000
# A part in which fewer rows differ from the rest has no normal sums.
LEAST_OTHERS = 200
# So many sums are held at the same time.
MOST_SUMS = 32
# Products of all pairs are added up for no more columns than this.
MOST_PAIRED = 300
# Points that describe the distribution of a column, and bins to see what is not monotone.
N_KNOTS, N_BINS = 501, 6
# The stage in which rows are added up, and its share of the time.
ALL_ROWS = "all rows"
STAGE = {ALL_ROWS: 0.3}


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
class _Recipe:
    """How a part is made of a column: by the scores of its values, its gaps, or some levels."""

    column: int
    knots: Array | None = None
    scores: Array | None = None
    cuts: Array | None = None
    codes: Array | None = None
    other: bool = False
    mean: float = 0.0
    scale: float = 1.0

    def apply(self, x: Array) -> Array:
        """Return the part of some rows, standardised as it is in the sample."""
        return (self._raw(x) - self.mean) / self.scale

    def standardised(self, x: Array) -> _Recipe:
        """Centre and scale by what it is in a sample."""
        raw = self._raw(x)
        return replace(self, mean=float(raw.mean()), scale=max(float(raw.std()), 1e-12))

    def _raw(self, x: Array) -> Array:
        if self.codes is not None:
            return (np.isin(x, self.codes) != self.other).astype(float)
        if self.knots is None or self.scores is None:
            return np.isnan(x).astype(float)
        return np.where(np.isnan(x), 0.0, np.interp(x, self.knots, self.scores))


def recipes(sample: Table) -> list[_Recipe]:
    """Tell how the parts of columns are made, from what a sample of their values looks like."""
    out: list[_Recipe] = []
    for j, x in enumerate(sample.X.T):
        if sample.is_category[j]:
            levels = few_levels(x)
            n_levels = 0 if levels is None or not levels.any() else int(levels.max()) + 1
            for k in range(1 if n_levels == 2 else 0, n_levels):
                # What the sample does not know is like the rest that is taken together.
                rest = k == n_levels - 1 and k > 0
                out.append(_Recipe(j, codes=np.unique(x[(levels == k) != rest]), other=rest))
            continue
        missing = np.isnan(x)
        known = x[~missing]
        varies = len(known) > 0 and known.min() < known.max()
        if varies:
            out.append(_scored(j, known))
        if missing.any() and not missing.all() and min(missing.sum(), len(known)) >= LEAST_ROWS:
            out.append(_Recipe(j))
    return [recipe.standardised(sample.X[:, recipe.column]) for recipe in out]


def _scored(column: int, known: Array) -> _Recipe:
    """Score values by the normal quantile of their rank in a sample."""
    knots = np.unique(np.quantile(known, np.linspace(0, 1, N_KNOTS)))
    ordered = np.sort(known)
    rank = sum(np.searchsorted(ordered, knots, side=side) for side in ("left", "right")) / 2
    scores = stats.norm.ppf(np.clip(rank, 0.5, len(known) - 0.5) / len(known))
    cuts = np.unique(np.quantile(known, np.linspace(0, 1, N_BINS + 1)[1:-1]))
    return _Recipe(column, knots, scores, cuts)


@dataclass(frozen=True, eq=False)
class AllRows:
    """Sums over all rows, portion by portion, of which tests without a model are made.

    Attributes
    ----------
    source : Source
        Where the rows are.
    parts : sequence of recipes
        How parts are made of the columns.
    classes : ndarray of int of shape (n_rows,)
        The class of every row, or the fifth of the target's range that it is in.
    others : ndarray of float
        About how many rows have another value than the most common one, part by part.
    levels : ndarray of int
        The classes that are asked for, one of two or all; a single one for amounts.
    scores : ndarray of float or None
        Amounts, by the normal quantiles of their ranks.
    task : {"classification", "regression"}
        What kind of target it is.
    used : ndarray of bool or None
        Which rows of the source these are; None for all.
    """

    source: Source
    parts: Sequence[_Recipe]
    others: Array
    classes: Rows
    levels: Rows
    task: Task
    scores: Array | None = None
    used: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        source: Source,
        sample: Table,
        y: NDArray[Any],
        used: NDArray[np.bool_] | None = None,
    ) -> AllRows:
        """Prepare the sums of a table, of which a sample has been read.

        Classes of few rows are left out: their sums are not normal.
        """
        task, parts = sample.task, recipes(sample)
        scores = None
        if task == "regression":
            classes = proofs.in_fifths(y)
            scores = normal_scores(y[:, np.newaxis])[:, 0]
        else:
            common = np.bincount(y)[y] >= LEAST_OF_CLASS
            if not common.all() and len(np.unique(y[common])) > 1:
                used = np.ones(len(y), dtype=bool) if used is None else used.copy()
                used[used] = common
                y = np.unique(y[common], return_inverse=True)[1]
            classes = y
        shares = [atom_shares(part.apply(sample.X[:, [part.column]])) for part in parts]
        return cls(
            source,
            parts,
            (1 - np.concatenate([np.zeros(0), *shares])) * len(y),
            classes,
            np.arange(classes.max() + 1)[0 if scores is None and classes.max() > 1 else -1 :],
            task,
            scores,
            used,
        )

    def p_values(self, sample: Table, workers: Workers) -> dict[str, Array]:
        """Test every column on its own, in products and given all others; 1 if it cannot be.

        Columns that are one feature have the same p-values.
        """
        if not self.parts:
            return {}
        spans = portions(self.source.n_rows)
        # Not too many sums at the same time, however many portions there are.
        tasks = [spans[k::MOST_SUMS] for k in range(min(len(spans), MOST_SUMS))]
        workers.reporter.begin(ALL_ROWS, len(tasks))
        found = workers.run(AllRows._add_up_some, self, tasks, np.random.default_rng(0))
        sums = self._unpacked(reduce(np.add, found))
        p = {"marginal": self._marginal(sums)}
        if "products" in sums:
            p |= self._given_others(sums)
        owner = np.array([part.column for part in self.parts], dtype=np.intp)
        feature = np.unique(sample.feature, return_inverse=True)[1]
        return {
            name: proofs.feature_p_values(values, feature[owner], feature.max() + 1)[feature]
            for name, values in p.items()
        }

    def _layout(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the sums."""
        q, t, k = len(self.parts), len(self.levels), int(self.classes.max()) + 1
        shapes: dict[str, tuple[int, ...]] = {
            "sum": (q,),
            "squares": (q,),
            "moment": (q, t),
            "spread": (q, t),
            "counts": (q, N_BINS + 1, k),
        }
        if self._is_paired:
            shapes |= {"gram": (q, q), "products": (t, q, q), "own": (t, q, q)}
        return shapes

    def _unpacked(self, flat: Array) -> dict[str, Array]:
        out, start = {}, 0
        for name, shape in self._layout().items():
            size = int(np.prod(shape))
            out[name] = flat[start : start + size].reshape(shape)
            start += size
        return out

    @property
    def _is_paired(self) -> bool:
        """Whether parts are few enough for products of all pairs."""
        return len(self.parts) <= MOST_PAIRED and len(self.parts) ** 2 * len(self.levels) <= 2**20

    @property
    def _is_rare(self) -> NDArray[np.bool_]:
        """Tell the parts whose sums over a class are not normal, having too few rows."""
        rarest = np.bincount(self.classes).min() / len(self.classes)
        return (self.others < LEAST_OTHERS) | (self.others * rarest < LEAST_OTHERS / 10)

    @property
    def _skew(self) -> Array:
        """Return how skewed sums over parts times targets are, at the most."""
        n = len(self.classes)
        if self.scores is None:
            target = skew_of_two(np.bincount(self.classes) / n).max()
        else:
            target = np.abs(skewness(self.scores[:, np.newaxis]))[0]
        # Parts without a value that most rows have are scores, and not skewed.
        share = np.minimum(self.others / n, 0.5)
        return np.asarray(skew_of_two(share) * target / np.sqrt(n))

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
        Z = np.column_stack([part.apply(X[:, part.column]) for part in self.parts])
        sums = {
            "sum": Z.sum(axis=0),
            "squares": np.square(Z).sum(axis=0),
            "moment": Z.T @ R,
            "spread": np.square(Z).T @ np.square(R),
            "counts": self._counts(X, self.classes[some]),
        }
        if self._is_paired:
            S = np.square(Z)
            sums |= {
                "gram": Z.T @ Z,
                "products": np.stack([(Z * r[:, np.newaxis]).T @ Z for r in R.T]),
                "own": np.stack([(S * np.square(r)[:, np.newaxis]).T @ S for r in R.T]),
            }
        return np.concatenate([sums[name].ravel() for name in self._layout()])

    def _targets(self, some: slice) -> Array:
        """Return the target of some rows as centred columns."""
        if self.scores is not None:
            return self.scores[some, np.newaxis]
        shares = np.bincount(self.classes)[self.levels] / len(self.classes)
        return (self.classes[some, np.newaxis] == self.levels) - shares

    @property
    def _totals(self) -> Array:
        """Return the sum of squares of every column of the target."""
        if self.scores is not None:
            return np.square(self.scores).sum(keepdims=True)
        counts = np.bincount(self.classes)[self.levels]
        return np.asarray(counts * (1 - counts / len(self.classes)))

    def _counts(self, X: Array, classes: Rows) -> Array:
        """Count the rows of every class in the bins of every part; gaps have a bin of their own."""
        k = int(self.classes.max()) + 1
        out = np.zeros((len(self.parts), N_BINS + 1, k))
        for part, counts in zip(self.parts, out, strict=True):
            if part.cuts is not None:
                x = X[:, part.column]
                bins = np.where(np.isnan(x), N_BINS, np.searchsorted(part.cuts, x))
                counts += np.bincount(bins * k + classes, minlength=counts.size).reshape(
                    counts.shape
                )
        return out

    def _marginal(self, sums: dict[str, Array]) -> Array:
        """Test parts by their scores, and in bins."""
        n = len(self.classes)
        variance = np.maximum(sums["squares"] / n - np.square(sums["sum"] / n), 1e-300)
        moment = sums["moment"]
        if self.task == "regression":
            total = self._totals[0]
            r = np.clip(moment[:, 0] / np.sqrt(n * variance * total), -1, 1)
            t = r * np.sqrt((n - 2) / np.maximum(1 - r**2, 1e-12))
            by_score = 2 * stats.t.sf(np.abs(t), n - 2)
        else:
            counts = np.bincount(self.classes).astype(float)
            # One class is enough of two, and its complement is the other.
            sizes = counts[1:] * counts[:1] / n if len(counts) == 2 else counts
            statistic = (np.square(moment) / sizes).sum(axis=1) / variance
            by_score = stats.chi2.sf(statistic, max(len(sizes) - 1, 1))
        by_score = with_skewed_tails(by_score, self._skew)
        in_bins = np.array([_chi_square(table) for table in sums["counts"]])
        for i in np.flatnonzero(self._is_rare):
            by_score[i] = self._exact_p_value(int(i), sums)
        return combined_p_values(np.stack([by_score, in_bins]), [0.5, 0.5])

    def _exact_p_value(self, i: int, sums: dict[str, Array]) -> float:
        """Test a rare level, or rare gaps, by how many rows of every class have it; others not."""
        part, sizes = self.parts[i], np.bincount(self.classes)
        if self.task == "regression" or part.knots is not None:
            return 1.0
        n = len(self.classes)
        total = part.scale * sums["sum"][i] + part.mean * n
        shares = sizes[self.levels] / n
        of_class = part.scale * (sums["moment"][i] + shares * sums["sum"][i])
        drawn = np.rint(of_class + part.mean * sizes[self.levels]).astype(np.intp)
        if len(sizes) == 2:
            drawn = np.array([round(total) - drawn[0], drawn[0]])
        return float(proofs.exact_p_values(drawn[np.newaxis], sizes)[0])

    def _given_others(self, sums: dict[str, Array]) -> dict[str, Array]:
        """Test products of two parts, and each part given all others in a linear model."""
        n, q, t = len(self.classes), len(self.parts), len(self.levels)
        mean, moment = sums["sum"] / n, sums["moment"]
        largest = np.zeros(q)
        for k in range(t):
            # Scores are those of a sample, and centred only now.
            shift = np.outer(moment[:, k], mean)
            product = np.abs(sums["products"][k] - shift - shift.T)
            ordered = sums["spread"][:, k] - np.square(moment[:, k]) / n
            variance = np.maximum(sums["own"][k], ordered[:, np.newaxis])
            ratio = product / np.sqrt(np.maximum(variance, 1e-300))
            np.fill_diagonal(ratio, 0)
            largest = np.maximum(largest, ratio.max(axis=0))
        gram = sums["gram"] - n * np.outer(mean, mean)
        scale = np.sqrt(np.maximum(np.diag(gram) / n, 1e-300))
        partial = proofs.partial_from_sums(
            gram / np.outer(scale, scale), moment / scale[:, np.newaxis], self._totals, n
        )
        rare = self._is_rare
        return {
            "product": proofs.product_tails(largest, t, rare.astype(float)),
            "partial": np.where(rare, 1.0, with_skewed_tails(partial, self._skew)),
        }


def _chi_square(counts: Array) -> float:
    """Test whether classes differ in their shares of the bins; 1 if fewer than two are large."""
    if counts.shape[1] < 2:
        return 1.0
    rarest = counts.sum(axis=0).min() / max(counts.sum(), 1)
    counts = counts[counts.sum(axis=1) * rarest >= 5]
    if len(counts) < 2:
        return 1.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    if expected.min() < 3:
        return 1.0
    statistic = float((np.square(counts - expected) / expected).sum())
    return float(stats.chi2.sf(statistic, (counts.shape[0] - 1) * (counts.shape[1] - 1)))
