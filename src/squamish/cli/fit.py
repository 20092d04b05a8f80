"""squamish fit: a table in a file goes in, and the verdict comes out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from squamish.cli.answers import answering
from squamish.cli.audit import FILE as AUDIT_FILE
from squamish.cli.audit import run_audit
from squamish.cli.costs import Costs, cheapest_of, read_costs
from squamish.cli.options import AsJson, Jobs, Quiet, Seed, among, with_options
from squamish.cli.outcome import Outcome
from squamish.cli.roles import Roles, column, listed, listed_classes, splits
from squamish.cli.selection import read_selection
from squamish.cli.standard_input import data_at_hand
from squamish.cli.streams import lost_connections_are_errors, say
from squamish.cli.verdict import FILES, check_folder, print_verdict, signed, write_verdict
from squamish.errors import ClusterLost, InputError, check_range

if TYPE_CHECKING:
    import polars as pl

    from squamish import CrossfitMethod, RelevanceResult, RelevanceSelector
    from squamish.result.result import Selection


@dataclass(frozen=True)
class FitOptions:
    """What can be given to squamish fit; the help of each option says what it is."""

    data: Annotated[
        Path,
        typer.Argument(help="CSV, TSV, Parquet, Feather or Arrow, .gz too; - is standard input."),
    ]
    target: Annotated[str, typer.Option(help="The column to explain.")] = ""
    time: Annotated[
        str, typer.Option(help="Instead of --target: the column with times until an event.")
    ] = ""
    event: Annotated[
        str,
        typer.Option(
            help="The column that tells, beside --time, whether the event was seen (true, 1) or "
            "the row was lost before it; --event status=2 names the value that is an event."
        ),
    ] = ""
    exposure: Annotated[
        str, typer.Option(help="Column with how long rows were exposed, for --task counts.")
    ] = ""
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the files; squamish- and the name of the data if not given."),
    ] = None
    method: Annotated[
        str, typer.Option(help="crossfit or paper.", autocompletion=among("crossfit", "paper"))
    ] = "crossfit"
    alpha: Annotated[
        float | None,
        typer.Option(help="Bound of the error rate, for crossfit; 0.01 if not given."),
    ] = None
    error_rate: Annotated[
        str | None,
        typer.Option(
            help="What alpha bounds, for crossfit: fwer, the probability of any false column, or "
            "fdr, the expected share of false columns; fwer if not given.",
            autocompletion=among("fwer", "fdr"),
        ),
    ] = None
    task: Annotated[
        str,
        typer.Option(
            help="classification, regression, ordinal or counts; else guessed; --time and --event "
            "make it survival.",
            autocompletion=among("classification", "regression", "ordinal", "counts", "survival"),
        ),
    ] = ""
    order: Annotated[
        list[str] | None,
        typer.Option(
            help="The classes from the least to the greatest, for --task ordinal: low,medium,high, "
            "or --order once for each."
        ),
    ] = None
    drop: Annotated[
        list[str] | None, typer.Option(help="Columns to ignore: one, or a,b,c; repeatable.")
    ] = None
    groups: Annotated[str, typer.Option(help="Column that tells which rows belong together.")] = ""
    weights: Annotated[str, typer.Option(help="Column with the weight of every row.")] = ""
    categorical: Annotated[
        list[str] | None,
        typer.Option(help="Columns of numbers that are categories: one, or a,b,c; repeatable."),
    ] = None
    adjust_for: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns that are in every model and are not judged, such as age,sex: the others "
            "are judged given these; repeatable."
        ),
    ] = None
    cv: Annotated[
        str,
        typer.Option(
            help="How to split rows: a number of folds, 'time' or 'time:8' if later rows are "
            "predicted from earlier ones, or a column with the fold of every row."
        ),
    ] = ""
    missing: Annotated[
        str,
        typer.Option(
            help="What gaps mean: informative, or ignore if nothing is to be learned from them.",
            autocompletion=among("informative", "ignore"),
        ),
    ] = "informative"
    infinite: Annotated[str, typer.Option(help="error or missing.")] = "error"
    missing_target: Annotated[str, typer.Option(help="error or drop.")] = "error"
    select: Annotated[
        str,
        typer.Option(
            help="What --reduced keeps: relevant, strong, minimal, cover, or a number of columns, "
            "the best ones.",
            autocompletion=among("relevant", "strong", "minimal", "cover"),
        ),
    ] = "relevant"
    reduced: Annotated[
        Path | None, typer.Option(help="Also write the table with the selected columns only.")
    ] = None
    costs: Costs = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A file for finished work: the same command goes on where it was."),
    ] = None
    time_budget: Annotated[
        float | None,
        typer.Option(help="Seconds after which the best verdict so far is given."),
    ] = None
    stability: Annotated[
        int | None,
        typer.Option(
            help="Also judge so many halves of the rows, and tell for each column how often it had "
            "which class. They share --time-budget with the verdict."
        ),
    ] = None
    audit: Annotated[
        int | None,
        typer.Option(
            help="Also judge so many shuffled targets, and tell in how many a column is called "
            "relevant, which is false there. --time-budget counts anew for these."
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(help="Scheduler of a Dask cluster to work on, such as tcp://10.0.0.5:8786."),
    ] = None
    max_size: Annotated[
        str,
        typer.Option(help="The most bytes that the data may hold, unpacked, unless it is Parquet."),
    ] = "4GB"
    seed: Seed = 0
    jobs: Jobs = 1
    quiet: Quiet = False
    as_json: AsJson = False


@with_options(FitOptions)
def fit(context: typer.Context, options: FitOptions) -> None:
    """Tell strong, weak and irrelevant columns of a table apart.

    Prints the verdict and writes report.html, result.json and features.csv. With --json the
    result goes to standard output, and files are written only if --out is given. With --audit
    there is an audit.json as well.
    """
    with ExitStack() as kept:
        with answering():
            data = kept.enter_context(data_at_hand(options.data))
        _fit(context, replace(options, data=data))


def _fit(context: typer.Context, options: FitOptions) -> None:
    """Judge the table in a file."""
    with answering():
        from squamish.table.files import read_size, scan_file, write_table

        folder = _folder(options)
        _check_outputs(options, folder)
        table = scan_file(options.data, read_size(options.max_size))
        roles, cv = _roles(options, table)
        names = table.collect_schema().names()
        judged = [name for name in names if name not in (*roles.not_judged, *roles.adjusted)]
        select = read_selection(options.select, len(judged), options.method)
        costs = _costs(options, judged)
        selector, given = _selector(options, roles, cv, select), _given(table, roles)
        with _workplace(options):
            result = selector.fit(**given).result_
        result = signed(result, options.data.name, roles.outcome.label(), context)
        written = [] if folder is None else write_verdict(result, folder)
        if options.reduced is not None:
            write_table(_reduced(table, result, roles, select), options.reduced)
            written.append(options.reduced)
            if not result.select(select):
                told = f"nothing is selected: {options.reduced} has no column that was judged"
                say(f"squamish: {told}", err=True)
    if options.as_json:
        say(str(result.to_json()))
    elif not options.quiet:
        print_verdict(result, written)
    if costs is not None and not options.quiet:
        say(cheapest_of(result, costs), err=options.as_json)
    if options.audit is not None:
        with answering(), _workplace(options):
            said = run_audit(selector, given, options.audit, folder)
        if not options.quiet:
            say(said, err=options.as_json)


def _folder(options: FitOptions) -> Path | None:
    """Choose the folder for the files; None if none are wanted."""
    from squamish.table.files import name_of_data

    if options.out is None and options.as_json:
        return None
    return options.out or Path(f"squamish-{name_of_data(options.data)}")


def _check_outputs(options: FitOptions, folder: Path | None) -> None:
    """Refuse before the work what could not be written after it."""
    from squamish.fitting.audit import checkpoint_of_audit
    from squamish.fitting.stability import checkpoint_of_stability
    from squamish.table.files import check_writable, refuse_to_replace

    if options.audit is not None:
        check_range("--audit", options.audit, at_least=1, integer=True)
    if options.stability is not None:
        check_range("--stability", options.stability, at_least=2, integer=True)
    inputs, outputs = {"the data": options.data}, {}
    if options.checkpoint is not None:
        inputs["the checkpoint"] = options.checkpoint
        inputs["the checkpoint of --audit"] = checkpoint_of_audit(options.checkpoint)
        inputs["the checkpoint of --stability"] = checkpoint_of_stability(options.checkpoint)
    if folder is not None:
        check_folder(folder)
        names = FILES if options.audit is None else (*FILES, AUDIT_FILE)
        outputs = {f"--out with its {name}": folder / name for name in names}
    if options.reduced is not None:
        check_writable(options.reduced, made=folder)
        outputs["--reduced"] = options.reduced
    elif options.select != "relevant":
        raise InputError("--select says what --reduced keeps; give --reduced FILE as well")
    refuse_to_replace(inputs, outputs)


def _roles(options: FitOptions, table: pl.LazyFrame) -> tuple[Roles, Any]:
    """Tell what the columns are for, and how the rows are split."""
    names = table.collect_schema().names()
    cv, fold = splits(options.cv, table, names)
    outcome = Outcome.of(options.target, options.time, options.event, options.exposure, names)
    roles = Roles(
        outcome,
        options.groups,
        options.weights,
        fold,
        listed(options.drop or (), names),
        listed(options.categorical or (), names),
        listed(options.adjust_for or (), names),
    )
    roles.check(names)
    return roles, cv


def _costs(options: FitOptions, judged: list[str]) -> dict[str, float] | None:
    """Read what columns cost, if that was given, for a method that searches what to choose from."""
    if options.costs is None:
        return None
    if options.method != "crossfit":
        raise InputError("--costs belongs to --method crossfit, which searches signatures")
    return read_costs(options.costs, judged)


def _selector(options: FitOptions, roles: Roles, cv: Any, select: Selection) -> RelevanceSelector:
    from squamish import RelevanceSelector

    return RelevanceSelector(
        _method(options),
        task=roles.outcome.task(options.task),  # type: ignore[arg-type]
        order=listed_classes(options.order or ()) or None,
        cv=cv,
        categorical_features=roles.categories or None,
        missing=options.missing,
        adjust_for=roles.adjusted or None,
        infinite=options.infinite,
        missing_target=options.missing_target,
        random_state=options.seed,
        n_jobs=options.jobs,
        select=select,
        verbose=0 if options.quiet else 1,
        checkpoint=options.checkpoint,
        time_budget=options.time_budget,
        stability=options.stability,
    )


def _method(options: FitOptions) -> str | CrossfitMethod:
    asked = {"alpha": options.alpha, "error_rate": options.error_rate}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if not given:
        return options.method
    if options.method != "crossfit":
        name = next(iter(given)).replace("_", "-")
        raise InputError(f"--{name} belongs to --method crossfit")
    from squamish import CrossfitMethod

    return CrossfitMethod(**given)


def _given(table: pl.LazyFrame, roles: Roles) -> dict[str, Any]:
    """Return what the selector is given: all columns by their roles."""
    return {
        "X": _without(table, roles.not_judged),
        "y": roles.outcome.read(table),
        "sample_weight": column(table, roles.weights) if roles.weights else None,
        "groups": column(table, roles.groups) if roles.groups else None,
        "exposure": column(table, exposure) if (exposure := roles.outcome.exposure) else None,
    }


@contextmanager
def _workplace(options: FitOptions) -> Iterator[None]:
    """Work on a cluster, if there is one; say what to do if it is lost."""
    from squamish.execution.cluster import connected

    try:
        with lost_connections_are_errors(options.cluster), connected(options.cluster):
            yield
    except ClusterLost as error:
        if options.checkpoint is None:
            advice = "with --checkpoint FILE the same command would go on where it was"
        else:
            advice = (
                f"what is finished is in {str(options.checkpoint)!r}: the same command goes on "
                "from there, without --cluster too"
            )
        raise InputError(f"{error}; {advice}") from None


def _reduced(
    table: pl.LazyFrame, result: RelevanceResult, roles: Roles, select: Selection
) -> pl.LazyFrame:
    """Return the table without the columns that were dropped or not selected."""
    selected = result.select(select)
    return _without(table, {*result.feature_names, *roles.dropped} - {*selected})


def _without(table: pl.LazyFrame, names: Collection[str]) -> pl.LazyFrame:
    """Return the table without some columns."""
    from squamish.table.lazy import take_by_name

    kept = (name for name in table.collect_schema().names() if name not in names)
    left: pl.LazyFrame = take_by_name(table, kept)
    return left
