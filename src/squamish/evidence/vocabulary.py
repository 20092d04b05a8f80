"""How a method calls what it measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vocabulary:
    """All words that differ between methods.

    What depends on a column or on the task is left open, in braces, and filled in by
    ``str.format``; a phrase need not use all that is offered to it.

    Attributes
    ----------
    score : str
        What the loss of the model is: ``{loss_name}``.
    score_scale : str
        How the target is scaled for it: ``{loss_scale}`` or ``{absolute_scale}`` of the task.
    cost_heading : str
        The heading of costs in tables.
    proven : str
        Why a column is relevant: ``{reason}``, and ``{p}``, its ``p_relevant``.
    associated : str
        Why a column is relevant through another one: ``{partner}``, the ``{correlation}`` and its
        ``{p_association}``, and ``{p}``; empty if a method knows no such columns.
    unproven : str
        Why a column is not: ``{p}``; empty if there is nothing to say.
    removal : str
        What the removal of a column costs: ``{loss}``, which ``{grows}`` or does not, from
        ``{low}`` to ``{high}``, with the p-value ``{p}``, where ``{null_low}`` to
        ``{null_high}`` mean nothing.
    small : str
        What is said of a column that certainly adds something, but less than counts; empty if a
        method knows no such columns.
    untested : str
        Why a relevant column was not removed, if it was not for want of time.
    removal_axis : str
        The axis of ``removal_loss``: ``{loss_unit}`` or ``{absolute_unit}`` of the task.
    removal_null : str
        What the band of ``removal_null`` is.
    no_removals : str
        Why no removal was tested, if none was.
    importance_axis : str
        The axis of importances.
    no_importances : str
        Why importances were not measured, if they were not.
    columns : str
        What the numbers in the table of the report are.
    reading : str
        By what columns are called relevant and strong.
    little : str
        What is said of a column that seems to add something, but less than counts; empty if a
        method knows no such columns.
    overruled : str
        The same of one that a refit says costs too little.
    """

    score: str
    score_scale: str
    cost_heading: str
    proven: str
    associated: str
    unproven: str
    removal: str
    small: str
    untested: str
    removal_axis: str
    removal_null: str
    no_removals: str
    importance_axis: str
    no_importances: str
    columns: str
    reading: str
    little: str = ""
    overruled: str = ""
