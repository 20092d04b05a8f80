"""The estimator: table in, method run, verdict out."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_memory, validate_data

from squamish.arrays import Mask
from squamish.compatibility import CallbackSupportMixin, wanted_output, with_callbacks
from squamish.errors import InputError, check_choice, check_range, warn_caller
from squamish.execution.progress import Listener
from squamish.execution.workers import RandomState
from squamish.families import Task
from squamish.fitting.audit import audit
from squamish.fitting.judging import judge
from squamish.fitting.provenance import versions
from squamish.fitting.request import Conditions, Method, Request
from squamish.methods.crossfit import CrossfitMethod
from squamish.methods.paper import PaperMethod
from squamish.result.audit import Audit
from squamish.result.result import RelevanceResult, Selection, check_selection
from squamish.table.columns import refuse
from squamish.table.frames import as_frame, take_columns
from squamish.table.lazy import is_lazy, take_lazily
from squamish.table.names import FeatureGroups, column_names

# The class of columns that are adjusted for.
NOT_JUDGED = -1
# What transform may do if nothing is selected.
IF_NONE = (None, "best", "error", "empty")
# Parameters on which a verdict does not depend.
WITHOUT_INFLUENCE = ("select", "if_none", "memory", "n_jobs", "verbose", "callback", "checkpoint")

_METHODS: dict[str, type[Method]] = {"crossfit": CrossfitMethod, "paper": PaperMethod}


class RelevanceSelector(CallbackSupportMixin, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Tell strongly relevant, weakly relevant and irrelevant features apart.

    A feature is *strong* if removing it alone hurts the best model, *weak* if it is
    informative but others can replace it, and *irrelevant* if it is neither. ``transform``
    keeps what ``select`` says.

    Parameters
    ----------
    method : {"crossfit", "paper"}, CrossfitMethod or PaperMethod, default="crossfit"
        How to decide: by out-of-sample tests with the learner that fits best, or as in the
        paper. A string takes the method's defaults; an object such as
        ``CrossfitMethod(alpha=0.05)`` sets its parameters, which are then reached in a
        grid search as ``method__alpha``.
    task : {"classification", "regression", "ordinal", "survival", "counts"} or None, default=None
        What kind of target ``y`` is. None infers it: text, booleans and whole numbers with at most
        20 values that repeat are classes; other numbers are amounts; ordered categories of pandas,
        polars (an Enum) or pyarrow, of three or more levels, are ordered classes; a structured
        array of a boolean and a number, or a pair of such columns, is times until an event, and
        which of them were seen ("survival"). Whole numbers of events ("counts") have to be named
        so. ``"ordinal"`` takes numbers in their order, and text in that of an ordered category or
        of ``order``.
    order : sequence or None, default=None
        The classes from the least to the greatest, such as ``["low", "medium", "high"]``; they
        are ordered classes then.
    cv : int, splitter, iterable or None, default=None
        How to split the rows for out-of-sample tests, as in scikit-learn: a number of
        folds, any splitter, or an iterable of (train, test). None takes 5 folds. Folds
        that a number or None asks for keep classes in equal shares, and groups whole if
        ``groups`` are passed to ``fit``; a splitter has to keep groups whole by itself.
    feature_groups : dict or sequence of sequences, default=None
        Columns that belong together, by name or number, such as the parts of a one-hot
        code or of an embedding. The columns of a group are judged as one and get the same
        class.
    categorical_features : sequence of str or int, default=None
        Columns of numbers that are categories. Text and categorical columns are so anyway.
    missing : {"informative", "ignore"}, default="informative"
        What gaps mean. By default that a value is missing may tell something. "ignore" is for
        those who know that it does not: gaps are filled with values that are drawn from the other
        rows, so that they tell nothing.
    adjust_for : sequence of str or int, default=None
        Columns to adjust for, such as age and sex: they are in every model and are not judged. Then
        *relevant* is what tells something of ``y`` given these, and *strong* what does so given
        these and all others. ``transform`` keeps them, as what it selects is enough beside them;
        ``result_`` judges the others, and names them in ``adjusted_for``.
    infinite : {"error", "missing"}, default="error"
        What to do with infinite values.
    missing_target : {"error", "drop"}, default="error"
        What to do with rows without a target.
    random_state : int, Generator, RandomState or None, default=None
        An int makes the result repeatable, whatever ``n_jobs``.
    n_jobs : int or None, default=None
        How many models to fit at the same time; -1 for all cores.
    select : {"relevant", "strong", "minimal", "cover"} or int, default="relevant"
        What ``transform`` keeps: strong and weak features, the strong ones only, the smallest set
        that predicts as well, the strong ones and one representative of each group of
        interchangeable ones, or so many columns, the best ones (see `RelevanceResult.select`).
        It can be changed after ``fit``; in a grid search, ``memory`` spares the fits.
    if_none : {None, "best", "error", "empty"}, default=None
        What ``transform`` keeps if ``select`` keeps nothing, as where no column is strong. None:
        the best of the relevant columns, with a warning, so that a model after it in a pipeline
        has something to learn from; where no column is relevant, a table without columns, with a
        warning, as scikit-learn's selectors. "best": in any case the best column, also if it is not
        told from noise. "error": an error that says so. "empty": in any case no columns.
    memory : str, joblib.Memory or None, default=None
        Where verdicts are remembered, as in scikit-learn's pipelines: a fit with the same data and
        settings, whatever ``select``, is made once. Nothing is remembered with a ``time_budget``,
        and of lazy frames.
    verbose : int, default=0
        1 shows the progress on standard error: a bar in terminals and notebooks (if rich is
        installed), else a line for each stage.
    callback : callable or None, default=None
        Called with a `squamish.execution.progress.Progress` after every step, in the thread
        that called ``fit``. What it raises ends the fit. From version 1.9, scikit-learn's own
        callbacks can be set with ``set_callbacks``.
    checkpoint : str, Path or None, default=None
        A file for finished work. After a crash or a kill, the same fit with the same file
        goes on where it was and gives the same verdict. A file of other data, settings or
        versions is refused.
    time_budget : float or None, default=None
        Seconds after which no more work is begun. What is not decided by then is marked in
        the result, with the best guess for its class; with a ``checkpoint``, the same fit
        with more time goes on.
    stability : int or None, default=None
        How many half-samples to judge after the verdict, in complementary pairs: for each column,
        how often it had which class, and how often it was in the minimal set, in
        ``result_.stability``. Rows are drawn without replacement, classes in equal shares, groups
        whole; folds of ``cv`` that are not a number are used without the rows of the other half.
        They share the ``time_budget``: what is finished counts, and one that was begun is finished.
        Each takes most of the time of a fit, ``n_jobs`` at the same time. What is finished is in
        the file ``checkpoint`` with ``.stability`` at the end of its name.

    Attributes
    ----------
    relevance_classes_ : ndarray of int of shape (``n_features_in_``,)
        2 strong, 1 weak, 0 irrelevant; -1 for columns that are adjusted for, which are not judged.
    support_ : ndarray of bool of shape (``n_features_in_``,)
        True for the features that ``transform`` keeps, as ``select`` says, and those that are
        adjusted for; the same as ``get_support()``.
    result_ : RelevanceResult
        The verdict with its evidence.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of str of shape (``n_features_in_``,)
        Their names, if the table had names.

    See Also
    --------
    sklearn.feature_selection.RFECV : Finds one sufficient subset, without redundancies.

    Notes
    -----
    Missing values are allowed, and that a value is missing counts as information, unless
    ``missing="ignore"``. Booleans
    are 0 and 1, dates are seconds since 1970, durations are seconds, text and categories are
    categories. Text that holds dates throughout, in a single way, is read as dates, and a note says
    so. A column with one value only is irrelevant. Neither the order of the columns
    nor that of the rows has an influence on the verdict, except that of exact repeats among
    themselves. Of more than 50,000 rows, models see a random sample of row numbers, see
    `CrossfitMethod`; the order of the rows has an influence there.

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
        order: Sequence[Any] | None = None,
        cv: Any = None,
        feature_groups: FeatureGroups | None = None,
        categorical_features: Sequence[str | int] | None = None,
        missing: str = "informative",
        adjust_for: Sequence[str | int] | None = None,
        infinite: str = "error",
        missing_target: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        select: Selection = "relevant",
        if_none: str | None = None,
        memory: Any = None,
        verbose: int = 0,
        callback: Listener | None = None,
        checkpoint: str | PathLike[str] | None = None,
        time_budget: float | None = None,
        stability: int | None = None,
    ) -> None:
        self.method = method
        self.task = task
        self.order = order
        self.cv = cv
        self.feature_groups = feature_groups
        self.categorical_features = categorical_features
        self.missing = missing
        self.adjust_for = adjust_for
        self.infinite = infinite
        self.missing_target = missing_target
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.select = select
        self.if_none = if_none
        self.memory = memory
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint
        self.time_budget = time_budget
        self.stability = stability

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Decide the class of every column of ``X``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table: of numpy, pandas, polars, pyarrow or anything else that narwhals
            knows. NaN, None and null mark missing values. A polars LazyFrame of more than
            50,000 rows, such as ``polars.scan_parquet`` gives, is read in portions and need
            not fit into memory.
        y : array-like of shape (n_samples,), or an event and a time for every row
            The target: classes of any label type, amounts, or counts. Times until an event are a
            structured array as scikit-survival has it, a frame of two columns, or a pair of
            columns: the one of booleans, or of ones and zeros, tells whether the event was seen
            at that time, or the row was lost without it (censored on the right).
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in models, losses and tests. Rows of weight 0 are left
            out.
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, such as measurements of the same patient. They are
            never divided between training and test, and count as one observation in tests.
        exposure : array-like of shape (n_samples,), default=None
            How long, or how much of, every row was exposed to events, for ``task="counts"``:
            columns are judged by rates.

        Returns
        -------
        self : RelevanceSelector
            The fitted selector.
        """
        request = Request.of(self, X, y, sample_weight, groups, exposure)
        self.result_ = self._remembered(request, *self._checked_parameters())
        names = getattr(self, "feature_names_in_", column_names(X, self.n_features_in_))
        self._is_adjusted = np.isin(list(map(str, names)), self.result_.adjusted_for)
        self.relevance_classes_: NDArray[np.int64] = self._placed(self.result_.classes, NOT_JUDGED)
        return self

    def audit(
        self,
        X: Any,
        y: Any,
        n_shuffles: int = 100,
        sample_weight: Any = None,
        groups: Any = None,
        exposure: Any = None,
    ) -> Audit:
        """Measure on this table how often columns are called relevant that are not.

        The same fit is made with shuffled targets. No column tells anything about these, so that
        whatever is called relevant is false: the share of shuffles with any such column is the
        error rate that ``alpha`` bounds. Weights and exposures stay with their targets. With
        groups, each gets the targets of another one in random order (of a larger one a part, of a
        smaller one some twice): the null is that groups are independent, and their targets of the
        columns. What
        is not measured: errors beside columns that are relevant, and those that come from rows
        that depend on each other in time, or that ``groups`` should have named.

        Parameters
        ----------
        X, y, sample_weight, groups, exposure
            As in ``fit``; the selector need not be fitted, and stays as it is.
        n_shuffles : int, default=100
            How many; ``n_jobs`` at a time. Shuffle k is the same whatever their number. What is
            finished is in the file ``checkpoint`` with ``.audit`` at the end of its name.

        Returns
        -------
        Audit
            Their number, how many had a relevant column, with an interval, and which ones.

        Examples
        --------
        >>> from squamish import RelevanceSelector
        >>> from squamish.datasets import make_linear
        >>> problem = make_linear(100, n_strong=2, n_irrelevant=3, random_state=0)
        >>> RelevanceSelector(random_state=0).audit(problem.X, problem.y, n_shuffles=5)
        0 of 5 shuffled targets gave a relevant column (0.0% to 52.2%, 95%); alpha = 0.01 ...
        """
        check_range("n_shuffles", n_shuffles, at_least=1, integer=True)
        request = Request.of(self, X, y, sample_weight, groups, exposure)
        return audit(self, request, *self._checked_parameters(), n_shuffles)

    @property
    def support_(self) -> Mask:
        """The features that ``transform`` keeps."""
        return self._get_support_mask()

    def transform(self, X: Any) -> Any:
        """Keep the columns that ``select`` says, in the kind of table that came in.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            A table with the same columns as in ``fit``.

        Returns
        -------
        X : array, sparse matrix or data frame of shape (n_samples, n_selected)
            A frame stays a frame of its library, unless ``set_output`` asks for another.
        """
        check_is_fitted(self)
        kept = np.flatnonzero(self._get_support_mask())
        self._say_if_none()
        if is_lazy(X):
            validate_data(self, X.head(0).collect(), reset=False, skip_check_array=True)
            return take_lazily(X, kept)
        refuse(X)
        if as_frame(X) is None and len(kept) == 0:
            checks = {"dtype": None, "accept_sparse": "csr", "ensure_all_finite": False}
            values = validate_data(self, X, reset=False, **checks)
            return np.empty((values.shape[0], 0), dtype=values.dtype)
        if as_frame(X) is None:
            return super().transform(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return take_columns(X, kept, wanted_output(self))

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back in their places, with zeros in all others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected)
            What ``transform`` returned; gaps stay gaps.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, ``n_features_in_``)
            A table with the columns of ``fit``.
        """
        check_is_fitted(self)
        if sparse.issparse(X):
            return super().inverse_transform(X)
        values = np.asarray(X)
        kept = np.flatnonzero(self._get_support_mask())
        if values.ndim != 2 or values.shape[1] != len(kept):
            raise InputError(f"X has a different shape than during fitting: {len(kept)} columns")
        out = np.zeros((len(values), self.n_features_in_), dtype=values.dtype)
        out[:, kept] = values
        return out

    def _checked_parameters(self) -> tuple[Method, Conditions]:
        method, conditions = self._resolve_method(), Conditions.of(self)
        method.check_parameters()
        conditions.check_parameters()
        check_selection(self.select)
        check_choice("if_none", self.if_none, IF_NONE)
        if self.adjust_for is not None and isinstance(method, PaperMethod):
            raise InputError(
                "adjust_for belongs to method='crossfit'; method='paper' judges all columns alike"
            )
        return method, conditions

    def _remembered(
        self, request: Request, method: Method, conditions: Conditions
    ) -> RelevanceResult:
        """Judge a table, unless that was done before and is remembered."""
        # What a lazy frame reads may change without a change of the frame.
        if self.memory is None or self.time_budget is not None or is_lazy(request.X):
            return judge(self, request, method, conditions)
        settings = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in WITHOUT_INFLUENCE
        }
        key = _Key(
            settings=settings,
            versions=versions(),
            X=request.X,
            y=request.y,
            groups=request.groups,
            sample_weight=request.sample_weight,
        )
        remember = check_memory(self.memory).cache(_judged, ignore=["estimator", "how"])
        result, seen = remember(key, self, (request, method, conditions))
        for name, value in seen.items():
            setattr(self, name, value)
        return cast("RelevanceResult", result)

    def _say_if_none(self) -> None:
        """Warn, or raise an error, if nothing is selected."""
        if self._selected().any():
            return
        what = "strong" if self.result_.mask("relevant").any() else "relevant"
        said = f"select={self.select!r} keeps nothing, as no column is {what}"
        if self.if_none == "error":
            raise InputError(f"{said}; if_none='best' keeps the best column")
        if self._keeps_best:
            best = " and ".join(map(repr, self.result_.best))
            warn_caller(f"{said}: the best one is kept, {best} (if_none='error' ends here)")
        else:
            warn_caller(f"{said}: no column is left (if_none='best' keeps the best one)")

    @property
    def _keeps_best(self) -> bool:
        """Whether the best column is kept if nothing is selected."""
        if self.if_none is None:
            return bool(self.result_.mask("relevant").any())
        return self.if_none == "best"

    def _resolve_method(self) -> Method:
        if isinstance(self.method, CrossfitMethod | PaperMethod):
            return self.method
        check_choice("method", self.method, tuple(_METHODS))
        return _METHODS[self.method]()

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        mask = self._selected()
        if not mask.any() and self._keeps_best:
            mask = np.isin(self.result_.feature_names, self.result_.best)
        return self._placed(mask, True)

    def _selected(self) -> Mask:
        """Tell what is selected; of a table without relevant columns nothing, whatever is asked."""
        relevant = self.result_.mask("relevant")
        return self.result_.mask(self.select) if relevant.any() else relevant

    def _placed(self, judged: NDArray[Any], adjusted: Any) -> NDArray[Any]:
        """Put what is said of judged columns into their places, and something for the others."""
        out = np.full(self.n_features_in_, adjusted)
        out[~self._is_adjusted] = judged
        return out

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class _Key(dict[str, Any]):
    """What a verdict is remembered by."""

    def __repr__(self) -> str:
        """Return what joblib writes beside a verdict: not the table, which takes long."""
        return f"_Key({', '.join(self)})"


def _judged(
    key: _Key,
    estimator: RelevanceSelector,
    how: tuple[Request, Method, Conditions],
) -> tuple[RelevanceResult, dict[str, Any]]:
    """Judge a table; return the verdict and what the estimator saw, to be remembered."""
    result = judge(estimator, *how)
    seen = ("n_features_in_", "feature_names_in_")
    return result, {name: getattr(estimator, name) for name in seen if hasattr(estimator, name)}
