"""The pictures of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from squamish.report.plots.importances import draw_importances
from squamish.report.plots.necessity import draw_necessity
from squamish.report.plots.path import draw_path
from squamish.report.plots.redundancy import draw_redundancy
from squamish.report.plots.removal import draw_removal
from squamish.report.plots.shadows import draw_shadows
from squamish.report.plots.stability import draw_stability
from squamish.report.plots.survival import draw_survival

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from squamish.result.result import RelevanceResult

__all__ = ["PlotMethods"]


class PlotMethods:
    """The pictures of a result. They need matplotlib.

    All of them return the axes they drew on: those they were given, or those of a new figure
    that is high enough for its rows. Strong columns are teal circles, weak ones amber
    diamonds, irrelevant ones grey crosses. A letter that the font does not have is drawn as
    a question mark; ``matplotlib.rcParams["font.family"]`` can name further fonts.
    """

    def plot_importances(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw the importance of every column, and how far that of permuted columns goes.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw, strong and weak ones first; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from squamish import RelevanceSelector
        >>> from squamish.datasets import make_linear
        >>> problem = make_linear(200, n_strong=2, group_sizes=[2], n_irrelevant=2, random_state=0)
        >>> result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
        >>> ax = result.plot_importances()
        >>> sorted(label.get_text() for label in ax.get_yticklabels())
        ['0', '1', '2', '3', '4', '5']
        >>> result.plot_redundancy().get_title(loc="left")
        'Which columns replace which'
        """
        return draw_importances(self, ax, max_features)

    def plot_removal(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw what the removal of each tested column costs, and which costs mean nothing.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw, strong and weak ones first; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on. Lines are 95% intervals; ``method="paper"`` has none.
        """
        return draw_removal(self, ax, max_features)

    def plot_path(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None
    ) -> Axes:
        """Draw what the next column buys: the share of the gain that sets of every size keep.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib Axes
            What was drawn on: a dot for the best set of each size that was fitted, with its 95%
            interval, the minimal set larger. More than 16 sizes are on a logarithmic scale.
        """
        return draw_path(self, ax)

    def plot_necessity(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw what models owe to every column: a bar from the least to the most.

        The bars are those of feature relevance intervals [1]_, of any model: a strong column has a
        least above zero, a weak one a most above zero only, and an irrelevant one is not drawn.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw, strong ones first, by what they are worth; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on. Thin lines are the bounds; stars mark the minimal set.

        References
        ----------
        .. [1] C. Gopfert, L. Pfannschmidt, J. P. Gopfert and B. Hammer: "Interpretation of linear
           classifiers by means of feature relevance bounds", Neurocomputing 298 (2018).
        """
        return draw_necessity(self, ax, max_features)

    def plot_survival(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None
    ) -> Axes:
        """Draw how thirds of the rows survive, by their predicted risk (Kaplan and Meier).

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib Axes
            What was drawn on: the share without the event over time, of each third. Risks are those
            that the model of the relevant columns predicts for rows it has not seen.
        """
        return draw_survival(self, ax)

    def plot_shadows(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw the importances in all rounds as boxes, beside those of permuted columns.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw, strong and weak ones first; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on. Boxes are sorted by their medians. The three of the shadows
            are their least, mean and largest importance in every round.
        """
        return draw_shadows(self, ax, max_features)

    def plot_redundancy(  # type: ignore[misc] # only results inherit
        self: RelevanceResult, ax: Axes | None = None, *, max_features: int | None = 60
    ) -> Axes:
        """Draw the map of substitutes: an arrow leads from a column to what replaces it.

        Each group of weak columns is a ring, the suggested column in bold. Columns outside
        of the group that replace some of it stand on the lower part of the ring, hollow.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most weak columns to draw, some of each group; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        return draw_redundancy(self, ax, max_features)

    def plot_stability(  # type: ignore[misc] # only results inherit
        self: RelevanceResult,
        others: Sequence[RelevanceResult],
        ax: Axes | None = None,
        *,
        max_features: int | None = 60,
    ) -> Axes:
        """Draw the classes of every column in several runs, side by side.

        Parameters
        ----------
        others : sequence of RelevanceResult
            Verdicts on the same columns, usually with other seeds.
        ax : matplotlib Axes or None
            Where to draw; a new figure if None.
        max_features : int or None
            The most columns to draw: those with more than one verdict first, then strong
            and weak ones; None for all.

        Returns
        -------
        matplotlib Axes
            What was drawn on: a row for each column, this result first in it.
        """
        runs = [self, *([others] if isinstance(others, PlotMethods) else others)]
        return draw_stability(runs, ax, max_features)
