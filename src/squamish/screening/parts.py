"""From the parts of features, which are tested, to the features, which are judged."""

from __future__ import annotations

import numpy as np

from squamish.arrays import Array, Indices
from squamish.models.crossfit import CrossFit
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.pairs import in_groups


def of_features(fit: CrossFit, p: Array) -> Array:
    """Turn p-values of the parts of a table into p-values of its features."""
    return feature_p_values(p, fit.given.feature, fit.table.n_features)


def feature_p_values(p: Array, feature: Indices, n_features: int) -> Array:
    """Combine the p-values of parts into one for every feature; 1 for a feature without parts.

    Parts count the same (Cauchy combination).

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.screening.parts import feature_p_values
    >>> feature_p_values(np.array([0.02, 0.001, 0.7]), np.array([0, 2, 2]), 3).round(3)
    array([0.02 , 1.   , 0.002])
    """
    out = np.ones(n_features)
    counts = np.bincount(feature, minlength=n_features)
    single = counts[feature] == 1
    out[feature[single]] = p[single]
    for members in in_groups(feature):
        if len(members) == 1:
            continue
        own, f = p[members], feature[members[0]]
        out[f] = combined_p_values(own[:, np.newaxis])[0]
    return out
