"""The command line `secant`."""

from __future__ import annotations

import os
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from secant._host.jax_process import set_environment
from secant.cli import density
from secant.cli.check import check
from secant.cli.compare import compare
from secant.cli.demo import demo
from secant.cli.export import export
from secant.cli.fit import fit
from secant.cli.mi import mi
from secant.cli.monitor import monitor
from secant.cli.score import score

__all__ = ["app", "main"]

_GROUP = "secant.commands"
_LAB = {"bench": "secant-bench", "data": "secant-bench"}

# Typer's context and commands are click's, or its own copy of them, by its version.
_Context = Any
_Command = Any


class WithPlugins(TyperGroup):
    """A command group with commands of its own and of installed packages.

    Entry points are looked up for the help and for a name that is not its own: reading the
    metadata of every installed package takes longer than the rest of the start.
    """

    def list_commands(self, ctx: _Context) -> list[str]:
        """The names, own commands first."""
        return [*super().list_commands(ctx), *sorted(_found())]

    def get_command(self, ctx: _Context, cmd_name: str) -> _Command:
        """The command of a name, loaded now if it is another package's; None if there is none."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        plugin = _found().get(cmd_name)
        if plugin is not None:
            command = get_command(plugin.load())
            command.name = cmd_name
            return command
        if cmd_name in _LAB and not ctx.resilient_parsing:
            ctx.fail(
                f"`secant {cmd_name}` comes with the package {_LAB[cmd_name]}; "
                "install it from a checkout of secant with `pip install ./benchmarks`."
            )
        return None


def _found() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=_GROUP)}


app = typer.Typer(
    name="secant",
    cls=WithPlugins,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,  # `secant.cli.command` turns errors into messages
    rich_markup_mode=None,  # boxes around the help take a third of its time
)


def _show_version(*, wanted: bool) -> None:
    if wanted:
        from secant import __version__

        typer.echo(f"secant {__version__}")
        raise typer.Exit


@app.callback()
def _about(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version.",
            is_eager=True,
            callback=lambda wanted: _show_version(wanted=wanted),
        ),
    ] = False,
) -> None:
    """Density-ratio estimation: log p_1(x) − log p_0(x) from two samples."""
    del version


for command in (demo, compare, check, monitor, fit, score, mi, export):
    app.command()(command)
app.add_typer(density.app, name="density")


def main() -> None:
    """The console script."""
    if sys.argv[1:2] != ["bench"]:  # its times include compilation
        set_environment(os.environ)
    app()
