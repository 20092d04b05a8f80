"""Boosted trees of LightGBM, set up for small tables and for one thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family, ProfiledFamily
from squamish.models.stacking import predict_stacked

# What a tree adds of what it finds.
LEARNING_RATE = 0.1
# Four splits deep where all leaves are used, so that interactions of four columns can be seen;
# a leaf has a standard error of a third of a standard deviation (1 / sqrt 10) or less.
N_LEAVES, LEAST_IN_LEAF = 15, 10
# 63 bins fit into six bits, and a cut in between is off by less than a percent of the rows.
N_BINS, ROWS_FOR_BINS = 63, 20_000
# Megabytes for histograms, which LightGBM does not limit by itself.
HISTOGRAM_POOL = 64
# The most columns that a tree looks at; of more, each sees a random share.
MOST_COLUMNS = 500
# Thresholds are looked up for so many rows or more: it takes as long as to predict a thousand.
MANY_ROWS = 300
# Cells between thresholds are numbered anew beyond so many, so that numbers of cells and rows stay
# below what an integer holds.
MOST_CELLS = 2**31
# So many bins are copied, of a byte each.
MOST_COPIED = 10_000_000
# Of trees that look at a column, what they say is taken off before it is added anew: two sums of
# half the trees take as long as one of all.
MOST_ASKED = 0.5
# So many trees of 15 leaves take some 200 kB, half of the second cache of a usual core.
TREES_AT_ONCE = 100
# Columns with more than two values in so many rows need no closer look.
FIRST_ROWS = 50
# How LightGBM writes a tree that adds nothing, and the end of all trees.
EMPTY = "Tree=0\nnum_leaves=1\nnum_cat=0\nleaf_value=0\nis_linear=0\nshrinkage=1\n\n\n"
END = "end of trees"
# A model of so many numbers may keep its histograms; of more, the trees alone are kept.
FEW_NUMBERS = 20_000
# To put a column into bins takes as long as to look at it in 9 to 27 rounds of boosting (on tables
# of 300 to 4,000 rows), so that as many rounds may look at a column in vain.
ROUNDS_OF_BINNING = 20


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """The first rounds of fitted trees.

    Attributes
    ----------
    booster : lightgbm.Booster
        The trees.
    family : Family
        What kind of target there is, with what was fitted to these rounds.
    n_rounds : int
        How many rounds count.
    n_numbers : int
        How many numbers they were trained with and still hold.
    origin : ndarray of shape (d,) or float
        What was taken off each column before the trees saw it.
    fitted : sequence of Family
        The family as it was fitted before the first round, and after each; none if nothing is.
    places : ndarray of int or None
        Where the columns are among those that the trees were offered; None if these are all.
    """

    booster: lightgbm.Booster
    family: Family
    n_rounds: int
    n_numbers: int = 0
    origin: Array | float = 0.0
    fitted: Sequence[Family] = ()
    places: Indices | None = None
    # The rows that were asked last, and the sums of trees there.
    _last: dict[str, tuple[Array, Array]] = field(default_factory=dict)

    def after(self, n_rounds: int) -> BoostedTrees:
        """Return the model as it was after so many rounds."""
        # It ends before if nothing is left to split.
        family = self.fitted[min(n_rounds, len(self.fitted) - 1)] if self.fitted else self.family
        return replace(self, family=family, n_rounds=n_rounds, _last={})

    def without_data(self) -> BoostedTrees:
        """Return the trees without what they were trained with, if that is much: to be kept."""
        if self.n_numbers <= FEW_NUMBERS:
            return self
        booster = lightgbm.Booster(model_str=self.booster.model_to_string())
        return replace(self, booster=booster, n_numbers=0, _last={})

    def predict(self, X: Array) -> Array:
        """Return a prediction for every row."""
        return self._linked(_sums(self.booster, self._laid_out(X), self.n_rounds))

    def gains(self) -> Array:
        """Return how much the loss of the training rows fell by splits of every column."""
        gains = np.asarray(self.booster.feature_importance("gain", iteration=self.n_rounds))
        return gains if self.places is None else gains[self.places]

    def predict_replaced(self, X: Array, columns: Indices, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns).

        Trees see no more of a value than between which of their thresholds it lies. So each row is
        predicted once for each of these cells that it is in, and only by the trees that look at
        the columns: what the others say stays as it is.
        """
        if len(X) < MANY_ROWS:
            return predict_stacked(self.predict, X, columns, values)
        seen = values - np.broadcast_to(self.origin, X.shape[1])[columns]
        cells, n_cells = np.zeros(values.shape[:2], dtype=np.int64), 1
        for k, column in enumerate(self._offered(columns).tolist()):
            steps = self._structure.thresholds.get(column, np.empty(0))
            cells = cells * (len(steps) + 1) + np.searchsorted(steps, seen[:, :, k])
            n_cells *= len(steps) + 1
            if n_cells > MOST_CELLS:
                there, cells = np.unique(cells, return_inverse=True)
                cells, n_cells = cells.reshape(values.shape[:2]), len(there)
        keys = (cells * len(X) + np.arange(len(X))).ravel()
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        rows = X[first % len(X)]
        rows[:, columns] = values.reshape(-1, len(columns))[first]
        found = self._predict_changed(X, columns, rows, first % len(X))[which.reshape(-1)]
        return found.reshape(*values.shape[:2], *found.shape[1:])

    def _predict_changed(self, X: Array, columns: Indices, rows: Array, origin: Indices) -> Array:
        """Predict rows that differ from some of ``X`` in a few columns only."""
        some = self._structure.with_columns(self._offered(columns))
        if some is None:
            return self.predict(rows)
        n_rounds = some.current_iteration()
        before, after = (_sums(some, self._laid_out(x), n_rounds) for x in (X, rows))
        return self._linked(self._sums_of_all(X)[origin] + (after - before[origin]))

    def _sums_of_all(self, X: Array) -> Array:
        """Return the sums of all trees, which are asked of the same rows again and again."""
        known = self._last.get("rows")
        if known is None or known[0] is not X:
            sums = _sums(self.booster, self._laid_out(X), self.n_rounds)
            known = self._last["rows"] = X, sums
        return known[1]

    def _offered(self, columns: Indices) -> Indices:
        """Return where columns are among those that the trees were offered."""
        return columns if self.places is None else self.places[columns]

    def _laid_out(self, X: Array) -> Array:
        """Return rows as the trees see them; columns that they never look at are zero."""
        own: Array = X - self.origin
        if self.places is None:
            return own
        out = np.zeros((len(X), self.booster.num_feature()))
        out[:, self.places] = own
        return out

    def _linked(self, sums: Array) -> Array:
        """Turn sums of trees into predictions."""
        return self.family.link(sums.reshape(len(sums), -1))

    @cached_property
    def _structure(self) -> TreeTexts:
        return TreeTexts.of(self.booster.model_to_string(num_iteration=self.n_rounds))


def _sums(booster: lightgbm.Booster, X: Array, n_rounds: int) -> Array:
    """Return the sum of trees in every row, for each class.

    Row after row goes through all trees. Where these are many, as of many classes, the cache does
    not hold them: then all rows go through some of them at a time.
    """
    # It ends before if nothing is left to split.
    n_rounds = max(1, min(n_rounds, booster.current_iteration()))
    step = max(1, TREES_AT_ONCE // booster.num_model_per_iteration())
    blocks = (
        booster.predict(X, start, min(step, n_rounds - start), raw_score=True, num_threads=1)
        for start in range(0, n_rounds, step)
    )
    total = np.array(next(blocks))
    for block in blocks:
        total += block
    return total


@dataclass(frozen=True, eq=False)
class TreeTexts:
    """Trees as LightGBM writes them, and where they split.

    Attributes
    ----------
    head : str
        What is written before the trees.
    trees : list of str
        What is written of each, those of all classes of a round one after the other.
    columns : list of frozenset of int
        What each looks at.
    thresholds : dict of int to ndarray
        Where they split each column that they split at all, ascending.
    """

    head: str
    trees: list[str]
    columns: list[frozenset[int]]
    thresholds: dict[int, Array]

    @classmethod
    def of(cls, text: str) -> TreeTexts:
        """Take a model apart."""
        head, *trees = re.split(r"^(?=Tree=)", text.partition(END)[0], flags=re.MULTILINE)
        # Sizes of trees would have to be right.
        head = re.sub(r"^tree_sizes=.*\n", "", head, flags=re.MULTILINE)
        split = [np.array(_entry(tree, "split_feature").split(), np.intp) for tree in trees]
        at = " ".join(_entry(tree, "threshold") for tree in trees)
        column, step = np.concatenate(split), np.array(at.split(), np.float64)
        thresholds = {int(c): np.unique(step[column == c]) for c in np.unique(column)}
        return cls(head, trees, [frozenset(s.tolist()) for s in split], thresholds)

    def with_columns(self, columns: Indices) -> lightgbm.Booster | None:
        """Return a model of the trees alone that look at some columns; None if these are too many.

        A round has a tree for each class: an empty one where no more of a class do.
        """
        n_classes = int(_entry(self.head, "num_tree_per_iteration"))
        of_class: list[list[str]] = [[] for _ in range(n_classes)]
        for k, (tree, seen) in enumerate(zip(self.trees, self.columns, strict=True)):
            if not seen.isdisjoint(columns.tolist()):
                of_class[k % n_classes].append(tree)
        if sum(map(len, of_class)) > MOST_ASKED * len(self.trees):
            return None
        n_rounds = max(1, *map(len, of_class))
        rounds = zip(*(own + [EMPTY] * (n_rounds - len(own)) for own in of_class), strict=True)
        trees = [tree for together in rounds for tree in together]
        return lightgbm.Booster(model_str="".join([self.head, *trees, END, "\n"]))


def _entry(text: str, name: str) -> str:
    """Return what is written of a name in the text of a model or a tree."""
    found = re.search(rf"^{name}=(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """Training rows as LightGBM holds them, their columns in bins: many models can share them.

    Attributes
    ----------
    data : lightgbm.Dataset
        The rows.
    settings : dict
        How trees are boosted on them.
    y : ndarray of shape (n,)
        The target.
    weights : ndarray of shape (n,) or None
        How much rows count.
    origin : ndarray of shape (d,) or float
        What was taken off each column.
    """

    data: lightgbm.Dataset
    settings: dict[str, Any]
    y: NDArray[Any]
    weights: Array | None
    origin: Array | float = 0.0

    def boosted(self, family: Family, n_trees: int, places: Indices | None = None) -> BoostedTrees:
        """Boost trees of all columns, or of some.

        A column whose gains do not count is never split: bit by bit, trees are those of a table
        without it.
        """
        n_columns, settings = self.data.num_feature(), self.settings
        if places is not None:
            counts = np.zeros(n_columns)
            counts[places] = 1.0
            settings = settings | {"feature_contri": counts.tolist()}
        # lightgbm.train would also write the trees as text and read them again, which takes half
        # as long as to train few rows.
        booster = lightgbm.Booster(settings, self.data)
        origin = self.origin
        if places is not None:
            origin = np.broadcast_to(origin, n_columns)[places]
        trees = BoostedTrees(booster, family, n_trees, origin=origin, places=places)
        # A tree that finds nothing in its random columns is not the last one.
        if not isinstance(family, ProfiledFamily):
            for _ in range(n_trees):
                booster.update()
            return trees
        objective = _Objective(family, self.y, self.weights, booster)
        if any(self.data.feature_num_bin(column) for column in range(n_columns)):
            for _ in range(n_trees):
                booster.update(fobj=objective)
        else:
            # LightGBM takes no objective for columns of which none can be split.
            booster.update()
        booster.eval_train(objective.see)
        return replace(trees, family=objective.fitted[-1], fitted=objective.fitted)


def bin_rows(
    X: NDArray[Any],
    y: NDArray[Any],
    family: Family,
    weights: Array | None = None,
    **params: Any,
) -> BinnedRows:
    """Put columns into bins, for small trees that are boosted in one thread.

    One thread each, row by row: left to itself LightGBM chooses by a stopwatch whether it adds up
    by rows or by columns, and sums round differently. Rows take up to a third less time where
    columns have few values, and as long elsewhere, but a second copy of the bins.
    """
    settings = dict(
        **family.tree_objective(y),
        learning_rate=LEARNING_RATE,
        num_leaves=N_LEAVES,
        min_data_in_leaf=LEAST_IN_LEAF,
        max_bin=N_BINS,
        bin_construct_sample_cnt=ROWS_FOR_BINS,
        histogram_pool_size=HISTOGRAM_POOL,
        **{"force_row_wise" if X.size <= MOST_COPIED else "force_col_wise": True},
        num_threads=1,
        seed=0,
        verbose=-1,
    )
    settings |= params
    # Whoever is told derivatives has no use for the target.
    label = np.zeros(len(y)) if isinstance(family, ProfiledFamily) else y
    data = lightgbm.Dataset(X, label, weight=weights, params=settings)
    return BinnedRows(data.construct(), settings, y, weights)


def train_trees(
    X: NDArray[Any],
    y: NDArray[Any],
    family: Family,
    n_trees: int,
    *,
    weights: Array | None = None,
    **params: Any,
) -> BoostedTrees:
    """Boost small trees in one thread."""
    return bin_rows(X, y, family, weights, **params).boosted(family, n_trees)


class _Objective:
    """What LightGBM is told of the loss of a family, whose parameters are fitted in every round."""

    def __init__(
        self,
        family: ProfiledFamily,
        y: NDArray[Any],
        weights: Array | None,
        booster: lightgbm.Booster,
    ) -> None:
        self.family, self.y, self.weights, self.booster = family, y, weights, booster
        self.fitted: list[Family] = []

    def __call__(self, raw: Array, data: lightgbm.Dataset) -> tuple[Array, Array]:
        """Return the derivatives of the weighted losses."""
        scores = raw.reshape(-1, 1).astype(np.float64)
        # A round changes little: what fitted the last one is close.
        family = self.family = self.family.profiled(scores, self.y, self.weights)
        # A round that finds nothing leaves no trees, and is not counted.
        n_rounds = self.booster.current_iteration()
        self.fitted[n_rounds:] = [family] * (n_rounds + 1 - len(self.fitted[:n_rounds]))
        first, second = family.derivatives(scores, self.y)
        if self.weights is None:
            return first, second
        return self.weights * first, self.weights * second

    def see(self, raw: Array, data: lightgbm.Dataset) -> tuple[str, float, bool]:
        """Fit the parameters to the sums of all trees, in the guise of a metric."""
        self(raw, data)
        return "", 0.0, False


def bin_for_portfolio(
    X: Array, y: NDArray[Any], family: Family, weights: Array | None
) -> BinnedRows:
    """Put columns into bins for the boosted trees of the portfolio."""
    share, origin = min(1.0, MOST_COLUMNS / X.shape[1]), common_values(X)
    binned = bin_rows(X - origin, y, family, weights, feature_fraction=share)
    return replace(binned, origin=origin)


def fit_trees(
    X: Array, y: NDArray[Any], family: Family, weights: Array | None, n_rounds: int
) -> BoostedTrees:
    """Fit the boosted trees of the portfolio."""
    binned = bin_for_portfolio(X, y, family, weights)
    return replace(binned.boosted(family, n_rounds), n_numbers=X.size)


def may_share_bins(n_rows: int, n_columns: int, n_own: int, n_rounds: float) -> bool:
    """Tell whether a model of some columns may be trained on bins of more of them.

    It has to be the same model: where trees draw columns at random, or sums are taken column by
    column, it would not be. And it has to take less time than bins of its own.
    """
    is_same = n_columns <= MOST_COLUMNS and n_rows * n_columns <= MOST_COPIED
    return is_same and n_rounds * (n_columns - n_own) <= ROUNDS_OF_BINNING * n_own


def common_values(X: Array) -> Array:
    """Return the more common value of columns that have two values, and zero of all others.

    LightGBM holds only what is not zero, and indicators of the levels of a category in one column:
    with their common value at zero, tables of categories take a quarter less time.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.models.trees import common_values
    >>> common_values(np.array([[-0.5, 1.0], [2.0, 2.0], [-0.5, 3.0]])).tolist()
    [-0.5, 0.0]
    """
    out = np.zeros(X.shape[1])
    head = X[:FIRST_ROWS]
    few = np.flatnonzero(((head == head.min(axis=0)) | (head == head.max(axis=0))).all(axis=0))
    some = X[:, few]
    low, high = some.min(axis=0), some.max(axis=0)
    is_high = some == high
    two = (is_high | (some == low)).all(axis=0)
    out[few[two]] = np.where(2 * is_high.sum(axis=0) > len(X), high, low)[two]
    return out
