"""Kernel ridge regression on few columns, by Nystroem's approximation.

References
----------
C. Williams and M. Seeger: "Using the Nystroem method to speed up kernel machines", NeurIPS 2000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array
from squamish.statistics.ridge import fit_ridge

# Landmarks of the approximation: a third of the rows, so that each stands for three, and at most
# 200, which keeps a fit at milliseconds.
MOST_LANDMARKS = 200
# Ridge penalties of standardised terms, of which leave-one-out error chooses.
PENALTIES = np.logspace(-4, 3, 8)


@dataclass(frozen=True, eq=False)
class KernelRidge:
    """A function of few columns: a quadratic one plus Gaussian kernels around landmarks.

    Attributes
    ----------
    landmarks : ndarray of shape (n_landmarks, n_columns)
        The rows around which there are kernels.
    gamma : float
        How narrow they are.
    whitening : ndarray of shape (n_landmarks, n_landmarks)
        Makes uncorrelated terms of them: the inverse root of their own kernel matrix.
    coef, intercept : ndarray and float
        What the terms count.
    error : float
        Mean squared leave-one-out error.
    reach : tuple of float
        The least and the largest prediction: twice the range of what was learned. Beyond the rows
        that were seen, sums of kernels go anywhere.
    """

    landmarks: Array
    gamma: float
    whitening: Array
    coef: Array
    intercept: float
    error: float
    reach: tuple[float, float]

    def predict(self, X: Array) -> Array:
        """Return the value of the function in every row, as far as it reaches."""
        terms = _terms(X, self.landmarks, self.gamma, self.whitening)
        return np.clip(terms @ self.coef + self.intercept, *self.reach)


def fit_kernel_ridge(X: Array, target: Array, gamma: float) -> KernelRidge:
    """Fit with the ridge penalty that has the least leave-one-out error.

    A pipeline of scikit-learn's Nystroem and a ridge regression does the same, but takes many
    times as long for tables this small, and this is done for every column.
    """
    landmarks = draw_landmarks(X)
    whitening = inverse_root(gaussian_kernel(landmarks, landmarks, gamma))
    terms = _terms(X, landmarks, gamma, whitening)
    scale = np.maximum(terms.std(axis=0), 1e-12)
    ridge = fit_ridge(terms / scale, target, PENALTIES)
    coef = ridge.coef / scale
    half = float(np.ptp(target)) / 2
    reach = float(target.min()) - half, float(target.max()) + half
    return KernelRidge(landmarks, gamma, whitening, coef, ridge.intercept, ridge.error, reach)


def _terms(X: Array, landmarks: Array, gamma: float, whitening: Array) -> Array:
    left, right = np.triu_indices(X.shape[1])
    return np.hstack(
        [X, X[:, left] * X[:, right], gaussian_kernel(X, landmarks, gamma) @ whitening]
    )


def draw_landmarks(X: Array) -> Array:
    """Return some rows at random, the same ones each time."""
    order = np.random.default_rng(0).permutation(len(X))
    return X[order[: min(MOST_LANDMARKS, len(X) // 3)]]


def inverse_root(kernel: Array) -> Array:
    """Return the inverse root of a kernel matrix."""
    values, vectors = np.linalg.eigh(kernel)
    return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-12)) @ vectors.T)


def gaussian_kernel(X: Array, landmarks: Array, gamma: float) -> Array:
    """Return the Gaussian kernel of every row and landmark."""
    squares = np.square(X).sum(axis=1)[:, np.newaxis] + np.square(landmarks).sum(axis=1)
    return np.asarray(np.exp(-gamma * np.maximum(squares - 2 * X @ landmarks.T, 0)))
