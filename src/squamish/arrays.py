"""The types of arrays, once for all modules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Of any precision.
Floats = NDArray[np.floating[Any]]
# Positions of rows, columns, parts or features, and labels that enumerate groups of them.
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
# Positions of the rows to train on and of the rows to test on.
Fold = tuple[Indices, Indices]
