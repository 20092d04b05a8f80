"""The estimator: table in, method run, verdict out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from os import PathLike
from time import perf_counter
from typing import Any, Self, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from squamish.arrays import Array
from squamish.errors import InputError, check_choice, check_range
from squamish.evidence.evidence import CrossfitEvidence, Evidence
from squamish.evidence.provenance import Provenance, in_one_row, versions
from squamish.evidence.relevance import IRRELEVANT
from squamish.execution.checkpoint import Checkpoint, opened
from squamish.execution.progress import (
    CallbackSupportMixin,
    Listener,
    Reporter,
    shown,
    sklearn_tasks,
    with_callbacks,
)
from squamish.execution.workers import RandomState, Workers, as_generator, one_thread
from squamish.families import Task, family_of
from squamish.fitting import sampling
from squamish.fitting.notes import (
    note_on_constant,
    note_on_missing,
    note_on_sample,
    note_on_task,
    note_on_time,
    notes_on_table,
    notes_on_verdict,
)
from squamish.fitting.sampling import Taken
from squamish.methods.crossfit import CrossfitMethod
from squamish.methods.paper import PaperMethod
from squamish.models import sample_size
from squamish.result.result import RelevanceResult, Selection
from squamish.screening.allrows import STAGE, InMemory, portions
from squamish.table.canonical import in_canonical_order
from squamish.table.columns import read_columns, refuse
from squamish.table.drawing import draw_rows
from squamish.table.fingerprint import fingerprint
from squamish.table.folds import read_folds, read_n_folds
from squamish.table.frames import as_frame
from squamish.table.infinite import without_infinite
from squamish.table.lazy import LazyRows, is_lazy
from squamish.table.names import FeatureGroups, features_of_columns
from squamish.table.rows import even_weights, read_groups, read_weights
from squamish.table.table import Table
from squamish.table.target import encode_target, infer_task, read_target

Method = CrossfitMethod | PaperMethod
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
    task : {"classification", "regression"} or None, default=None
        What kind of target ``y`` is. None infers it: text, booleans and whole numbers with
        at most 20 distinct values, each more than once, are classes; other numbers are
        amounts.
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
    infinite : {"error", "missing"}, default="error"
        What to do with infinite values.
    missing_target : {"error", "drop"}, default="error"
        What to do with rows without a target.
    random_state : int, Generator, RandomState or None, default=None
        An int makes the result repeatable, whatever ``n_jobs``.
    n_jobs : int or None, default=None
        How many models to fit at the same time; -1 for all cores.
    select : {"relevant", "strong", "minimal"}, default="relevant"
        What ``transform`` keeps: strong and weak features, the strong ones only, or a
        minimal set, the strong ones and one representative of each group of interchangeable
        ones (see `RelevanceResult.select`).
    verbose : int, default=0
        1 shows the progress on standard error: a bar in terminals and notebooks (if rich is
        installed), else a line for each stage.
    callback : callable or None, default=None
        Called with a `Progress` after every step, in the thread that called ``fit``. What
        it raises ends the fit. From version 1.9, scikit-learn's own callbacks can be set
        with ``set_callbacks``.
    checkpoint : str, Path or None, default=None
        A file for finished work. After a crash or a kill, the same fit with the same file
        goes on where it was and gives the same verdict. A file of other data, settings or
        versions is refused.
    time_budget : float or None, default=None
        Seconds after which no more work is begun. What is not decided by then is marked in
        the result, with the best guess for its class; with a ``checkpoint``, the same fit
        with more time goes on.

    Attributes
    ----------
    relevance_classes_ : ndarray of int of shape (n_features_in_,)
        2 strong, 1 weak, 0 irrelevant.
    support_ : ndarray of bool of shape (n_features_in_,)
        True for strong and weak features, whatever ``select``; ``get_support()`` tells
        what ``transform`` keeps.
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
    Missing values are allowed, and that a value is missing counts as information. Booleans
    are 0 and 1, dates are seconds since 1970, durations are seconds, text and categories are
    categories. A column with one value only is irrelevant. Neither the order of the columns
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
        cv: Any = None,
        feature_groups: FeatureGroups | None = None,
        categorical_features: Sequence[str | int] | None = None,
        infinite: str = "error",
        missing_target: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        select: Selection = "relevant",
        verbose: int = 0,
        callback: Listener | None = None,
        checkpoint: str | PathLike[str] | None = None,
        time_budget: float | None = None,
    ) -> None:
        self.method = method
        self.task = task
        self.cv = cv
        self.feature_groups = feature_groups
        self.categorical_features = categorical_features
        self.infinite = infinite
        self.missing_target = missing_target
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.select = select
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint
        self.time_budget = time_budget

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Decide the class of every column of ``X``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table: of numpy, pandas, polars, pyarrow or anything else that narwhals
            knows. NaN, None and null mark missing values. A polars LazyFrame of more than
            50,000 rows, such as ``polars.scan_parquet`` gives, is read in portions and need
            not fit into memory.
        y : array-like of shape (n_samples,)
            The target: classes of any label type, or amounts.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in models, losses and tests. Rows of weight 0 are left
            out.
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, such as measurements of the same patient. They are
            never divided between training and test, and count as one observation in tests.

        Returns
        -------
        self : RelevanceSelector
            The fitted selector.
        """
        start = perf_counter()
        method = self._resolve_method()
        method.check_parameters()
        self._check_parameters()
        taken = self._take_in(X, y, sample_weight, groups, method)
        told = () if self.callback is None else (self.callback,)
        stages = method.STAGES if taken.everything is None else STAGE | method.STAGES
        # Many small products: threads of the linear algebra would only wait for each other,
        # and round differently on a machine with more cores.
        with (
            shown(self.verbose) as bar,
            sklearn_tasks(self, len(stages), X, y) as tasks,
            one_thread,
        ):
            reporter = Reporter(stages, [*told, *bar, *tasks])
            deadline = np.inf if self.time_budget is None else start + self.time_budget
            with closing(Workers(self.n_jobs, reporter, deadline=deadline)) as workers:
                found = taken.screened(workers)
            order = in_canonical_order(taken.table)
            ordered, feature = order.table, order.feature
            screened = {name: p[order.columns] for name, p in found.items()}
            unfinished = workers.unfinished
            # Nothing else of the rows is needed from here on.
            taken = replace(taken, table=ordered, everything=None)
            # Without the tests on all rows there is nothing yet that could go on.
            remembered = (
                nullcontext() if unfinished else self._checkpoint(ordered, method, screened)
            )
            evidence: Evidence
            with remembered as checkpoint:
                rng = as_generator(self.random_state if checkpoint is None else checkpoint.seed)
                with closing(
                    Workers(self.n_jobs, reporter, checkpoint, deadline, unfinished)
                ) as workers:
                    if isinstance(method, CrossfitMethod):
                        classes, evidence = method.classify(ordered, rng, workers, screened)
                    else:
                        classes, evidence = method.classify(ordered, rng, workers)

        judged = feature >= 0
        spread: NDArray[np.int64] = np.full(len(feature), IRRELEVANT)
        spread[judged] = classes[feature[judged]]
        evidence = evidence.spread(feature)
        names = taken.columns.names
        notes = [*taken.notes, *notes_on_verdict(spread, evidence, feature, names)]
        notes += note_on_time(evidence, workers.unfinished, self.time_budget)
        if isinstance(evidence, CrossfitEvidence) and taken.is_sample:
            notes.append(note_on_sample(evidence, taken.n_rows, bool(screened)))
            notes += note_on_constant(np.flatnonzero(~judged).tolist(), names)
        self.result_ = RelevanceResult(
            columns=taken.columns,
            classes=spread,
            evidence=evidence,
            method=in_one_row(method),
            task=ordered.task,
            n_samples=taken.n_rows,
            seconds=perf_counter() - start,
            notes=tuple(notes),
            provenance=self._provenance(X, y, taken.summary, sample_weight, groups),
        )
        self.relevance_classes_: NDArray[np.int64] = spread
        self.support_: NDArray[np.bool_] = spread != IRRELEVANT
        return self

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
        if is_lazy(X):
            names = X.collect_schema().names()
            validate_data(self, X.head(0).collect(), reset=False, skip_check_array=True)
            return X.select([names[j] for j in np.flatnonzero(self._get_support_mask())])
        refuse(X)
        frame = as_frame(X)
        if frame is None:
            return super().transform(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        kept = np.flatnonzero(self._get_support_mask()).tolist()
        wanted = _get_output_config("transform", self)["dense"]
        if not kept:
            warnings.warn("No features were selected: nothing is left", UserWarning, stacklevel=3)
        # Only pandas can keep its rows without a column.
        X = X.iloc[:, kept] if hasattr(X, "iloc") else frame[:, kept].to_native()
        if wanted == "default" or not kept:
            return X
        selected = nw.from_native(X, eager_only=True)
        return selected.to_pandas() if wanted == "pandas" else selected.to_polars()

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back in their places, with zeros in all others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected)
            What ``transform`` returned; gaps stay gaps.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, n_features_in_)
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

    def _take_in(self, X: Any, y: Any, sample_weight: Any, groups: Any, method: Method) -> Taken:
        """Read the table: all of it, or of very many rows as many as models have to see."""
        samples = isinstance(method, CrossfitMethod) and method.power < 1
        samples = samples and (self.cv is None or isinstance(self.cv, int | np.integer))
        if is_lazy(X):
            if not samples or not hasattr(y, "__len__") or len(y) <= sampling.FEW_ROWS:
                return self._take_in(X.collect(), y, sample_weight, groups, method)
            return self._take_in_lazily(X, y, sample_weight, groups, method)
        taken = self._read(X, y, sample_weight, groups)
        if not samples or taken.n_rows <= sampling.FEW_ROWS:
            return taken
        table = taken.table
        assert isinstance(method, CrossfitMethod)
        return taken.sampled(method, self._sample_rng(), InMemory(table.X), table.y)

    def _take_in_lazily(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, method: CrossfitMethod
    ) -> Taken:
        """Read a sample of a table that need not fit into memory."""
        rng, lazy = self._sample_rng(), LazyRows.of(X, len(y))
        n = lazy.n_rows
        weights, labels = read_weights(sample_weight, n), read_groups(groups, n)
        counted = np.ones(n, dtype=bool) if weights is None else weights > 0
        target, used = read_target(y, counted, self.missing_target)
        task = infer_task(target) if self.task is None else self.task
        check_choice("task", task, get_args(Task))
        left, encoded = np.flatnonzero(used), encode_target(target, task)
        drawn = draw_rows(
            sample_size.MOST_ROWS, rng, encoded, task, None if labels is None else labels[left]
        )
        rows = left[drawn]
        taken = self._read(
            lazy.rows(rows, portions(n)),
            target[drawn],
            None if weights is None else weights[rows],
            None if labels is None else labels[rows],
            task,
            rows,
            len(left),
        )
        source = replace(lazy, levels=taken.levels, infinite=self.infinite, used=used)
        notes = [*note_on_missing(counted & ~used), *taken.notes]
        taken = replace(taken, summary=family_of(task).summarise(target), notes=notes)
        return taken.sampled(method, rng, source, encoded, None if used.all() else used)

    def _sample_rng(self) -> np.random.Generator:
        """Return what draws the sample: the same for all fits that go on from a checkpoint."""
        unknown = self.random_state is None and self.checkpoint is not None
        # Another stream than those of the method.
        return as_generator(0 if unknown else self.random_state).spawn(9)[-1]

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        task: Task | None = None,
        numbers: NDArray[np.intp] | None = None,
        n_rows: int | None = None,
    ) -> Taken:
        """Check everything that was passed, leave out rows that do not count, and take notes.

        The task, the numbers of the rows, and how many there are in all, are given if these
        are some of many rows.
        """
        read = read_columns(self, X, self.categorical_features)
        n, names = read.values.shape[0], read.names
        weights, clusters = read_weights(sample_weight, n), read_groups(groups, n)
        counted = np.ones(n, dtype=bool) if weights is None else weights > 0
        target, used = read_target(y, counted, self.missing_target)
        values = without_infinite(read.values, used, names, self.infinite, numbers)
        if used.sum() < 2:
            raise InputError(
                f"{used.sum()} rows are left: the sample_weight of others is zero, or they have no "
                "target; 2 or more are needed"
            )
        if clusters is not None:
            clusters = np.unique(clusters[used], return_inverse=True)[1]
        task = task or self.task or infer_task(target)
        check_choice("task", task, get_args(Task))
        labels = family_of(task).labels(target)
        encoded = encode_target(target, task)
        table = Table(
            values if used.all() else values[used],
            encoded,
            task,
            labels,
            read.is_category,
            features_of_columns(self.feature_groups, names),
            None if weights is None else even_weights(weights[used]),
            clusters,
            read_folds(self.cv, encoded, clusters, task, used),
            read_n_folds(self.cv),
        )
        notes = [] if self.task else note_on_task(target, task)
        n_rows = n_rows or len(target)
        notes += note_on_missing(counted & ~used)
        notes += notes_on_table(table, names, read.levels, n_rows)
        columns = read.described(used)
        return Taken(table, columns, family_of(task).summarise(target), notes, read.levels, n_rows)

    def _resolve_method(self) -> Method:
        if isinstance(self.method, CrossfitMethod | PaperMethod):
            return self.method
        check_choice("method", self.method, tuple(_METHODS))
        return _METHODS[self.method]()

    def _checkpoint(
        self, table: Table, method: Method, screened: Mapping[str, Array]
    ) -> AbstractContextManager[Checkpoint | None]:
        """Open the file that remembers finished work, if one is wanted."""
        seed = self.random_state
        if self.checkpoint is None:
            return nullcontext()
        if not isinstance(seed, int | np.integer | None):
            raise InputError(
                f"random_state is {seed!r}; with a checkpoint it must be an int or None, so that "
                "the same work can be done again"
            )
        about = {
            "data": fingerprint(table, screened),
            "settings": f"{in_one_row(method)}, random_state={seed}",
            "versions": ", ".join(f"{name} {version}" for name, version in versions().items()),
        }
        return opened(self.checkpoint, about, None if seed is None else int(seed))

    def _check_parameters(self) -> None:
        if self.n_jobs == 0 or not isinstance(self.n_jobs, int | np.integer | None):
            raise InputError(f"n_jobs is {self.n_jobs!r}; it must be None or a whole number, not 0")
        check_choice("select", self.select, get_args(Selection))
        if self.time_budget is not None:
            check_range("time_budget", self.time_budget, above=0)
        if not isinstance(self.verbose, int | np.integer) or self.verbose < 0:
            raise InputError(f"verbose is {self.verbose!r}; it must be a whole number, 0 or more")
        if self.callback is not None and not callable(self.callback):
            raise InputError(f"callback is {self.callback!r}; it must be None or callable")

    def _provenance(
        self, X: Any, y: Any, summary: str, sample_weight: Any, groups: Any
    ) -> Provenance:
        """Record where the verdict comes from."""
        given = {"sample_weight": sample_weight, "groups": groups}
        more = "".join(f", {name}={name}" for name, value in given.items() if value is not None)
        quiet = copy(self)
        quiet.verbose, quiet.callback, quiet.checkpoint = 0, None, None
        quiet.time_budget = None
        seed = self.random_state
        name = getattr(y, "name", None)
        return Provenance(
            data=f"{type(X).__module__.split('.')[0]} {type(X).__name__}",
            target="" if name is None else str(name),
            target_summary=summary,
            command=f"{in_one_row(quiet)}.fit(X, y{more})",
            seed=int(seed) if isinstance(seed, int | np.integer) else None,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            versions=versions(),
        )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.result_.mask(self.select)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
