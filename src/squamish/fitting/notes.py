"""What a user should know about a table and a verdict before trusting it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices, Mask
from squamish.errors import LeakWarning, warn_caller
from squamish.evidence import Evidence
from squamish.evidence.association import columns_carrying
from squamish.evidence.relevance import IRRELEVANT
from squamish.families import Task, family_of
from squamish.screening.relevance import N_WAYS
from squamish.statistics.permutation import least_p_value
from squamish.table.dates import DateFormat
from squamish.table.ids import LEAST_ROWS
from squamish.table.levels import Levels
from squamish.table.table import Table

# A share of what the model gains that a user should hear of.
NOTABLE = 0.02
# With fewer clusters a t-test finds next to nothing.
FEW_CLUSTERS = 10
# So many classes are names rather than kinds: each has a predictor and trees of its own, so that a
# fit takes a hundred times as long as one of an amount.
MANY_CLASSES = 100
# The most ordered classes that a note names.
MOST_ORDERED = 8


def note_on_task(y: NDArray[Any], task: Task, labels: Sequence[str]) -> list[str]:
    """Say so if whole numbers, which could be classes, were taken for amounts, or an order is used.

    ``labels`` are the names of the classes.
    """
    family = family_of(task)
    if family.has_classes and family.has_order:
        return [
            f"y is taken for ordered classes, {_in_order(labels)}; task='classification' takes "
            "them without their order"
        ]
    is_number, n_values = np.issubdtype(y.dtype, np.number), len(np.unique(y))
    if not is_number or np.any(y != np.rint(y)) or (family.has_classes and n_values == 2):
        return []
    told = f"y holds {n_values} different whole numbers and is taken for"
    if family.has_classes:
        return [
            f"{told} classes; task='ordinal' takes them for ordered ones, task='counts' for counts "
            "and task='regression' for amounts"
        ]
    return [
        f"{told} an amount; task='classification' takes them for classes, and task='counts' for "
        "counts"
    ]


def note_on_lone_values(values: NDArray[Any]) -> list[str]:
    """Name the values of rows that were left out, as a class has more than one."""
    if len(values) == 0:
        return []
    shown = ", ".join(f"{value:g}" for value in values[:5]) + (", ..." if len(values) > 5 else "")
    rows = "1 row" if len(values) == 1 else f"{len(values)} rows"
    return [f"{rows} with a value of y that no other row has were left out: {shown}"]


def _in_order(labels: Sequence[str]) -> str:
    """Name classes from the least to the greatest, the first and the last of many."""
    if len(labels) > MOST_ORDERED:
        labels = (*labels[: MOST_ORDERED - 2], "...", labels[-1])
    return " < ".join(labels)


def note_on_paper(evidence: Evidence, task: Task) -> list[str]:
    """Say so if the forests of the paper do not use the order of classes."""
    family = family_of(task)
    if not (evidence.kind == "paper" and family.has_classes and family.has_order):
        return []
    return ["method='paper' takes the classes without their order"]


def note_on_classes(y: NDArray[Any], task: Task) -> list[str]:
    """Say so if classes are so many that they look like names."""
    family = family_of(task)
    n_classes = len(np.unique(y)) if family.has_classes else 0
    # What has an order is no name.
    if n_classes < MANY_CLASSES or family.has_order:
        return []
    return [
        f"y has {n_classes} classes, of {len(y) / n_classes:.0f} rows on average: if they name "
        "things, such as countries, columns are judged by whether they tell these apart, which "
        "takes long; coarser classes may be what is meant"
    ]


def note_on_missing(left_out: Mask) -> list[str]:
    """Say how many rows were left out, since they have no target."""
    n = int(left_out.sum())
    if n == 1:
        return ["1 row without a target was left out"]
    return [f"{n} rows without a target were left out"] if n else []


def notes_on_text(
    names: Sequence[str], levels: Mapping[int, Levels], dates: Mapping[int, DateFormat]
) -> list[str]:
    """Note text that could be numbers or dates, and as what it was taken."""
    notes = []
    if numbers := [j for j, column in levels.items() if column.like_a_number]:
        example = levels[numbers[0]].like_a_number
        notes.append(
            f"{_some(names, numbers)} {_is(numbers)} text that looks like numbers, such as "
            f"{example!r}, and {_is(numbers)} taken for categories: convert what is an amount"
        )
    for order in dict.fromkeys(form.order for form in dates.values()):
        some = [j for j, form in dates.items() if form.order == order]
        notes.append(
            f"{_some(names, some)} {_is(some)} text that holds dates, such as "
            f"{dates[some[0]].example!r}, and {_is(some)} read as such ({order})"
        )
    for j, column in levels.items():
        if column.like_dates:
            notes.append(
                f"{names[j]!r} is text that looks like dates, such as "
                f"{column.like_dates[0].example!r}, and is taken for a category, as "
                f"{_why_no_dates(column.like_dates)}: convert it"
            )
    return notes


def _why_no_dates(formats: Sequence[DateFormat]) -> str:
    if len(formats) > 1:
        return f"it could be {' or '.join(form.order for form in formats)}"
    return "not all of it is"


def notes_on_table(table: Table, names: Sequence[str]) -> list[str]:
    """Note columns like an ID, and rows that are too few."""
    notes = []
    if ids := np.flatnonzero(table.is_id).tolist():
        notes.append(
            f"{_some(names, ids)}: a different value in nearly every row, or a running number; an "
            "ID tells nothing about new rows and should be dropped"
        )
    if len(table.y) < LEAST_ROWS:
        notes.append(f"there are only {len(table.y)} rows: take this for a first impression")
    if table.clusters is not None:
        n_clusters = len(np.unique(table.clusters))
        if n_clusters < FEW_CLUSTERS:
            notes.append(
                f"there are only {n_clusters} groups of rows, and each counts as one observation: "
                "only very strong columns can be proven"
            )
    return notes


def note_on_empty(missing: Array, names: Sequence[str]) -> list[str]:
    """Name the columns that hold nothing."""
    empty = np.flatnonzero(missing == 1).tolist()
    if not empty:
        return []
    verb = "holds" if len(empty) == 1 else "hold"
    return [f"{_some(names, empty)} {verb} no value in any row"]


def notes_on_verdict(
    classes: NDArray[np.int64], evidence: Evidence, feature: Indices, names: Sequence[str]
) -> list[str]:
    """Note leaks, with a warning, and verdicts that rest on little."""
    notes = []
    leaks = np.array(evidence.leaks, dtype=np.intp)
    for f in np.unique(feature[leaks]):
        columns = " and ".join(repr(names[j]) for j in leaks[feature[leaks] == f])
        notes.append(f"{columns} alone tells the target almost perfectly: is it a leak?")
        warn_caller(notes[-1], LeakWarning)
    return [*notes, *_notes_on_model(classes, evidence)]


def notes_on_rest(evidence: Evidence, table: Table, names: Sequence[str]) -> list[str]:
    """Note that rows are too few for any proof, and columns on which most others hang."""
    return [*_note_on_orders(evidence, table), *_note_on_associations(evidence, names)]


def _note_on_orders(evidence: Evidence, table: Table) -> list[str]:
    """Say so if even the clearest of all orders of the target would prove nothing."""
    if (
        not table.rows_are_alike
        or table.is_adjusted.any()
        or np.isnan(evidence.alpha)
        or table.n_features == 0
    ):
        return []
    least = least_p_value(table.y)
    if N_WAYS * table.n_features * least <= evidence.alpha:
        return []
    return [
        f"{len(table.y)} rows with such a target can be in {1 / least:,.0f} different orders, too "
        f"few to prove anything of {table.n_features} columns at alpha = {evidence.alpha:g}, "
        "however clear it is"
    ]


def _note_on_associations(evidence: Evidence, names: Sequence[str]) -> list[str]:
    """Name a column if most of the relevant ones are so through it."""
    carried = Counter(columns_carrying(j, evidence.associations) for j in evidence.associations)
    n_relevant = sum(map(bool, evidence.proof))
    return [
        f"{n} of {n_relevant} relevant columns are so only through {_some(names, columns)}: they "
        "are correlated with it, or with one that is, and hang on it"
        for columns, n in carried.most_common(1)
        if 2 * n > n_relevant
    ]


def _more_columns(evidence: Evidence) -> str:
    """Say how to get them, unless that was done already."""
    if evidence.error_rate == "fdr":
        return ""
    return "; error_rate='fdr' with a larger alpha, such as 0.1, finds more of them"


def _notes_on_model(classes: NDArray[np.int64], evidence: Evidence) -> list[str]:
    """Note a model that finds nothing, or loses something with relevant or minimal columns.

    What a method does not measure is NaN, and never noted.
    """
    loss, gain = evidence.loss, evidence.constant_loss - evidence.loss
    decided = not evidence.undecided.any()
    if decided and (classes == IRRELEVANT).all() and not np.isnan(evidence.alpha):
        return [
            f"no column is told from noise at alpha = {evidence.alpha:g}: there is nothing to "
            "find, or too few rows to find it"
        ]
    if decided and gain <= 0:
        return [
            "the best model predicts no better than without any column, although single columns "
            "depend on the target: no column can be called strong"
        ]
    notes = []
    if loss - evidence.all_loss > NOTABLE * gain:
        notes.append(
            f"with all columns the model gains {(loss - evidence.all_loss) / gain:.1%} more: some "
            "that are not told from noise one by one help to predict together"
            + _more_columns(evidence)
        )
    if evidence.minimal_loss - loss > NOTABLE * gain:
        notes.append(
            "minimal sets that were searched and tried on different rows lose "
            f"{(evidence.minimal_loss - loss) / gain:.1%} of the gain: so few rows do not tell "
            "well which columns are enough"
        )
    return notes


def note_on_sample(evidence: Evidence, n_rows: int, screened: bool) -> str:
    """Say how many rows were looked at, and what so many can show."""
    note = (
        f"every column was tested on all {n_rows:,} rows, models on a random sample of "
        f"{evidence.n_tested:,}"
        if screened
        else f"of {n_rows:,} rows a random sample of {evidence.n_tested:,} was judged"
    )
    if np.isnan(evidence.detectable):
        return note
    return f"{note}: enough to show a cost of {evidence.detectable:.2%} of what the model gains"


def notes_on_adjustment(names: Sequence[str], n_varying: int) -> list[str]:
    """Say what was adjusted for, and that some of it does not vary."""
    if not names:
        return []
    several = len(names) > 1
    notes = [
        f"adjusted for {_some(names, range(len(names)))}: {'these are' if several else 'it is'} in "
        f"every model and not judged, and a column is judged by what it tells given "
        f"{'them' if several else 'it'}"
    ]
    if n_varying < len(names):
        have = "has" if len(names) - n_varying == 1 else "have"
        notes.append(
            f"{len(names) - n_varying} of {len(names)} columns that are adjusted for {have} one "
            "value only, for which there is nothing to adjust"
        )
    return notes


def note_on_unknown_adjustments(
    missing: Array, is_adjusted: Mask, names: Sequence[str]
) -> list[str]:
    """Say where what is adjusted for is not known."""
    gaps = np.flatnonzero(is_adjusted & (missing > 0)).tolist()
    if not gaps:
        return []
    return [
        f"{_some(names, gaps)} {_is(gaps)} adjusted for, and {_is(gaps)} missing in up to "
        f"{missing[gaps].max():.0%} of the rows; what a missing value would have told is not "
        "adjusted for"
    ]


def note_on_rare_classes(labels: Sequence[str]) -> list[str]:
    """Name the classes that are not in a sample."""
    if not labels:
        return []
    shown = ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")
    return [f"classes with too few rows for a sample were left out: {shown}"]


def note_on_constant(columns: Sequence[int], names: Sequence[str]) -> list[str]:
    """Name the columns that could not be judged in a sample."""
    if not columns:
        return []
    have = "has" if len(columns) == 1 else "have"
    return [f"{_some(names, columns)} {have} one value only in the sample, and could not be judged"]


def note_on_time(
    evidence: Evidence, unfinished: Sequence[str], time_budget: float | None
) -> list[str]:
    """Say what the time was not enough for."""
    if not unfinished:
        return []
    n_undecided = int(evidence.undecided.sum())
    what = f"{n_undecided:,} columns are undecided" if n_undecided else "all columns are decided"
    return [
        f"the {time_budget:g} s of the time budget were used up during {unfinished[0]!r}: {what}; "
        "with a checkpoint, the same fit with more time goes on"
    ]


def _some(names: Sequence[str], columns: Sequence[int], most: int = 5) -> str:
    left = len(columns) - most
    shown = ", ".join(repr(names[j]) for j in columns[:most])
    return shown + (f" and {left} more columns" if left > 0 else "")


def _is(columns: Sequence[int]) -> str:
    return "is" if len(columns) == 1 else "are"
