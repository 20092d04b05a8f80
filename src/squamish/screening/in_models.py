"""Stage "screen in models": groups of features that show only beside others.

Hypothesis
    Given the other features that a model sees, the target does not depend on this one.
Statistic
    The score of a model: its error when the feature is drawn anew given the others, times what the
    feature adds to the prediction (`importance.conditional`). Two models are asked. The best one of
    the relevant features ("model") sees these and the feature, and nothing else that may be noise:
    the sharpest test of what adds little to much. Boosted trees ("trees"), which do not mind noise,
    see one feature of every correlated group. What is shown of a feature counts for its group.
Null distribution
    As in the test of strength, one-sided.
Validity
    Draws from the distribution of the feature given the others (`importance.conditional_sampling`).
    The other features are not chosen by what they say together with this one, which would be found
    again: they are relevant, or all.
Literature
    D. Watson, M. Wright: "Testing conditional independence in supervised learning algorithms",
    Machine Learning 110 (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from squamish.arrays import Array, Indices
from squamish.execution.workers import OutOfTime
from squamish.importance.conditional import conditional_importance
from squamish.importance.context import MOST_CONTEXT, closest
from squamish.models.crossfit import CrossFit
from squamish.models.learners import DEFAULT_TREES, Learner
from squamish.models.race import race_portfolio
from squamish.screening.relevance import Decides, Relevance
from squamish.screening.selection import Selection
from squamish.screening.shadow import FEW_GROUPS

STAGE = "screen in models"
# Only groups with some sign of relevance are worth the test: a combined p-value below this, and a
# clearer one where each takes models of its own.
SOME_SIGN, CLEAR_SIGN = 0.3, 0.1


@dataclass(frozen=True, eq=False)
class _Groups:
    """The groups of features that have parts of their own, by the first part of each.

    Attributes
    ----------
    features : ndarray of int
        The features.
    group : ndarray of int
        The group of each, counted from 0.
    first : ndarray of int
        The first feature of every group, which stands for it.
    """

    features: Indices
    group: Indices
    first: Indices

    @classmethod
    def of(cls, fit: CrossFit, groups: Indices) -> _Groups:
        """Take the groups of parts for those of features."""
        features, place = np.unique(fit.given.feature, return_index=True)
        _, first, group = np.unique(groups[place], return_index=True, return_inverse=True)
        return cls(features, group, features[first])

    def with_sign(self, relevance: Relevance, below: float) -> Indices:
        """Return the groups that are not relevant, but show some sign; the clearest, if many."""
        relevant = self.group[np.isin(self.features, relevance.relevant)]
        known = np.isin(np.arange(len(self.first)), relevant)
        least = np.ones(len(self.first))
        np.minimum.at(least, self.group, relevance.combined[self.features])
        found = np.flatnonzero((least < below) & ~known)
        return np.sort(found[np.argsort(least[found], kind="stable")[:MOST_CONTEXT]])

    def spread(self, tested: Indices, p: Array, known: Array) -> Array:
        """Give all features of tested groups the p-values of these."""
        out = known.copy()
        for g, p_group in zip(tested, p, strict=True):
            out[self.features[self.group == g]] = p_group
        return out


def screen_in_models(
    fit: CrossFit, selected: Selection, groups: Indices, decide: Decides, rng: np.random.Generator
) -> Selection:
    """Test groups that are not relevant yet, and select the model again if any is."""
    if not selected.complete:
        return selected
    fit.workers.reporter.begin(STAGE, 6 * len(fit.folds))
    of_features, found = _Groups.of(fit, groups), selected
    try:
        for test, stream in zip((_in_the_model, _in_trees), rng.spawn(2), strict=True):
            found = test(fit, found, of_features, decide, stream)
        if len(found.relevance.relevant) > len(selected.relevance.relevant):
            race = race_portfolio(fit, found.relevance.relevant, selected.race)
            found = replace(found, race=race, n_fits=found.n_fits + race.n_fits)
    except OutOfTime:
        return replace(found, complete=False)
    return found


def _in_the_model(
    fit: CrossFit, selected: Selection, groups: _Groups, decide: Decides, rng: np.random.Generator
) -> Selection:
    """Test groups in the best model of what is relevant, one at a time."""
    relevance, race = selected.relevance, selected.race
    if race is None or race.learner.kind == "boosted":
        # There is nothing to add to, or it is trees, which all groups are tested in below. A
        # learner of the user, also one made of trees, sees what these do not: it is asked.
        return selected
    tested = groups.with_sign(relevance, CLEAR_SIGN)
    found = [
        _redrawn(fit, race.learner, fit.columns(np.append(relevance.relevant, j)), [j], stream)
        for j, stream in zip(groups.first[tested], rng.spawn(len(tested)), strict=True)
    ]
    p_groups = np.array([p[0] for p, _ in found])
    p = groups.spread(tested, p_groups, relevance.p_values["model"])
    relevance = decide(relevance, {"model": p})
    n_fits = selected.n_fits + sum(n for _, n in found)
    return replace(selected, relevance=relevance, n_fits=n_fits)


def _in_trees(
    fit: CrossFit, selected: Selection, groups: _Groups, decide: Decides, rng: np.random.Generator
) -> Selection:
    """Test groups in trees that see one feature of every group."""
    relevance = selected.relevance
    tested = groups.with_sign(relevance, SOME_SIGN)
    if len(tested) == 0 or len(groups.first) > FEW_GROUPS:
        # Of so many groups each tree would see a small share, and prove nothing.
        return selected
    columns = fit.always_with(fit.fixed_columns(groups.first))
    p, n_fits = _redrawn(fit, DEFAULT_TREES, columns, groups.first[tested], rng)
    p = groups.spread(tested, p, relevance.p_values["trees"])
    relevance = decide(relevance, {"trees": p})
    return replace(selected, relevance=relevance, n_fits=selected.n_fits + n_fits)


def _redrawn(
    fit: CrossFit,
    learner: Learner,
    columns: Indices,
    features: Sequence[int] | Indices,
    rng: np.random.Generator,
) -> tuple[Array, int]:
    """Return p-values of features in a model of some parts, and how many fits they took."""
    owner = fit.feature[columns]
    units = [np.flatnonzero(owner == f) for f in features]
    context = closest(fit.matrix("ranked", 0), columns[np.concatenate(units)], columns)
    context = np.union1d(context, fit.own_columns(fit.adjusted_features))
    found = conditional_importance(fit, learner, columns, context, units, rng)
    return found.p_values, found.n_fits
