"""What other libraries do not document, or do not have in every version that is allowed.

Everything of the kind is in here, a name each, with the reason why it is needed and the versions
that have it: whoever takes in a new version of a library looks here first.
"""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.utils._set_output import _get_output_config


def wanted_output(estimator: BaseEstimator) -> str:
    """Return what ``set_output`` asks ``transform`` for: "default", "pandas" or "polars".

    scikit-learn, all versions from 1.6: no documented name tells, and its own wrapper of
    ``transform`` makes objects of a polars frame's numbers and takes no pyarrow table.
    """
    return str(_get_output_config("transform", estimator)["dense"])
