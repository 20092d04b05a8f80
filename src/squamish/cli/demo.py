"""squamish demo: the verdict on a table that comes with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from squamish.cli.answers import answering
from squamish.cli.options import Jobs, Quiet, Seed
from squamish.cli.streams import say
from squamish.cli.verdict import check_folder, print_verdict, signed, write_verdict


def demo(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("squamish-demo"),
    seed: Seed = 0,
    jobs: Jobs = 1,
    quiet: Quiet = False,
) -> None:
    """Show all three classes: measurements of diabetes patients, a copy and shuffled columns.

    Writes the table as well, so that it can be tried with squamish fit.
    """
    with answering():
        import polars as pl

        from squamish import RelevanceSelector
        from squamish.datasets import load_patients
        from squamish.table.files import write_table

        check_folder(out)
        columns, progress = load_patients()
        table = pl.DataFrame({**columns, "progress": progress})
        if not quiet:
            say(
                f"Progress of the disease of {table.height} diabetes patients, explained by "
                f"{len(columns)} columns.\n"
            )
        selector = RelevanceSelector(
            task="regression", random_state=seed, n_jobs=jobs, verbose=0 if quiet else 1
        )
        selector.fit(table.drop("progress"), table["progress"])
        result = signed(selector.result_, "442 diabetes patients", "progress", context)
        written = [*write_verdict(result, out), out / "patients.csv"]
        write_table(table, out / "patients.csv")
    if not quiet:
        print_verdict(result, written)
