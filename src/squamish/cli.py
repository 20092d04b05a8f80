"""The command line."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import Annotated

try:
    import polars as _  # noqa: F401 (reading files needs it)
    import typer
except ImportError as error:
    sys.exit(f"squamish: the command line needs more: pip install 'squamish[cli]' ({error})")

from squamish import CrossfitMethod, InputError, RelevanceSelector, __version__
from squamish.files import read_file

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    help="Which columns you cannot do without, which are interchangeable, and which are noise.",
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"squamish {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    pass


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Feather or Arrow; .gz too.")],
    target: Annotated[str, typer.Option(help="The column to explain.")],
    method: Annotated[str, typer.Option(help="crossfit or paper.")] = "crossfit",
    alpha: Annotated[
        float | None, typer.Option(help="Family-wise error, for crossfit; 0.01 if not given.")
    ] = None,
    task: Annotated[str, typer.Option(help="classification or regression; else guessed.")] = "",
    drop: Annotated[list[str] | None, typer.Option(help="A column to ignore; repeatable.")] = None,
    groups: Annotated[str, typer.Option(help="Column that tells which rows belong together.")] = "",
    weights: Annotated[str, typer.Option(help="Column with the weight of every row.")] = "",
    categorical: Annotated[
        list[str] | None, typer.Option(help="A column of numbers that is a category; repeatable.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of folds, for crossfit; 5 if not given.")
    ] = None,
    infinite: Annotated[str, typer.Option(help="error or missing.")] = "error",
    missing_target: Annotated[str, typer.Option(help="error or drop.")] = "error",
    seed: Annotated[int, typer.Option(help="The same seed gives the same verdict.")] = 0,
    jobs: Annotated[int, typer.Option(help="Models at the same time; -1 for all cores.")] = 1,
) -> None:
    """Tell strong, weak and irrelevant columns of a table apart.

    Example: squamish fit patients.csv --target outcome --drop name --groups patient
    """
    try:
        table = read_file(data)
        roles = [column for column in (target, groups, weights, *(drop or ())) if column]
        for column in (*roles, *(categorical or ())):
            if column not in table.columns:
                raise InputError(_no_such_column(column, table.columns))
            if roles.count(column) > 1:
                raise InputError(f"{column!r} is given more than one role")
        selector = RelevanceSelector(
            _method(method, alpha, folds),
            task=task or None,  # type: ignore[arg-type]
            categorical_features=categorical,
            infinite=infinite,
            missing_target=missing_target,
            random_state=seed,
            n_jobs=jobs,
        )
        selector.fit(
            table.drop(roles),
            table[target],
            sample_weight=table[weights] if weights else None,
            groups=table[groups] if groups else None,
        )
    except InputError as error:
        typer.echo(f"squamish: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("squamish: interrupted", err=True)
        raise typer.Exit(130) from None
    typer.echo(str(selector.result_))
    typer.echo(repr(selector.result_))


def _method(name: str, alpha: float | None, folds: int | None) -> str | CrossfitMethod:
    given = {"alpha": alpha, "n_folds": folds}
    wanted = {parameter: value for parameter, value in given.items() if value is not None}
    if wanted and name != "crossfit":
        raise InputError("--alpha and --folds belong to --method crossfit")
    return CrossfitMethod(**wanted) if wanted else name  # type: ignore[arg-type]


def _no_such_column(name: str, columns: list[str]) -> str:
    near = difflib.get_close_matches(name, columns, n=3)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else (f"the columns are {', '.join(columns[:20])}{', ...' if len(columns) > 20 else ''}")
    )
    return f"the table has no column {name!r}; {hint}"


def main() -> None:
    """Run the command line."""
    if sys.stdout.encoding.lower() not in ("utf-8", "utf8"):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    app()


if __name__ == "__main__":
    main()
