"""A smooth function of all columns that does not change when these are mixed.

Columns are turned into uncorrelated directions of unit variance, and a function of Gaussian kernels
of these is fitted, by Nystroem's approximation. Whatever columns span the same directions make the
same model, which neither trees nor products do: they look along the columns that there are.

References
----------
C. Williams and M. Seeger: "Using the Nystroem method to speed up kernel machines", NeurIPS 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.arrays import Array, Indices
from squamish.families import Family
from squamish.models.kernel_ridge import draw_landmarks, gaussian_kernel, inverse_root
from squamish.models.stacking import predict_stacked

# Directions with less than this share of the largest variance are those of columns that the others
# tell: what is left there is rounding.
ROUNDING = 1e-6
# So many kernels are held at once: 16 MB.
KERNELS_AT_ONCE = 2**21


@dataclass(frozen=True, eq=False)
class KernelModel:
    """Scores that are a line of columns, and of Gaussian kernels around landmarks.

    Attributes
    ----------
    directions : ndarray of shape (d, n_directions)
        What makes uncorrelated directions of columns.
    landmarks : ndarray of shape (n_landmarks, n_directions)
        The rows around which there are kernels, by their directions.
    intercept : ndarray of shape (n_predictors,)
        Scores where all columns are zero, without kernels.
    slopes : ndarray of shape (n_directions, n_predictors)
        What directions count.
    counts : ndarray of shape (n_landmarks, n_predictors)
        What kernels count.
    family : Family
        What kind of target there is.
    """

    directions: Array
    landmarks: Array
    intercept: Array
    slopes: Array
    counts: Array
    family: Family

    def predict(self, X: Array) -> Array:
        """Return a prediction for every row."""
        step = max(1, KERNELS_AT_ONCE // max(len(self.landmarks), 1))
        blocks = range(0, max(len(X), 1), step)
        return np.concatenate([self._predict(X[begin : begin + step]) for begin in blocks])

    def predict_replaced(self, X: Array, columns: Indices, values: Array) -> Array:
        """Predict with some columns replaced: values of shape (draws, n, columns)."""
        return predict_stacked(self.predict, X, columns, values)

    def _predict(self, X: Array) -> Array:
        Z = X @ self.directions
        kernels = gaussian_kernel(Z, self.landmarks, _gamma(Z))
        return self.family.link(self.intercept + Z @ self.slopes + kernels @ self.counts)


def fit_kernel(
    X: Array, y: NDArray[Any], family: Family, strength: float, weights: Array | None
) -> KernelModel:
    """Fit a penalised line of kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from squamish.families import family_of
    >>> from squamish.models.kernel import fit_kernel
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> mixed = X @ [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 3.0]]
    >>> y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    >>> family = family_of("regression")
    >>> found = [fit_kernel(Z, y, family, 1.0, None).predict(Z) for Z in (X, mixed)]
    >>> bool(np.allclose(*found, atol=0.01))
    True
    """
    variances, axes = np.linalg.eigh(np.cov(X, rowvar=False, ddof=0).reshape(X.shape[1], -1))
    there = variances > ROUNDING * max(variances[-1], ROUNDING)
    directions = axes[:, there] / np.sqrt(variances[there])
    Z = X @ directions
    landmarks, gamma = draw_landmarks(Z), _gamma(Z)
    # Directions have as much variance together as one column.
    middle, scale = Z.mean(axis=0), np.sqrt(gamma)
    whitening = inverse_root(gaussian_kernel(landmarks, landmarks, gamma))
    terms = np.hstack([(Z - middle) * scale, gaussian_kernel(Z, landmarks, gamma) @ whitening])
    intercept, coef = family.fit_linear(terms, y, strength, weights)
    family = family.profiled(intercept + terms @ coef.T, y, weights)
    slopes, counts = np.split(coef.T, [Z.shape[1]])
    slopes = scale * slopes
    return KernelModel(
        directions, landmarks, intercept - middle @ slopes, slopes, whitening @ counts, family
    )


def _gamma(Z: Array) -> float:
    """Return how narrow kernels are.

    Rows are apart by a squared distance of twice the number of directions on average, so that their
    kernels are alike to exp(-2), however many directions there are.
    """
    return 1 / max(Z.shape[1], 1)
