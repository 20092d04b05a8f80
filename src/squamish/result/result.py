"""The verdict on every column, the evidence for it, and every form it can be given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Mask
from squamish.errors import InputError
from squamish.evidence import Evidence
from squamish.evidence.provenance import Columns, Provenance
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.evidence.worth import Necessity
from squamish.families import Task
from squamish.report import wording
from squamish.report.plots import PlotMethods
from squamish.result import serialization
from squamish.result.necessity import NecessityTable
from squamish.result.saved import read_saved
from squamish.result.signatures import Signatures
from squamish.result.stability import Stability
from squamish.statistics.rows_needed import rounded_rows

if TYPE_CHECKING:
    from squamish.report.frames import Library
    from squamish.result.comparison import Comparison

Named = Literal["relevant", "strong", "minimal", "cover"]
NAMED: tuple[Named, ...] = get_args(Named)
# One of these, or how many columns are wanted.
Selection = Named | int
# Effects that take more than so many times the rows are too far from what was seen to tell.
MOST_GROWTH = 100


@dataclass(frozen=True, eq=False)
class RelevanceResult(PlotMethods):
    """What was decided, about what, and on which grounds.

    Attributes
    ----------
    columns : Columns
        Names, types and gaps of the columns, in the order of the table.
    classes : ndarray of int
        The class of every column: 2 strong, 1 weak, 0 irrelevant.
    evidence : Evidence
        What the method looked at.
    method : str
        The method, with every parameter that is not at its default.
    task : str
        What kind of target was explained.
    n_samples : int
        Number of rows.
    seconds : float
        How long the fit took.
    notes : tuple of str
        What a user should know about the table and the verdict, such as a possible leak.
    provenance : Provenance
        Data, seed, versions, and the command that reproduces the verdict.
    stability : Stability or None
        How often every column had which class in half of the rows; None if that was not asked for,
        and in results of older versions.
    adjusted_for : tuple of str
        Columns that were in every model, and not judged; they are not among ``columns``.

    Examples
    --------
    >>> from squamish import RelevanceSelector
    >>> from squamish.datasets import make_linear
    >>> problem = make_linear(300, n_strong=2, group_sizes=[4], n_irrelevant=3, random_state=0)
    >>> result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
    >>> result.strong, result.groups, result.select("minimal")
    (('0', '1'), (('2', '3', '4', '5'),), ('0', '1', '5'))
    """

    columns: Columns
    classes: NDArray[np.int64]
    evidence: Evidence
    method: str
    task: Task
    n_samples: int
    seconds: float
    notes: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    stability: Stability | None = None
    adjusted_for: tuple[str, ...] = ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns, in the order of the table."""
        return self.columns.names

    @property
    def strong(self) -> tuple[str, ...]:
        """The columns that nothing else can replace."""
        return self.names_of(STRONG)

    @property
    def weak(self) -> tuple[str, ...]:
        """The columns that are informative, but that others can replace."""
        return self.names_of(WEAK)

    @property
    def irrelevant(self) -> tuple[str, ...]:
        """The columns that tell nothing about the target."""
        return self.names_of(IRRELEVANT)

    @cached_property
    def substitutes(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """For every weak column, the columns or sets of columns that replace it.

        Empty for ``method="paper"``, which does not tell.
        """
        return {
            self.feature_names[j]: tuple(self._named(columns) for columns in sets)
            for j, sets in sorted(self.evidence.substitutes.items())
        }

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The weak columns that replace each other; one that no other weak one replaces is alone.

        Empty for ``method="paper"``.
        """
        return tuple(self._named(group) for group in self.evidence.groups)

    @cached_property
    def interchangeable(self) -> tuple[tuple[str, ...], ...]:
        """The groups in which there is a choice; they come first among `groups`."""
        pairs = zip(self.groups, self.evidence.representatives, strict=True)
        return tuple(group for group, chosen in pairs if len(group) > len(chosen))

    @cached_property
    def representatives(self) -> tuple[tuple[str, ...], ...]:
        """The suggested columns of each group: its members in the minimal set, if it has any.

        Of a group without any, and if no sets were searched, the column that tells most by itself,
        or several, if they are one feature.
        """
        return tuple(wording.suggested(self, number) for number in range(len(self.groups)))

    @cached_property
    def group_numbers(self) -> dict[int, int]:
        """The place in `groups` of every weak column, by its place in the table."""
        return {j: g for g, members in enumerate(self.evidence.groups) for j in members}

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that the time budget was not enough for; their classes are a best guess."""
        return self._named(tuple(np.flatnonzero(self.evidence.undecided).tolist()))

    @cached_property
    def borderline(self) -> dict[str, str]:
        """Columns whose class is a close decision, what was close, and how many rows would decide.

        How many rows is not said where nothing tells, see `more_rows`.
        """
        return {
            name: f"{reason}{wording.rows_that_decide(self, name)}"
            for j, name in enumerate(self.feature_names)
            if (reason := self.evidence.close_call(j))
        }

    @cached_property
    def more_rows(self) -> dict[str, float]:
        """About how many rows would decide on columns whose class is a close decision.

        With so many rows, a p-value is at most its level, or the interval of an effect leaves its
        limit out, with a probability of 80%, if the effect is what it seems. Infinite beyond 100
        times the rows. Columns are missing of which nothing can be said: by ``method="paper"``, in
        tables of which models saw a sample, and where it was time that was missing.
        """
        if not self.evidence.saw_all(self.n_samples):
            return {}
        growths = {name: self.evidence.growth(j) for j, name in enumerate(self.feature_names)}
        return {
            name: rounded_rows(self.n_samples, growth) if growth <= MOST_GROWTH else math.inf
            for name, growth in growths.items()
            if growth > 1
        }

    def select(self, which: Selection = "relevant") -> tuple[str, ...]:
        """Return the names of some columns, in the order of the table.

        Parameters
        ----------
        which : {"relevant", "strong", "minimal", "cover"} or int
            All strong and weak columns; the strong ones; the smallest set found whose loss is
            larger than that of all relevant columns by no more than ``min_effect`` of the gain,
            strong columns included; or the strong ones and one representative of each group, so
            that every relevant column is in the set or replaced by it. A number asks for so many
            columns, the best ones that were found (see `path`). For ``method="paper"``, the minimal
            set is its set M, and there are no sets of other sizes.

        Returns
        -------
        tuple of str
            The names; not those of columns that are adjusted for, beside which they are enough.
        """
        return self._named(tuple(np.flatnonzero(self.mask(which)).tolist()))

    @property
    def best(self) -> tuple[str, ...]:
        """The best single column, or the columns, if several are one feature.

        Also where nothing is relevant: then it is the one that comes nearest to it.
        """
        path, relevant = self.evidence.worth.path, wording.ordered(self)
        if path:
            return self._named(path[0].columns)
        if relevant:
            return self._named((relevant[0],))
        p, importance = self.evidence.p_relevant, self.evidence.importance
        order = np.lexsort((-np.nan_to_num(importance), np.nan_to_num(p, nan=1.0)))
        return self._named((int(order[0]),))

    def mask(self, which: Selection = "relevant") -> Mask:
        """Tell for every column whether `select` would return it."""
        check_selection(which)
        if which == "relevant":
            return np.asarray(self.classes != IRRELEVANT)
        if which == "strong":
            return np.asarray(self.classes == STRONG)
        if which == "minimal":
            return self.evidence.minimal
        return self.evidence.covering if which == "cover" else self._mask_of_size(int(which))

    def _mask_of_size(self, size: int) -> Mask:
        path = self.evidence.worth.path
        if not 1 <= size <= len(path):
            raise InputError(f"select is {size}; {self._sizes()}")
        return np.isin(np.arange(len(self.classes)), path[size - 1].columns)

    def _sizes(self) -> str:
        """Say what numbers of columns can be selected."""
        path = self.evidence.worth.path
        if path:
            return f"columns can be chosen from 1 to {len(path)}, the relevant ones"
        if not self.mask().any():
            return "no column is relevant"
        return "sets of every size were not searched"

    @cached_property
    def path(self) -> Any:
        """A data frame with the best set of every size, and what it loses.

        size, columns, loss (out of sample), kept (the share of what the model of all relevant
        columns gains) with kept_low and kept_high (95%), added (what the smaller set does not
        have), left (what it has and this one has not) and minimal. Empty if no sets were searched.
        """
        from squamish.report.frames import path_frame

        return path_frame(self)

    @cached_property
    def signatures(self) -> Signatures:
        """All sets that predict as well as the minimal one."""
        formula, names = self.evidence.worth.formula, self.feature_names
        gain = self.gain
        if formula is None:
            fixed = self.select("minimal")
            return Signatures(names, fixed, (), np.nan, np.nan, 0, 0, is_complete=False)
        return Signatures(
            names,
            self._named(formula.fixed),
            tuple(
                tuple(self._named(a.columns) for a in slot.alternatives) for slot in formula.slots
            ),
            formula.margin / gain,
            formula.error,
            formula.n_checked,
            formula.n_as_good,
            all(slot.is_complete for slot in formula.slots),
        )

    @cached_property
    def necessity(self) -> NecessityTable:
        """The least and the most that models owe to every column, as shares of the gain."""
        worth = self.evidence.worth
        if not worth.columns:
            return NecessityTable({})
        nothing = Necessity(0.0, 0.0, 0.0, 0.0)
        found = {j: worth.columns.get(j, nothing) for j in range(len(self.classes))}
        order = [*wording.ordered(self), *np.flatnonzero(self.classes == IRRELEVANT).tolist()]
        several = zip(self.groups, worth.groups, strict=False)
        return NecessityTable(
            {self.feature_names[j]: found[j] for j in order},
            {group: shares for group, shares in several if len(group) > 1},
        )

    @property
    def gain(self) -> float:
        """What the model of the relevant columns gains over the constant prediction, in loss.

        Over that of the columns that are adjusted for, if any are.
        """
        return self.evidence.constant_loss - self.evidence.loss

    def explain(self, column: str) -> str:
        """Say in a few sentences why a column has its class, and what replaces it.

        Parameters
        ----------
        column : str
            Its name.

        Returns
        -------
        str
            The sentences.
        """
        return wording.explain(self, self._position(column))

    def compare(self, other: RelevanceResult) -> Comparison:
        """Tell what is different in another result.

        Parameters
        ----------
        other : RelevanceResult
            The verdict of another run, on the same table or on another.

        Returns
        -------
        Comparison
            Changed classes, columns that only one of the two knows, changed circumstances.
        """
        from squamish.result.comparison import compare

        if not isinstance(other, RelevanceResult):
            raise InputError(f"other is a {type(other).__name__}; it must be a RelevanceResult")
        return compare(self, other)

    def to_frame(self, library: Library | None = None) -> Any:
        """Return a data frame with a row for each column of the table.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"} or None
            Which library's frame; None takes the first of these that is installed.

        Returns
        -------
        data frame
            feature, class, group (a number, for weak columns), representative (of the
            group: its members in the minimal set, if it has any), substitutes, proof (what
            made it relevant), p_relevant, removal_loss with removal_low and
            removal_high (95%), p_removal, effect (removal_loss as a share of what the
            model gains), tested_effect (that of the test of strength), least and most (see
            `necessity`), minimal (whether it is in the minimal set), small, importance,
            missing (share), dtype, undecided (for want of time), more_rows (about how many rows
            would decide a close call) and share_strong, share_weak, share_irrelevant and
            share_minimal (of the half-samples, with ``stability``). With the default method
            the p-values are corrected for the number of columns. The ten best substitutes are
            named; `substitutes` has all.
        """
        from squamish.report.frames import result_frame

        return result_frame(self, library)

    def to_json(self, path: str | Path | None = None) -> str | None:
        """Return the whole result as JSON, or write it to a file.

        `from_json` gives back the same result, to the last digit. NaN is null.
        """
        return _written(serialization.to_json(self), path)

    @classmethod
    def from_json(cls, source: str | Path) -> RelevanceResult:
        """Read what `to_json` made: a path, or the text itself. Nothing in it is executed."""
        text = str(source)
        if text.lstrip().startswith("{"):
            return serialization.from_json(text, cls)
        try:
            text = read_saved(Path(source))
            return serialization.from_json(text, cls)
        except OSError as error:
            raise InputError(f"{str(source)!r} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise InputError(f"{str(source)!r} cannot be read: {error}") from None

    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """Return the verdict as a page of Markdown, or write it to a file."""
        return _written(wording.markdown_page(self), path)

    def to_html(
        self, path: str | Path | None = None, *, max_features: int | None = 2000
    ) -> str | None:
        """Return the verdict as one HTML page that needs nothing else, or write it to a file.

        Parameters
        ----------
        path : str, Path or None
            Where to write it; if None it is returned.
        max_features : int or None
            The most columns in the table of the page; None for all. Strong and weak ones
            come first, and the page says how many are left out.

        Returns
        -------
        str or None
            The page, unless it was written to a file.
        """
        from squamish.report.page import html_page

        return _written(html_page(self, max_features), path)

    def names_of(self, relevance_class: int) -> tuple[str, ...]:
        """Return the columns of a class."""
        return self._named(tuple(np.flatnonzero(self.classes == relevance_class).tolist()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RelevanceResult):
            return NotImplemented
        return serialization.to_json(self) == serialization.to_json(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return wording.one_line(self)

    def __str__(self) -> str:
        return wording.verdict(self)

    def _repr_html_(self) -> str:
        return wording.notebook_html(self)

    def _named(self, columns: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.feature_names[j] for j in columns)

    def _position(self, column: str) -> int:
        if str(column) in self.feature_names:
            return self.feature_names.index(str(column))
        raise InputError(wording.no_such_column(str(column), self.feature_names))


def check_selection(which: Selection) -> None:
    """Refuse what is neither the name of a selection nor a number of columns."""
    if isinstance(which, bool) or not (isinstance(which, Integral) or which in NAMED):
        allowed = ", ".join(map(repr, NAMED))
        raise InputError(f"select is {which!r}; it must be {allowed} or a number of columns")


def _written(text: str, path: str | Path | None) -> str | None:
    if path is None:
        return text
    from squamish.table.files import write_whole

    write_whole(path, text)
    return None
