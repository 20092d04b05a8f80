"""From features to columns: several columns of a table may be one feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Indices

if TYPE_CHECKING:
    from squamish.evidence.interface import Evidence


def spread_fields(evidence: Evidence, feature: Indices) -> dict[str, Any]:
    """Spread all fields with an entry for every column; what was not judged is NaN or False."""
    narrow = {n: getattr(evidence, n) for n, shape in evidence.shapes.items() if shape[-1] == "d"}
    return {
        name: spread_values(values, feature, False if values.dtype == bool else np.nan)
        for name, values in narrow.items()
        if values is not None
    }


def spread_values(narrow: NDArray[Any], feature: Indices, fill: Any) -> NDArray[Any]:
    """Give every column what was found for its feature."""
    judged = feature >= 0
    out = np.full((*narrow.shape[:-1], len(feature)), fill, dtype=narrow.dtype)
    out[..., judged] = narrow[..., feature[judged]]
    return out
