"""Predictions with draws of some columns in place of their values, for any model of rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from squamish.arrays import Array, Indices


def predict_stacked(
    predict: Callable[[Array], Array], X: Array, columns: Indices, values: Array
) -> Array:
    """Predict with some columns replaced, all draws in one call.

    Parameters
    ----------
    predict : callable
        Returns a prediction for every row.
    X : ndarray of shape (n, n_columns)
        The rows as they are.
    columns : ndarray of int
        What is replaced.
    values : ndarray of shape (n_draws, n, len(columns))
        By what.

    Returns
    -------
    ndarray of shape (n_draws, n, ...)
        A prediction for every draw of every row.
    """
    stacked = np.tile(X, (len(values), 1))
    stacked[:, columns] = values.reshape(-1, len(columns))
    out = predict(stacked)
    return out.reshape(len(values), len(X), *out.shape[1:])
