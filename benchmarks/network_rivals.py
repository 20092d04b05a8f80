"""Others who say which columns a target needs: learners of Markov blankets, and regressions.

Each takes the columns, the target and alpha, and returns which columns it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Columns = NDArray[Any]
Called = NDArray[np.bool_]
# Log-odds of a class that some level excludes have no finite maximum; with this ridge they have
# one, far out, and the likelihood is that of the maximum to a few digits.
RIDGE = 1e-3
# Newton's method gets there in some twenty steps; it ends where a step gains less than this.
MOST_STEPS, TOLERANCE = 100, 1e-5


def squamish(X: Columns, y: Columns, alpha: float) -> Called:
    """Run squamish with its default settings; what it calls strong."""
    import pandas as pd

    from squamish import CrossfitMethod, RelevanceSelector

    names = [f"x{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    if X.dtype.kind == "U":
        frame = frame.astype("category")
    selector = RelevanceSelector(CrossfitMethod(alpha=alpha), random_state=0, n_jobs=1)
    return np.isin(names, selector.fit(frame, y).result_.strong)


def regression_with_holm(X: Columns, y: Columns, alpha: float) -> Called:
    """Test each column in a regression on all: least squares, or logistic if it is discrete."""
    p_values = _least_squares(X, y) if X.dtype.kind == "f" else _logistic(X, y)
    return holm(p_values, alpha)


def holm(p_values: NDArray[np.float64], alpha: float) -> Called:
    """Return which hypotheses are rejected at a family-wise alpha."""
    order = np.argsort(p_values)
    passed = p_values[order] <= alpha / np.arange(len(p_values), 0, -1)
    rejected = np.zeros(len(p_values), dtype=bool)
    rejected[order] = np.logical_and.accumulate(passed)
    return rejected


def _least_squares(X: Columns, y: Columns) -> NDArray[np.float64]:
    varies = np.ptp(X, axis=0) > 0
    design = np.column_stack([np.ones(len(X)), X[:, varies]])
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residual = y - design @ coefficients
    df = len(X) - design.shape[1]
    t = coefficients / np.sqrt(np.diag(inverse) * (residual @ residual / df))
    p_values = np.ones(X.shape[1])
    p_values[varies] = 2 * stats.t.sf(np.abs(t[1:]), df)
    return p_values


def _logistic(X: Columns, y: Columns) -> NDArray[np.float64]:
    """Return p-values of likelihood ratios of multinomial logistic regressions."""
    parts = [_indicators(column) for column in X.T]
    df = np.array([part.shape[1] for part in parts]) * (len(np.unique(y)) - 1)
    p_values: NDArray[np.float64] = np.ones(len(parts))
    p_values[df > 0] = stats.chi2.sf(likelihood_ratios(parts, y)[df > 0], df[df > 0])
    return p_values


def likelihood_ratios(parts: Sequence[NDArray[np.float64]], y: Columns) -> NDArray[np.float64]:
    """Return how much the deviance of a logistic regression grows without each of its parts."""
    classes = np.unique(y, return_inverse=True)[1]
    design = np.column_stack([np.ones(len(y)), *parts])
    owner = np.repeat(np.arange(-1, len(parts)), [1, *(part.shape[1] for part in parts)])
    start = np.zeros((design.shape[1], int(classes.max())))
    full, weights = _deviance(design, classes, start)
    growth = np.zeros(len(parts))
    for j, part in enumerate(parts):
        if part.shape[1]:
            kept = owner != j
            growth[j] = _deviance(design[:, kept], classes, weights[kept])[0] - full
    return growth


def _indicators(column: Columns) -> NDArray[np.float64]:
    """Return an indicator of each level but the most frequent one."""
    levels, counts = np.unique(column, return_counts=True)
    others = np.delete(levels, np.argmax(counts))
    return np.asarray(column[:, None] == others, dtype=np.float64)


def _deviance(
    design: NDArray[np.float64], classes: NDArray[np.intp], start: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return twice the least negative log-likelihood, and the weights, by Newton's method."""
    truth = np.eye(classes.max() + 1)[classes]
    weights = start
    loss, p = _loss(design, truth, weights)
    for _ in range(MOST_STEPS):
        slope = design.T @ (p - truth)[:, 1:] + RIDGE * weights
        step = np.linalg.solve(_curvature(design, p[:, 1:]), slope.T.ravel())
        direction = step.reshape(slope.T.shape).T
        before = loss
        for size in 0.5 ** np.arange(10):
            loss, p = _loss(design, truth, weights - size * direction)
            if loss <= before:
                weights = weights - size * direction
                break
        if before - loss < TOLERANCE:
            break
    return 2 * min(loss, before), weights


def _loss(
    design: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the negative log-likelihood with its ridge, and probabilities of all classes."""
    scores = np.column_stack([np.zeros(len(design)), design @ weights])
    log_p = scores - special.logsumexp(scores, axis=1, keepdims=True)
    ridge = RIDGE / 2 * float(np.sum(weights**2))
    return ridge - float(np.sum(log_p * truth)), np.exp(log_p)


def _curvature(design: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the second derivatives of the loss; weights of a class lie together."""
    n_weights, n_classes = design.shape[1], p.shape[1]
    blocks = [
        [design.T @ (design * (p[:, a] * ((a == b) - p[:, b]))[:, None]) for b in range(n_classes)]
        for a in range(n_classes)
    ]
    return np.asarray(np.block(blocks) + RIDGE * np.eye(n_weights * n_classes))


def blanket_learner(X: Columns, y: Columns, alpha: float, *, name: str) -> Called:
    """Run a learner of pyCausalFS."""
    data = np.column_stack([np.unique(column, return_inverse=True)[1] for column in (*X.T, y)])
    found, _ = _learner(name)(data, X.shape[1], alpha, True)
    return np.isin(np.arange(X.shape[1]), found)


def _learner(name: str) -> Callable[..., tuple[list[int], int]]:
    """Load a learner, with a test in place of its own, which goes through all rows in Python."""
    from pyCausalFS.CBD.MBs import BAMB, IAMB
    from pyCausalFS.CBD.MBs.HITON import HITON_MB, HITON_PC

    for module in (BAMB, IAMB, HITON_MB, HITON_PC):
        module.cond_indep_test = g_test
    learners = {"IAMB": IAMB.IAMB, "HITON-MB": HITON_MB.HITON_MB, "BAMB": BAMB.BAMB}
    return learners[name]


def g_test(
    data: NDArray[np.int64],
    first: int,
    second: int,
    given: Sequence[int] = (),
    is_discrete: bool = True,
    alpha: float = 0.01,
) -> tuple[float, float]:
    """Test conditional independence of two columns by G2, as pyCausalFS does.

    Returns
    -------
    p_value : float
        That of a chi-squared distribution with degrees of freedom of all levels, also of those
        that do not occur together.
    dependence : float
        G2 if it is significant, else 0.
    """
    levels = data.max(axis=0) + 1
    df = (levels[first] - 1) * (levels[second] - 1) * np.prod(levels[list(given)], dtype=float)
    if not df:
        return 1.0, 0.0
    stratum = np.zeros(len(data), dtype=np.int64)
    for column in given:
        stratum = np.unique(stratum * levels[column] + data[:, column], return_inverse=True)[1]
    counts = np.zeros((stratum.max() + 1, levels[first], levels[second]))
    np.add.at(counts, (stratum, data[:, first], data[:, second]), 1)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=2, keepdims=True)
    seen = counts > 0
    total = np.broadcast_to(counts.sum(axis=(1, 2), keepdims=True), counts.shape)[seen]
    g2 = float(2 * np.sum(counts[seen] * np.log(counts[seen] * total / expected[seen])))
    p_value = float(stats.chi2.sf(g2, df))
    return p_value, g2 if p_value <= alpha else 0.0


OURS = "squamish"
BLANKETS = ("IAMB", "HITON-MB", "BAMB")
REGRESSION = "regression, Holm"
CONTESTANTS: dict[str, Callable[[Columns, Columns, float], Called]] = {
    OURS: squamish,
    REGRESSION: regression_with_holm,
    **{name: partial(blanket_learner, name=name) for name in BLANKETS},
}


def contestants(is_discrete: bool) -> list[str]:
    """Return who takes part: pyCausalFS tests numbers by one tail of Fisher's z, the wrong way."""
    return [name for name in CONTESTANTS if is_discrete or name not in BLANKETS]
