"""The residual test: whether a column explains what the best model without it does not.

Hypothesis
    The column is independent of the target given the columns of the model.
Statistic
    Against out-of-sample score residuals: the correlation of the column, and of its distance from
    the middle; all products with columns of the model at once; the largest product with any column.
    Combined by Cauchy.
Null distribution
    All orders of the column (Pitman); chi-square of its coordinates in an orthonormal basis; that
    of the product test.
Validity
    Exchangeable rows. A column that is independent of those of the model, or a model that has
    learned what they say: else the error of the model and the column share a bias.
Literature
    R. Shah, J. Peters: "The hardness of conditional independence testing and the generalised
    covariance measure", Annals of Statistics 48 (2020).
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from squamish.arrays import Array, Indices
from squamish.screening.validity import MOSTLY_ONE_VALUE, differ_in_few_rows
from squamish.statistics.correlation import correlation_p_values
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.scores import atom_shares

# Directions of the model's columns with less than this share of the largest say next to nothing,
# and a chi-square holds while they are at most this share of the rows.
LEAST_DIRECTION, MOST_DIRECTIONS = 0.1, 1 / 4


def model_basis(Z: Array, residuals: Array, model: Indices) -> Array:
    """Return an orthonormal basis of the residuals times the columns of the model, and times 1."""
    partners = np.column_stack([np.ones(len(Z)), Z[:, model]])
    return _orthonormal(np.hstack([partners * r[:, np.newaxis] for r in residuals.T]))


def _orthonormal(X: Array) -> Array:
    """Return a basis of the main directions of some columns, a quarter of the rows at most."""
    # A column of the model may have no value in any of these rows.
    norms = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    basis, singular, _ = np.linalg.svd(X / norms, full_matrices=False)
    kept = singular > LEAST_DIRECTION * singular[0]
    kept[int(MOST_DIRECTIONS * len(X)) :] = False
    return np.asarray(basis[:, kept])


def own_p_values(Z: Array, basis: Array, residuals: Array) -> Array:
    """Test columns by themselves, by their distance from the middle, and with the model's.

    A row for each of the three.
    """
    # An irrelevant column is independent of the weights, and its scores are standard
    # normal, so its coordinates in an orthonormal basis are, too.
    joint = stats.chi2.sf(np.square(basis.T @ Z).sum(axis=0), max(basis.shape[1], 1))
    atoms = atom_shares(Z)
    joint[atoms > MOSTLY_ONE_VALUE] = 1.0
    # Of ranks, so that single rows far out do not decide.
    distance = np.square(special.ndtr(Z) - 0.5)
    alone = np.stack([correlation_p_values(scores, residuals) for scores in (Z, distance)])
    return np.vstack([np.where(differ_in_few_rows(atoms, residuals), 1.0, alone), joint])


def residual_p_values(own: Array, product: Array) -> Array:
    """Combine the ways in which a column could explain residuals."""
    return combined_p_values(np.vstack([own, product]))
