"""Problems whose relevant, redundant and irrelevant columns are known.

Every generator returns a :class:`Problem`: a table, a target, the true class of every
column and the true redundancy groups. :func:`load_preset` gives the data sets of the
paper by name, :func:`load_problem` those and many other shapes.
"""

from squamish.datasets.confounded import make_confounded
from squamish.datasets.demo import load_patients
from squamish.datasets.families import ORDERED, PROBLEMS, load_problem
from squamish.datasets.generators import (
    PRESETS,
    Problem,
    load_preset,
    make_linear,
    make_nonlinear,
    make_ordinal,
    make_regression,
)
from squamish.datasets.outcomes import OUTCOMES, make_counts, make_survival

__all__ = [
    "ORDERED",
    "OUTCOMES",
    "PRESETS",
    "PROBLEMS",
    "Problem",
    "load_patients",
    "load_preset",
    "load_problem",
    "make_confounded",
    "make_counts",
    "make_linear",
    "make_nonlinear",
    "make_ordinal",
    "make_regression",
    "make_survival",
]
