"""The command line `secant`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from secant._host.jax_process import set_environment
from secant.cli import density
from secant.cli.check import check
from secant.cli.compare import compare
from secant.cli.demo import demo
from secant.cli.export import export
from secant.cli.fit import fit
from secant.cli.mi import mi
from secant.cli.monitor import monitor
from secant.cli.plugins import WithPlugins
from secant.cli.score import score

__all__ = ["app", "main"]

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
