"""Stage "select the model": the best learner, and features that explain its residuals.

Learners of the portfolio race on the relevant features. Features that explain what the winner
leaves unexplained join the model, and the race is run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from squamish.arrays import Array, Indices
from squamish.execution.workers import OutOfTime
from squamish.models.crossfit import CrossFit
from squamish.models.learners import trained_together
from squamish.models.race import Race, contestants, race_portfolio
from squamish.screening import product, residual, score
from squamish.screening.given import explaining_given
from squamish.screening.jobs import Job, product_jobs, run_jobs
from squamish.screening.parts import of_features
from squamish.screening.relevance import Decides, Relevance
from squamish.screening.screen import Screening
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.pairs import blocks, ranges

STAGE = "select the model"
# How often the model is extended by features that explain what it leaves unexplained.
MOST_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Selection:
    """The model, and what is relevant by it.

    Attributes
    ----------
    relevance : Relevance
        What is relevant, with features that explain residuals.
    race : Race or None
        How learners did on the relevant features; None if there are none.
    n_fits : int
        Number of models fitted.
    complete : bool
        Whether there was time for all tests.
    rounds : tuple of ndarray of shape (n_parts,)
        p-values of parts against the residuals of each model on the way.
    """

    relevance: Relevance
    race: Race | None
    n_fits: int
    complete: bool
    rounds: tuple[Array, ...] = ()


def select_the_model(fit: CrossFit, screening: Screening, decide: Decides) -> Selection:
    """Find the best learner on the relevant features, and features that it needs as well."""
    relevance = screening.relevance
    if not screening.complete:
        return Selection(relevance, None, 0, complete=False)
    n_models = len(trained_together(contestants(fit, fit.columns(relevance.relevant))))
    fit.workers.reporter.begin(STAGE, n_models * len(fit.folds))
    return _extended(fit, Selection(relevance, None, 0, complete=True), decide)


def with_discoveries(fit: CrossFit, selected: Selection, decide: Decides) -> Selection:
    """Let features join that are relevant at another error rate, and the model grow by them."""
    relevance = decide(selected.relevance, {})
    if not selected.complete or len(relevance.relevant) == len(selected.relevance.relevant):
        return replace(selected, relevance=relevance)
    return _extended(fit, replace(selected, relevance=relevance), decide)


def _extended(fit: CrossFit, selected: Selection, decide: Decides) -> Selection:
    """Race on what is relevant, add what explains the residuals of the winner, and so on."""
    n_before = 0
    try:
        while len(selected.relevance.relevant) > n_before:
            relevance = selected.relevance
            n_before = len(relevance.relevant)
            race = race_portfolio(fit, relevance.relevant, selected.race)
            selected = replace(selected, race=race, n_fits=selected.n_fits + race.n_fits)
            if len(selected.rounds) == MOST_ROUNDS:
                break
            rounds = (*selected.rounds, _explaining(fit, relevance, race))
            of_parts = _over_rounds(rounds)
            p = of_features(fit, of_parts)
            p[relevance.relevant] = relevance.p_values["useful"][relevance.relevant]
            wider = decide(relevance, {"useful": p}, {"useful": of_parts})
            selected = replace(selected, rounds=rounds, relevance=wider)
    except OutOfTime:
        return replace(selected, complete=False)
    return selected


def _over_rounds(rounds: Sequence[Array]) -> Array:
    """Combine the p-values of rounds; those to come would test the same again."""
    everything = np.stack([*rounds, *[rounds[-1]] * (MOST_ROUNDS - len(rounds))])
    return combined_p_values(everything)


def _explaining(fit: CrossFit, relevance: Relevance, race: Race) -> Array:
    """Test parts of features outside of the model against its residuals; 1 for those in it."""
    residuals = fit.family.residuals(race.predictions, fit.table.y[fit.tested])
    # Folds may be off by their means, which is no trace of a column.
    residuals = residuals - residuals.mean(axis=0)
    p = _residual_p_values(fit, residuals, relevance.relevant)
    p[fit.fixed_columns(relevance.relevant)] = 1.0
    return p


def _residual_p_values(fit: CrossFit, residuals: Array, model: Indices) -> Array:
    """Test every part against what a model of some features leaves unexplained."""
    Z = fit.tested_ranks
    d, columns = Z.shape[1], fit.fixed_columns(model)
    if d == 0:
        return np.ones(0)
    if fit.adjustment is not None:
        return explaining_given(fit, residuals, ~np.isin(np.arange(d), columns), columns)
    if not fit.table.rows_are_alike or fit.family.is_censored:
        rows = residuals, fit.weights, fit.clusters
        both = [score.single_p_values(Z, *rows), score.product_p_values(Z, *rows, columns)]
        return combined_p_values(np.stack(both))
    basis = residual.model_basis(Z, residuals, columns)
    jobs: dict[str, list[Job]] = {
        "own": [(_own, (span, basis, residuals)) for span in ranges(d)],
        "product": product_jobs(Z, residuals),
    }
    fit.workers.reporter.expect(sum(map(len, jobs.values())))
    found, complete = run_jobs(fit, jobs, np.random.default_rng(0))
    if not complete:
        raise OutOfTime({})
    largest = product.merged(d, blocks(d), found["product"])
    in_products = product.product_p_values(Z, residuals, largest, fit.atom_shares)
    return residual.residual_p_values(np.hstack(found["own"]), in_products)


def _own(fit: CrossFit, span: tuple[int, int], basis: Array, residuals: Array) -> Array:
    return residual.own_p_values(fit.tested_ranks[:, slice(*span)], basis, residuals)
