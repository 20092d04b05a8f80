"""The default method: out-of-sample tests of every column, one stage after the other.

It keeps the sequence of the paper. All relevant columns come first: a column is relevant as
soon as one sufficient proof says so. Then each of them is tested for what it adds to all
others: the best model is kept and the column is redrawn from its distribution given the
others; if they tell much about it, a refit without it has to agree. What is relevant and not
strong is weak, and its substitutes are those that predict it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator

from squamish import proofs
from squamish.crossfitting import CrossFit, Race
from squamish.errors import InputError, check_range
from squamish.learners import Array, Learner, Rows, portfolio
from squamish.redraw import SMOOTH_FITS, best_guess, depends_on_others, ridge_residuals
from squamish.redundancy import correlation_groups, replaceable_groups, substitutes
from squamish.result import IRRELEVANT, STRONG, WEAK
from squamish.statistics import combined_p_values, holm, normal_scores, paired_p_values
from squamish.tables import Table

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
SHADOW_SETS, SHADOW_ROUNDS = 4, 3
# Groups with a combined p-value above this are not worth a test in the trees.
HOPE = 0.3
# How often the model is extended by columns that explain what it leaves unexplained.
MOST_ROUNDS = 3
# The most columns that imputers look at; more are narrowed down to the closest ones.
MOST_CONTEXT = 150


@dataclass(frozen=True, eq=False)
class CrossfitEvidence:
    """What the verdict rests on, one entry for each column of the table.

    Attributes
    ----------
    proof : tuple of str
        The proof that did most to make the column relevant: "marginal", "product",
        "partial", "shadow", "association", "useful" or "trees"; empty if it is not relevant.
    proof_p_values : dict of str to ndarray
        The p-value of every column in every proof; 1 if not tested.
    p_relevant : ndarray of float
        All proofs combined, before the correction for the number of columns.
    removal_loss : ndarray of float
        Mean growth of the out-of-sample loss when the column is redrawn given the others,
        or when it is left out, whichever decided; NaN if it was not tested.
    removal_interval : ndarray of shape (2, n_features)
        95% confidence interval of ``removal_loss``.
    p_value : ndarray of float
        One-sided p-value of ``removal_loss``, before correction; NaN if not tested.
    effect : ndarray of float
        ``removal_loss`` as a share of what the model gains over the constant prediction.
    explained : ndarray of float
        Share of the column's variance that the other columns explain linearly.
    substitutes : dict of int to tuple of tuples of int
        For every weak column, the columns or sets of columns that replace it.
    groups : tuple of tuples of int
        Weak columns that replace each other.
    representatives : tuple of int
        The column of each group that tells most on its own.
    learner : str
        The learner that did best on the relevant columns.
    loss, constant_loss : float
        Its out-of-sample loss, and that of the constant prediction.
    n_fits : int
        How many models were fitted.
    """

    proof: tuple[str, ...]
    proof_p_values: dict[str, Array]
    p_relevant: Array
    removal_loss: Array
    removal_interval: Array
    p_value: Array
    effect: Array
    explained: Array
    substitutes: dict[int, tuple[tuple[int, ...], ...]]
    groups: tuple[tuple[int, ...], ...]
    representatives: tuple[int, ...]
    learner: str
    loss: float
    constant_loss: float
    n_fits: int

    def spread(self, places: NDArray[np.intp], n_features: int) -> CrossfitEvidence:
        """Return the evidence for a wider table, whose columns at ``places`` were judged."""

        def wide(narrow: Array, fill: float) -> Array:
            out = np.full((*narrow.shape[:-1], n_features), fill)
            out[..., places] = narrow
            return out

        def moved(columns: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(sorted(int(places[j]) for j in columns))

        names = dict(zip(places.tolist(), self.proof, strict=True))
        order = np.argsort([min(moved(group)) for group in self.groups])
        return replace(
            self,
            proof=tuple(names.get(j, "") for j in range(n_features)),
            proof_p_values={k: wide(p, 1.0) for k, p in self.proof_p_values.items()},
            p_relevant=wide(self.p_relevant, 1.0),
            removal_loss=wide(self.removal_loss, np.nan),
            removal_interval=wide(self.removal_interval, np.nan),
            p_value=wide(self.p_value, np.nan),
            effect=wide(self.effect, np.nan),
            explained=wide(self.explained, np.nan),
            substitutes={
                int(places[j]): tuple(moved(group) for group in sets)
                for j, sets in self.substitutes.items()
            },
            groups=tuple(moved(self.groups[g]) for g in order),
            representatives=tuple(int(places[self.representatives[g]]) for g in order),
        )


@dataclass(eq=False)
class _Case:
    """One table under judgement: its views, and what was found so far."""

    table: Table
    fit: CrossFit
    p: dict[str, Array] = field(default_factory=dict)
    proof: list[str] = field(default_factory=list)
    p_relevant: Array = field(default_factory=lambda: np.ones(0))
    n_fits: int = 0

    @property
    def relevant(self) -> Rows:
        return np.flatnonzero([bool(name) for name in self.proof])

    def race(self, columns: Rows, earlier: Race | None = None) -> Race:
        """Race the portfolio, or only what was not far behind on other columns before."""
        learners = portfolio(self.table.task, len(columns))
        if earlier is not None:
            known = [a for a in learners if earlier.lags.get(a, np.inf) < 0.02]
            learners = known or learners
        race = self.fit.race(learners, columns)
        self.n_fits += race.n_fits
        return race


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
        Number of folds; fewer if the rarest class has fewer rows.
    """

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        min_effect: float = 0.01,
        n_folds: int = 5,
    ) -> None:
        self.alpha = alpha
        self.min_effect = min_effect
        self.n_folds = n_folds

    def classify(
        self, X: Table, rng: np.random.Generator, n_jobs: int | None = None
    ) -> tuple[NDArray[np.int64], CrossfitEvidence]:
        """Decide the class of every column.

        Parameters
        ----------
        X : Table
            Features and target. No column is constant; there may be none at all.
        rng : numpy.random.Generator
            Source of all seeds.
        n_jobs : int or None
            How many models to fit at the same time.

        Returns
        -------
        classes : ndarray of int
            The class of every column.
        evidence : CrossfitEvidence
            What the verdict rests on.
        """
        self._check_parameters(X)
        fold_rng, shadow_rng, tree_rng, removal_rng = rng.spawn(4)
        case = self._open(X, fold_rng, n_jobs)

        groups = self._prove_without_model(case, shadow_rng, n_jobs)
        race = self._prove_useful(case)
        if self._prove_in_trees(case, groups, tree_rng):
            race = case.race(case.relevant, race)
        A = case.relevant

        strong, removal = self._removal_tests(case, race, removal_rng)
        classes = np.full(X.n_features, IRRELEVANT)
        classes[A] = np.where(strong, STRONG, WEAK)
        return classes, self._evidence(case, race, classes, removal)

    def _check_parameters(self, X: Table) -> None:
        check_range("alpha", self.alpha, above=0, below=1)
        check_range("min_effect", self.min_effect, at_least=0, below=1)
        check_range("n_folds", self.n_folds, at_least=2, at_most=len(X.y), integer=True)
        if X.task == "classification":
            single = [X.labels[c] for c in np.flatnonzero(np.bincount(X.y) == 1)]
            if single:
                raise InputError(
                    f"y has one row only of class {', '.join(single)}; every class must have 2 "
                    "or more, so that one can be predicted from the others"
                )

    def _open(self, X: Table, rng: np.random.Generator, n_jobs: int | None) -> _Case:
        """Lay out the table in both views, and bound the influence of extreme amounts."""
        X = replace(X, X=_fill_gaps(X.X))
        plain = (X.X - X.X.mean(axis=0)) / X.X.std(axis=0)
        y = X.y
        if X.task == "regression":
            low, high = np.quantile(y, [0.25, 0.75])
            if high > low:
                y = np.clip(y, low - 3 * (high - low), high + 3 * (high - low))
            y = (y - y.mean()) / y.std()
        ranked = normal_scores(X.X) if X.n_features else plain
        rarest = int(np.bincount(y).min()) if X.task == "classification" else len(y)
        n_folds = min(self.n_folds, rarest)
        fit = CrossFit.over(plain, ranked, y, X.task, n_folds, rng, n_jobs)
        return _Case(replace(X, y=y), fit, proof=[""] * X.n_features)

    def _prove_without_model(
        self, case: _Case, rng: np.random.Generator, n_jobs: int | None
    ) -> NDArray[np.intp]:
        """Stage 1: dependence that shows without the best model. Returns correlation groups."""
        X, Z = case.table, case.fit.ranked
        case.p = {name: np.ones(X.n_features) for name in WEIGHTS}
        if X.n_features == 0:
            return np.zeros(0, dtype=np.intp)
        targets = proofs.target_scores(X)
        groups = correlation_groups(Z)
        case.p["marginal"] = proofs.with_group_centres(X, Z, groups)
        case.p["product"] = proofs.product_p_values(Z, targets)
        case.p["partial"] = proofs.partial_p_values(Z, targets)
        case.p["shadow"] = proofs.shadow_p_values(
            X, groups, rng, n_jobs, n_sets=SHADOW_SETS, n_rounds=SHADOW_ROUNDS
        )
        case.n_fits += SHADOW_SETS * SHADOW_ROUNDS
        self._decide(case)
        if len(case.relevant):
            case.p["association"] = proofs.association_p_values(Z, case.relevant)
            self._decide(case)
        return groups

    def _prove_useful(self, case: _Case) -> Race | None:
        """Stage 2: columns that explain what the best model without them leaves unexplained.

        Those that do join the model, and what is left is looked at again.
        """
        race: Race | None = None
        rounds: list[Array] = []
        for n_left in range(MOST_ROUNDS, 0, -1):
            A = case.relevant
            if len(A) == 0:
                return None
            race = case.race(A, race)
            prediction = case.fit.predictions(race.learner, case.fit.view(race.learner)[:, A])
            case.n_fits += len(case.fit.folds)
            p = proofs.residual_p_values(case.fit.ranked, _residuals(prediction, case.table), A)
            p[A] = case.p["useful"][A]
            # A round more would test the same again as long as the model stays the same.
            everything = np.stack([*rounds, *[p] * n_left])
            rounds.append(p)
            case.p["useful"] = combined_p_values(everything, np.full(MOST_ROUNDS, 1 / MOST_ROUNDS))
            if not self._decide(case):
                return race
        return case.race(case.relevant, race)

    def _prove_in_trees(
        self, case: _Case, groups: NDArray[np.intp], rng: np.random.Generator
    ) -> bool:
        """Stage 3: groups that boosted trees on all groups would miss. Tells if there are any.

        The trees see one column of every group, relevant or not: a choice by what the same
        rows say about the target would favour what it chose. Only groups with some sign of
        relevance are tested.
        """
        numbers, columns = np.unique(groups, return_index=True)
        known = np.isin(numbers, groups[case.relevant])
        hope = np.array([case.p_relevant[groups == g].min() < HOPE for g in numbers], dtype=bool)
        tested = np.flatnonzero(hope & ~known)
        if len(tested) == 0:
            return False
        order = np.argsort(columns)
        columns, place = columns[order], np.argsort(order)
        context = _context(case.fit.ranked, columns[place[tested]], columns)
        units = [place[[g]] for g in tested]
        D = self._redraws(case, Learner("boosted"), columns, context, units, rng)[0]
        for g, p in zip(tested, paired_p_values(D), strict=True):
            members = groups == numbers[g]
            case.p["trees"][members] = p
        return self._decide(case)

    def _decide(self, case: _Case) -> bool:
        """Record the columns whose proofs together suffice; tell whether there are new ones."""
        p = np.stack([case.p[name] for name in WEIGHTS])
        weights = np.array(list(WEIGHTS.values()))
        case.p_relevant = combined_p_values(p, weights)
        before = len(case.relevant)
        best = (weights[:, np.newaxis] / np.maximum(p, 1e-300)).argmax(axis=0)
        for j in np.flatnonzero(holm(case.p_relevant, self.alpha)):
            case.proof[j] = case.proof[j] or list(WEIGHTS)[best[j]]
        return len(case.relevant) > before

    def _removal_tests(
        self, case: _Case, race: Race | None, rng: np.random.Generator
    ) -> tuple[NDArray[np.bool_], dict[str, Array]]:
        """Stage 4: what each relevant column adds to all others."""
        A = case.relevant
        removal = {
            name: np.full(len(A), np.nan) for name in ("loss", "low", "high", "p", "explained")
        }
        strong = np.zeros(len(A), dtype=bool)
        if race is None:
            return strong, removal
        gain = float(np.mean(case.fit.constant_losses() - race.losses))
        context = _context(case.fit.ranked, A, np.arange(case.table.n_features))
        units = [np.array([i]) for i in range(len(A))]
        D, leftover, explained = self._redraws(case, race.learner, A, context, units, rng)
        removal["explained"] = explained
        self._note(removal, np.arange(len(A)), D)
        if gain <= 0:
            return strong, removal
        strong = holm(removal["p"], self.alpha)
        strong &= removal["loss"] > self.min_effect * gain
        for i in np.flatnonzero(strong):
            if len(A) == 1:
                break
            well_explained = explained[i] > 0.5
            case.n_fits += not well_explained  # the check for other dependence
            if not well_explained and not depends_on_others(
                leftover[:, i], case.fit.plain[:, context[context != A[i]]], case.fit.folds
            ):
                continue
            view = case.fit.view(race.learner)
            x, others = view[:, A[i]], view[:, context[context != A[i]]]
            guess = best_guess(others, x, x - leftover[:, i], case.fit.folds)
            case.n_fits += SMOOTH_FITS + 2 * len(case.fit.folds)
            explained[i] = 1 - np.square(x - guess).mean() / x.var()
            cost = self._loss_without(case, race, A, int(i), guess, gain)
            # Where the others tell much of the column the refit decides; where they hardly
            # do it only has a veto, since it is the weaker test.
            level = self.alpha if explained[i] > 0.5 else 0.2
            least = max(self.min_effect * gain, 0.05 * removal["loss"][i])
            self._note(removal, np.array([i]), cost[:, np.newaxis])
            strong[i] = removal["p"][i] <= level and removal["loss"][i] > least
        return strong, removal

    def _redraws(
        self,
        case: _Case,
        learner: Learner,
        columns: Rows,
        context: Rows,
        units: list[Rows],
        rng: np.random.Generator,
    ) -> tuple[Array, Array, Array]:
        """Redraw units of ``columns`` given the context: cost, what is left, share explained."""
        views = [case.fit.plain[:, context], case.fit.ranked[:, context]]
        ranked = int(learner.view == "ranked")
        places = [np.searchsorted(context, columns[unit]) for unit in units]
        residuals = ridge_residuals(views, ranked, places, case.fit.folds)
        D = case.fit.redraw_losses(learner, columns, units, residuals, rng)
        case.n_fits += len(case.fit.folds)
        leftover = np.column_stack([r.values[:, 0] for r in residuals])
        return D, leftover, np.array([r.explained[0] for r in residuals])

    def _loss_without(
        self,
        case: _Case,
        race: Race,
        A: Rows,
        i: int,
        guess: Array,
        gain: float,
    ) -> Array:
        """Growth of the loss in the best model that does without column ``A[i]``.

        Any learner that was not far behind may be that model, and it may also use what the
        other columns say about the missing one.
        """
        rest = np.delete(A, i)
        trials = [
            case.fit.losses(learner, case.fit.view(learner)[:, rest])
            for learner in race.contenders(0.1 * gain)
        ]
        view = case.fit.view(race.learner)
        with_guess = np.column_stack([view[:, rest], guess])
        trials.append(case.fit.losses(race.learner, with_guess))
        case.n_fits += len(trials) * len(case.fit.folds)
        return min(trials, key=lambda losses: float(losses.mean())) - race.losses

    @staticmethod
    def _note(removal: dict[str, Array], places: Rows, D: Array) -> None:
        mean, error = D.mean(axis=0), D.std(axis=0, ddof=1) / np.sqrt(len(D))
        reach = stats.t.isf(0.025, len(D) - 1) * error
        removal["loss"][places] = mean
        removal["low"][places], removal["high"][places] = mean - reach, mean + reach
        removal["p"][places] = paired_p_values(D)

    def _evidence(
        self,
        case: _Case,
        race: Race | None,
        classes: NDArray[np.int64],
        removal: dict[str, Array],
    ) -> CrossfitEvidence:
        A, d = case.relevant, case.table.n_features
        views = [case.fit.plain[:, A], case.fit.ranked[:, A]]
        weak = np.flatnonzero(classes == WEAK).tolist()
        replaced_by = {
            j: tuple(
                tuple(int(A[k]) for k in group)
                for group in substitutes(views, int(np.searchsorted(A, j)))
            )
            for j in weak
        }
        groups = replaceable_groups(weak, replaced_by)
        constant = float(case.fit.constant_losses().mean())
        loss = constant if race is None else float(race.losses.mean())

        def wide(values: Array) -> Array:
            out = np.full(d, np.nan)
            out[A] = values
            return out

        return CrossfitEvidence(
            proof=tuple(case.proof),
            proof_p_values=case.p,
            p_relevant=case.p_relevant,
            removal_loss=wide(removal["loss"]),
            removal_interval=np.stack([wide(removal["low"]), wide(removal["high"])]),
            p_value=wide(removal["p"]),
            effect=wide(removal["loss"] / (constant - loss if constant > loss else np.nan)),
            explained=wide(removal["explained"]),
            substitutes=replaced_by,
            groups=groups,
            representatives=tuple(
                min(group, key=lambda j: (case.p["marginal"][j], j)) for group in groups
            ),
            learner="constant" if race is None else str(race.learner),
            loss=loss,
            constant_loss=constant,
            n_fits=case.n_fits,
        )


def _fill_gaps(X: Array) -> Array:
    """Put missing values below all others: absence is a value of its own."""
    gaps = np.isnan(X)
    if not gaps.any():
        return X
    below = np.nanmin(X, axis=0) - np.nanstd(X, axis=0)
    return np.where(gaps, below, X)


def _residuals(prediction: Array, table: Table) -> Array:
    if table.task == "regression":
        return (table.y - prediction)[:, np.newaxis]
    residuals = (table.y[:, np.newaxis] == np.arange(prediction.shape[1])) - prediction
    residuals -= residuals.mean(axis=0)
    return residuals[:, 1:] if residuals.shape[1] == 2 else residuals


def _context(Z: Array, A: Rows, columns: Rows) -> Rows:
    """Return what imputers of ``A`` look at: all these columns, or those closest to ``A``."""
    if len(columns) <= MOST_CONTEXT:
        return columns
    closeness = np.abs(Z[:, A].T @ Z[:, columns]).max(axis=0)
    closeness[np.isin(columns, A)] = np.inf
    closest = np.argsort(-closeness, kind="stable")[: max(MOST_CONTEXT, len(A))]
    return np.sort(columns[closest])
