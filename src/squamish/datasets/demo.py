"""A real table with guests whose role is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

from squamish.arrays import Array

# What scikit-learn calls s1 to s6, by the names of the measurements.
_BLOOD = {"s1": "tc", "s2": "ldl", "s3": "hdl", "s4": "tch", "s5": "ltg", "s6": "glucose"}


def load_patients() -> tuple[dict[str, NDArray[Any]], Array]:
    """Return ten measurements of 442 diabetes patients, and five columns that were added.

    The target is the progress of the disease after a year. Added are a copy of the body mass
    index in other units, which is as good as the original, and four of the measurements in
    random order, which can tell nothing.

    Returns
    -------
    columns : dict of str to ndarray
        The table.
    target : ndarray
        The progress of the disease.

    Examples
    --------
    >>> from squamish.datasets import load_patients
    >>> columns, target = load_patients()
    >>> len(columns), len(target)
    (15, 442)
    """
    bunch = load_diabetes(scaled=False)
    names = [_BLOOD.get(name, name) for name in bunch.feature_names]
    columns = dict(zip(names, bunch.data.T, strict=True))
    columns["bmi_copy"] = 703 * columns["bmi"] + 1
    rng = np.random.default_rng(0)
    for name in ("bmi", "bp", "ltg", "glucose"):
        columns[f"shuffled_{name}"] = rng.permutation(columns[name])
    return columns, bunch.target
