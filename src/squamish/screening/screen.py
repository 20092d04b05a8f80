"""The first stage of the default method: proofs that need no model, cut into jobs for many."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from squamish.execution.workers import OutOfTime
from squamish.methods.case import Case
from squamish.models.crossfit import CrossFit
from squamish.redundancy.redundancy import GROUP_CORRELATION, groups_of_linked
from squamish.screening import proofs
from squamish.screening.shadow import ShadowGains, shadow_set
from squamish.statistics import pairs
from squamish.statistics.multiplicity import combined_p_values
from squamish.table.table import Table

Array = NDArray[np.float64]
Groups = NDArray[np.intp]
Job = tuple[Callable[..., Array], tuple[Any, ...]]

# Sets of shadows, and the rounds of each; fewer once trees would see more groups than this in all.
SHADOW_SETS, SHADOW_ROUNDS, MOST_SHADOWS = 4, 3, 24_000


def n_jobs(n_parts: int) -> int:
    """Return how many jobs there will be, of this stage, at the most."""
    n_blocks, n_ranges = len(pairs.blocks(n_parts)), len(pairs.ranges(n_parts))
    return 2 * n_blocks + 2 * n_ranges + 1 + SHADOW_SETS


def find_groups(case: Case) -> Groups:
    """Find the groups of parts that are close to each other."""
    fit = case.fit
    cut = pairs.blocks(fit.parts.ranked.shape[1])
    found = fit.workers.run(_links, fit, cut, np.random.default_rng(0))
    return groups_of_linked(fit.parts.ranked, found)


def prove(
    case: Case, groups: Groups, rng: np.random.Generator, known: Set[str] = frozenset()
) -> tuple[dict[str, Array], OutOfTime | None]:
    """Run the shadows and the tests without a model side by side, as long as there is time.

    Returns the p-values of all parts in every proof that was finished; those that are known
    from more rows are left out.
    """
    fit, d = case.fit, case.fit.parts.ranked.shape[1]
    members = [group for group in pairs.in_groups(groups) if len(group) > 1]
    jobs: dict[str, list[Job]] = {
        "marginal": [(_marginal, span) for span in pairs.ranges(d)],
        "centres": [(_centres, (members[a:b],)) for a, b in pairs.ranges(len(members))],
        "product": _product_jobs(fit.parts.ranked, case.targets),
        "partial": [(_partial, (case.targets,))],
        "shadow": _shadow_jobs(groups, rng),
    }
    # What is known from more rows is not asked again of fewer.
    known = known | ({"centres"} if "marginal" in known else set())
    jobs = {name: some for name, some in jobs.items() if name not in known}
    found, late = _run(case, jobs, rng)
    p: dict[str, Array] = {}
    if "marginal" in found and "centres" in found:
        p["marginal"] = np.concatenate(found["marginal"])
        shared = np.concatenate([np.zeros(0), *found["centres"]])
        for group, p_centre in zip(members, shared, strict=True):
            both = np.stack([p["marginal"][group], np.full(len(group), p_centre)])
            p["marginal"][group] = combined_p_values(both, [0.5, 0.5])
    if "product" in found:
        largest = pairs.merged(d, pairs.blocks(d), found["product"])
        p["product"] = proofs.product_tails(largest, case.targets.shape[1], fit.atom_shares)
    if "partial" in found:
        p["partial"] = found["partial"][0]
    if "shadow" in found:
        case.gains = ShadowGains.of(found["shadow"], groups)
        case.n_fits += case.gains.real.shape[0] * case.gains.real.shape[1]
        p["shadow"] = case.gains.p_values
    return p, late


def explain_residuals(case: Case, residuals: Array, model: NDArray[np.intp]) -> Array:
    """Test all parts against what a model leaves unexplained of the tested rows."""
    fit, d = case.fit, case.fit.parts.ranked.shape[1]
    basis = proofs.model_basis(fit.tested_ranks, residuals, model)
    jobs: dict[str, list[Job]] = {
        "own": [(_residual, (span, basis, residuals)) for span in pairs.ranges(d)],
        "product": _product_jobs(fit.tested_ranks, residuals),
    }
    case.report.expect(sum(map(len, jobs.values())))
    found, late = _run(case, jobs, np.random.default_rng(0))
    if late is not None:
        raise late
    largest = pairs.merged(d, pairs.blocks(d), found["product"])
    product = proofs.product_tails(largest, residuals.shape[1], fit.atom_shares)
    return proofs.combined_residual_p_values(np.hstack(found["own"]), product)


def _product_jobs(Z: Array, targets: Array) -> list[Job]:
    """Cut the products of all pairs into jobs."""
    d, n_targets = Z.shape[1], targets.shape[1]
    least = proofs.least_product(d, n_targets)
    ordered = np.stack([pairs.ordered_variances(Z, r) for r in targets.T])
    return [
        (_products, (block, targets, pairs.sides(ordered, block), least))
        for block in pairs.blocks(d)
    ]


def _shadow_jobs(groups: Groups, rng: np.random.Generator) -> list[Job]:
    n_groups = len(np.unique(groups))
    n_rounds = SHADOW_ROUNDS if n_groups * SHADOW_SETS * SHADOW_ROUNDS <= MOST_SHADOWS else 1
    n_sets = int(np.clip(MOST_SHADOWS // (n_groups * n_rounds), 1, SHADOW_SETS))
    return [(_shadows, (groups, stream, n_rounds)) for stream in rng.spawn(n_sets)]


def _run(
    case: Case, jobs: dict[str, list[Job]], rng: np.random.Generator
) -> tuple[dict[str, list[Array]], OutOfTime | None]:
    """Hand out all jobs together, and return what was found by the names that are finished."""
    fit, late = case.fit, None
    everything = [job for some in jobs.values() for job in some]
    try:
        results = dict(enumerate(fit.workers.run(_call, fit, everything, rng)))
    except OutOfTime as error:
        results, late = error.results, error
    found: dict[str, list[Array]] = {}
    start = 0
    for name, some in jobs.items():
        places = range(start, start + len(some))
        if all(i in results for i in places):
            found[name] = [results[i] for i in places]
        start += len(some)
    return found, late


def _call(fit: CrossFit, job: Job, _: np.random.Generator) -> Array:
    function, arguments = job
    return function(fit, *arguments)


def _links(fit: CrossFit, block: pairs.Block, _: np.random.Generator) -> NDArray[np.intp]:
    return pairs.links(fit.parts.ranked, block, GROUP_CORRELATION)


def _marginal(fit: CrossFit, start: int, stop: int) -> Array:
    return proofs.marginal_p_values(_numbers(fit, fit.parts.plain[:, start:stop]))


def _centres(fit: CrossFit, groups: Sequence[NDArray[np.intp]]) -> Array:
    """Test what noisy copies share, which shows better in their mean.

    A column this close to others is relevant if they are, so that the test of the centre
    counts for every member.
    """
    centres = [proofs.centre(fit.parts.ranked[:, group]) for group in groups]
    return proofs.marginal_p_values(_numbers(fit, np.column_stack(centres)))


def _products(
    fit: CrossFit, block: pairs.Block, targets: Array, ordered: Sequence[Array], least: float
) -> Array:
    # Targets are those of all rows, or of the tested ones.
    Z = fit.parts.ranked if len(targets) == len(fit.table.y) else fit.tested_ranks
    found = [
        pairs.largest_products(Z, r, spreads, block, least)
        for r, *spreads in zip(targets.T, *ordered, strict=True)
    ]
    return np.max(found, axis=0)


def _partial(fit: CrossFit, targets: Array) -> Array:
    return proofs.partial_p_values(fit.parts.ranked, targets)


def _shadows(fit: CrossFit, groups: Groups, rng: np.random.Generator, n_rounds: int) -> Array:
    return shadow_set(_numbers(fit, fit.parts.plain), groups, rng, n_rounds)


def _residual(fit: CrossFit, span: tuple[int, int], basis: Array, residuals: Array) -> Array:
    return proofs.own_residual_p_values(fit.tested_ranks[:, slice(*span)], basis, residuals)


def _numbers(fit: CrossFit, X: Array) -> Table:
    """Return some numbers with the target."""
    return Table(X, fit.table.y, fit.table.task)
