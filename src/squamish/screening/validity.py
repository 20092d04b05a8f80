"""When a sum over rows is close enough to normal, and when a test has to abstain."""

from __future__ import annotations

import numpy as np

from squamish.arrays import Array, Mask

# A column with a larger share of one value is nearly constant: sums over it are sums over few
# rows. One in ten has a skewness of 2.7, beyond which three moments do not describe a tail.
NEARLY_CONSTANT = 0.9
# A column with a larger share of one value is mostly that value, and may differ from it in few
# rows.
MOSTLY_ONE_VALUE = 0.5
# With fewer rows than these expected to differ in a class, sums over them are not normal:
# Cochran's five, and of two values ten times that, since an exact test loses nothing there.
FEW, FEW_OF_TWO = 5, 50

# What proves nothing by an approximate tail, even as the only evidence at a level of 5%, need not
# be confirmed by a better one.
WORTH_CONFIRMING = 0.05
# Of very many rows, what counts is not the share but how many differ: in all, and in a class.
LEAST_DIFFERENT, LEAST_DIFFERENT_OF_CLASS = 200, 20


def differ_rarely(n_differ: Array, rarest_share: float) -> Mask:
    """Tell whether fewer rows of a very long table differ from the most common value than needed.

    ``rarest_share`` is the share of the rarest class.
    """
    of_class = n_differ * rarest_share
    return (n_differ < LEAST_DIFFERENT) | (of_class < LEAST_DIFFERENT_OF_CLASS)


def differ_in_few_rows(atoms: Array, targets: Array) -> Mask:
    """Tell whether so few rows differ from the rest that sums over them are not normal."""
    return (atoms > NEARLY_CONSTANT) | differ_in_too_few_rows(atoms, targets)


def differ_in_too_few_rows(atoms: Array, targets: Array) -> Mask:
    """Tell whether so few rows differ from the rest that no tail describes sums over them.

    Rows of a rare class make up most of its sum, as do large residuals: what counts is how
    many rows that is in effect (Kish's effective size, of squared targets).
    """
    squares = np.square(targets)
    largest = np.maximum(np.square(squares).sum(axis=0), 1e-300)
    n_rows = float((np.square(squares.sum(axis=0)) / largest).min())
    return (atoms > MOSTLY_ONE_VALUE) & ((1 - atoms) * n_rows < FEW)
