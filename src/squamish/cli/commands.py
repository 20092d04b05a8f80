"""All commands, in the order in which the help lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from squamish import __version__
from squamish.cli.compare import compare
from squamish.cli.demo import demo
from squamish.cli.fit import fit
from squamish.cli.generate import generate
from squamish.cli.path import path
from squamish.cli.report import report
from squamish.cli.signatures import signatures
from squamish.cli.streams import say

EXIT_CODES = (
    "Exit codes: 0 done, 1 verdicts differ (compare), 2 something is wrong with what was given, "
    "3 squamish or a library crashed, 130 interrupted."
)
app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    help="Which columns you cannot do without, which are interchangeable, and which are noise.",
    epilog=EXIT_CODES,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"squamish {__version__}")
        raise typer.Exit


@app.callback()
def _before_any_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


app.command(
    epilog="Example: squamish fit patients.csv --target outcome --drop name --groups patient "
    "--out verdict"
)(fit)
app.command(epilog="Example: squamish demo --out demo")(demo)
app.command(epilog="Example: squamish report verdict/result.json --out verdict.html")(report)
app.command(epilog="Example: squamish signatures verdict/result.json --costs prices.csv")(
    signatures
)
app.command(epilog="Example: squamish path verdict/result.json")(path)
app.command(epilog="Example: squamish compare monday/result.json tuesday/result.json")(compare)
app.command(
    epilog="Examples: squamish generate --list; squamish generate 'Set 3' set3.csv --truth true.csv"
)(generate)
