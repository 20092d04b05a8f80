"""Learners that users bring: any estimator of scikit-learn, beside the portfolio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from squamish.arrays import Array, Indices
from squamish.errors import InputError, reason_of
from squamish.families import Family
from squamish.models.estimators import check_predicts, name_of, seeded_clone, weights_parameter
from squamish.models.learners import View
from squamish.models.stacking import predict_stacked

# Draws are predicted together as long as a call takes so many numbers or fewer (80 MB). Kernels
# and neighbours compare every row with every training row, which is what is counted.
MOST_NUMBERS = 10_000_000
# Probabilities may be off by so much: sums of float32 over a hundred classes are, by 1e-5.
ROUNDING = 1e-4


@dataclass(frozen=True)
class UserLearner:
    """An estimator of scikit-learn; each is a kind of its own.

    Attributes
    ----------
    place : int
        Its place among those that the user gave.
    name : str
        What it is called in results and messages.
    seed : int
        What its random numbers come from, where the user gave no seed.
    estimator : estimator
        What is copied and fitted; it stays as it is.
    """

    place: int
    name: str
    seed: int
    # Copies that come from other processes are the same learner.
    estimator: Any = field(compare=False, repr=False)

    # Ranks suit some estimators and harm others; a user can put them into a pipeline.
    view: ClassVar[View] = "plain"
    # Nothing tells how quick it is, nor whether it makes steps, as trees do.
    is_smooth: ClassVar[bool] = False

    @property
    def kind(self) -> str:
        """The parameter that it was given as."""
        return f"learners[{self.place}]"

    def __str__(self) -> str:
        return self.name

    def fit(
        self, X: Array, y: NDArray[Any], family: Family, weights: Array | None = None
    ) -> UserModel:
        """Fit a copy of the estimator.

        Rows come in random order. Tables are sorted by the target, and searches in folds or
        validation sets inside of an estimator would often take rows as they come.
        """
        if y.dtype.names is not None:
            raise InputError(
                f"{self.kind} is {self.name}, which knows no exposure; leave out one of the two"
            )
        rng = np.random.default_rng(self.seed)
        order = rng.permutation(len(y))
        more = {} if weights is None else {self.weights_parameter(): weights[order]}
        own = seeded_clone(self.estimator, rng)
        with self.named("fit"):
            own.fit(X[order], y[order], **more)
        n_classes = int(y.max()) + 1 if family.has_classes else 0
        return UserModel(self, own, family, n_classes, len(y))

    def weights_parameter(self) -> str:
        """Return how ``fit`` calls weights of rows; raise an InputError if it takes none."""
        found = weights_parameter(self.estimator)
        if found is None:
            raise InputError(
                f"{self.kind} is {self.name}, whose fit takes no sample_weight; with weights of "
                "rows it must"
            )
        return found

    @contextmanager
    def named(self, method: str) -> Iterator[None]:
        """Name the learner in whatever its own code raises.

        Every thread and process has a configuration of scikit-learn of its own: here it is the
        same in all, and weights go where `weights_parameter` says.
        """
        try:
            with config_context(enable_metadata_routing=False):
                yield
        except Exception as error:
            raise InputError(
                f"{self.kind} is {self.name}, whose {method} raised {type(error).__name__}: "
                f"{reason_of(error)}"
            ) from error

    def wrong(self, what: str, expected: str) -> InputError:
        """Return an error that says what it returned, and what it must."""
        return InputError(f"{self.kind} is {self.name}, which {what}; {expected}")


@dataclass(frozen=True, eq=False)
class UserModel:
    """A fitted estimator.

    Attributes
    ----------
    learner : UserLearner
        What it is a model of.
    fitted : estimator
        The fitted copy.
    family : Family
        What kind of target there is.
    n_classes : int
        How many classes there are; 0 for amounts.
    n_train : int
        How many rows it was trained on.
    """

    learner: UserLearner
    fitted: Any
    family: Family
    n_classes: int
    n_train: int

    def predict(self, X: Array) -> Array:
        """Return a prediction for every row."""
        method = "predict_proba" if self.n_classes else "predict"
        with self.learner.named(method):
            # A copy, as pipelines may scale what they are given in place.
            raw = np.asarray(getattr(self.fitted, method)(X.copy()), dtype=np.float64)
        if not np.isfinite(raw).all():
            raise self.learner.wrong(
                f"predicts {raw[~np.isfinite(raw)][0]}", f"what {method} returns must be finite"
            )
        found = self._probabilities(raw, len(X)) if self.n_classes else self._amounts(raw, len(X))
        return self.family.of_estimator(found)

    def predict_replaced(self, X: Array, columns: Indices, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns)."""
        size = len(X) * max(X.shape[1], self.n_train)
        n_draws = max(1, MOST_NUMBERS // max(size, 1))
        found = [
            predict_stacked(self.predict, X, columns, values[k : k + n_draws])
            for k in range(0, len(values), n_draws)
        ]
        return np.concatenate(found)

    def _amounts(self, raw: Array, n: int) -> Array:
        """Return one number for each row; some libraries return a column of them."""
        if raw.shape not in ((n,), (n, 1)):
            raise self.learner.wrong(
                f"predicts an array of shape {raw.shape} for {n} rows", f"it must be ({n},)"
            )
        return raw.reshape(n)

    def _probabilities(self, raw: Array, n: int) -> Array:
        """Return the probability of every class, in the order of their codes."""
        codes = np.asarray(getattr(self.fitted, "classes_", np.arange(self.n_classes)))
        known = np.isin(codes, np.arange(self.n_classes)).all() and codes.ndim == 1
        if not known or len(np.unique(codes)) < len(codes):
            raise self.learner.wrong(
                f"has classes_ {codes.tolist()}",
                f"these must be among the classes it was given: 0 to {self.n_classes - 1}",
            )
        if raw.shape != (n, len(codes)):
            raise self.learner.wrong(
                f"predicts an array of shape {raw.shape} for {n} rows",
                f"with {len(codes)} classes it must be ({n}, {len(codes)})",
            )
        self._check_probabilities(raw)
        out = np.zeros((n, self.n_classes))
        out[:, codes.astype(np.intp)] = np.clip(raw, 0, 1)
        return out

    def _check_probabilities(self, raw: Array) -> None:
        """Refuse what is no probability: the log loss would take it for a good prediction."""
        for value in (raw.min(initial=0), raw.max(initial=1)):
            if not -ROUNDING <= value <= 1 + ROUNDING:
                raise self.learner.wrong(
                    f"predicts {value:g}", "what predict_proba returns must be from 0 to 1"
                )
        sums = raw.sum(axis=1)
        off = np.abs(sums - 1) > ROUNDING
        if off.any():
            raise self.learner.wrong(
                f"predicts probabilities that sum to {sums[off][0]:g}", "they must sum to 1"
            )


def user_learners(
    estimators: Sequence[Any], family: Family, weights: Array | None, rng: np.random.Generator
) -> tuple[UserLearner, ...]:
    """Make learners of what a user gave, or raise an InputError if one does not suit a table.

    Parameters
    ----------
    estimators : sequence of estimators
        What ``check_estimators`` lets pass.
    family : Family
        What kind of target there is.
    weights : ndarray or None
        How much rows count.
    rng : numpy.random.Generator
        Source of the seed.
    """
    seed = int(rng.integers(2**31))
    learners = [UserLearner(k, name_of(e), seed, e) for k, e in enumerate(estimators)]
    for learner in learners:
        if family.is_censored:
            raise InputError(
                f"{learner.kind} is {learner.name}, which predicts no rates of events over time; "
                "task='survival' takes no learners of your own"
            )
        check_predicts(learner.kind, learner.estimator, classes=family.has_classes)
        if weights is not None:
            learner.weights_parameter()
    return tuple(learners)
