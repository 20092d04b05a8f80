"""Where a verdict comes from: the data, the call and the versions of a fit."""

from __future__ import annotations

import pickle
import platform
import re
from copy import copy
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

import joblib
from sklearn.base import BaseEstimator, clone

from squamish.evidence.provenance import Provenance
from squamish.fitting.reading import Reading
from squamish.fitting.request import Conditions, Request
from squamish.table.table import Table

# How a fit is carried out has no influence on the verdict.
NO_INFLUENCE = {"verbose": 0, "callback": None, "checkpoint": None, "time_budget": None}
# Looking up the version of a library takes as long as a small model.
_installed = cache(version)


def provenance_of(
    estimator: BaseEstimator, request: Request, conditions: Conditions, reading: Reading
) -> Provenance:
    """Record where a verdict comes from."""
    X, name = request.X, getattr(request.y, "name", None)
    given = {"sample_weight": request.sample_weight, "groups": request.groups}
    more = "".join(f", {name}={name}" for name, value in given.items() if value is not None)
    quiet = copy(estimator)
    for parameter, value in NO_INFLUENCE.items():
        setattr(quiet, parameter, value)
    return Provenance(
        data=f"{type(X).__module__.split('.')[0]} {type(X).__name__}",
        target="" if name is None else str(name),
        target_summary=reading.summary,
        class_order=_class_order(reading.table),
        command=f"{in_one_row(quiet)}.fit(X, y{more})",
        seed=conditions.seed,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=versions(),
    )


def _class_order(table: Table) -> tuple[str, ...]:
    has_order = table.family.has_classes and table.family.has_order
    return table.labels if has_order else ()


def versions() -> dict[str, str]:
    """Return the versions of squamish and of what it computes with."""
    from squamish import __version__

    names = ("numpy", "scipy", "scikit-learn", "lightgbm", "boruta")
    own = {"squamish": __version__, "python": platform.python_version()}
    return own | {name: _installed(name) for name in names}


def in_one_row(estimator: Any) -> str:
    """Write the call that makes an estimator, as far as text can tell.

    Examples
    --------
    >>> from squamish import CrossfitMethod
    >>> from squamish.fitting.provenance import in_one_row
    >>> in_one_row(CrossfitMethod(alpha=0.05))
    'CrossfitMethod(alpha=0.05)'
    """
    text = re.sub(r"\n\s*", " ", estimator.__repr__(N_CHAR_MAX=2000))
    # Where an object is in the memory tells nothing.
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def settings_of(method: Any) -> str:
    """Return a text that differs where methods do, also in what the call that makes one leaves out.

    The call holds neither long arrays nor the middle of a very long text, which learners of a user
    may have; a hash does. What cannot be pickled, such as a function without a name, is known by
    its text alone.

    Examples
    --------
    >>> from squamish import PaperMethod
    >>> from squamish.fitting.provenance import settings_of
    >>> settings_of(PaperMethod(p=0.01)) == settings_of(PaperMethod(p=0.02))
    False
    """
    call = in_one_row(method)
    try:
        return f"{call} {joblib.hash(clone(method).get_params(deep=False))}"
    except (pickle.PicklingError, TypeError, AttributeError):
        return call
