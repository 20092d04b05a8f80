"""Columns of any type as numbers, and regressions that test every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from network_rivals import holm, likelihood_ratios

Array = NDArray[np.float64]
# Levels in fewer rows are one level.
LEAST_ROWS = 5


def is_amount(column: Any) -> bool:
    """Tell whether a column of a frame holds numbers, not categories."""
    return bool(pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def encoder(frame: Any) -> ColumnTransformer:
    """Make what standardises amounts (gaps are the median, and told), and indicates levels."""
    parts = []
    for i, name in enumerate(frame.columns):
        if is_amount(frame[name]):
            gaps = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
            step = make_pipeline(gaps, StandardScaler())
        else:
            levels = OneHotEncoder(
                min_frequency=LEAST_ROWS,
                handle_unknown="infrequent_if_exist",
                sparse_output=False,
            )
            step = make_pipeline(levels, StandardScaler())
        parts.append((str(i), step, [name]))
    return ColumnTransformer(parts)


def owners(fitted: ColumnTransformer, n_columns: int) -> NDArray[np.int64]:
    """Return the column that each part of the encoded table comes from."""
    sizes = [fitted.output_indices_[str(i)] for i in range(n_columns)]
    return np.repeat(np.arange(n_columns), [part.stop - part.start for part in sizes])


def codes() -> OrdinalEncoder:
    """Make what numbers the levels of categories, for trees; new ones are -1, gaps are NaN."""
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)


def tree_encoder(frame: Any) -> ColumnTransformer:
    """Make what leaves amounts as they are, and numbers levels."""
    return ColumnTransformer(
        [
            (str(i), "passthrough" if is_amount(frame[name]) else codes(), [name])
            for i, name in enumerate(frame.columns)
        ]
    )


def regression_with_holm(frame: Any, y: NDArray[Any], task: str, alpha: float) -> NDArray[np.bool_]:
    """Test each column given all others: least squares, or log odds if there are classes."""
    encode = encoder(frame)
    Z = encode.fit_transform(frame)
    owner = owners(encode, frame.shape[1])
    parts = [Z[:, owner == j] for j in range(frame.shape[1])]
    p_values = _f_tests(parts, y) if task == "regression" else _ratio_tests(parts, y)
    return holm(p_values, alpha)


def residual_sum(design: Array, y: Array) -> tuple[float, int]:
    """Return what least squares leave, and the rank of the design."""
    coefficients, _, rank, _ = np.linalg.lstsq(design, y)
    return float(np.sum((y - design @ coefficients) ** 2)), int(rank)


def _without(parts: Sequence[Array], j: int) -> Array:
    others = [part for i, part in enumerate(parts) if i != j]
    return np.column_stack([np.ones(len(parts[0])), *others])


def _f_tests(parts: Sequence[Array], y: Array) -> Array:
    """Return p-values of F-tests; 1 for a column that is a linear function of others."""
    left, rank = residual_sum(_without(parts, -1), y)
    df = len(y) - rank
    p_values = np.ones(len(parts))
    for j in range(len(parts)):
        more, rank_without = residual_sum(_without(parts, j), y)
        if rank > rank_without and df > 0:
            f = (more - left) / (rank - rank_without) / (left / df)
            p_values[j] = stats.f.sf(f, rank - rank_without, df)
    return p_values


def _ratio_tests(parts: Sequence[Array], y: NDArray[Any]) -> Array:
    """Return p-values of likelihood ratios, likewise."""
    rank = np.linalg.matrix_rank(_without(parts, -1))
    gained = np.array([rank - np.linalg.matrix_rank(_without(parts, j)) for j in range(len(parts))])
    df = gained * (len(np.unique(y)) - 1)
    p_values = np.ones(len(parts))
    p_values[df > 0] = stats.chi2.sf(likelihood_ratios(parts, y)[df > 0], df[df > 0])
    return p_values
