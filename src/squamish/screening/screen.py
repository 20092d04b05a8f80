"""Stage "screen for relevance": tests that need no model of the relevant features.

Each test is a file of its own in this folder. Here they are cut into jobs that are handed out
together, and their p-values for parts become p-values for features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from squamish.arrays import Array, Indices
from squamish.execution.workers import OutOfTime
from squamish.families import Rates
from squamish.importance.context import MOST_CONTEXT
from squamish.models.crossfit import CrossFit
from squamish.screening import product, score
from squamish.screening.given import (
    level_p_value_given,
    p_values_given,
    partners_given,
    targets_given,
)
from squamish.screening.hazards import hazard_tests, leading_residuals
from squamish.screening.jobs import Job, product_jobs, run_jobs
from squamish.screening.levels import level_p_value
from squamish.screening.logrank import logrank_p_values
from squamish.screening.marginal import marginal_p_values
from squamish.screening.odds import odds_tests
from squamish.screening.partial import Design, partial_tests
from squamish.screening.parts import of_features
from squamish.screening.relevance import Decides, Relevance
from squamish.screening.shadow import SHADOW_SETS, ShadowGains, n_sets_and_rounds, shadow_set
from squamish.statistics.correlation_groups import GROUP_CORRELATION, groups_of_linked
from squamish.statistics.multiplicity import combined_p_values
from squamish.statistics.pairs import Block, blocks, in_groups, links, ranges
from squamish.statistics.permutation import least_p_value

STAGE = "screen for relevance"


@dataclass(frozen=True, eq=False)
class Screening:
    """What tests without a model found.

    Attributes
    ----------
    relevance : Relevance
        What is relevant by them.
    correlation_groups : ndarray of int
        For every part, its group of correlated ones.
    gains : ShadowGains or None
        Gains in boosted trees, if they were measured.
    n_fits : int
        Number of models fitted, for shadows.
    complete : bool
        Whether there was time for all tests.
    """

    relevance: Relevance
    correlation_groups: Indices
    gains: ShadowGains | None
    n_fits: int
    complete: bool


def screen_for_relevance(
    fit: CrossFit, known: Mapping[str, Array], decide: Decides, rng: np.random.Generator
) -> Screening:
    """Test every feature by itself, in products, given all others, and against shadows.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    known : mapping of str to ndarray of shape (n_columns,)
        p-values, by the names of tests, that come from more rows than these.
    decide : Decides
        Tells what is relevant by the tests.
    rng : numpy.random.Generator
        Source of random orders.
    """
    table, parts = fit.table, fit.given
    nothing = Relevance.unknown(table.n_features)
    level_rng, shadow_rng = rng.spawn(2)
    n_parts = len(parts.feature)
    fit.workers.reporter.begin(STAGE, len(parts.many_levels) + _n_jobs(n_parts))
    given = np.zeros((0, 0))
    try:
        groups = _correlation_groups(fit)
        if fit.adjustment is not None:
            given = targets_given(fit)
    except OutOfTime:
        return Screening(nothing, np.arange(n_parts), None, 0, complete=False)
    found: dict[str, Array] = {}
    gains, complete = None, True
    if n_parts and fit.adjustment is not None:
        found, complete = _test_given_adjustments(fit, given)
    elif n_parts and table.rows_are_alike:
        found, gains, complete = _test_rows_alike(fit, groups, known, shadow_rng)
        # Of few rows no order of the target is as unlikely as tails of any distribution say.
        least = least_p_value(table.y)
        found = {name: np.maximum(p, least) for name, p in found.items()}
    elif n_parts:
        found = _test_rows_unalike(fit)
    jointly = found.pop("jointly", None)
    p = dict(nothing.p_values)
    p |= {name: of_features(fit, values) for name, values in found.items()}
    if jointly is not None:
        p["partial"] = _with_joint_tests(p["partial"], jointly, parts.feature)
    first = np.unique(table.feature, return_index=True)[1]
    p |= {name: values[first] for name, values in known.items()}
    p["marginal"] = _with_levels(fit, p["marginal"], given, level_rng)
    n_fits = 0 if gains is None else gains.real.shape[0] * gains.real.shape[1]
    relevance = decide(nothing, p, found)
    return Screening(relevance, groups, gains, n_fits, complete)


def _n_jobs(n_parts: int) -> int:
    """Return how many jobs there will be at the most."""
    return 2 * len(blocks(n_parts)) + 2 * len(ranges(n_parts)) + 1 + SHADOW_SETS


def _correlation_groups(fit: CrossFit) -> Indices:
    """Find the groups of parts that are close to each other."""
    found = fit.run(_links, blocks(fit.given.ranked.shape[1]))
    return groups_of_linked(fit.given.ranked, found)


def _test_rows_alike(
    fit: CrossFit, groups: Indices, known: Mapping[str, Array], rng: np.random.Generator
) -> tuple[dict[str, Array], ShadowGains | None, bool]:
    """Run all tests of exchangeable rows side by side, as long as there is time.

    Returns the p-values of all parts in every test that was finished, the gains, and whether
    all were.
    """
    Z = fit.parts.ranked
    d = Z.shape[1]
    members = [group for group in in_groups(groups) if len(group) > 1]
    targets = _targets_of_products(fit)
    jobs: dict[str, list[Job]] = {
        "marginal": [(_marginal, span) for span in ranges(d)],
        "centres": [(_centres, (members[a:b],)) for a, b in ranges(len(members))],
        "product": product_jobs(Z, targets),
        "partial": [(_partial, ())],
        "shadow": _shadow_jobs(groups, rng),
    }
    # What is known from more rows is not asked again of fewer.
    skipped = {*known, "centres"} if "marginal" in known else {*known}
    jobs = {name: some for name, some in jobs.items() if name not in skipped}
    found, complete = run_jobs(fit, jobs, rng)
    p: dict[str, Array] = {}
    if "marginal" in found and "centres" in found:
        single = np.concatenate(found["marginal"])
        p["marginal"] = _with_centres(single, members, found["centres"])
    if "product" in found:
        largest = product.merged(d, blocks(d), found["product"])
        p["product"] = product.product_p_values(Z, targets, largest, fit.atom_shares)
    if "partial" in found:
        p["partial"], p["jointly"] = found["partial"][0]
    gains = ShadowGains.of(found["shadow"], groups) if "shadow" in found else None
    if gains is not None:
        p["shadow"] = gains.p_values
    return p, gains, complete


def _with_centres(single: Array, members: Sequence[Indices], found: Sequence[Array]) -> Array:
    """Combine the test of a centre with that of the member of the group that tells most itself.

    The centre says that some member depends on the target, not that each does: others are relevant
    through this one, if they are, and that is told.
    """
    p = single.copy()
    for group, p_centre in zip(members, np.concatenate([np.zeros(0), *found]), strict=True):
        first = group[p[group].argmin()]
        p[first] = combined_p_values(np.array([[p[first]], [p_centre]]))[0]
    return p


def _with_joint_tests(p: Array, jointly: Array, feature: Indices) -> Array:
    """Combine the tests of a feature by its parts with that of all of them together."""
    out = p.copy()
    for parts in in_groups(feature):
        if len(parts) > 1:
            both = np.array([p[feature[parts[0]]], jointly[parts].min()])
            out[feature[parts[0]]] = combined_p_values(both[:, np.newaxis])[0]
    return out


def _test_rows_unalike(fit: CrossFit) -> dict[str, Array]:
    """Run the tests of rows that have weights or belong together."""
    Z, table = fit.parts.ranked, fit.table
    rows = fit.scores, table.weights, table.clusters
    partners = np.arange(Z.shape[1] if Z.shape[1] <= MOST_CONTEXT else 0)
    return {
        "marginal": score.single_p_values(Z, *rows),
        "product": score.product_p_values(Z, _targets_of_products(fit), *rows[1:], partners),
    }


def _targets_of_products(fit: CrossFit) -> Array:
    """Return the target as products are asked of it: without what single columns do to rates."""
    if not (fit.family.is_censored and isinstance(fit.family, Rates)):
        return fit.scores
    rows = fit.table.y, fit.table.weights
    return leading_residuals(fit.parts.ranked, fit.scores, fit.family, *rows)


def _test_given_adjustments(fit: CrossFit, targets: Array) -> tuple[dict[str, Array], bool]:
    """Run the tests given what is adjusted for, as long as there is time."""
    asked = np.ones(len(fit.given.feature), dtype=bool)
    products = None
    if fit.family.is_censored:
        products = fit.terms.without_lines(_targets_of_products(fit)[fit.tested])
    found, complete = p_values_given(
        fit, targets, asked, partners_given(fit), of_products=products, partial=True
    )
    names = {"own": "marginal"}
    return {names.get(name, name): p for name, p in found.items()}, complete


def _with_levels(fit: CrossFit, p_marginal: Array, given: Array, rng: np.random.Generator) -> Array:
    """Test categories of many levels, whose parts are no proof: they know the target."""
    table, parts = fit.table, fit.given
    p = p_marginal.copy()
    found: dict[int, list[float]] = {}
    for feature, levels in parts.many_levels:
        if fit.adjustment is None:
            rows = table.weights, table.clusters, fit.score_variances
            own = level_p_value(levels, fit.scores, rng, *rows)
        else:
            own = level_p_value_given(fit, given, levels)
        found.setdefault(feature, []).append(own)
        fit.workers.reporter.step()
    for feature, p_values in found.items():
        if feature in parts.feature:
            p_values.append(float(p[feature]))
        p[feature] = combined_p_values(np.array(p_values)[:, np.newaxis])[0]
    return p


def _shadow_jobs(groups: Indices, rng: np.random.Generator) -> list[Job]:
    n_sets, n_rounds = n_sets_and_rounds(len(np.unique(groups)))
    return [(_shadows, (groups, stream, n_rounds)) for stream in rng.spawn(n_sets)]


def _links(fit: CrossFit, block: Block, _: np.random.Generator) -> Indices:
    return links(fit.given.ranked, block, GROUP_CORRELATION)


def _marginal(fit: CrossFit, start: int, stop: int) -> Array:
    return _by_themselves(fit, fit.parts.plain[:, start:stop])


def _centres(fit: CrossFit, groups: Sequence[Indices]) -> Array:
    """Test what noisy copies share, which shows better in their mean."""
    centres = [_centre(fit.parts.ranked[:, group]) for group in groups]
    return _by_themselves(fit, np.column_stack(centres))


def _by_themselves(fit: CrossFit, X: Array) -> Array:
    if fit.family.is_censored:
        return logrank_p_values(X, fit.table.y, fit.scores[:, 0])
    return marginal_p_values(X, fit.table.y, fit.family)


def _centre(Z: Array) -> Array:
    """Average columns, each turned so that it goes the way of the first."""
    return np.asarray((Z * np.where(Z[:, 0] @ Z < 0, -1.0, 1.0)).mean(axis=1))


def _partial(fit: CrossFit) -> Array:
    """Test parts given all other features: differences of means, of log odds, and of log rates.

    Returns p-values of parts one by one, and of all parts of a feature together.
    """
    targets = fit.scores
    design = Design.of(fit.parts.ranked, targets, fit.parts.feature)
    # Rows that were observed for longer differ more, so that least squares do not hold.
    found = [] if fit.family.is_censored else [partial_tests(design, targets)]
    events = fit.family.odds_targets(fit.table.y)
    if events is not None:
        found.append(odds_tests(design, events))
    elif isinstance(fit.family, Rates):
        found.append(hazard_tests(design, fit.family, fit.table.y))
    return np.stack([combined_p_values(np.stack(p)) for p in zip(*found, strict=True)])


def _shadows(fit: CrossFit, groups: Indices, rng: np.random.Generator, n_rounds: int) -> Array:
    return shadow_set(fit.parts.plain, fit.table.y, fit.family, groups, rng, n_rounds)
