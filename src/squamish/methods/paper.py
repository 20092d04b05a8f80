"""The method of the paper, Algorithms 1 and 2 as printed.

L. Pfannschmidt and B. Hammer, "Sequential Feature Classification in the Context of
Redundancies". The sets have their names in the paper: A, all relevant features; M, a
minimal set; V, the table restricted to A; S and W, strong and weak features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from squamish.arrays import Array
from squamish.compatibility import BorutaWithShadows
from squamish.errors import InputError, check_choice, check_range, warn_caller
from squamish.evidence import PaperEvidence
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.execution.workers import OutOfTime, Workers
from squamish.models.forests import fit_forest, lightgbm_model
from squamish.statistics.prediction import PredictionInterval, prediction_interval
from squamish.table.table import Table


def _refuse_what_the_paper_does_not_know(X: Table) -> None:
    given = {
        "sample_weight": X.weights is not None,
        "groups": X.clusters is not None,
        "cv": X.folds is not None or X.n_folds is not None,
        "feature_groups": X.n_features < X.n_columns,
        "exposure": X.y.dtype.names is not None,
        "task='survival'": X.family.is_censored,
    }
    unknown = [name for name, is_given in given.items() if is_given]
    if unknown:
        raise InputError(f"method='paper' knows no {unknown[0]}; method='crossfit' does")


class PaperMethod(BaseEstimator):  # type: ignore[misc]
    """Boruta, a sparse forest, and a removal test against permuted features.

    Categories are numbers to it, in the order of their labels.

    The defaults are those of the paper's section on selection methods. Where it is
    silent they are the defaults of LightGBM and of BorutaPy, except ``boruta_perc`` and
    ``boruta_n_estimators``.

    Parameters
    ----------
    n_null_samples : int
        Number of permuted features drawn for each null distribution (the paper's N).
    p : float
        Probability in each tail of the prediction intervals.
    feature_fraction : float
        Share of the columns each tree may use in the forests for M, loss and removal.
    n_estimators : int
        Trees in each of these forests.
    num_leaves, max_depth, boosting_type, bagging_fraction, bagging_freq, min_child_samples
        Passed on to LightGBM for every forest, Boruta's included.
    boruta_feature_fraction : float
        The same share in Boruta's forests, low so that copies share their importance.
    boruta_n_estimators : int or "auto"
        Trees in Boruta's forests; "auto" lets BorutaPy choose by the number of columns.
    boruta_perc : int
        Percentile of the shadow importances that a feature has to exceed for a hit. The
        paper does not tell; the code that its authors published has 70. BorutaPy's default of
        100 keeps noise out, but finds less than half of the relevant features of the paper's
        non-linear sets; 70 finds most, and lets noise in where the columns are many and the
        rows few.
    boruta_alpha : float
        Level of Boruta's test on the number of hits.
    boruta_max_iter : int
        Boruta stops before this round; a feature still undecided is not in A.
    one_seed : bool
        Give all forests but Boruta's the same seed. The code that the paper's authors published
        does so, and recall of strong features comes near the printed one. But the null
        distributions then lack the chance of a forest, which the paper wants them to hold: they
        are narrow, and where relevant features are few, copies come out strong.
    """

    # The share of the time that each stage usually takes.
    STAGES: ClassVar[dict[str, float]] = {
        "Boruta": 0.5,
        "importance of permuted columns": 0.25,
        "loss with permuted columns": 0.2,
        "removals": 0.05,
    }

    def __init__(
        self,
        *,
        n_null_samples: int = 50,
        p: float = 1e-6,
        feature_fraction: float = 0.8,
        n_estimators: int = 100,
        num_leaves: int = 32,
        max_depth: int = 5,
        boosting_type: str = "rf",
        bagging_fraction: float = 0.632,
        bagging_freq: int = 1,
        min_child_samples: int = 20,
        boruta_feature_fraction: float = 0.1,
        boruta_n_estimators: int | str = "auto",
        boruta_perc: int = 70,
        boruta_alpha: float = 0.05,
        boruta_max_iter: int = 100,
        one_seed: bool = False,
    ) -> None:
        self.n_null_samples = n_null_samples
        self.p = p
        self.feature_fraction = feature_fraction
        self.n_estimators = n_estimators
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.boosting_type = boosting_type
        self.bagging_fraction = bagging_fraction
        self.bagging_freq = bagging_freq
        self.min_child_samples = min_child_samples
        self.boruta_feature_fraction = boruta_feature_fraction
        self.boruta_n_estimators = boruta_n_estimators
        self.boruta_perc = boruta_perc
        self.boruta_alpha = boruta_alpha
        self.boruta_max_iter = boruta_max_iter
        self.one_seed = one_seed

    def classify(
        self, X: Table, rng: np.random.Generator, workers: Workers | None = None
    ) -> tuple[NDArray[np.int64], PaperEvidence]:
        """Run Algorithm 2, the iterative decomposition.

        Parameters
        ----------
        X : Table
            Features and target. No column is constant; there may be none at all.
        rng : numpy.random.Generator
            Source of all seeds.
        workers : Workers or None
            Who fits the forests; one after the other if None.

        Returns
        -------
        classes : ndarray of int
            The class of every column.
        evidence : PaperEvidence
            What the verdict rests on.
        """
        self.check_parameters()
        _refuse_what_the_paper_does_not_know(X)
        self._warn_if_no_tree_can_split(len(X.y))
        boruta_rng, shadow_rng, forest_rng, loss_rng, removal_rng = rng.spawn(5)
        forest = self._forest(self.feature_fraction)
        if self.one_seed:
            forest["random_state"] = int(rng.integers(2**31))

        workers = workers or Workers()
        report, d = workers.reporter, X.n_features
        A = M = np.zeros(d, dtype=bool)
        history, shadows = np.zeros((0, d)), np.zeros((0, 3))
        importances, removal_loss = np.zeros(d), np.full(d, np.nan)
        irrel_bounds = loss_bounds = None
        undecided = np.ones(d, dtype=bool)
        with suppress(OutOfTime):
            report.begin("Boruta", self.boruta_max_iter - 1)
            A, history, shadows = self._boruta(X, boruta_rng, workers)
            undecided = A
            report.begin("importance of permuted columns", self.n_null_samples)
            irrel_bounds = self._null_distributions(X, forest, shadow_rng, workers)[1]
            M, importances = _imp_selection(X, forest, irrel_bounds, forest_rng)
            M &= A

            V = X.take(A)
            undecided = M
            report.begin("loss with permuted columns", self.n_null_samples)
            loss_bounds = self._null_distributions(V, forest, loss_rng, workers)[0]
            report.begin("removals", int(M.sum()))
            jobs = [(j, forest) for j in np.flatnonzero(M[A]).tolist()]
            removal_loss[M] = workers.run(_loss_without, V, jobs, removal_rng)
            undecided = np.zeros(d, dtype=bool)

        # Only a loss above the interval counts: a better model proves no relevance.
        S = M & (removal_loss > (loss_bounds.upper if loss_bounds else np.inf))
        W = A & ~S

        # A model without columns is a constant and takes no fit.
        n_nulls = (irrel_bounds is not None) + (loss_bounds is not None)
        n_fits = len(history) + n_nulls * self.n_null_samples + (irrel_bounds is not None)
        evidence = PaperEvidence(
            all_relevant=A,
            minimal=M,
            boruta_history=history,
            boruta_shadows=shadows,
            importances=importances,
            importance_interval=irrel_bounds,
            loss_interval=loss_bounds,
            removal_loss=removal_loss,
            n_fits=n_fits + (int(np.sum(~np.isnan(removal_loss))) if A.sum() > 1 else 0),
            undecided=undecided,
        )
        return np.select([S, W], [STRONG, WEAK], IRRELEVANT), evidence

    def _boruta(
        self, X: Table, rng: np.random.Generator, workers: Workers
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        """Find A, all relevant features, and the importances in every round, shadows too."""
        if X.n_features == 0:
            return np.zeros(0, dtype=bool), np.zeros((0, 0)), np.zeros((0, 3))
        forest = lightgbm_model(X.family, **self._forest(self.boruta_feature_fraction))
        boruta = BorutaWithShadows(
            forest,
            n_estimators=self.boruta_n_estimators,
            perc=self.boruta_perc,
            alpha=self.boruta_alpha,
            max_iter=self.boruta_max_iter,
            random_state=np.random.RandomState(rng.integers(2**32)),
        )

        def in_workers(importances: Callable[[], Array]) -> Array:
            """Let these fit the forest of a round, and remember what it found."""
            return workers.run(_importances, importances, [0], np.random.default_rng(0))[0]

        boruta.fit_rounds_by(in_workers)
        boruta.fit(X.X, X.y)
        # Rank 1 is confirmed. (support_ also holds undecided features if none was rejected.)
        return boruta.ranking_ == 1, boruta.importance_history_[1:], np.array(boruta.shadows)

    def _null_distributions(
        self, X: Table, forest: dict[str, Any], rng: np.random.Generator, workers: Workers
    ) -> tuple[PredictionInterval, PredictionInterval] | tuple[None, None]:
        """Run Algorithm 1: intervals of the loss and of the importance of irrelevant features."""
        if X.n_features == 0:
            return None, None
        samples = workers.run(_null_sample, X, [forest] * self.n_null_samples, rng)
        losses, importances = zip(*samples, strict=True)
        return prediction_interval(losses, self.p), prediction_interval(importances, self.p)

    def check_parameters(self) -> None:
        """Raise an InputError if a parameter is not what it must be."""
        for name in ("n_null_samples", "num_leaves", "boruta_max_iter"):
            check_range(name, getattr(self, name), at_least=2, integer=True)
        check_range("p", self.p, above=0, below=0.5)
        for name in ("feature_fraction", "boruta_feature_fraction", "bagging_fraction"):
            check_range(name, getattr(self, name), above=0, at_most=1)
        for name in ("n_estimators", "max_depth", "bagging_freq", "min_child_samples"):
            check_range(name, getattr(self, name), at_least=1, integer=True)
        check_range("boruta_perc", self.boruta_perc, above=0, at_most=100)
        check_range("boruta_alpha", self.boruta_alpha, above=0, below=1)
        if self.boruta_n_estimators != "auto":
            check_range("boruta_n_estimators", self.boruta_n_estimators, at_least=1, integer=True)
        check_choice("boosting_type", self.boosting_type, ("rf", "gbdt", "dart"))
        check_choice("one_seed", self.one_seed, (False, True))
        if self.boosting_type == "rf" and self.bagging_fraction == 1:
            raise InputError("bagging_fraction is 1; boosting_type 'rf' needs a smaller one")

    def _warn_if_no_tree_can_split(self, n_samples: int) -> None:
        needed = math.ceil(2 * self.min_child_samples / self.bagging_fraction)
        if n_samples < needed:
            warn_caller(
                f"the table has {n_samples} rows, but trees with min_child_samples="
                f"{self.min_child_samples} and bagging_fraction={self.bagging_fraction} cannot "
                f"split fewer than {needed}: no feature can come out relevant"
            )

    def _forest(self, feature_fraction: float) -> dict[str, Any]:
        """Return the LightGBM parameters of a forest."""
        return dict(
            n_estimators=self.n_estimators,
            num_leaves=self.num_leaves,
            max_depth=self.max_depth,
            boosting_type=self.boosting_type,
            subsample=self.bagging_fraction,
            subsample_freq=self.bagging_freq,
            min_child_samples=self.min_child_samples,
            colsample_bytree=feature_fraction,
        )


def _imp_selection(
    X: Table,
    params: dict[str, Any],
    irrel_bounds: PredictionInterval | None,
    rng: np.random.Generator,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Find M, the features more important in a sparse forest than irrelevant ones are."""
    forest = fit_forest(X, rng, **params)
    threshold = irrel_bounds.upper if irrel_bounds else np.inf
    return forest.importances > threshold, forest.importances


def _importances(importances: Callable[[], Array], _: int, __: np.random.Generator) -> Array:
    return importances()


def _null_sample(X: Table, forest: dict[str, Any], rng: np.random.Generator) -> tuple[float, float]:
    """Return the loss of a forest with a permuted feature, and the importance of that."""
    s = generate_permuted_feature(X, rng)
    model = fit_forest(X.with_column(s), rng, **forest)
    return model.loss, float(model.importances[-1])


def _loss_without(V: Table, job: tuple[int, dict[str, Any]], rng: np.random.Generator) -> float:
    """Return the loss of a forest without a feature."""
    j, forest = job
    reduced = V.take(np.delete(np.arange(V.n_features), j))
    return fit_forest(reduced, rng, **forest).loss


def generate_permuted_feature(X: Table, rng: np.random.Generator) -> NDArray[np.float64]:
    """Permute a randomly chosen column: distributed like a real one, and irrelevant."""
    return rng.permutation(X.X[:, rng.integers(X.n_features)])
