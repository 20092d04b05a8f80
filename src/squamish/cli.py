"""The command line."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

missing = [name for name in ("jinja2", "polars", "rich", "typer") if find_spec(name) is None]
if missing:
    wanted = ", ".join(missing)
    sys.exit(f"squamish: the command line needs {wanted}: pip install 'squamish[cli]'")

import typer

from squamish import __version__
from squamish.errors import InputError, LeakWarning, check_range

if TYPE_CHECKING:
    import polars as pl

    from squamish import CrossfitMethod, RelevanceResult

# Whatever takes long to load is loaded by the command that needs it: completion must not wait.

EXIT_CODES = (
    "Exit codes: 0 done, 1 verdicts differ (compare), 2 something is wrong with what was given, "
    "130 interrupted."
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
        typer.echo(f"squamish {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


@contextmanager
def _answering() -> Iterator[None]:
    """Answer mistakes and interruptions in one line."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # The notes of the verdict say so.
            warnings.simplefilter("ignore", LeakWarning)
            yield
    except InputError as error:
        typer.echo(f"squamish: {_in_options(str(error))}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("squamish: interrupted; no file is half-written", err=True)
        raise typer.Exit(130) from None
    except Exception as error:
        # What is wrong in the middle of a file is found only when that is read.
        if not type(error).__module__.startswith("polars"):
            raise
        typer.echo(f"squamish: the data cannot be read: {str(error).splitlines()[0]}", err=True)
        raise typer.Exit(2) from None
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        typer.echo(f"squamish: warning: {message}", err=True)


# The forms in which a verdict is written.
_FILES = ("report.html", "result.json", "features.csv")
# What messages call parameters, and what the command line calls them.
_WORDS = {
    r"\b(missing_target|infinite|task)='(\w+)'": r"--\1 \2",
    r"^(alpha|cv|groups|infinite|method|missing_target|select|task|time_budget) ": r"--\1 ",
    # In quotes they are names of columns.
    r"(?<!['\w])random_state(?!['\w])": "--seed",
    r"(?<!['\w])n_jobs(?!['\w])": "--jobs",
    r"(?<!['\w])sample_weight(?!['\w])": "--weights",
    r"^y\b": "the target",
}


def _in_options(message: str) -> str:
    """Say the same in the words of the command line."""
    for python, shell in _WORDS.items():
        message = re.sub(python, shell, message)
    return re.sub(r"--(missing|time)_", r"--\1-", message)


def _among(*words: str) -> Callable[[str], list[str]]:
    """Complete what is begun to one of these words."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


# Options that more than one command has.
Seed = Annotated[int, typer.Option(help="The same seed gives the same verdict.")]
Jobs = Annotated[int, typer.Option(help="Models at the same time; -1 for all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for scripts.")]


@app.command(
    epilog="Example: squamish fit patients.csv --target outcome --drop name --groups patient "
    "--out verdict"
)
def fit(
    context: typer.Context,
    data: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Feather or Arrow; .gz too.")],
    target: Annotated[str, typer.Option(help="The column to explain.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the files; squamish- and the name of the data if not given."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="crossfit or paper.", autocompletion=_among("crossfit", "paper"))
    ] = "crossfit",
    alpha: Annotated[
        float | None, typer.Option(help="Family-wise error, for crossfit; 0.01 if not given.")
    ] = None,
    task: Annotated[
        str,
        typer.Option(
            help="classification or regression; else guessed.",
            autocompletion=_among("classification", "regression"),
        ),
    ] = "",
    drop: Annotated[
        list[str] | None, typer.Option(help="Columns to ignore: one, or a,b,c; repeatable.")
    ] = None,
    groups: Annotated[str, typer.Option(help="Column that tells which rows belong together.")] = "",
    weights: Annotated[str, typer.Option(help="Column with the weight of every row.")] = "",
    categorical: Annotated[
        list[str] | None,
        typer.Option(help="Columns of numbers that are categories: one, or a,b,c; repeatable."),
    ] = None,
    cv: Annotated[
        str,
        typer.Option(
            help="How to split rows: a number of folds, 'time' or 'time:8' if later rows are "
            "predicted from earlier ones, or a column with the fold of every row."
        ),
    ] = "",
    infinite: Annotated[str, typer.Option(help="error or missing.")] = "error",
    missing_target: Annotated[str, typer.Option(help="error or drop.")] = "error",
    select: Annotated[
        str,
        typer.Option(
            help="What --reduced keeps: relevant, strong or minimal.",
            autocompletion=_among("relevant", "strong", "minimal"),
        ),
    ] = "relevant",
    reduced: Annotated[
        Path | None, typer.Option(help="Also write the table with the selected columns only.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A file for finished work: the same command goes on where it was."),
    ] = None,
    time_budget: Annotated[
        float | None,
        typer.Option(help="Seconds after which the best verdict so far is given."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Scheduler of a Dask cluster to work on, such as tcp://10.0.0.5:8786."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Tell strong, weak and irrelevant columns of a table apart.

    Prints the verdict and writes report.html, result.json and features.csv. With --json the
    result goes to standard output, and files are written only if --out is given.
    """
    with _answering():
        from squamish import RelevanceSelector
        from squamish.execution.cluster import connected
        from squamish.table.files import check_writable, refuse_to_replace, scan_file, write_table

        folder = _folder(out, data, as_json)
        if select != "relevant" and reduced is None:
            raise InputError("--select says what --reduced keeps; give --reduced FILE as well")
        if reduced is not None:
            check_writable(reduced, made=folder)
        inputs = {"the data": data} | ({"the checkpoint": checkpoint} if checkpoint else {})
        outputs = {} if folder is None else {f"--out with its {n}": folder / n for n in _FILES}
        refuse_to_replace(inputs, outputs | ({"--reduced": reduced} if reduced else {}))
        table = scan_file(data)
        names = table.collect_schema().names()
        dropped, categories = _columns(drop, names), _columns(categorical, names)
        folds, fold_column = _folds(cv, table, names)
        roles = [c for c in (target, groups, weights, fold_column, *dropped) if c]
        _check_roles(roles, categories, names)
        selector = RelevanceSelector(
            _method(method, alpha),
            task=task or None,  # type: ignore[arg-type]
            cv=folds,
            categorical_features=categories or None,
            infinite=infinite,
            missing_target=missing_target,
            random_state=seed,
            n_jobs=jobs,
            select=select,  # type: ignore[arg-type]
            verbose=0 if quiet else 1,
            checkpoint=checkpoint,
            time_budget=time_budget,
        )
        with _lost_connections_are_errors(cluster), connected(cluster):
            selector.fit(
                table.drop(roles),
                _column(table, target),
                sample_weight=_column(table, weights) if weights else None,
                groups=_column(table, groups) if groups else None,
            )
        result = _signed(selector.result_, data.name, target, context)
        written = _write(result, folder)
        if reduced is not None:
            left_out = {*result.feature_names, *dropped} - {*result.select(selector.select)}
            write_table(table.drop(left_out), reduced)
            written.append(reduced)
    _print(result, written, quiet, as_json)


@app.command(epilog="Example: squamish demo --out demo")
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
    with _answering():
        import polars as pl

        from squamish import RelevanceSelector
        from squamish.datasets import load_patients
        from squamish.table.files import write_table

        _folder(out, out, False)
        columns, progress = load_patients()
        table = pl.DataFrame({**columns, "progress": progress})
        if not quiet:
            typer.echo(
                f"Progress of the disease of {table.height} diabetes patients, explained by "
                f"{len(columns)} columns.\n"
            )
        selector = RelevanceSelector(
            task="regression", random_state=seed, n_jobs=jobs, verbose=0 if quiet else 1
        )
        selector.fit(table.drop("progress"), table["progress"])
        result = _signed(selector.result_, "442 diabetes patients", "progress", context)
        written = _write(result, out)
        write_table(table, out / "patients.csv")
        written.append(out / "patients.csv")
    _print(result, written, quiet, False)


@app.command(epilog="Example: squamish report verdict/result.json --out verdict.html")
def report(
    result: Annotated[Path, typer.Argument(help="A result.json that squamish fit wrote.")],
    out: Annotated[
        Path | None, typer.Option(help="The page, .html or .md; report.html beside it if not given")
    ] = None,
    all_features: Annotated[
        bool, typer.Option("--all", help="Show every column, however many there are.")
    ] = False,
) -> None:
    """Make the report of a saved result."""
    with _answering():
        from squamish import RelevanceResult
        from squamish.table.files import refuse_to_replace

        page = out or result.parent / "report.html"
        refuse_to_replace({"the result": result}, {"the report": page})
        if page.suffix.lower() not in (".html", ".htm", ".md"):
            raise InputError(f"{page.name!r} ends neither in .html nor in .md")
        saved = RelevanceResult.from_json(result)
        if page.suffix.lower() == ".md":
            saved.to_markdown(page)
        else:
            saved.to_html(page, max_features=None) if all_features else saved.to_html(page)
    typer.echo(f"The report is in {page}")


@app.command(epilog="Example: squamish compare monday/result.json tuesday/result.json")
def compare(
    before: Annotated[Path, typer.Argument(help="A result.json.")],
    after: Annotated[Path, typer.Argument(help="Another result.json.")],
    as_json: AsJson = False,
) -> None:
    """Tell what changed between two results. The exit code is 1 if a verdict did."""
    with _answering():
        from squamish import RelevanceResult

        found = RelevanceResult.from_json(before).compare(RelevanceResult.from_json(after))
    typer.echo(json.dumps(asdict(found), ensure_ascii=False) if as_json else str(found))
    raise typer.Exit(0 if found.same else 1)


@app.command(
    epilog="Examples: squamish generate --list; squamish generate 'Set 3' set3.csv --truth true.csv"
)
def generate(
    preset: Annotated[
        str,
        typer.Argument(
            help="Set 1 to Set 8, NL 1 to NL 4, or another name that --list shows.",
            autocompletion=lambda incomplete: _among(*_problem_names())(incomplete),
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
        typer.echo("\n".join(_problem_names()))
        return
    with _answering():
        import polars as pl

        from squamish.evidence.relevance import CLASS_NAMES
        from squamish.table.files import refuse_to_replace, write_table

        if not preset or out is None:
            raise InputError("give a name and a file, such as: squamish generate 'Set 3' set3.csv")
        refuse_to_replace({"the table": out}, {"--truth": truth} if truth else {})
        problem = _problem(preset, seed)
        names = problem.feature_names
        columns = dict(zip(names, problem.X.T, strict=True))
        write_table(pl.DataFrame({**columns, "target": problem.y}), out)
        if truth is not None:
            classes = [CLASS_NAMES[int(c)] for c in problem.classes]
            write_table(pl.DataFrame({"feature": names, "class": classes}), truth)
    typer.echo(f"{out}: {problem!r}, target column: target")


def _column(table: pl.LazyFrame, name: str) -> pl.Series:
    return table.select(name).collect()[name]


def _columns(given: list[str] | None, names: list[str]) -> list[str]:
    """Read lists of columns: names, or names with commas between them."""
    found: list[str] = []
    for text in given or ():
        found += [text] if text in names else [part.strip() for part in text.split(",")]
    return list(dict.fromkeys(found))


def _check_roles(roles: list[str], categories: list[str], names: list[str]) -> None:
    from squamish.report.wording import no_such_column

    for column in (*roles, *categories):
        if column not in names:
            raise InputError(no_such_column(column, names))
        if roles.count(column) + (column in categories) > 1:
            raise InputError(f"{column!r} is given more than one role")
    if len(roles) == len(names):
        raise InputError("no column is left to judge; the target needs others to explain it")


def _folds(cv: str, table: pl.LazyFrame, names: list[str]) -> tuple[Any, str]:
    """Turn what --cv says into what the selector takes, and the name of a column it needs."""
    import numpy as np
    from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit

    if not cv:
        return None, ""
    word, _, number = cv.partition(":")
    if cv.isdecimal():
        return int(cv), ""
    if word == "time" and (not number or number.isdecimal()):
        check_range("the number of --cv time", int(number or 5), at_least=2, integer=True)
        return TimeSeriesSplit(int(number or 5)), ""
    if cv not in names:
        raise InputError(
            f"--cv is {cv!r}; it must be a number of folds, 'time', 'time:8' or a column of the "
            "table"
        )
    fold = _column(table, cv)
    if fold.null_count():
        raise InputError(f"the column {cv!r} of --cv has gaps; every row needs a fold")
    return PredefinedSplit(np.unique(fold.to_numpy(), return_inverse=True)[1]), cv


def _method(name: str, alpha: float | None) -> str | CrossfitMethod:
    if alpha is None:
        return name
    if name != "crossfit":
        raise InputError("--alpha belongs to --method crossfit")
    from squamish import CrossfitMethod

    return CrossfitMethod(alpha=alpha)


def _problem_names() -> list[str]:
    from squamish.datasets import PRESETS, PROBLEMS

    return [*PRESETS, *PROBLEMS]


def _problem(name: str, seed: int) -> Any:
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


def _folder(out: Path | None, data: Path, as_json: bool) -> Path | None:
    """Choose the folder, and find out before the work whether it can be made."""
    from squamish.table.files import name_of_data

    if out is None:
        out = None if as_json else Path(f"squamish-{name_of_data(data)}")
    if out is None:
        return None
    existing = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InputError(f"the folder {str(out)!r} cannot be made: {existing.name!r} is a file")
    if not os.access(existing, os.W_OK):
        raise InputError(f"the folder {str(out)!r} cannot be made: {existing.name!r} is read-only")
    return out


# What has no influence on the verdict.
_BESIDE_THE_POINT = ("out", "quiet", "as_json", "checkpoint", "cluster")


def _signed(
    result: RelevanceResult, data: str, target: str, context: typer.Context
) -> RelevanceResult:
    """Record the names of the data and the command that was given."""
    words = ["squamish", context.info_name or ""]
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if value is None or value == parameter.default or parameter.name in _BESIDE_THE_POINT:
            continue
        for item in value if isinstance(value, list | tuple) else [value]:
            flag = [parameter.opts[0]] if parameter.param_type_name == "option" else []
            words += flag if item is True else [*flag, str(item)]
    origin = replace(result.provenance, data=data, target=target, command=shlex.join(words))
    return replace(result, provenance=origin)


@contextmanager
def _lost_connections_are_errors(cluster: str | None) -> Iterator[None]:
    """Keep a cluster that goes away from ending us as a closed output does."""
    if cluster is None or not hasattr(signal, "SIGPIPE"):
        yield
        return
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGPIPE, before)


def _write(result: RelevanceResult, folder: Path | None) -> list[Path]:
    """Write the result in every form, and return the files."""
    if folder is None:
        return []
    from squamish.table.files import write_table

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from None
    page, data, table = written = [folder / name for name in _FILES]
    result.to_json(data)
    write_table(result.to_frame("polars"), table)
    result.to_html(page)
    return written


def _print(result: RelevanceResult, written: list[Path], quiet: bool, as_json: bool) -> None:
    if as_json:
        typer.echo(result.to_json())
        return
    if quiet:
        return
    from rich.console import Console

    from squamish.report.terminal import show

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120
    show(result, console)
    typer.echo("Written: " + ", ".join(map(str, written)))


def main() -> None:
    """Run the command line."""
    # Whoever closed the output does not want it; and a reader that ends, as head does, ends us.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if sys.stdout.encoding.lower() not in ("utf-8", "utf8"):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[attr-defined,union-attr,unused-ignore]
    try:
        app()
    except OSError as error:  # a full disk
        print(f"squamish: {error.strerror}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
