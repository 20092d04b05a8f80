"""Rate ``method="paper"`` on the twelve data sets of the paper.

    python benchmarks/paper_presets.py [--seeds 10] [--jobs -1] [--out FILE]

Every seed gives a fresh data set, with its columns in random order. The table goes to the
screen and, with the settings that made it, into a Markdown file.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from joblib import Parallel, delayed

from scoring import METRICS, mean_of_defined, score
from squamish import PaperMethod, RelevanceSelector, __version__
from squamish.datasets import PRESETS, load_preset

COLUMNS = (*METRICS, "fits", "seconds")
RESULTS = Path(__file__).parent / "results" / "paper_presets.md"


def rate(preset: str, seed: int) -> dict[str, float]:
    """Fit one data set and compare the verdict with the truth."""
    problem = load_preset(preset, shuffle=True, random_state=seed)
    selector = RelevanceSelector("paper", random_state=seed, n_jobs=1).fit(problem.X, problem.y)
    result = selector.result_
    cost = {"fits": result.evidence.n_fits, "seconds": result.seconds}
    return score(problem.classes, selector.relevance_classes_) | cost


def average(rows: list[dict[str, float]]) -> dict[str, float]:
    """Average each column over the rows in which it is defined."""
    return {column: mean_of_defined([row[column] for row in rows]) for column in COLUMNS}


def format_row(name: str, row: dict[str, float]) -> str:
    """Return one line of the Markdown table."""
    cells = [_cell(column, row[column]) for column in COLUMNS]
    return f"| {' | '.join([name, *cells])} |"


def _cell(column: str, value: float) -> str:
    if value != value:
        return "-"
    return {"fits": f"{value:.0f}", "seconds": f"{value:.1f}"}.get(column, f"{value:.3f}")


def main() -> None:
    """Run the benchmark and write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10, help="data sets for each preset")
    parser.add_argument("--jobs", type=int, default=-1, help="fits at the same time; -1: all cores")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the table is written")
    options = parser.parse_args()

    lines = [f"| data | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    print("\n".join(lines), flush=True)
    means = {}
    for preset in PRESETS:
        tasks = (delayed(rate)(preset, seed) for seed in range(options.seeds))
        means[preset] = average(Parallel(n_jobs=options.jobs)(tasks))
        lines.append(format_row(preset, means[preset]))
        print(lines[-1], flush=True)
    for family, name in (("Set", "Sets 1-8, mean"), ("NL", "NL 1-4, mean")):
        rows = [row for preset, row in means.items() if preset.startswith(family)]
        lines.append(format_row(f"**{name}**", average(rows)))
        print(lines[-1], flush=True)

    head = [
        '# method="paper" on the presets of the paper',
        "",
        f"squamish {__version__}, {PaperMethod()!r}, seeds 0 to {options.seeds - 1}, columns "
        "shuffled, one thread for each fit. P and R are precision and recall; exact is the share "
        "of columns whose class is exactly right; - means not defined. Seconds depend on the "
        "machine; fits are forests.",
        "",
        "Made by `make benchmark-paper`.",
        "",
    ]
    options.out.write_text("\n".join([*head, *lines, ""]))


if __name__ == "__main__":
    main()
