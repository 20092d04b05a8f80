"""The types of arrays, once for all modules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Positions of rows, columns, parts or features, and labels that enumerate groups of them.
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
# Positions of the rows to train on and of the rows to test on.
Fold = tuple[Indices, Indices]
