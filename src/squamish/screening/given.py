"""Tests given adjustments: whether a column tells of the target what these do not.

Hypothesis
    Given the columns that are adjusted for, the target does not depend on the column: by itself, by
    its square, or in a product with an adjustment or with another column.
Statistic
    The generalised covariance measure: the sum of two residuals, that of the target given the
    adjustments, by the race of learners, and that of the column (its square, the product) given
    them, by smooth curves, over its standard error, which is estimated from its own terms, those of
    a cluster taken together. Both are out of sample; what is left of lines of the adjustments, and
    of the levels of their categories, is taken off in the rows themselves. What would be found is
    asked again with a residual that boosted trees, steps and kernels find nothing in.
Null distribution
    Student's t with as many degrees of freedom as clusters less one, and a bound by Hoeffding where
    these are few; the tail corrected for that of shuffled residuals (saddlepoint); corrected for
    the number of targets and partners (Bonferroni). Where adjustments are categories with enough
    rows in every cell of levels: all orders of the column within cells, by their first three
    moments.
Validity
    Independent clusters. The product of the errors of both regressions has to be small beside
    1 / sqrt n; within cells, exchangeable rows and nothing else. Abstains for columns that are
    nearly constant, and for those of which the adjustments leave next to nothing.
Literature
    R. Shah, J. Peters: "The hardness of conditional independence testing and the generalised
    covariance measure", Annals of Statistics 48 (2020); C. Scheidegger, J. Hoerrmann, P. Buehlmann:
    "The weighted generalised covariance measure", JMLR 23 (2022), for products with adjustments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from squamish.arrays import Array, Indices, Mask
from squamish.execution.workers import OutOfTime
from squamish.importance.context import MOST_CONTEXT
from squamish.importance.imputation import impute
from squamish.models.crossfit import CrossFit
from squamish.screening.jobs import Job, run_jobs
from squamish.screening.odds import LEAST_LEFT
from squamish.screening.partial import COLLINEAR, Design, beyond_other_features
from squamish.screening.product import KEPT
from squamish.screening.validity import NEARLY_CONSTANT, WORTH_CONFIRMING
from squamish.statistics.correlation import FEW_ROWS
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.paired import cluster_sums
from squamish.statistics.pairs import ranges
from squamish.statistics.permutation import tail_inflation
from squamish.statistics.tails import with_skewed_tails
from squamish.table.parts import target_encodings

# Columns of a job: few, as what may be found is smoothed again, one by one.
AT_ONCE = 16


def targets_given(fit: CrossFit, residuals: Array | None = None) -> Array:
    """Return what adjustments leave of the target in the tested rows.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    residuals : ndarray of shape (n_tested, n_targets) or None
        Those of a model of more columns; None for those of the adjustments alone.
    """
    terms, adjustment = fit.terms, fit.adjustment
    if residuals is None and terms.cells is not None and not fit.family.is_censored:
        residuals = fit.scores[fit.tested]
    elif residuals is None and adjustment is not None:
        residuals = fit.family.residuals(adjustment.predictions, fit.table.y[fit.tested])
        if terms.cells is None:
            residuals = np.column_stack(fit.run(_without_curves, list(residuals.T)))
    return terms.without_lines(np.asarray(residuals))


def p_values_given(
    fit: CrossFit,
    targets: Array,
    asked: Mask,
    partners: Indices,
    *,
    of_products: Array | None = None,
    partial: bool = False,
) -> tuple[dict[str, Array], bool]:
    """Test parts by themselves ("own"), by their squares, and in products ("product").

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    targets : ndarray of shape (n_tested, n_targets)
        What adjustments, or a model, leave of the target.
    asked : ndarray of bool of shape (n_parts,)
        Which parts are tested; others have a p-value of 1.
    partners : ndarray of int
        Parts with which products are made, beside the adjustments.
    of_products : ndarray of shape (n_tested, n_targets) or None
        The same for products, if that is something else.
    partial : bool
        Whether all parts are tested given all other features, too ("partial"), where rows are
        alike.

    Returns
    -------
    p_values : dict of str to ndarray of shape (n_parts,)
        Of the tests that were finished.
    complete : bool
        Whether there was time for all of them.
    """
    columns, beyond = np.flatnonzero(asked), targets if of_products is None else of_products
    some = [columns[a:b] for a, b in ranges(len(columns), size=AT_ONCE)]
    jobs: dict[str, list[Job]] = {
        "own": [(_own, (targets, own)) for own in some],
        "product": [(_product, (beyond, own, partners)) for own in some],
    }
    if partial and fit.table.rows_are_alike:
        jobs["partial"] = [(partial_p_values_given, (targets,))]
    fit.workers.reporter.expect(sum(map(len, jobs.values())))
    found, complete = run_jobs(fit, jobs, np.random.default_rng(0))
    p: dict[str, Array] = {}
    for name in ("own", "product"):
        if name in found:
            p[name] = np.ones(len(asked))
            p[name][columns] = np.concatenate([np.zeros(0), *found[name]])
    if "partial" in found:
        p["partial"] = found["partial"][0]
    return p, complete


def partial_p_values_given(fit: CrossFit, targets: Array) -> Array:
    """Test every part given all other features, in a line beside any curve of the adjustments.

    A partially linear model: least squares on what adjustments leave of target and parts, with
    standard errors by leave-one-out residuals of the rows (the sandwich estimate HC3).
    """
    columns = np.arange(len(fit.given.feature))
    Z = _left_of(fit, columns)
    scale = Z.std(axis=0)
    Z = Z / np.where(scale > 1e-9, scale, 1.0)
    design = Design.of(Z, targets, fit.given.feature)
    abstains = design.abstains | (scale <= 1e-9) | (fit.atom_shares > NEARLY_CONSTANT)
    p = np.ones((targets.shape[1], len(columns)))
    if abstains.all():
        return p[0]
    line = _Line.of(design)
    for t, r in enumerate(targets.T):
        p[t] = np.where(abstains, 1.0, line.p_values(r))
        for j in np.flatnonzero(p[t] < _worth_confirming(fit)):
            test = _Test(fit, line.without(r, int(j))[:, np.newaxis])
            p[t, j] = test.inflated(line.own[:, j], p[t, j])
    return np.asarray(np.minimum(1, p.min(axis=0) * len(p)))


@dataclass(frozen=True, eq=False)
class _Line:
    """Least squares on all parts.

    Attributes
    ----------
    design : Design
        The parts.
    inverse : ndarray of shape (d, d)
        The generalised inverse of their products.
    beyond : ndarray of shape (d, d)
        The weights of all parts in what other features leave of each.
    own : ndarray of shape (n_tested, d)
        What they leave.
    """

    design: Design
    inverse: Array
    beyond: Array
    own: Array

    @classmethod
    def of(cls, design: Design) -> _Line:
        """Take what other features tell off each part."""
        gram = design.Z.T @ design.Z
        inverse = np.asarray(
            np.linalg.pinv(gram, rcond=COLLINEAR, hermitian=True), dtype=np.float64
        )
        beyond = beyond_other_features(inverse, design.feature)[0]
        return cls(design, inverse, beyond, design.Z @ beyond)

    def p_values(self, r: Array) -> Array:
        """Test all parts against a target."""
        Z = self.design.Z
        n, d = Z.shape
        leverage = np.einsum("ij,ij->i", Z @ self.inverse, Z)
        left = (r - Z @ (self.inverse @ (Z.T @ r))) / np.maximum(1 - leverage, LEAST_LEFT)
        error = np.sqrt(np.square(left) @ np.square(self.own))
        total = np.abs(r @ self.own)
        ratio = np.divide(total, error, out=np.zeros_like(error), where=error > 1e-12)
        return np.asarray(2 * stats.t.sf(ratio, n - d - 1))

    def without(self, r: Array, j: int) -> Array:
        """Return the residuals of the model without the feature of a part."""
        parts = np.flatnonzero(self.design.feature == self.design.feature[j])
        beta = self.inverse @ (self.design.Z.T @ r)
        return np.asarray(r - self.design.Z @ (beta - self.beyond[:, parts] @ beta[parts]))


def explaining_given(fit: CrossFit, residuals: Array, asked: Mask, model: Indices) -> Array:
    """Test parts against the residuals of a model, also in products with its parts.

    Raises OutOfTime if there is no time for it.
    """
    found, complete = p_values_given(fit, targets_given(fit, residuals), asked, model)
    if not complete:
        raise OutOfTime({})
    return combined_p_values(np.stack([found["own"], found["product"]]))


def level_p_value_given(fit: CrossFit, targets: Array, levels: Indices) -> float:
    """Test a category of many levels: what they say of the target, learned from other rows."""
    everywhere = np.zeros((len(fit.table.y), targets.shape[1]))
    everywhere[fit.tested] = targets
    said = np.zeros_like(everywhere)
    for fold in fit.folds:
        rows = everywhere, fold, fit.table.weights, fit.table.clusters
        said[fold[1]] = target_encodings([(0, levels)], *rows)[0][fold[1]]
    test = _Test(fit, targets)
    p = test.confirmed(test.left(said[fit.tested]))
    return float(np.minimum(1, p.min() * len(p)))


def partners_given(fit: CrossFit) -> Indices:
    """Return the parts that products are made with: all, unless they are many."""
    d = len(fit.given.feature)
    return np.arange(d if d <= MOST_CONTEXT else 0)


def _own(fit: CrossFit, targets: Array, columns: Indices) -> Array:
    test, Z = _Test(fit, targets), _left_of(fit, columns)
    abstains = fit.atom_shares[columns] > NEARLY_CONSTANT
    p = [test.confirmed(x, abstains) for x in (Z, test.left(np.square(Z)))]
    return combined_p_values(np.stack(p))


def _product(fit: CrossFit, targets: Array, columns: Indices, partners: Indices) -> Array:
    """Test parts in products with adjustments, and with other parts."""
    test, Z, own = _Test(fit, targets), fit.terms.parts.ranked, _left_of(fit, columns)
    beside = np.hstack([Z, _left_of(fit, partners)])
    number = np.append(np.full(Z.shape[1], -1), partners)
    abstains = fit.atom_shares[columns] > NEARLY_CONSTANT
    p = np.ones((len(number), len(columns)))
    for k, (j, x) in enumerate(zip(number, beside.T, strict=True)):
        p[k] = test.approximate(own * x[:, np.newaxis])
        p[k, abstains | (columns == j)] = 1.0
    p = np.minimum(1, p * max(len(p), 1))
    for c in range(len(columns)):
        kept = np.argsort(p[:, c], kind="stable")[:KEPT]
        again = [test.inflated(own[:, c] * beside[:, k], p[k, c], len(p)) for k in kept]
        p[:, c] = 1.0
        p[kept, c] = again
    return np.asarray(p.min(axis=0, initial=1.0))


def _left_of(fit: CrossFit, columns: Indices) -> Array:
    """Return what adjustments leave of parts, in the tested rows."""
    return fit.terms.without_lines(fit.given.ranked[fit.tested][:, columns])


def _worth_confirming(fit: CrossFit) -> float:
    """Return the p-value from which on nothing is confirmed.

    Over all features, one that is larger than a share of their number proves nothing at any level.
    """
    return min(WORTH_CONFIRMING, 1 / max(fit.table.n_features, 1))


def _without_curves(fit: CrossFit, column: Array, _: np.random.Generator) -> Array:
    """Take off what trees, steps or kernels of the adjustments tell of a column."""
    others = fit.terms.parts.plain
    if others.shape[1] == 0:
        return column
    return column - impute(others, column, np.zeros(len(column)), fit.tested_folds)


@dataclass(frozen=True, eq=False)
class _Test:
    """Compares columns of which adjustments are taken off with targets, in the tested rows."""

    fit: CrossFit
    targets: Array

    def left(self, columns: Array) -> Array:
        """Take off what adjustments tell of other columns."""
        terms = self.fit.terms
        return terms.without_lines(columns - terms.means(columns, self.fit.tested_folds))

    def confirmed(self, columns: Array, abstains: Sequence[bool] | Mask = ()) -> Array:
        """Test columns, with a better residual for those that would be found."""
        p = self.approximate(columns)
        if len(abstains):
            p[np.asarray(abstains, dtype=bool)] = 1.0
        return np.array([self.inflated(x, p_x) for x, p_x in zip(columns.T, p, strict=True)])

    def inflated(self, column: Array, p: float, n_tests: int = 1) -> float:
        """Return the p-value of a column; asked again if it is small, corrected for some tests."""
        if p >= _worth_confirming(self.fit):
            return p
        if self.fit.terms.cells is None:
            column = _without_curves(self.fit, column, np.random.default_rng(0))
        x = self.fit.terms.without_lines(column[:, np.newaxis])
        again = n_tests * float(self.approximate(x)[0])
        if self.fit.clusters is None:
            w = np.ones(len(x)) if self.fit.weights is None else self.fit.weights
            again *= max(tail_inflation(w * r, x)[0] for r in self.targets.T)
        return min(1.0, max(p, again))

    def approximate(self, columns: Array) -> Array:
        """Test columns as they are, corrected for the number of targets."""
        alike = self.fit.table.rows_are_alike and not self.fit.family.is_censored
        exact = self.fit.terms.cells is not None and alike
        p = self._within_cells(columns) if exact else self._by_terms(columns)
        return np.minimum(1, p.min(axis=0, initial=1.0) * self.targets.shape[1])

    def _by_terms(self, columns: Array) -> Array:
        """Compare sums with standard errors by their own terms; a row for each target."""
        fit = self.fit
        w = np.ones(len(columns)) if fit.weights is None else fit.weights
        # A residual is smaller than an error, by what its row draws the adjustments to itself.
        root = np.sqrt(fit.terms.spare)[:, np.newaxis]
        out = np.ones((self.targets.shape[1], columns.shape[1]))
        for t, r in enumerate(self.targets.T):
            terms = (w * r)[:, np.newaxis] * columns
            spread = cluster_sums(terms / root, fit.clusters)
            error = np.sqrt(np.square(spread).sum(axis=0))
            total = np.abs(terms.sum(axis=0))
            ratio = np.divide(total, error, out=np.zeros_like(error), where=error > 1e-12)
            n = len(spread)
            t_value = ratio * np.sqrt((n - 1) / np.maximum(n - np.square(ratio), 1e-12))
            out[t] = 2 * stats.t.sf(t_value, max(n - 1, 1))
            if n < FEW_ROWS:
                # Terms may all be equal by chance.
                out[t] = np.maximum(out[t], 2 * np.exp(-np.square(ratio) / 2))
        return out

    def _within_cells(self, columns: Array) -> Array:
        """Compare sums with all orders of the columns within cells; a row for each target."""
        cells, out = self.fit.terms.cells, np.ones((self.targets.shape[1], columns.shape[1]))
        # A product with a column is not centred.
        columns = self.fit.terms.without_lines(columns)
        for t, r in enumerate(self.targets.T):
            variance, cube = _moments_of_orders(columns, r, np.asarray(cells))
            scale = np.sqrt(np.maximum(variance, 1e-300))
            ratio = np.where(variance > 1e-12, np.abs(r @ columns) / scale, 0.0)
            out[t] = with_skewed_tails(2 * stats.norm.sf(ratio), cube / scale**3)
        return out


def _moments_of_orders(columns: Array, r: Array, cells: Indices) -> tuple[Array, Array]:
    """Return variance and third central moment of sums over all orders of columns within cells.

    Columns and ``r`` have a mean of zero in every cell.
    """
    variance, cube = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    for k in range(int(cells.max()) + 1):
        X, own = columns[cells == k], r[cells == k]
        n = len(own)
        if n > 1:
            variance += np.square(X).sum(axis=0) * np.square(own).sum() / (n - 1)
        if n > 2:
            cube += (X**3).sum(axis=0) * (own**3).sum() * n / ((n - 1) * (n - 2))
    return variance, cube
