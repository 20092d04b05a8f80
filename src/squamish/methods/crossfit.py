"""The default method: out-of-sample tests of every column, one stage after the other.

It keeps the sequence of the paper. All relevant columns come first: a column is relevant as
soon as one sufficient proof says so. Then each of them is tested for what it adds to all
others: the best model is kept and the column is redrawn from its distribution given the
others; if they tell much about it, a refit without it has to agree. What is relevant and not
strong is weak, and its substitutes are those that predict it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from squamish.errors import InputError, check_range
from squamish.evidence.evidence import CrossfitEvidence
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.execution.workers import OutOfTime, Workers
from squamish.importance.removal import Removals
from squamish.methods.case import MOST_CONTEXT, Case, closest
from squamish.models import sample_size
from squamish.models.crossfit import CrossFit
from squamish.models.learners import Array, Learner
from squamish.redundancy.redundancy import minimal_set, replaceable_groups
from squamish.screening import proofs
from squamish.screening import screen as screening
from squamish.screening.shadow import FEW_GROUPS
from squamish.statistics.multiplicity import combined_p_values, holm
from squamish.statistics.paired import cluster_sums
from squamish.table.table import Table

# What each proof is worth when they are combined. Dependence of a column on its own is the
# most common one and gets the most.
WEIGHTS = {
    "marginal": 0.3,
    "product": 0.15,
    "partial": 0.1,
    "shadow": 0.1,
    "association": 0.05,
    "useful": 0.2,
    "trees": 0.1,
}
# Groups with a combined p-value above this are not worth a test in the trees.
HOPE = 0.3
# How often the model is extended by columns that explain what it leaves unexplained.
MOST_ROUNDS = 3


class CrossfitMethod(BaseEstimator):  # type: ignore[misc]
    """Out-of-sample removal tests with the learner that fits the table best.

    Parameters
    ----------
    alpha : float
        Family-wise error of calling an irrelevant column relevant, and of calling a
        replaceable column strong.
    min_effect : float
        A strong column costs at least this share of what the model gains over the
        constant prediction.
    n_folds : int
        Number of folds; fewer if the rarest class, or the table, has fewer rows. Not used if
        folds are asked for.
    power : float
        Of more than 50,000 rows, models see a random sample: so many that a cost of
        ``min_effect`` is shown to be above zero with this probability, from 20,000 to 100,000.
        With a power of 1 they see all. Tests without a model see all rows as long as these are
        alike: without weights and groups.
    """

    # The share of the time that each stage usually takes.
    STAGES: ClassVar[dict[str, float]] = {
        "columns alone and in pairs": 0.4,
        "the best learner": 0.15,
        "trees on all columns": 0.2,
        "what each column adds": 0.2,
        "substitutes": 0.05,
    }

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        min_effect: float = 0.01,
        n_folds: int = 5,
        power: float = 0.95,
    ) -> None:
        self.alpha = alpha
        self.min_effect = min_effect
        self.n_folds = n_folds
        self.power = power

    def sample_size(self, pilot: Table) -> int:
        """Return how many rows models should see, by what trees find in a few of them."""
        loss, gain = sample_size.pilot_loss(pilot)
        needed = sample_size.rows_needed(
            loss, gain, pilot.task, pilot.n_features, self.alpha, self.min_effect, self.power
        )
        return int(np.clip(needed, 2 * sample_size.PILOT, sample_size.MOST_ROWS))

    def classify(
        self,
        X: Table,
        rng: np.random.Generator,
        workers: Workers | None = None,
        screened: Mapping[str, Array] | None = None,
    ) -> tuple[NDArray[np.int64], CrossfitEvidence]:
        """Decide the class of every column.

        Parameters
        ----------
        X : Table
            Features and target. No column is constant; there may be none at all.
        rng : numpy.random.Generator
            Source of all seeds.
        workers : Workers or None
            Who fits the models; one after the other if None.
        screened : mapping of str to ndarray of shape (n_columns,), or None
            p-values of tests, by their names, that come from more rows than these.

        Returns
        -------
        classes : ndarray of int
            The class of every column.
        evidence : CrossfitEvidence
            What the verdict rests on.
        """
        self.check_parameters()
        self.check_classes(X)
        fold_rng, shadow_rng, tree_rng, removal_rng = rng.spawn(4)
        case = self._open(X, fold_rng, workers or Workers())

        undecided = np.ones(X.n_features, dtype=bool)
        with suppress(OutOfTime):
            groups = self._prove_without_model(case, shadow_rng, screened or {})
            self._prove_useful(case)
            if self._prove_in_trees(case, groups, tree_rng):
                case.race(case.relevant)
            undecided[:] = False
        removal = Removals(case, self.alpha, self.min_effect)
        with suppress(OutOfTime):
            removal.run(removal_rng)
        undecided[case.relevant] |= removal.undecided
        classes = np.full(X.n_features, IRRELEVANT)
        classes[case.relevant] = np.where(removal.strong, STRONG, WEAK)
        return classes, self._evidence(case, classes, removal, undecided)

    def check_parameters(self) -> None:
        """Raise an InputError if a parameter is not what it must be."""
        check_range("alpha", self.alpha, above=0, below=1)
        check_range("min_effect", self.min_effect, at_least=0, below=1)
        check_range("n_folds", self.n_folds, at_least=2, integer=True)
        check_range("power", self.power, above=0, at_most=1)

    @staticmethod
    def check_classes(X: Table) -> None:
        """Raise an InputError if a class has a single row."""
        if X.task == "classification":
            single = [X.labels[c] for c in np.flatnonzero(np.bincount(X.y) == 1)]
            if single:
                raise InputError(
                    f"y has one row only of class {', '.join(single)}; every class must have 2 "
                    "or more, so that one can be predicted from the others"
                )

    def _open(self, X: Table, rng: np.random.Generator, workers: Workers) -> Case:
        """Lay out the table in parts and folds, and bound the influence of extreme amounts."""
        y = X.y
        if X.task == "regression":
            low, high = np.quantile(y, [0.25, 0.75])
            if high > low:
                y = np.clip(y, low - 3 * (high - low), high + 3 * (high - low))
            y = (y - y.mean()) / y.std()
        X = replace(X, y=y)
        rarest = int(np.bincount(y).min()) if X.task == "classification" else len(y)
        targets = proofs.target_scores(X)
        n_folds = min(X.n_folds or self.n_folds, rarest)
        fit = CrossFit.over(X, targets, n_folds, rng, workers)
        case = Case.about(X, fit, targets)
        case.p = {name: np.ones(X.n_features) for name in WEIGHTS}
        return case

    def _prove_without_model(
        self, case: Case, rng: np.random.Generator, screened: Mapping[str, Array]
    ) -> NDArray[np.intp]:
        """Stage 1: dependence that shows without the best model. Returns correlation groups."""
        X, Z = case.table, case.fit.parts.ranked
        level_rng, shadow_rng = rng.spawn(2)
        n_steps = len(case.fit.parts.many_levels) + screening.n_jobs(Z.shape[1])
        case.report.begin("columns alone and in pairs", n_steps)
        groups = screening.find_groups(case)
        found: dict[str, Array] = {}
        late: OutOfTime | None = None
        if Z.shape[1] and X.rows_are_alike:
            found, late = screening.prove(case, groups, shadow_rng, set(screened))
        elif Z.shape[1]:
            partners = np.arange(Z.shape[1] if Z.shape[1] <= MOST_CONTEXT else 0)
            found = proofs.cautious_p_values(Z, case.targets, X.weights, X.clusters, partners)
        case.p |= {name: case.of_features(p) for name, p in found.items()}
        first = np.unique(X.feature, return_index=True)[1]
        case.p |= {name: p[first] for name, p in screened.items()}
        self._prove_by_levels(case, level_rng)
        self._decide(case)
        if late is not None:
            raise late
        return groups

    @staticmethod
    def _prove_by_levels(case: Case, rng: np.random.Generator) -> None:
        """Test categories of many levels, whose parts are no proof: they know the target."""
        X, parts = case.table, case.fit.parts
        found: dict[int, list[float]] = {}
        for feature, levels in parts.many_levels:
            p = proofs.level_p_value(levels, case.targets, rng, X.weights, X.clusters)
            found.setdefault(feature, []).append(p)
            case.report.step()
        for feature, p_values in found.items():
            if feature in parts.feature:
                p_values.append(float(case.p["marginal"][feature]))
            shares = np.full(len(p_values), 1 / len(p_values))
            own = np.array(p_values)[:, np.newaxis]
            case.p["marginal"][feature] = combined_p_values(own, shares)[0]

    @staticmethod
    def _prove_by_association(case: Case) -> None:
        """Take in what depends on features that are relevant already."""
        known, X = case.parts_of(case.relevant), case.table
        if len(known) == 0:
            return
        Z, weights = case.fit.parts.ranked, X.weights
        if X.clusters is not None:
            # One observation for each cluster: its mean.
            rows = np.ones(len(Z)) if weights is None else weights
            weights = cluster_sums(rows, X.clusters)
            Z = cluster_sums(Z * rows[:, np.newaxis], X.clusters) / weights[:, np.newaxis]
        p = case.of_features(proofs.association_p_values(Z, known, weights))
        # What is relevant by its own proofs needs none by others.
        p[case.relevant] = case.p["association"][case.relevant]
        case.p["association"] = p

    def _prove_useful(self, case: Case) -> None:
        """Stage 2: features that explain what the best model without them leaves unexplained.

        Those that do join the model, and what is left is looked at again.
        """
        rounds: list[Array] = []
        n_learners = len(case.portfolio(case.relevant))
        case.report.begin("the best learner", n_learners * len(case.fit.folds))
        for n_left in range(MOST_ROUNDS, 0, -1):
            A = case.relevant
            if len(A) == 0:
                return
            p = self._residual_p_values(case, case.race(A).predictions)
            p[A] = case.p["useful"][A]
            # A round more would test the same again as long as the model stays the same.
            everything = np.stack([*rounds, *[p] * n_left])
            rounds.append(p)
            case.p["useful"] = combined_p_values(everything, np.full(MOST_ROUNDS, 1 / MOST_ROUNDS))
            if not self._decide(case):
                return
        case.race(case.relevant)

    @staticmethod
    def _residual_p_values(case: Case, prediction: Array) -> Array:
        fit, model = case.fit, case.parts_of(case.relevant)
        residuals = case.residuals(prediction)
        if fit.parts.ranked.shape[1] == 0:
            return np.ones(case.table.n_features)
        if case.table.rows_are_alike:
            return case.of_features(screening.explain_residuals(case, residuals, model))
        found = proofs.cautious_p_values(
            fit.tested_ranks, residuals, fit.weights, fit.clusters, model
        )
        both = np.stack([found["marginal"], found["product"]])
        return case.of_features(combined_p_values(both, [0.5, 0.5]))

    def _prove_in_trees(
        self, case: Case, groups: NDArray[np.intp], rng: np.random.Generator
    ) -> bool:
        """Stage 3: groups that boosted trees on all groups would miss. Tells if there are any.

        The trees see one feature of every group, relevant or not: a choice by what the same
        rows say about the target would favour what it chose. Only groups with some sign of
        relevance are tested.
        """
        case.report.begin("trees on all columns", 3 * len(case.fit.folds))
        features, first = np.unique(case.fit.parts.feature, return_index=True)
        group = groups[first]
        numbers, chosen = np.unique(group, return_index=True)
        known = np.isin(numbers, group[np.isin(features, case.relevant)])
        p = case.p_relevant[features]
        least = np.ones(len(numbers))
        np.minimum.at(least, np.searchsorted(numbers, group), p)
        tested = np.flatnonzero((least < HOPE) & ~known)
        # The most hopeful ones, if they are many.
        tested = np.sort(tested[np.argsort(least[tested], kind="stable")[:MOST_CONTEXT]])
        if len(tested) == 0 or len(numbers) > FEW_GROUPS:
            # Of so many groups each tree would see a small share, and prove nothing.
            return False
        columns = case.parts_of(features[chosen])
        owner = case.fit.parts.feature[columns]
        units = [np.flatnonzero(owner == f) for f in features[chosen[tested]]]
        context = closest(case.fit.parts.ranked, columns[np.concatenate(units)], columns)
        D = case.redraws(Learner("boosted"), columns, context, units, rng)[0]
        for g, p_trees in zip(tested, case.fit.test(D).p_values, strict=True):
            case.p["trees"][features[group == numbers[g]]] = p_trees
        return self._decide(case)

    def _decide(self, case: Case) -> bool:
        """Record the columns whose proofs together suffice, and what depends on them.

        Tells whether there are new ones.
        """
        before = len(case.relevant)
        while self._record(case):
            self._prove_by_association(case)
        return len(case.relevant) > before

    def _record(self, case: Case) -> bool:
        """Record the columns whose proofs together suffice; tell whether there are new ones."""
        p = np.stack([case.p[name] for name in WEIGHTS])
        weights = np.array(list(WEIGHTS.values()))
        case.p_relevant = combined_p_values(p, weights)
        before = len(case.relevant)
        best = (weights[:, np.newaxis] / np.maximum(p, 1e-300)).argmax(axis=0)
        for j in np.flatnonzero(holm(case.p_relevant) <= self.alpha):
            case.proof[j] = case.proof[j] or list(WEIGHTS)[best[j]]
        return len(case.relevant) > before

    def _evidence(
        self,
        case: Case,
        classes: NDArray[np.int64],
        removal: Removals,
        undecided: NDArray[np.bool_],
    ) -> CrossfitEvidence:
        d, fit, race = case.table.n_features, case.fit, case.best
        weak = np.flatnonzero(classes == WEAK).tolist()
        case.report.begin("substitutes", len(weak))
        replaced_by: dict[int, tuple[tuple[int, ...], ...]] = dict.fromkeys(weak, ())
        leaks: tuple[int, ...] = ()
        minimal_loss = np.nan
        with suppress(OutOfTime):
            leaks = case.leaks()
            replaced_by = case.substitutes(weak)
        groups = replaceable_groups(weak, replaced_by)
        representatives = tuple(
            (min(group, key=lambda j: (case.p["marginal"][j], j)),) for group in groups
        )
        strong = np.flatnonzero(classes == STRONG).tolist()
        kept = minimal_set(strong, groups, representatives, replaced_by, case.p["marginal"])
        with suppress(OutOfTime):
            minimal_loss = case.loss_on(np.array(kept))
        gains = case.gains
        constant = fit.mean(fit.constant_losses())
        loss = constant if race is None else fit.mean(race.losses)

        def wide(values: Array) -> Array:
            out = np.full(d, np.nan)
            out[case.relevant] = values
            return out

        return CrossfitEvidence(
            proof=tuple(case.proof),
            proof_p_values=case.p,
            p_relevant=holm(case.p_relevant),
            removal_loss=wide(removal.loss),
            removal_interval=np.stack([wide(removal.low), wide(removal.high)]),
            p_value=wide(removal.p),
            effect=wide(removal.loss / (constant - loss if constant > loss else np.nan)),
            explained=wide(removal.explained),
            substitutes=replaced_by,
            groups=groups,
            representatives=representatives,
            minimal=np.isin(np.arange(d), kept),
            leaks=leaks,
            learner="constant" if race is None else str(race.learner),
            loss=loss,
            minimal_loss=minimal_loss,
            constant_loss=constant,
            n_fits=case.n_fits,
            importance_rounds=case.importances(),
            shadow_rounds=np.zeros((0, 0)) if gains is None else gains.in_rounds(gains.null),
            importance_threshold=np.nan if gains is None else gains.threshold(self.alpha / d),
            alpha=self.alpha,
            min_effect=self.min_effect,
            undecided=undecided,
            n_tested=len(fit.tested),
            detectable=self._detectable(case, loss, constant),
        )

    def _detectable(self, case: Case, loss: float, constant: float) -> float:
        """Return the least cost, as a share of the gain, that is found with the wanted power."""
        gain = constant - loss
        n_tests = max(len(case.relevant), 1)
        power = min(self.power, 0.95)
        needed = sample_size.rows_needed(
            loss, gain, case.table.task, n_tests, self.alpha, 1.0, power
        )
        return needed / len(case.fit.tested) if gain > 0 else np.nan
