"""What is asked for: the data of a fit and how to read them, and how the fit is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from squamish.errors import InputError, check_range
from squamish.execution.progress import Listener
from squamish.execution.workers import RandomState, as_generator
from squamish.families import Task
from squamish.methods.crossfit import CrossfitMethod
from squamish.methods.paper import PaperMethod
from squamish.table.exposures import with_exposure
from squamish.table.names import FeatureGroups
from squamish.table.times import with_times

Method = CrossfitMethod | PaperMethod


@dataclass(frozen=True, eq=False)
class Request:
    """What was passed to ``fit``, and how to read it.

    Attributes
    ----------
    X, y, sample_weight, groups
        As in ``RelevanceSelector.fit``; times and events, and counts and exposures, as pairs.
    task, order, cv, feature_groups, categorical_features, adjust_for, missing, infinite,
    missing_target
        As in `RelevanceSelector`.
    """

    X: Any
    y: Any
    sample_weight: Any = None
    groups: Any = None
    task: Task | None = None
    order: Sequence[Any] | None = None
    cv: Any = None
    feature_groups: FeatureGroups | None = None
    categorical_features: Sequence[str | int] | None = None
    missing: str = "informative"
    adjust_for: Sequence[str | int] | None = None
    infinite: str = "error"
    missing_target: str = "error"

    @classmethod
    def of(
        cls,
        estimator: BaseEstimator,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        exposure: Any,
    ) -> Request:
        """Ask to read what was passed as the parameters of an estimator say."""
        parameters = _parameters(cls, estimator)
        y, parameters["task"] = with_times(y, parameters["task"])
        y = with_exposure(y, parameters["task"], exposure)
        return cls(X, y, sample_weight, groups, **parameters)


@dataclass(frozen=True, eq=False)
class Conditions:
    """Under which a fit is carried out.

    Attributes
    ----------
    random_state, n_jobs, verbose, callback, checkpoint, time_budget, stability
        As in `RelevanceSelector`.
    """

    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: int = 0
    callback: Listener | None = None
    checkpoint: str | PathLike[str] | None = None
    time_budget: float | None = None
    stability: int | None = None

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Conditions:
        """Take the parameters of an estimator."""
        return cls(**_parameters(cls, estimator))

    def check_parameters(self) -> None:
        """Raise an InputError if a parameter is not what it must be."""
        if self.n_jobs == 0 or not isinstance(self.n_jobs, int | np.integer | None):
            raise InputError(f"n_jobs is {self.n_jobs!r}; it must be None or a whole number, not 0")
        if self.time_budget is not None:
            check_range("time_budget", self.time_budget, above=0)
        if self.stability is not None:
            check_range("stability", self.stability, at_least=2, integer=True)
        if not isinstance(self.checkpoint, str | PathLike | None):
            raise InputError(
                f"checkpoint is {self.checkpoint!r}; it must be None, or the path of a file"
            )
        if not isinstance(self.verbose, int | np.integer) or self.verbose < 0:
            raise InputError(f"verbose is {self.verbose!r}; it must be a whole number, 0 or more")
        if self.callback is not None and not callable(self.callback):
            raise InputError(f"callback is {self.callback!r}; it must be None or callable")

    @property
    def seed(self) -> int | None:
        """The seed, if one was given."""
        return int(self.random_state) if isinstance(self.random_state, int | np.integer) else None

    def sample_rng(self) -> np.random.Generator:
        """Return what draws a sample."""
        return self._streams()[-1]

    def gap_seed(self) -> int:
        """Return what draws the values that gaps are filled with."""
        return int(self._streams()[-2].integers(2**63))

    def _streams(self) -> list[np.random.Generator]:
        """Return streams that are the same for all fits that go on from a checkpoint."""
        unknown = self.random_state is None and self.checkpoint is not None
        # Other ones than those of the method, which come first.
        return as_generator(0 if unknown else self.random_state).spawn(9)


def _parameters(kind: type[Request | Conditions], estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters of an estimator that are fields of a kind of object."""
    names = {field.name for field in fields(kind)} & set(estimator.get_params(deep=False))
    return {name: getattr(estimator, name) for name in names}
