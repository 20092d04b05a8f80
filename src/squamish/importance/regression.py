"""Every column regressed on all others out of sample: ridge regressions from one spectrum.

The residuals of a unit of columns given all others are those of a block of the precision matrix:
if P is the inverse of the penalised covariance, the residuals of the columns B are
``P_BB^-1 (P x)_B`` (Lauritzen, Graphical Models, 1996, section 5.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Fold, Indices
from squamish.models.folds import covering

# Ridge penalties for columns of unit variance, as shares of the number of rows: from an exact
# copy, which is found to the sixth digit, to half of what a column says.
PENALTIES = np.array([1e-6, 1e-3, 1e-2, 1e-1, 1.0])
# No regression at all is preferred unless one has a held-out error below this share of its.
# Chance alone brings an error of five folds down by some 2 / n, 1% of 200 rows.
BEATS_MEAN = 0.97
# So many units are solved at the same time.
AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Residuals:
    """What the other columns leave unexplained of some columns, out of sample.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Column minus its prediction from the columns outside its unit.
    r2 : ndarray of shape (n_columns,)
        R2 given the others, out of sample; 0 if the mean predicts as well.
    """

    values: Array
    r2: Array


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """Variances and directions of the training rows of a fold, and its test rows.

    Attributes
    ----------
    values : ndarray of shape (n_directions,)
        Variances.
    vectors : ndarray of shape (n_views * d, n_directions)
        Directions.
    held_out : ndarray of shape (n_test, n_views * d)
        The test rows, centred by the training rows.
    rotated : ndarray of shape (n_test, n_directions)
        Their coordinates.
    """

    values: Array
    vectors: Array
    held_out: Array
    rotated: Array

    @classmethod
    def of(cls, columns: Array, fold: Fold) -> _Spectrum:
        """Decompose the covariance of the training rows."""
        train, test = fold
        centred = columns[train]
        mean = centred.mean(axis=0)
        centred -= mean
        n, d = centred.shape
        if d <= n:
            values, vectors = np.linalg.eigh(centred.T @ centred / n)
            values = np.maximum(values, 0)
        else:
            _, singular, directions = np.linalg.svd(centred, full_matrices=False)
            values, vectors = np.square(singular) / n, directions.T
        del centred
        held_out = columns[test] - mean
        return cls(values, vectors, held_out, held_out @ vectors)

    def residuals(self, blocks: Indices, target: slice, penalty: float) -> Array:
        """Return the residuals of the target columns of some blocks given all outside of them.

        A row of ``blocks`` has the columns of a unit in all views. The result has the shape
        (n_test, n_blocks, n_targets).
        """
        own = self.vectors[blocks]
        # Outside of all directions in which the columns vary there is the penalty alone.
        outside = 1 / penalty if len(self.values) < self.held_out.shape[1] else 0.0
        weighted = own * (1 / (self.values + penalty) - outside)
        inner = weighted @ own.transpose(0, 2, 1) + outside * np.eye(blocks.shape[1])
        flat = weighted.reshape(-1, len(self.values)) @ self.rotated.T
        precise = flat.reshape(*blocks.shape, -1)
        if outside:
            precise += outside * self.held_out.T[blocks]
        return np.asarray(np.linalg.solve(inner, precise)[:, target].transpose(2, 0, 1))


def fold_residuals(seen: Array, target_view: int, units: Sequence[Indices], fold: Fold) -> Array:
    """Predict units of columns from all columns outside them, and return the residuals.

    Parameters
    ----------
    seen : ndarray of shape (n_samples, n_views, d)
        The same columns, plain and transformed, each standardised; the other columns are seen
        in every view.
    target_view : int
        Which of the views is to be predicted.
    units : sequence of ndarray of int
        The columns of each unit.
    fold : (train, test)
        Row numbers.

    Returns
    -------
    ndarray of shape (n_penalties + 1, n_test, n_columns)
        For every penalty, the last of which is infinite: no regression at all. The columns of
        all units follow each other.
    """
    n, n_views, d = seen.shape
    spectrum = _Spectrum.of(seen.reshape(n, n_views * d), fold)
    out = np.empty((len(PENALTIES) + 1, len(fold[1]), sum(map(len, units))))
    for columns, places in _of_one_size(units):
        size = columns.shape[1]
        blocks = np.hstack([columns + v * d for v in range(n_views)])
        target = slice(target_view * size, (target_view + 1) * size)
        for k, penalty in enumerate(PENALTIES):
            out[k][:, places] = spectrum.residuals(blocks, target, penalty)
        out[-1][:, places] = spectrum.held_out[:, blocks[:, target]]
    return out


def _of_one_size(units: Sequence[Indices]) -> Iterator[tuple[Indices, Indices]]:
    """Yield the columns of units of the same size, some at a time, and their places in a row.

    Of the units [7], [3, 5] and [4], the places are [[0], [3]] and [[1, 2]].
    """
    ends = np.cumsum([len(unit) for unit in units])
    for size in sorted({len(unit) for unit in units}):
        same = [i for i, unit in enumerate(units) if len(unit) == size]
        for start in range(0, len(same), AT_ONCE):
            some = same[start : start + AT_ONCE]
            yield (
                np.array([units[i] for i in some]),
                ends[some, np.newaxis] - np.arange(size, 0, -1),
            )


def best_residuals(
    found: Sequence[Array], units: Sequence[Indices], folds: Sequence[Fold], n_rows: int
) -> list[Residuals]:
    """Join what was found in the folds, with the penalty of the least held-out error."""
    tested = np.zeros(n_rows, dtype=bool)
    tested[np.concatenate([test for _, test in folds])] = True
    parts = [(test, part) for (_, test), part in zip(covering(folds, n_rows), found, strict=True)]
    squares = [np.square(part[:, tested[test]]).sum(axis=1) for test, part in parts]
    error = np.sum(squares, axis=0) / tested.sum()
    handicap = np.append(np.ones(len(error) - 1), BEATS_MEAN)
    choice = (error * handicap[:, np.newaxis]).argmin(axis=0)[np.newaxis]
    r2 = 1 - np.take_along_axis(error, choice, axis=0)[0] / np.maximum(error[-1], 1e-12)
    values = np.zeros((n_rows, error.shape[1]))
    for test, part in parts:
        values[test] = np.take_along_axis(part, choice[np.newaxis], axis=0)[0]
    ends = np.cumsum([len(unit) for unit in units])[:-1]
    both = zip(np.split(values, ends, axis=1), np.split(r2, ends), strict=True)
    return [Residuals(own, share) for own, share in both]
