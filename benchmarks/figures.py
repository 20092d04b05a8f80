"""The figures of the paper: how importances vary, and what is selected how often."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from numpy.typing import NDArray

from contestants import CONTESTANTS, paper_forest
from journal import Journal
from squamish import RelevanceSelector
from squamish.datasets import Problem, make_linear
from squamish.evidence.relevance import IRRELEVANT, STRONG
from squamish.report.plots.style import COLOURS

FRACTIONS = (0.1, 1.0)
# Who selects at a feature fraction of 0.1, and of 1.
SELECTORS = {"RFECV": ("RF 0.1", "RF"), "Boruta": ("Boruta 0.1", "Boruta 1")}


def draw_figures(folder: Path, n_repeats: int) -> None:
    """Draw all figures, with their numbers beside them as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    problem = make_linear(300, n_strong=5, group_sizes=[10], n_irrelevant=2, random_state=0)
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        _importances(problem, folder, n_repeats)
        _frequencies(problem, folder, n_repeats)
        _threshold(problem, folder)


def _importances(problem: Problem, folder: Path, n_repeats: int) -> None:
    """Draw the gains of every column over refits of the same forest to the same table."""
    figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
    table = []
    for axis, fraction in zip(axes, FRACTIONS, strict=True):
        gains = np.stack(
            [
                paper_forest("classification", seed, fraction)
                .set_params(importance_type="gain")
                .fit(problem.X, problem.y)
                .feature_importances_
                for seed in range(n_repeats)
            ]
        )
        boxes = axis.boxplot(gains, positions=range(gains.shape[1]), patch_artist=True)
        for box, colour in zip(boxes["boxes"], _colours(problem), strict=True):
            box.set_facecolor(colour)
        plt.setp(boxes["medians"], color="black")
        axis.axhline(gains.mean(), color="tab:blue", linewidth=1)
        axis.set(title=f"feature fraction {fraction:g}", ylabel="gain")
        table += [[fraction, seed, *row] for seed, row in enumerate(gains)]
    axes[-1].set_xlabel("column: 0-4 strong, 5-14 weak, 15-16 irrelevant; the line is the mean")
    header = "fraction,repeat," + ",".join(map(str, range(len(problem.classes))))
    np.savetxt(folder / "importances.csv", table, "%g", ",", header=header, comments="")
    save(figure, folder / "importances")


def _frequencies(problem: Problem, folder: Path, n_repeats: int) -> None:
    """Draw how often each column is selected, with different seeds."""
    columns = [str(j) for j in range(len(problem.classes))]
    journal = Journal(folder / "frequencies.csv", ("system", "repeat"), columns)
    names = [name for pair in SELECTORS.values() for name in pair]
    done = journal.done()
    missing = [(n, seed) for n in names for seed in range(n_repeats) if (n, seed) not in done]
    parallel = Parallel(os.cpu_count(), return_as="generator_unordered")
    for name, seed, selected in parallel(delayed(_select)(problem, *task) for task in missing):
        row = dict(zip(columns, selected.astype(float).tolist(), strict=True))
        journal.add({"system": name, "repeat": float(seed), **row})
    figure, axes = plt.subplots(
        2, 2, figsize=(9, 5), sharex=True, sharey=True, layout="constrained"
    )
    for column, (selector, pair) in enumerate(SELECTORS.items()):
        for axis, name, fraction in zip(axes[:, column], pair, FRACTIONS, strict=True):
            rows = [row for row in journal.rows() if row["system"] == name]
            share = np.mean([[float(row[c]) for c in columns] for row in rows], axis=0)
            axis.bar(range(len(share)), share, color=_colours(problem))
            axis.set(title=f"{selector}, feature fraction {fraction:g}", xticks=range(len(share)))
    figure.supylabel("share of runs that select the column")
    figure.supxlabel("column: 0-4 strong, 5-14 weak, 15-16 irrelevant")
    save(figure, folder / "frequencies")


def _select(problem: Problem, name: str, seed: int) -> tuple[str, int, NDArray[np.bool_]]:
    return name, seed, CONTESTANTS[name](problem.X, problem.y, "classification", seed).selected


def _threshold(problem: Problem, folder: Path) -> None:
    """Draw the importances of the sparse forest with the threshold by permuted columns."""
    selector = RelevanceSelector("paper", random_state=0, n_jobs=1).fit(problem.X, problem.y)
    evidence: Any = selector.result_.evidence
    upper = evidence.importance_interval.upper
    above = evidence.importances > upper
    figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
    places = np.arange(len(above))
    for chosen, c, label in ((above, STRONG, "minimal set"), (~above, IRRELEVANT, "others")):
        axis.bar(places[chosen], evidence.importances[chosen], color=COLOURS[c], label=label)
    axis.axhline(upper, color="black", linestyle="--", label="upper bound of permuted columns")
    axis.set(xlabel="column: 0-4 strong, 5-14 weak, 15-16 irrelevant", ylabel="gain", xticks=places)
    axis.legend(frameon=False)
    np.savetxt(
        folder / "threshold.csv",
        np.column_stack([places, evidence.importances, np.full(len(places), upper)]),
        "%g",
        ",",
        header="column,gain,threshold",
        comments="",
    )
    save(figure, folder / "threshold")


def _colours(problem: Problem) -> list[str]:
    return [COLOURS[int(c)] for c in problem.classes]


def save(figure: Figure, path: Path) -> None:
    """Write a picture as SVG, the same whenever it is drawn, and as PNG."""
    with plt.rc_context({"svg.hashsalt": "squamish"}):
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=120)
    plt.close(figure)
