"""squamish generate: tables whose strong, weak and irrelevant columns are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from squamish.cli.answers import answering
from squamish.cli.options import among
from squamish.cli.streams import say
from squamish.errors import InputError

if TYPE_CHECKING:
    from squamish.datasets import Problem


def _problem_names() -> list[str]:
    from squamish.datasets import ORDERED, OUTCOMES, PRESETS, PROBLEMS

    return [*PRESETS, *PROBLEMS, *ORDERED, *OUTCOMES]


def generate(
    preset: Annotated[
        str,
        typer.Argument(
            help="Set 1 to Set 8, NL 1 to NL 4, or another name that --list shows.",
            autocompletion=lambda incomplete: among(*_problem_names())(incomplete),
        ),
    ] = "",
    out: Annotated[Path | None, typer.Argument(help="The file: .csv, .parquet, ...")] = None,
    truth: Annotated[
        Path | None, typer.Option(help="Also write the true class of every column to this file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table.")] = 0,
    show_list: Annotated[bool, typer.Option("--list", help="List the names and stop.")] = False,
) -> None:
    """Generate a table whose strong, weak and irrelevant columns are known."""
    if show_list:
        say("\n".join(_problem_names()))
        return
    with answering():
        from squamish.table.files import refuse_to_replace

        if not preset or out is None:
            raise InputError("give a name and a file, such as: squamish generate 'Set 3' set3.csv")
        refuse_to_replace({"the table": out}, {"--truth": truth} if truth else {})
        problem = _problem(preset, seed)
        _write_table(problem, out)
        if truth is not None:
            _write_truth(problem, truth)
    names = list(_target(problem))
    columns = "columns" if len(names) > 1 else "column"
    say(f"{out}: {problem!r}, target {columns}: {', '.join(names)}")


def _problem(name: str, seed: int) -> Problem:
    """Load a problem, however its name is spelled."""
    from squamish.datasets import PRESETS, load_preset, load_problem
    from squamish.report.wording import no_such_column

    plain = {_plain(known): known for known in _problem_names()}
    if _plain(name) not in plain:
        what = no_such_column(name, list(plain.values())).replace("column", "preset", 1)
        raise InputError(what.replace("the columns are", "squamish generate --list shows all:"))
    known = plain[_plain(name)]
    load = load_preset if known in PRESETS else load_problem
    return load(known, random_state=seed)


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _write_table(problem: Problem, path: Path) -> None:
    import polars as pl

    from squamish.table.files import write_table

    columns = dict(zip(problem.feature_names, problem.X.T, strict=True))
    write_table(pl.DataFrame({**columns, **_target(problem)}), path)


def _target(problem: Problem) -> dict[str, Any]:
    """Return the columns of the target: an event and a time, or one column."""
    y: Any = problem.y
    return {name: y[name] for name in y.dtype.names} if y.dtype.names else {"target": y}


def _write_truth(problem: Problem, path: Path) -> None:
    import polars as pl

    from squamish.evidence.relevance import CLASS_NAMES
    from squamish.table.files import write_table

    classes = [CLASS_NAMES[int(c)] for c in problem.classes]
    write_table(pl.DataFrame({"feature": problem.feature_names, "class": classes}), path)
