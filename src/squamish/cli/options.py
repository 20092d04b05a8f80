"""Options that more than one command has, and options of a command as one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

Saved = Annotated[Path, typer.Argument(help="A result.json that squamish fit wrote.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same verdict.")]
Jobs = Annotated[int, typer.Option(help="Models at the same time; -1 for all cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for scripts.")]

Options = TypeVar("Options")


def among(*words: str) -> Callable[[str], list[str]]:
    """Complete what is begun to one of these words.

    Examples
    --------
    >>> from squamish.cli.options import among
    >>> among("classification", "regression")("re")
    ['regression']
    """
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def with_options(
    kind: type[Options],
) -> Callable[[Callable[[typer.Context, Options], None]], Callable[..., None]]:
    """Let a command take its options as one object of a dataclass.

    typer makes the options of a command out of the parameters of a function. This makes the
    parameters out of the fields of a dataclass, with the same names, types and defaults, in
    the same order, behind the context. typer then sees a function with a parameter for every
    option; the command gets the context and one object that holds what was given.

    Parameters
    ----------
    kind : dataclass
        Every field is annotated as a parameter of a command would be, such as
        ``Annotated[int, typer.Option(help="...")]``, and has a plain default or none.

    Returns
    -------
    callable
        A decorator of functions that take a context and an object of this dataclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from inspect import signature
    >>> from squamish.cli.options import with_options
    >>> @dataclass(frozen=True)
    ... class Greeting:
    ...     name: str
    ...     loud: bool = False
    >>> @with_options(Greeting)
    ... def greet(context, options):
    ...     print(options)
    >>> list(signature(greet).parameters)
    ['context', 'name', 'loud']
    >>> greet(None, name="Ada")
    Greeting(name='Ada', loud=False)
    """
    parameters = [_context(), *_parameters(kind)]

    def decorate(command: Callable[[typer.Context, Options], None]) -> Callable[..., None]:
        @wraps(command)
        def spelled_out(context: typer.Context, **given: Any) -> None:
            command(context, kind(**given))

        # typer looks at both.
        spelled_out.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        spelled_out.__annotations__ = {p.name: p.annotation for p in parameters}
        return spelled_out

    return decorate


def _context() -> Parameter:
    return Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)


def _parameters(kind: type[Any]) -> list[Parameter]:
    """Return the fields of a dataclass as parameters of a function."""
    types = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(kind)
    ]
