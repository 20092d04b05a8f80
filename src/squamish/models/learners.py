"""Learners that judge features, and the portfolio of those that are built in.

Five kinds are built in, from the plainest to the most flexible: a penalised linear predictor, a
smooth curve of one, a linear predictor of all squares and products, a function of Gaussian kernels,
and boosted trees. Each is fitted to standardised columns, or, but for kernels and trees, to the
normal scores of their ranks, which tame heavy tails and undo monotone transforms. Users can add
others (`squamish.models.user_learners`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family
from squamish.models.kernel import fit_kernel
from squamish.models.polynomial import fit_polynomial
from squamish.models.single_index import fit_single_index
from squamish.models.trees import BinnedRows, BoostedTrees, fit_trees

View = Literal["plain", "ranked"]

# Squares and products are tried up to so many of them, and so many numbers in all rows: normal
# equations of 2,500 terms take seconds, and 50 million numbers 400 MB.
MOST_TERMS, MOST_NUMBERS = 2500, 50_000_000
# Rounds of boosting that race. With a learning rate of 0.1, a hundred reach 99.997% of what trees
# fit in a line of steps (1 - 0.9^100), and 25 reach 93%: enough where the rest is noise. Twice as
# many are tried, up to the most, where the last doubling paid, and stay if they pay as well.
ROUNDS, MOST_ROUNDS = (25, 50, 100), 400


class Model(Protocol):
    """A fitted learner."""

    def predict(self, X: Array) -> Array:
        """Return a prediction of the family for every row."""

    def predict_replaced(self, X: Array, columns: Indices, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns)."""


class Learner(Protocol):
    """A way to fit a model. Learners can be hashed, and are named in results by their text."""

    @property
    def kind(self) -> str:
        """What it is; learners of a kind differ only in view, and in how freely they fit."""

    @property
    def view(self) -> View:
        """What it sees of the columns."""

    @property
    def is_smooth(self) -> bool:
        """Whether it is a smooth formula, quick to predict draws of columns with."""

    def fit(self, X: Array, y: NDArray[Any], family: Family, weights: Array | None = None) -> Model:
        """Fit the learner to columns that already have its view."""


@dataclass(frozen=True)
class BuiltIn:
    """A learner of the portfolio: its kind, what it sees, and how freely it fits.

    ``strength`` is the inverse penalty of a formula, or the number of rounds of boosted trees;
    ``unordered`` learners take ordered classes without their order.
    """

    kind: Literal["linear", "single-index", "quadratic", "kernel", "boosted"]
    view: View = "plain"
    strength: float = 1.0
    unordered: bool = False

    @property
    def is_smooth(self) -> bool:
        """Whether it is no trees."""
        return self.kind != "boosted"

    def __str__(self) -> str:
        view = " on ranks" if self.view == "ranked" else ""
        strength = f"C={self.strength:g}" if self.is_smooth else f"{self.strength:g} rounds"
        order = " without order" if self.unordered else ""
        return f"{self.kind}{view}{order} ({strength})"

    def fit(self, X: Array, y: NDArray[Any], family: Family, weights: Array | None = None) -> Model:
        """Fit the learner to columns that already have its view."""
        if self.unordered:
            family = family.without_order(y) or family
        if self.kind == "boosted":
            return fit_trees(X, y, family, weights, int(self.strength))
        if self.kind == "kernel":
            return fit_kernel(X, y, family, self.strength, weights)
        if self.kind == "single-index":
            return fit_single_index(X, y, family, self.strength, weights)
        return fit_polynomial(
            X, y, family, self.strength, weights, quadratic=self.kind == "quadratic"
        )


TREES = tuple(BuiltIn("boosted", strength=rounds) for rounds in ROUNDS)
# What asks where nothing has to be known of a table: trees do not mind noise.
DEFAULT_TREES = TREES[-1]


def portfolio(family: Family, n_rows: int, n_columns: int) -> list[Learner]:
    """Return the built-in learners that race first, plainest first."""
    views: tuple[View, ...] = ("plain", "ranked")
    learners: list[Learner] = [
        BuiltIn("linear", view, strength)
        for view in views
        for strength in family.strengths("linear")
    ]
    if has_few_columns(n_rows, n_columns):
        learners += [
            BuiltIn("quadratic", view, strength)
            for view in views
            for strength in family.strengths("quadratic")
        ]
    return [*learners, *TREES]


def has_few_columns(n_rows: int, n_columns: int) -> bool:
    """Tell whether columns are few enough for all their squares and products."""
    n_terms = n_columns * (n_columns + 3) // 2
    return n_terms < MOST_TERMS and n_terms * n_rows <= MOST_NUMBERS


def trained_together(learners: Iterable[Learner]) -> list[tuple[Learner, ...]]:
    """Put learners together that one model serves: trees of fewer rounds begin those of more."""
    alone: list[tuple[Learner, ...]] = []
    trees: dict[bool, list[BuiltIn]] = {}
    for learner in learners:
        if isinstance(learner, BuiltIn) and not learner.is_smooth:
            trees.setdefault(learner.unordered, []).append(learner)
        else:
            alone.append((learner,))
    together = [tuple(sorted(some, key=lambda a: a.strength)) for some in trees.values()]
    return [*together, *alone]


def rounds_of(learner: Learner) -> int:
    """Return how many rounds a learner boosts; 0 if it does not."""
    return int(learner.strength) if isinstance(learner, BuiltIn) and not learner.is_smooth else 0


def fit_in_bins(learner: Learner, rows: BinnedRows, family: Family, places: Indices) -> Model:
    """Fit boosted trees to some columns of rows that are in bins already."""
    return rows.boosted(family, rounds_of(learner), places)


def to_keep(model: Model) -> Model:
    """Return a model without what it does not need to predict."""
    return model.without_data() if isinstance(model, BoostedTrees) else model


def fit_together(
    learners: Sequence[Learner],
    X: Array,
    y: NDArray[Any],
    family: Family,
    weights: Array | None = None,
    *,
    kept: bool = False,
) -> list[Model]:
    """Fit learners that one model serves, the last of which takes longest.

    Models to be kept go without what they do not need; that takes as long as some rounds of trees.
    """
    model = learners[-1].fit(X, y, family, weights)
    if kept:
        model = to_keep(model)
    if isinstance(model, BoostedTrees):
        rounds = [learner.strength for learner in learners if isinstance(learner, BuiltIn)]
        return [model.after(int(n)) for n in rounds]
    return [model]
