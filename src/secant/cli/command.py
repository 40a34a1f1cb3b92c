"""The frame of a command: common options, errors, warnings and exit codes."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Annotated, get_args

import typer

from secant._host.escaping import printable
from secant.cli.config import ConfigError, checked, described, read_config
from secant.cli.session import Session

Command = Callable[..., None]

_LAST_SEED = 2**32 - 1  # the limit of NumPy's legacy generators
_MOST_STEPS = 2**31 - 1  # they are counted in 32 bits

_OPTIONS = {
    "seed": (
        Annotated[int, typer.Option(min=0, max=_LAST_SEED, help="Random seed.")],
        0,
    ),
    "as_json": (Annotated[bool, typer.Option("--json", help="Print one line of JSON.")], False),
    "quiet": (
        Annotated[bool, typer.Option("--quiet", "-q", help="No messages, no progress bars.")],
        False,
    ),
    "strict": (
        Annotated[bool, typer.Option("--strict", help="Exit with 1 on a statistical warning.")],
        False,
    ),
}
_STEPS = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=_MOST_STEPS,
        help="Training steps of a network; by default, by the number of rows.",
    ),
]
_NOT_IN_A_FILE = ("config", "steps")  # in a file, steps are under [training]
_OF_OURS = ("secant", "secant_bench", "sklearn")


class ExitCode(IntEnum):
    """Exit codes."""

    OK = 0
    WARNING = 1  # a statistical warning under --strict
    FAILED = 1  # a limit that does not hold, or an alarm
    USER_ERROR = 2
    BUG = 3
    INTERRUPTED = 130  # 128 + SIGINT, as in shells


def command(name: str, *, trains: bool = False) -> Callable[[Command], Command]:
    """Make a function a command: its first parameter gets the `Session` of the shared options.

    Args:
        name: as typed: "density fit".
        trains: whether it trains, and so has `--steps` and a table [training].
    """

    def decorated(function: Command) -> Command:
        @functools.wraps(function)
        def run(
            *,
            seed: int,
            as_json: bool,
            quiet: bool,
            strict: bool,
            config: Path | None,
            steps: int | None = None,
            **arguments: object,
        ) -> None:
            with _exit_codes():
                training = _training(config, steps) if trains else {}
                session = Session(name, seed, as_json, quiet, strict, training)
                with session.watching_warnings():
                    function(session, **arguments)
            if session.strict and session.warned:
                raise typer.Exit(ExitCode.WARNING)

        _sign(run, function, trains=trains)
        return run

    return decorated


def _sign(run: Command, function: Command, *, trains: bool) -> None:
    """Give `run` the function's own parameters, without the session, and the shared ones."""
    _, *own = inspect.signature(function, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, keyword, annotation=kind, default=default)
        for name, (kind, default) in _OPTIONS.items()
    ]
    if trains:
        shared.insert(0, inspect.Parameter("steps", keyword, annotation=_STEPS, default=None))
    known = {p.name: _type_of(p.annotation) for p in (*own, *shared)}
    config = Annotated[
        Path | None,
        typer.Option(
            help="TOML file with options; the command line takes precedence.",
            is_eager=True,
            callback=_reader(known, trains=trains),
        ),
    ]
    shared.append(inspect.Parameter("config", keyword, annotation=config, default=None))
    own = [p.replace(kind=keyword) for p in own]
    run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (*own, *shared)}


def _type_of(annotation: object) -> object:
    return get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation


def _reader(
    known: Mapping[str, object], *, trains: bool
) -> Callable[[typer.Context, Path | None], Path | None]:
    def read(context: typer.Context, path: Path | None) -> Path | None:
        """Use the file's values as defaults, so that the command line takes precedence."""
        if path is None or context.resilient_parsing:
            return path
        with _exit_codes():
            found = read_config(path)
            if trains:
                found.pop("training", None)  # read when the command runs, because it needs JAX
            names = _names_in_a_file(context)
            expected = {key: known[name] for key, name in names.items()}
            values = checked(found, expected, where=str(path))
            context.default_map = {names[key]: value for key, value in values.items()}
        return path

    return read


def _names_in_a_file(context: typer.Context) -> dict[str, str]:
    """The parameter of each key of a file: the long option without its dashes."""
    names = {}
    for parameter in context.command.params:
        if parameter.param_type_name == "option" and parameter.name not in _NOT_IN_A_FILE:
            long = max(parameter.opts, key=len).lstrip("-").replace("-", "_")
            if long not in ("help", "version"):
                names[long] = str(parameter.name)
    return names


def _training(config: Path | None, steps: int | None) -> dict[str, object]:
    """Fields of `secant.Training` from the file's [training] and the command line's --steps."""
    values: dict[str, object] = {}
    table = {} if config is None else read_config(config).get("training", {})
    if not isinstance(table, dict):
        raise ConfigError(
            f"{config}: 'training' must be a table, [training]; got {described(table)}."
        )
    if table:
        from secant.model_files.rebuilding import hints_of
        from secant.training import Training

        values = checked(table, hints_of(Training), where=f"{config}, [training]")
        Training(**values)  # type: ignore[arg-type]  # their types were checked, now their ranges
    return values if steps is None else {**values, "steps": steps}


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn user errors into a message and exit code 2; show a traceback only for bugs."""
    try:
        yield
    except KeyboardInterrupt as stop:
        print("Stopped by you; nothing more was written.", file=sys.stderr)
        raise typer.Exit(ExitCode.INTERRUPTED) from stop
    except (typer.Exit, BrokenPipeError):
        raise
    except Exception as error:
        if _is_mistake_of_user(error):
            _print_error(error)
            raise typer.Exit(ExitCode.USER_ERROR) from error
        traceback.print_exception(error)
        print("This is a bug in secant; please report it.", file=sys.stderr)
        raise typer.Exit(ExitCode.BUG) from error


def _print_error(error: Exception) -> None:
    if os.environ.get("SECANT_TRACEBACK"):
        traceback.print_exception(error)
    print(printable(f"error: {_message(error)}"), file=sys.stderr)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}."
    return str(error)


def _is_mistake_of_user(error: Exception) -> bool:
    """Whether an error is meant for the user: a file error, a missing extra, a failed check."""
    if isinstance(error, OSError | ImportError):
        return True
    if not isinstance(error, ValueError):
        return False
    frames = list(traceback.walk_tb(error.__traceback__))
    return frames[-1][0].f_globals.get("__name__", "").partition(".")[0] in _OF_OURS
