"""The estimator: table in, method run, verdict out."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from squamish.errors import InputError, check_choice
from squamish.execution import RandomState, as_generator
from squamish.methods.crossfit import CrossfitMethod
from squamish.methods.paper import PaperMethod
from squamish.result import IRRELEVANT, RelevanceResult
from squamish.tables import Task, column_names, read_table

Method = CrossfitMethod | PaperMethod
_METHODS: dict[str, type[Method]] = {"crossfit": CrossfitMethod, "paper": PaperMethod}


class RelevanceSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Tell strongly relevant, weakly relevant and irrelevant features apart.

    A feature is *strong* if removing it alone hurts the best model, *weak* if it is
    informative but others can replace it, and *irrelevant* if it is neither. ``transform``
    keeps the strong and the weak ones.

    Parameters
    ----------
    method : {"crossfit", "paper"}, CrossfitMethod or PaperMethod, default="crossfit"
        How to decide: by out-of-sample tests with the learner that fits best, or as in the
        paper. A string takes the method's defaults; an object such as
        ``CrossfitMethod(alpha=0.05)`` sets its parameters, which are then reached in a
        grid search as ``method__alpha``.
    task : {"classification", "regression"} or None, default=None
        What kind of target ``y`` is. None infers it: text, booleans and whole numbers with
        at most 20 distinct values, each more than once, are classes; other numbers are
        amounts.
    random_state : int, Generator, RandomState or None, default=None
        An int makes the result repeatable, whatever ``n_jobs``.
    n_jobs : int or None, default=None
        How many models to fit at the same time; -1 for all cores.

    Attributes
    ----------
    relevance_classes_ : ndarray of int of shape (n_features_in_,)
        2 strong, 1 weak, 0 irrelevant.
    support_ : ndarray of bool of shape (n_features_in_,)
        True for strong and weak features.
    result_ : RelevanceResult
        The verdict with its evidence.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Their names, if the table had names.

    See Also
    --------
    sklearn.feature_selection.RFECV : Finds one sufficient subset, without redundancies.

    Notes
    -----
    Missing values (NaN) are allowed and count as a value of their own. A column with one
    value only is irrelevant. Neither the order of the columns nor that of the rows has an
    influence on the verdict, except that of exact repeats among themselves.

    References
    ----------
    L. Pfannschmidt, B. Hammer: "Sequential Feature Classification in the Context of
    Redundancies", 2020.

    Examples
    --------
    >>> from squamish import RelevanceSelector
    >>> from squamish.datasets import make_linear
    >>> problem = make_linear(300, n_strong=2, group_sizes=[4], n_irrelevant=3, random_state=0)
    >>> selector = RelevanceSelector(random_state=0)
    >>> selector.fit(problem.X, problem.y).relevance_classes_
    array([2, 2, 1, 1, 1, 1, 0, 0, 0])
    >>> selector.transform(problem.X).shape
    (300, 6)
    >>> selector.result_.evidence.groups
    ((2, 3, 4, 5),)
    """

    def __init__(
        self,
        method: str | Method = "crossfit",
        *,
        task: Task | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.task = task
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Decide the class of every column of ``X``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers; NaN marks a missing value.
        y : array-like of shape (n_samples,)
            The target: classes of any label type, or amounts.

        Returns
        -------
        self : RelevanceSelector
            The fitted selector.
        """
        start = perf_counter()
        method = self._resolve_method()
        if self.n_jobs == 0 or not isinstance(self.n_jobs, int | np.integer | None):
            raise InputError(f"n_jobs is {self.n_jobs!r}; it must be None or a whole number, not 0")
        table = read_table(self, X, y, self.task)
        ordered, places = table.in_canonical_order()
        classes, evidence = method.classify(ordered, as_generator(self.random_state), self.n_jobs)

        self.relevance_classes_: NDArray[np.int64] = np.full(table.n_features, IRRELEVANT)
        self.relevance_classes_[places] = classes
        self.support_: NDArray[np.bool_] = self.relevance_classes_ != IRRELEVANT
        self.result_ = RelevanceResult(
            feature_names=column_names(X, self.n_features_in_),
            classes=self.relevance_classes_,
            evidence=evidence.spread(places, table.n_features),
            method=" ".join(repr(method).split()),
            task=table.task,
            n_samples=len(table.y),
            seconds=perf_counter() - start,
        )
        return self

    def _resolve_method(self) -> Method:
        if isinstance(self.method, CrossfitMethod | PaperMethod):
            return self.method
        check_choice("method", self.method, tuple(_METHODS))
        return _METHODS[self.method]()

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
