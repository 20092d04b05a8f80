"""From features to columns: several columns of a table may be one feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Indices


def spread_values(narrow: NDArray[Any], feature: Indices, fill: Any) -> NDArray[Any]:
    """Give every column what was found for its feature."""
    judged = feature >= 0
    out = np.full((*narrow.shape[:-1], len(feature)), fill, dtype=narrow.dtype)
    out[..., judged] = narrow[..., feature[judged]]
    return out
