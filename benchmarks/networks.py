"""Compare what is called strong with the Markov blankets of published Bayesian networks.

    python benchmarks/networks.py [--networks ALARM CHILD] [--rows 500 5000] [--seeds 1] [--all]
                                  [--contestants squamish] [--jobs 2] [--seconds 300] [--limit N]
                                  [--out benchmarks/results] [--cache .cache/networks]

Tables are drawn, and rivals run, in an environment of their own, which is made when it is needed;
tables are kept in the cache. Every target of every contestant is a line of networks.csv, and a run
that was stopped goes on there; networks.md is made from it. --limit 0 judges nothing and makes
the page. Delete lines to judge again.
"""

from __future__ import annotations

import os

# One thread for each fit, in the libraries below as well: set before they are loaded.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from journal import Journal
from network_fits import KEY, MEASURED, STEP, Fit, fits, missing, run
from network_page import page
from network_rivals import CONTESTANTS, OURS
from network_tables import NETWORKS, table_file
from running import environment

HERE = Path(__file__).parent
ROWS = (500, 5000)


def tables(options: argparse.Namespace) -> list[Path]:
    """Return the files of all tables; those that are not there are drawn."""
    found = []
    for seed in range(options.seeds):
        for n_rows in options.rows:
            for network in options.networks:
                path = table_file(options.cache, network, n_rows, seed)
                if not path.exists():
                    print(f"drawing {n_rows} rows of {network}", file=sys.stderr, flush=True)
                    drawn = [network, str(n_rows), str(seed), path]
                    subprocess.run(
                        [environment("networks"), HERE / "network_tables.py", *drawn],
                        # pgmpy goes through sets of names where a network is Gaussian.
                        env=os.environ | {"PYTHONHASHSEED": "0"},
                        check=True,
                    )
                found.append(path)
    return found


def run_elsewhere(
    journal: Journal, names: Sequence[str], paths: Iterable[Path], options: argparse.Namespace
) -> None:
    """Let rivals judge what is missing, in their environment."""
    arguments: list[str | Path] = ["--contestants", *names, "--tables", *paths]
    arguments += ["--journal", journal.path]
    numbers = {"--step": step(options), "--jobs": options.jobs, "--seconds": options.seconds}
    if options.limit is not None:
        numbers["--limit"] = options.limit
    for name, value in numbers.items():
        arguments += [name, str(value)]
    python = environment("networks")
    subprocess.run([python, HERE / "network_fits.py", *arguments], check=True)


def step(options: argparse.Namespace) -> int:
    """Return which share of the nodes are targets: one in so many."""
    return 1 if options.all else STEP


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", nargs="+", default=NETWORKS, choices=NETWORKS)
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS, help="sizes of tables")
    parser.add_argument("--seeds", type=int, default=1, help="tables of each size")
    parser.add_argument("--all", action="store_true", help="all nodes are targets, not half")
    parser.add_argument(
        "--contestants", nargs="+", default=list(CONTESTANTS), choices=CONTESTANTS, metavar="NAME"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits at the same time")
    parser.add_argument("--seconds", type=float, default=300, help="processor time of one fit")
    parser.add_argument("--limit", type=int, help="the most targets of each table; default: all")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for the results")
    parser.add_argument(
        "--cache", type=Path, default=HERE.parent / ".cache" / "networks", help="folder for tables"
    )
    return parser.parse_args()


def main() -> None:
    """Judge what is missing, and write the page."""
    options = arguments()
    journal = Journal(options.out / "networks.csv", KEY, MEASURED)
    paths = tables(options)

    def todo(names: Sequence[str]) -> list[Fit]:
        wanted = fits(names, paths, step(options), options.limit)
        return missing(journal, wanted, options.seconds)

    # Rivals first: they are done soon.
    rivals = [name for name in options.contestants if name != OURS]
    if todo(rivals):
        run_elsewhere(journal, rivals, paths, options)
    if OURS in options.contestants:
        run(journal, todo([OURS]), jobs=options.jobs, seconds=options.seconds)
    text = "\n".join(page(journal.rows()))
    (options.out / "networks.md").write_text(text, encoding="utf-8")
    print(f"see {options.out / 'networks.md'}")


if __name__ == "__main__":
    main()
