"""Small sets: for every size the best one that the search found, and the smallest that is enough.

The search is made in the training rows of every fold, and what it finds is judged in the test rows:
no loss is one that a set was chosen by. The size of the minimal set is the smallest whose loss is
larger than that of all relevant features by no more than a margin; its own loss is that of sets
whose size was chosen in the other folds. The sets themselves come from a search in all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.isotonic import isotonic_regression

from squamish.arrays import Array, Indices
from squamish.evidence.worth import PathStep
from squamish.models.crossfit import CrossFit
from squamish.models.learners import ROUNDS, BuiltIn, Learner, trained_together
from squamish.models.race import DROPS_OUT, Race
from squamish.statistics.paired import PairedTest
from squamish.worth.contexts import until_told
from squamish.worth.elimination import Elimination, run_eliminations, sizes_below

# A set of few columns may take a milder penalty than all relevant ones: where these say the same,
# each bears a share of it.
MILDER = 10.0
# The folds in which all sizes are tried; what is clearly too small there is not tried in others.
FIRST = 2
# What is known of sets in a fold: what their model needs of each feature (None if a race has the
# model), and how much losses grow. Searches meet on their ways, and fit no set twice.
Known = dict[tuple[int, ...], tuple[Array | None, Array]]
# Sets of a fold by their sizes, and how much losses grow.
BySize = dict[int, tuple[tuple[int, ...], Array]]


@dataclass(frozen=True, eq=False)
class SizePath:
    """The sets of all sizes.

    Attributes
    ----------
    steps : tuple of PathStep
        From one feature to all relevant ones.
    minimal : ndarray of int
        The smallest set that is enough.
    learner : Learner
        What does best on sets of its size.
    growth : float
        How much larger the loss of minimal sets is, of sizes chosen in other folds.
    n_fits : int
        Number of models fitted.
    """

    steps: tuple[PathStep, ...]
    minimal: Indices
    learner: Learner
    growth: float
    n_fits: int


@dataclass(frozen=True, eq=False)
class _Search:
    """What is searched, and beside what.

    Attributes
    ----------
    fit : CrossFit
        Table and folds.
    learners : tuple of Learner
        What is fitted: the winner on all relevant features first.
    last : frozenset of int
        The features that go last.
    losses : ndarray
        The losses of all relevant features, in every tested row.
    margin : float
        By how much the loss may grow.
    known : dict of int to Known
        What is known of sets, for every fold.
    """

    fit: CrossFit
    learners: tuple[Learner, ...]
    last: frozenset[int]
    losses: Array
    margin: float
    known: dict[int, Known]

    @classmethod
    def of(
        cls, fit: CrossFit, race: Race, relevant: tuple[int, ...], strong: Indices, margin: float
    ) -> _Search:
        """Begin with what a race knows of all relevant features, beside which others grow."""
        learners = _learners(fit, race)
        known: dict[int, Known] = {
            k: {relevant: (None, np.zeros((len(learners), len(test))))}
            for k, (_, test) in enumerate(fit.folds)
        }
        return cls(fit, learners, frozenset(strong.tolist()), race.losses, margin, known)

    def run(self, starts: dict[int, tuple[int, ...]], sizes: Sequence[int]) -> dict[int, BySize]:
        """Eliminate in some folds; return sets and growths of losses, by fold and size."""
        jobs = [self._job(start, tuple(sizes), fold) for fold, start in starts.items()]
        self.fit.workers.reporter.expect(len(jobs))
        out = {}
        for fold, found in zip(starts, run_eliminations(self.fit, jobs), strict=True):
            grown, known = found.losses - self.beside(fold), self.known[fold]
            for k, size in enumerate(sizes):
                before = known.get(found.left(size))
                known[found.left(size)] = found.needs[k], grown[k] if before is None else before[1]
            out[fold] = {s: (found.left(s), known[found.left(s)][1]) for s in sizes}
        return out

    def _job(self, start: tuple[int, ...], sizes: tuple[int, ...], fold: int) -> Elimination:
        """Describe an elimination that fits no set that is known."""
        known = {features: needs for features, (needs, _) in self.known[fold].items()}
        return Elimination(self.learners, start, self.last, sizes, fold, known=known)

    def begun(self) -> dict[int, BySize]:
        """Return what is known of all folds, by size."""
        return {
            fold: {len(features): (features, grown) for features, (_, grown) in known.items()}
            for fold, known in self.known.items()
        }

    @property
    def n_fits(self) -> int:
        """How many models were fitted; those of all features come from a race."""
        n_sets = sum(len(known) - 1 for known in self.known.values())
        return n_sets * len(trained_together(self.learners))

    def beside(self, fold: int) -> Array:
        """Return the losses of all relevant features in the test rows of a fold."""
        return self.losses[np.searchsorted(self.fit.tested, self.fit.folds[fold][1])]


class _Grown:
    """How much losses grow in the test rows of every fold, for every size that was tried.

    Growths have a row for each learner, and the one that does best on a size counts.
    """

    def __init__(self, search: _Search) -> None:
        self.search = search
        self.sets: dict[int, dict[int, tuple[int, ...]]] = {}
        self.rows: dict[int, dict[int, Array]] = {}

    def add(self, found: dict[int, BySize]) -> None:
        """Add what was found in some folds."""
        for fold, by_size in found.items():
            for size, (features, grown) in by_size.items():
                self.sets.setdefault(size, {})[fold] = features
                self.rows.setdefault(size, {})[fold] = grown

    def test(self, size: int) -> PairedTest:
        """Test the growth of a size where it is known, by the learner that other folds choose."""
        fit, known = self.search.fit, self.rows[size]
        parts = [
            known[k][self.best(size, without=k)] if k in known else np.full(len(test), np.nan)
            for k, (_, test) in enumerate(fit.folds)
        ]
        return fit.test_known(fit.gathered(parts)[:, np.newaxis])

    def best(self, size: int, without: int | None = None) -> int:
        """Return the learner that does best on a size, without one fold."""
        return int(self._means(size, without).argmin())

    def mean(self, size: int, without: int | None = None) -> float:
        """Return the mean growth of a size, without one fold."""
        return float(self._means(size, without).min())

    def smallest(self, least: int, limit: float, without: int | None = None) -> int:
        """Return the smallest size whose growth is within a limit, known in every fold.

        More columns tell no less: growths are taken for noise about a curve that only falls.
        """
        sizes, falling = self.falling(least, without)
        enough = np.flatnonzero(falling <= limit)
        return sizes[int(enough[0])] if len(enough) else sizes[-1]

    def falling(self, least: int, without: int | None = None) -> tuple[list[int], Array]:
        """Return the sizes that are known in every fold, and a falling curve of their growths."""
        n_folds = len(self.search.fit.folds)
        sizes = sorted(s for s in self.rows if s >= least and len(self.rows[s]) == n_folds)
        means = [self.mean(size, without) for size in sizes]
        return sizes, np.asarray(isotonic_regression(means, increasing=False))

    def of_choice(self, least: int, limit: float) -> float:
        """Return the mean growth in every fold of the size that the other folds choose."""
        fit = self.search.fit
        if len(fit.folds) == 1:
            return self.mean(self.smallest(least, limit))
        chosen = {k: self.smallest(least, limit, without=k) for k in range(len(fit.folds))}
        parts = [self.rows[size][k][self.best(size, without=k)] for k, size in chosen.items()]
        return fit.mean(fit.gathered(parts))

    def choice(self, least: int) -> tuple[int, float]:
        """Return the smallest size that is enough, and the growth of sizes chosen that way.

        The smallest of many sizes that seem enough is so by luck where few rows tell. So the limit
        is lowered until sizes that other folds choose by it are enough, if there is such a limit.
        """
        margin = self.search.margin
        falling = self.falling(least)[1]
        for limit in (margin, *np.unique(falling[falling < margin])[::-1].tolist()):
            growth = self.of_choice(least, limit)
            if growth <= margin:
                return self.smallest(least, limit), growth
        return self.smallest(least, margin), self.of_choice(least, margin)

    def _means(self, size: int, without: int | None) -> Array:
        fit, known = self.search.fit, self.rows[size]
        # A fold that is the only one has no others to ask.
        folds = [k for k in known if k != without] or [*known]
        rows = np.concatenate([fit.folds[k][1] for k in folds])
        weights = None if fit.table.weights is None else fit.table.weights[rows]
        grown = np.concatenate([known[k] for k in folds], axis=1)
        return np.asarray(np.average(grown, axis=1, weights=weights))


def search_small_sets(
    fit: CrossFit,
    race: Race,
    relevant: Indices,
    strong: Indices,
    cover: Indices,
    p_marginal: Array,
    margin: float,
) -> SizePath:
    """Find the best set of every size, and the smallest that is enough.

    Parameters
    ----------
    fit : CrossFit
        Table and folds.
    race : Race
        How learners did on all relevant features; the winner is what is fitted.
    relevant, strong : ndarray of int
        The relevant features, and those among them that are in every set that is enough.
    cover : ndarray of int
        Features that replace all other relevant ones. The search begins with them if they are
        enough, and with all relevant ones if not.
    p_marginal : ndarray of float
        How much every feature tells on its own, which orders what the cover replaces.
    margin : float
        By how much the loss of a set that is enough may be larger.

    Raises OutOfTime if there is no time for it.
    """
    everything = tuple(relevant.tolist())
    search = _Search.of(fit, race, everything, strong, margin)
    grown = _Grown(search)
    n = len(fit.folds)
    grown.add(search.begun())
    start = _start(search, grown, everything, tuple(cover.tolist()))
    least = max(len(strong), 1)
    sizes = sizes_below(len(start), least)
    grown.add(search.run(dict.fromkeys(range(min(FIRST, n)), start), sizes))
    rest = [s for s in sizes if not _is_settled(grown, s)]
    if n > FIRST:
        grown.add(search.run(dict.fromkeys(range(FIRST, n), start), rest))
    _refine(search, grown, least)
    size, growth = grown.choice(least)
    if size > len(start):
        # In all folds together, what covers the others is not enough.
        start = everything
    learner = search.learners[grown.best(size)]
    _go_below(search, grown, size)
    chosen = sorted((s for s in grown.rows if s <= len(start)), reverse=True)
    job = Elimination(search.learners, start, search.last, tuple(chosen), None, free_below=size)
    uncovered = _uncovered(everything, start, p_marginal, fit.table.id_features)
    order = [*uncovered, *run_eliminations(fit, [job])[0].order]
    n_fits = search.n_fits + len(chosen)
    steps = tuple(_step(grown, order, k) for k in range(1, len(everything) + 1))
    minimal = np.array(steps[size - 1].columns, dtype=np.intp)
    return SizePath(steps, minimal, learner, growth, n_fits)


def _learners(fit: CrossFit, race: Race) -> tuple[Learner, ...]:
    """Return the winner, and what may suit smaller sets better.

    Fewer rounds, or a milder penalty; and kernels, if these are as good with all features: they do
    not mind along which of several mixed features they look.
    """
    winner = race.learner
    if not isinstance(winner, BuiltIn):
        return (winner,)
    if not winner.is_smooth:
        more = [replace(winner, strength=r) for r in ROUNDS if r < winner.strength]
    else:
        penalised = winner.kind in ("linear", "quadratic")
        penalised &= len(fit.family.strengths("linear")) > 1
        more = [replace(winner, strength=MILDER * winner.strength)] if penalised else []
    kernel = race.best_of("kernel")
    as_good = kernel is not None and kernel != winner and race.lags[kernel] <= 0
    return (winner, *more, *([kernel] if kernel is not None and as_good else []))


def _start(
    search: _Search, grown: _Grown, everything: tuple[int, ...], cover: tuple[int, ...]
) -> tuple[int, ...]:
    """Begin with what covers all relevant features, if that is enough in the first folds."""
    if len(cover) in (0, len(everything)):
        return everything
    tried = _Grown(search)
    tried.add(
        search.run(dict.fromkeys(range(min(FIRST, len(search.fit.folds))), cover), [len(cover)])
    )
    growth = float(tried.test(len(cover)).mean[0])
    return cover if growth <= search.margin else everything


def _is_settled(grown: _Grown, size: int) -> bool:
    """Tell whether a size is clearly too small, and how much it loses is told well enough."""
    test = grown.test(size)
    mean, error = float(test.mean[0]), float(test.error[0])
    too_small = mean - DROPS_OUT * error > grown.search.margin
    return too_small and not until_told(grown.search.margin)(mean, error)


def _refine(search: _Search, grown: _Grown, least: int) -> None:
    """Try the sizes that were passed over below the smallest that is enough, one by one."""
    size = grown.smallest(least, search.margin)
    below = max((s for s in grown.rows if s < size), default=0)
    passed = range(size, max(below, least - 1), -1)
    if len(passed) > 1 and len(grown.rows[size]) == len(grown.sets[size]):
        grown.add(search.run(grown.sets[size], tuple(passed)))


def _go_below(search: _Search, grown: _Grown, size: int) -> None:
    """Try smaller sets than the minimal one, in which no feature is kept for being strong."""
    if not search.last or size == 1:
        return
    for smaller in [s for s in grown.rows if s < size]:
        del grown.rows[smaller], grown.sets[smaller]
    free, starts = replace(search, last=frozenset[int]()), grown.sets[size]
    sizes = sizes_below(size)
    for is_first in (True, False):
        some = {k: start for k, start in starts.items() if (k < FIRST) == is_first}
        found = free.run(some, sizes)
        grown.add({fold: {s: found[fold][s] for s in sizes[1:]} for fold in found})
        # Down to the smallest size that is open; those above are on the way.
        least = min((s for s in sizes[1:] if not _is_settled(grown, s)), default=size)
        sizes = tuple(s for s in sizes if s >= least)
        if len(sizes) == 1:
            return


def _uncovered(
    everything: tuple[int, ...], start: tuple[int, ...], p_marginal: Array, ids: frozenset[int]
) -> list[int]:
    """Return what the search did not begin with: identifiers first, then what tells least."""
    return sorted({*everything} - {*start}, key=lambda j: (j not in ids, -p_marginal[j], -j))


def _step(grown: _Grown, order: Sequence[int], size: int) -> PathStep:
    """Describe a size: the features that are left when all others went."""
    columns = tuple(sorted(order[len(order) - size :]))
    if size not in grown.rows:
        return PathStep(size, columns, np.nan, np.nan, np.nan)
    test = grown.test(size)
    mean, reach = float(test.mean[0]), float(test.reach()[0])
    return PathStep(size, columns, mean, mean - reach, mean + reach)
