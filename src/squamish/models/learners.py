"""Learners that judge features, and the portfolio of those that are built in.

Three kinds are built in, from the plainest to the most flexible: a penalised linear predictor, the
same on all squares and products, and boosted trees. Each is fitted to standardised columns, or to
the normal scores of their ranks, which tame heavy tails and undo monotone transforms. Users can
add others (`squamish.models.user_learners`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family
from squamish.models.polynomial import fit_polynomial
from squamish.models.trees import fit_trees

View = Literal["plain", "ranked"]

# Squares and products are tried up to so many of them, and so many numbers in all rows: normal
# equations of 2,500 terms take seconds, and 50 million numbers 400 MB.
MOST_TERMS, MOST_NUMBERS = 2500, 50_000_000


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
    def is_polynomial(self) -> bool:
        """Whether it is quick, and smooth: a formula, in which draws of columns can be put."""

    def fit(self, X: Array, y: NDArray[Any], family: Family, weights: Array | None = None) -> Model:
        """Fit the learner to columns that already have its view."""


@dataclass(frozen=True)
class BuiltIn:
    """A learner of the portfolio: its kind, what it sees, and how freely it fits."""

    kind: Literal["linear", "quadratic", "boosted"]
    view: View = "plain"
    strength: float = 1.0

    @property
    def is_polynomial(self) -> bool:
        """Whether it is no trees."""
        return self.kind != "boosted"

    def __str__(self) -> str:
        view = " on ranks" if self.view == "ranked" else ""
        strength = f" (C={self.strength:g})" if self.kind != "boosted" else ""
        return f"{self.kind}{view}{strength}"

    def fit(self, X: Array, y: NDArray[Any], family: Family, weights: Array | None = None) -> Model:
        """Fit the learner to columns that already have its view."""
        if self.kind == "boosted":
            return fit_trees(X, y, family, weights)
        return fit_polynomial(
            X, y, family, self.strength, weights, quadratic=self.kind == "quadratic"
        )


# What asks where nothing has to be known of a table: trees do not mind noise.
TREES = BuiltIn("boosted")


def portfolio(family: Family, n_rows: int, n_columns: int) -> list[Learner]:
    """Return the built-in learners that are tried, plainest first."""
    n_terms = n_columns * (n_columns + 3) // 2
    views: tuple[View, ...] = ("plain", "ranked")
    learners: list[Learner] = [
        BuiltIn("linear", view, strength)
        for view in views
        for strength in family.strengths("linear")
    ]
    if n_terms < MOST_TERMS and n_terms * n_rows <= MOST_NUMBERS:
        learners += [
            BuiltIn("quadratic", view, strength)
            for view in views
            for strength in family.strengths("quadratic")
        ]
    return [*learners, TREES]
