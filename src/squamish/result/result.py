"""The verdict on every column, the evidence for it, and every form it can be given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Mask
from squamish.errors import InputError, check_choice
from squamish.evidence import Evidence
from squamish.evidence.provenance import Columns, Provenance
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.families import Task
from squamish.report import wording
from squamish.report.plots import PlotMethods
from squamish.result import serialization
from squamish.result.saved import read_saved

if TYPE_CHECKING:
    from squamish.report.frames import Library
    from squamish.result.comparison import Comparison

Selection = Literal["relevant", "strong", "minimal"]


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
    task : {"classification", "regression"}
        What kind of target was explained.
    n_samples : int
        Number of rows.
    seconds : float
        How long the fit took.
    notes : tuple of str
        What a user should know about the table and the verdict, such as a possible leak.
    provenance : Provenance
        Data, seed, versions, and the command that reproduces the verdict.

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
        pairs = zip(self.groups, self.representatives, strict=True)
        return tuple(group for group, chosen in pairs if len(group) > len(chosen))

    @cached_property
    def representatives(self) -> tuple[tuple[str, ...], ...]:
        """The suggested column of each group; several if they are one feature."""
        return tuple(self._named(columns) for columns in self.evidence.representatives)

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
        """Columns whose class is a close decision, and what was close."""
        return {
            name: reason
            for j, name in enumerate(self.feature_names)
            if (reason := self.evidence.close_call(j))
        }

    def select(self, which: Selection = "relevant") -> tuple[str, ...]:
        """Return the names of some columns, in the order of the table.

        Parameters
        ----------
        which : {"relevant", "strong", "minimal"}
            All strong and weak columns; the strong ones; or the strong ones and one
            representative of each group. Of a group in which it takes several to replace
            the rest (any two of a, b and a + b) as many are kept; of one that strong columns
            replace, none. For ``method="paper"``, the minimal set is its set M.

        Returns
        -------
        tuple of str
            The names.
        """
        return self._named(tuple(np.flatnonzero(self.mask(which)).tolist()))

    def mask(self, which: Selection = "relevant") -> Mask:
        """Tell for every column whether `select` would return it."""
        check_choice("select", which, ("relevant", "strong", "minimal"))
        if which == "relevant":
            return np.asarray(self.classes != IRRELEVANT)
        return np.asarray(self.classes == STRONG) if which == "strong" else self.evidence.minimal

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
            group), substitutes, proof (what made it relevant), p_value (of relevance),
            removal_loss with removal_low and removal_high (95%), removal_p_value, effect
            (removal_loss as a share of what the model gains), importance, missing (share),
            dtype and undecided (for want of time). With the default method the p-values are
            corrected for the number of columns. The ten best substitutes are named;
            `substitutes` has all.
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


def _written(text: str, path: str | Path | None) -> str | None:
    if path is None:
        return text
    from squamish.table.files import write_whole

    write_whole(path, text)
    return None
