"""Confounded tables: columns and target hang on what is adjusted for, and share nothing else.

The truth is that given the adjustment: a column that is related to the target through it alone is
irrelevant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from squamish.arrays import Array
from squamish.datasets.generators import Problem
from squamish.errors import check_choice, check_range
from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK
from squamish.execution.workers import RandomState, as_generator
from squamish.families import Task

Shape = Literal["line", "curve", "step", "centre"]
# What a column, and the target, are of the adjustment, each with a variance of about 1.
OF_COLUMN: dict[Shape, Callable[[Array], Array]] = {
    "line": lambda z: z,
    "curve": lambda z: np.sqrt(2) * np.sin(2 * z),
    "step": lambda z: np.where(z > 0.5, 1.5, -0.7),
    "centre": lambda z: np.cos(z * z),
}
OF_TARGET: dict[Shape, Callable[[Array], Array]] = {
    "line": lambda z: z,
    "curve": lambda z: (z * z - 1) / np.sqrt(2) + np.sin(2 * z),
    "step": lambda z: np.where(z > 0.5, 1.5, -0.7),
    "centre": lambda z: 1.5 * np.cos(z * z),
}
N_CENTRES = 8
# The class of the adjustment, which is not judged.
ADJUSTED = -1


def make_confounded(
    n_samples: int = 300,
    *,
    shape: Shape = "curve",
    effect: float = 0.4,
    confounding: float = 1.0,
    task: Task = "regression",
    shuffle: bool = False,
    random_state: RandomState = None,
) -> Problem:
    """Make a table in which age, or a centre, explains columns and target.

    Beside the adjustment there are two confounded columns of numbers and two confounded flags,
    which tell nothing given it; a strong column that is related to it and tells of the target
    itself, one that only does the latter, and two copies of a third one; and two columns of noise.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    shape : {"line", "curve", "step", "centre"}
        How columns and target depend on the adjustment, a normal variable: along lines, along
        curves of different kinds, by a jump; or it is the number of one of eight centres.
    effect : float
        What each of the columns that matter adds to the target, per standard deviation.
    confounding : float
        What the adjustment adds, per standard deviation.
    task : {"classification", "regression"}
        Whether the target is a sum with standard normal noise, or a class that is drawn with the
        logistic function of twice the sum for a probability.
    shuffle : bool
        Put the columns into random order.
    random_state : int, Generator, RandomState or None
        The same seed gives the same problem.

    Returns
    -------
    Problem
        Table, target and truth, with ``adjust_for``.

    Examples
    --------
    >>> from squamish import RelevanceSelector
    >>> from squamish.datasets import make_confounded
    >>> problem = make_confounded(400, random_state=0)
    >>> selector = RelevanceSelector(adjust_for=problem.adjust_for, random_state=0)
    >>> selector.fit(problem.X, problem.y).relevance_classes_
    array([-1,  2,  2,  1,  1,  0,  0,  0,  0,  0,  0])
    """
    check_choice("shape", shape, get_args(Shape))
    check_choice("task", task, ("classification", "regression"))
    check_range("n_samples", n_samples, at_least=1, integer=True)
    rng = as_generator(random_state)
    z = rng.standard_normal(n_samples)
    if shape == "centre":
        z = rng.integers(0, N_CENTRES, n_samples).astype(float)
    of_column, of_target = OF_COLUMN[shape](z), confounding * OF_TARGET[shape](z)
    noise = rng.standard_normal((n_samples, 7))
    own = [noise[:, 0], noise[:, 1], noise[:, 2]]
    chances = 1 / (1 + np.exp(-2 * np.column_stack([of_column, of_target])))
    flags = rng.random((n_samples, 2)) < chances
    columns = {
        "centre" if shape == "centre" else "age": z,
        "strong_0": of_column + own[0],
        "strong_1": own[1],
        "group0_0": own[2],
        "group0_1": 3.0 - 2.0 * own[2],
        "confounded_0": of_column + noise[:, 3] / 2,
        "confounded_1": of_target + noise[:, 4] / 2,
        "confounded_2": flags[:, 0].astype(float),
        "confounded_3": flags[:, 1].astype(float),
        "irrelevant_0": noise[:, 5],
        "irrelevant_1": noise[:, 6],
    }
    total = of_target + effect * np.sum(own, axis=0)
    y = total + rng.standard_normal(n_samples)
    if task == "classification":
        y = (rng.random(n_samples) < 1 / (1 + np.exp(-2 * total))).astype(np.int64)
    problem = Problem(
        np.column_stack(list(columns.values())),
        y,
        np.array([ADJUSTED, STRONG, STRONG, WEAK, WEAK, *[IRRELEVANT] * 6]),
        ((3, 4),),
        task,
        tuple(columns),
        adjust_for=(0,),
    )
    return problem.permute_columns(rng.permutation(len(columns))) if shuffle else problem
