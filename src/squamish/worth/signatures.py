"""Signatures: all sets that predict as well as the minimal one, as a formula.

Hypothesis of every test
    With what can stand in, the loss is larger than that of the minimal set by a margin or more.
Statistic and null distribution
    A one-sided t-test of paired differences of out-of-sample losses over rows or clusters of rows
    (non-inferiority; D. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
Validity
    Sets are chosen by how columns tell of each other, and tested by their losses, one slot at a
    time. Of all sets, in which several may be exchanged, a random sample is fitted anew.
Literature
    V. Lagani, G. Athineou, A. Farcomeni, M. Tsagris and I. Tsamardinos: "Feature selection with the
    R package MXM: discovering statistically equivalent feature subsets", JSS 80 (2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from squamish.arrays import Array, Indices
from squamish.evidence.worth import Alternative, Formula, Slot
from squamish.models.crossfit import CrossFit
from squamish.redundancy.groups import Substitutes
from squamish.redundancy.substitutes import LEAST, RIDGE
from squamish.statistics.paired import PairedTest
from squamish.worth.contexts import growth, losses_of, until_clear
from squamish.worth.exchange import Exchange, Members, losses_with

# The probability that an alternative is accepted that costs the margin or more.
ERROR = 0.05
# So many sets are fitted anew: of as many that are all as good, less than
# three tenths of all fail, with 95% confidence (0.7^10 < 0.03).
N_CHECKED = 10
# In a slot of several members so many sets are tested; of more, those with a single exchange.
MOST_SETS = 200


@dataclass(frozen=True, eq=False)
class Signatures:
    """The formula, and how many models it took."""

    formula: Formula
    n_fits: int


def find_signatures(
    fit: CrossFit,
    minimal: Members,
    relevant: Indices,
    strong: Indices,
    substitutes: Substitutes,
    margin: float,
    rng: np.random.Generator,
) -> Signatures:
    """Find what can stand in for members of the minimal set.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    minimal : Minimal
        The minimal set.
    relevant, strong : ndarray of int
        The relevant features, and those that nothing can stand in for.
    substitutes : mapping of int to tuple of tuples of int
        What tells of each weak feature.
    margin : float
        By how much the loss may be larger.
    rng : numpy.random.Generator
        Draws the sets that are fitted anew.

    Raises OutOfTime if there is no time for it.
    """
    members = minimal.features.tolist()
    open_ones = [f for f in members if f not in strong]
    near = _candidates(fit, minimal.features, relevant, open_ones, substitutes)
    singles = [Exchange((f,), c.come) for f in open_ones for c in near[f]]
    # What is lost in several slots adds up.
    share = margin / max(sum(map(bool, near.values())), 1)
    test = _Equivalence(fit, minimal, margin, share)
    accepted = test.accepted(singles, [c.is_curved for f in open_ones for c in near[f]])
    slots = [
        _slot(test, tuple(own), [a for e, a in accepted if e.gone[0] in own])
        for own in _joined(open_ones, [e for e, _ in accepted])
    ]
    chosen = [slot for slot in slots if len(slot.alternatives) > 1]
    free = {f for slot in chosen for f in slot.alternatives[0].columns}
    fixed = tuple(f for f in members if f not in free)
    formula = Formula(fixed, tuple(chosen), margin, ERROR, 0, 0)
    n_checked, n_as_good = test.checked(_drawn(formula, rng))
    formula = replace(formula, n_checked=n_checked, n_as_good=n_as_good)
    return Signatures(formula, test.n_fits)


class _Equivalence:
    """Tests whether sets are as good as the minimal one, and counts the models."""

    def __init__(self, fit: CrossFit, minimal: Members, margin: float, share: float) -> None:
        self.fit, self.minimal, self.margin, self.share = fit, minimal, margin, share
        self.n_fits = 0

    def accepted(
        self, exchanges: Sequence[Exchange], worth_a_refit: Sequence[bool]
    ) -> list[tuple[Exchange, Alternative]]:
        """Return the exchanges that are as good, by what comes in for what goes.

        What a model that stays cannot show is asked of a refit, where it is worth one.
        """
        if not exchanges:
            return []
        members = self.minimal.features.tolist()
        losses = losses_with(self.fit, self.minimal.learner, members, exchanges)
        self.n_fits += len(self.fit.folds)
        found = self._alternatives(exchanges, self._test(losses[:, 1:], losses[:, 0]))
        refused = [k for k, a in enumerate(found) if a is None and worth_a_refit[k]]
        refits = self._test(self._refitted([self._set(exchanges[k]) for k in refused]))
        again = self._alternatives([exchanges[k] for k in refused], refits)
        for k, alternative in zip(refused, again, strict=True):
            found[k] = alternative
        return [(e, a) for e, a in zip(exchanges, found, strict=True) if a is not None]

    def checked(self, sets: Sequence[tuple[int, ...]]) -> tuple[int, int]:
        """Fit sets anew; return how many were, and how many lose no more than the margin."""
        test = self._test(self._refitted(sets))
        return len(sets), int(np.sum(test.mean <= self.margin))

    def _set(self, exchange: Exchange) -> tuple[int, ...]:
        kept = {*self.minimal.features.tolist()} - {*exchange.gone}
        return tuple(sorted(kept | {*exchange.come}))

    def _refitted(self, sets: Sequence[tuple[int, ...]]) -> Array:
        """Return the losses of sets, fitted anew, as long as they may be as good."""
        found, n_fits = losses_of(
            self.fit,
            self.minimal.learner,
            [np.array(features) for features in sets],
            self.minimal.predictions,
            until_clear(self.margin),
        )
        self.n_fits += n_fits
        return found

    def _test(self, losses: Array, beside: Array | None = None) -> PairedTest:
        return growth(self.fit, losses, self.minimal.losses if beside is None else beside)

    def _alternatives(
        self, exchanges: Sequence[Exchange], test: PairedTest
    ) -> list[Alternative | None]:
        highs = test.mean + test.reach(1 - 2 * ERROR)
        return [
            Alternative(exchange.come, float(mean), float(high))
            if high <= self.margin and mean <= self.share
            else None
            for exchange, mean, high in zip(exchanges, test.mean, highs, strict=True)
        ]


@dataclass(frozen=True)
class _Candidate:
    """Features that may stand in for a member, and whether they tell of it in a curve only."""

    come: tuple[int, ...]
    is_curved: bool


def _candidates(
    fit: CrossFit,
    members: Indices,
    relevant: Indices,
    open_ones: Sequence[int],
    substitutes: Substitutes,
) -> dict[int, list[_Candidate]]:
    """Return for each member what may stand in: what tells a third of what the others leave of it.

    In a line, or in a curve that was found with its substitutes. Single features come first. What
    only identifies the rows does not stand in for anything.
    """
    ids = fit.table.id_features
    outside = np.setdiff1d(relevant, [*members, *ids])
    lines, told = _told_by_lines(fit, members, outside, open_ones)
    found: dict[int, list[_Candidate]] = {}
    for f, alone, shares in zip(open_ones, lines, told, strict=True):
        replacing = [_minus(s, members.tolist()) for s in substitutes.get(f, ())]
        found[f] = []
        for g, line, share in zip(outside.tolist(), alone, shares, strict=True):
            is_named = (g,) in replacing or (f,) in substitutes.get(g, ())
            if share >= LEAST or (is_named and line < LEAST):
                found[f].append(_Candidate((g,), is_curved=line < LEAST))
        several = [s for s in replacing if len(s) > 1 and ids.isdisjoint(s)]
        found[f] += [_Candidate(s, is_curved=True) for s in several]
    return found


def _told_by_lines(
    fit: CrossFit, members: Indices, outside: Indices, open_ones: Sequence[int]
) -> tuple[Array, Array]:
    """Return what share of each member each feature tells: by itself, and beyond other members.

    In a line of ranks, the largest of their parts: (n_open, n_outside).
    """
    columns = fit.own_columns(np.union1d(members, outside))
    owner = fit.feature[columns]
    R = fit.widest("ranked", columns)
    R = R - R.mean(axis=0)
    C = R.T @ R / len(R)
    C[np.diag_indices_from(C)] += RIDGE
    others = np.flatnonzero(np.isin(owner, outside))
    place = np.searchsorted(outside, owner[others])
    alone, beyond = np.zeros((2, len(open_ones), len(outside)))
    for k, f in enumerate(open_ones):
        own = np.flatnonzero(owner == f)
        rest = np.flatnonzero(np.isin(owner, members) & (owner != f))
        some = np.concatenate([own, others])
        whole, cross = C[np.ix_(some, some)], C[np.ix_(rest, some)]
        left = whole - cross.T @ np.linalg.solve(C[np.ix_(rest, rest)], cross)
        np.maximum.at(alone[k], place, _squared_correlations(whole, len(own)))
        np.maximum.at(beyond[k], place, _squared_correlations(left, len(own)))
    return alone, beyond


def _squared_correlations(C: Array, n: int) -> Array:
    """Return the largest squared correlation of each other column with one of the first n."""
    variance = np.maximum(C.diagonal(), RIDGE)
    shares = np.square(C[:n, n:]) / np.outer(variance[:n], variance[n:])
    return np.asarray(shares.max(axis=0))


def _joined(open_ones: Sequence[int], accepted: Sequence[Exchange]) -> list[list[int]]:
    """Put members together that something can stand in for each of."""
    place = {f: i for i, f in enumerate(open_ones)}
    stand_ins = {
        c: k + len(place) for k, c in enumerate(sorted({f for e in accepted for f in e.come}))
    }
    ends = [(place[e.gone[0]], stand_ins[c]) for e in accepted for c in e.come]
    n = len(place) + len(stand_ins)
    rows, columns = (
        np.array(x, dtype=np.intp) for x in (zip(*ends, strict=True) if ends else ((), ()))
    )
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    labels = connected_components(graph, directed=False)[1][: len(place)]
    return [[f for f in open_ones if labels[place[f]] == label] for label in np.unique(labels)]


def _slot(test: _Equivalence, own: tuple[int, ...], accepted: Sequence[Alternative]) -> Slot:
    """Describe the place of one member, or of several that the same features can stand in for."""
    itself = Alternative(own, 0.0, 0.0)
    if len(own) == 1:
        return Slot((itself, *_leanest(accepted)), is_complete=True)
    come = sorted({f for a in accepted for f in a.columns})
    sets, complete = _sets_of(own, come)
    exchanges = [Exchange(_minus(own, s), _minus(s, own)) for s in sets]
    found = test.accepted(exchanges, [False] * len(exchanges))
    alternatives = (
        replace(a, columns=tuple(sorted({*_minus(own, e.gone), *a.columns}))) for e, a in found
    )
    return Slot((itself, *alternatives), complete)


def _sets_of(own: Sequence[int], come: Sequence[int]) -> tuple[list[tuple[int, ...]], bool]:
    """Return sets of as many features that may take the place, and whether these are all."""
    r, everything = len(own), sorted({*own, *come})
    if comb(len(everything), r) - 1 <= MOST_SETS:
        return [s for s in combinations(everything, r) if s != tuple(own)], True
    single = [tuple(sorted({*own, c} - {f})) for f in own for c in come]
    return single[:MOST_SETS], False


def _minus(some: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
    return tuple(f for f in some if f not in others)


def _leanest(accepted: Sequence[Alternative]) -> Iterator[Alternative]:
    """Leave out sets of which a part is enough."""
    for a in accepted:
        if not any({*b.columns} < {*a.columns} for b in accepted):
            yield a


def _drawn(formula: Formula, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Draw different sets of a formula at random, other than the minimal one."""
    sizes = [len(slot.alternatives) for slot in formula.slots]
    wanted = min(N_CHECKED, formula.count - 1)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < wanted:
        choice = tuple(int(rng.integers(n)) for n in sizes)
        if any(choice):
            drawn[choice] = None
    return [
        tuple(
            sorted(
                {
                    *formula.fixed,
                    *(
                        f
                        for slot, k in zip(formula.slots, c, strict=True)
                        for f in slot.alternatives[k].columns
                    ),
                }
            )
        )
        for c in drawn
    ]
