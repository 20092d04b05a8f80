"""Stage "screen in trees": groups of features that show only in trees on all groups.

Hypothesis
    Given one feature of every other correlated group, the target does not depend on this one.
Statistic
    The score of boosted trees: their error when the feature is drawn anew given the others, times
    what it adds to their prediction (`importance.conditional`); what is shown of a feature counts
    for its group. The trees see one feature of every group, relevant or not: a choice by what the
    same rows say about the target would favour what it chose.
Null distribution
    A t-test over rows or clusters of rows, one-sided.
Validity
    Draws from the distribution of the feature given the others (`importance.conditional_sampling`).
Literature
    D. Watson, M. Wright: "Testing conditional independence in supervised learning algorithms",
    Machine Learning 110 (2021).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from squamish.arrays import Indices
from squamish.execution.workers import OutOfTime
from squamish.importance.conditional import conditional_importance
from squamish.importance.context import MOST_CONTEXT, closest
from squamish.models.crossfit import CrossFit
from squamish.models.learners import Learner
from squamish.models.race import race_portfolio
from squamish.screening.relevance import Relevance, decide
from squamish.screening.selection import Selection
from squamish.screening.shadow import FEW_GROUPS
from squamish.statistics.multiplicity import Level

STAGE = "screen in trees"
# Only groups with some sign of relevance are worth the test: a combined p-value below this.
SOME_SIGN = 0.3


def screen_in_trees(
    fit: CrossFit, selected: Selection, groups: Indices, level: Level, rng: np.random.Generator
) -> Selection:
    """Test groups that are not relevant yet, and select the model again if any is."""
    if not selected.complete:
        return selected
    fit.workers.reporter.begin(STAGE, 3 * len(fit.folds))
    try:
        relevance, n_fits = _test_groups(fit, selected.relevance, groups, level, rng)
    except OutOfTime:
        return replace(selected, complete=False)
    found = replace(selected, relevance=relevance, n_fits=selected.n_fits + n_fits)
    if len(relevance.relevant) == len(selected.relevance.relevant):
        return found
    try:
        race = race_portfolio(fit, relevance.relevant, selected.race)
    except OutOfTime:
        return replace(found, complete=False)
    return replace(found, race=race, n_fits=found.n_fits + race.n_fits)


def _test_groups(
    fit: CrossFit, relevance: Relevance, groups: Indices, level: Level, rng: np.random.Generator
) -> tuple[Relevance, int]:
    """Return what is relevant by trees as well, and how many models that took."""
    features, first = np.unique(fit.parts.feature, return_index=True)
    group = groups[first]
    numbers, chosen = np.unique(group, return_index=True)
    tested = _worth_a_test(relevance, features, group, numbers)
    if len(tested) == 0 or len(numbers) > FEW_GROUPS:
        # Of so many groups each tree would see a small share, and prove nothing.
        return relevance, 0
    columns = fit.fixed_columns(features[chosen])
    owner = fit.parts.feature[columns]
    units = [np.flatnonzero(owner == f) for f in features[chosen[tested]]]
    context = closest(fit.parts.ranked, columns[np.concatenate(units)], columns)
    found = conditional_importance(fit, Learner("boosted"), columns, context, units, rng)
    p = relevance.p_values["trees"].copy()
    for g, p_trees in zip(tested, fit.test(found.score).p_values, strict=True):
        p[features[group == numbers[g]]] = p_trees
    return decide(fit, relevance, {"trees": p}, level), found.n_fits


def _worth_a_test(
    relevance: Relevance, features: Indices, group: Indices, numbers: Indices
) -> Indices:
    """Return the groups that are not relevant, but show some sign; the clearest, if many."""
    known = np.isin(numbers, group[np.isin(features, relevance.relevant)])
    least = np.ones(len(numbers))
    np.minimum.at(least, np.searchsorted(numbers, group), relevance.combined[features])
    tested = np.flatnonzero((least < SOME_SIGN) & ~known)
    return np.sort(tested[np.argsort(least[tested], kind="stable")[:MOST_CONTEXT]])
