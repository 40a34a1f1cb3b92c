"""The command line `secant`."""

from __future__ import annotations

import typer

from secant.cli.demo import demo

__all__ = ["app", "main"]

app = typer.Typer(
    name="secant",
    help="Density-ratio estimation: log p_1(x) − log p_0(x) from two samples.",
    no_args_is_help=True,
    add_completion=True,
)


@app.callback()
def _about() -> None:
    """Density-ratio estimation: log p_1(x) − log p_0(x) from two samples."""


app.command()(demo)


def main() -> None:
    """The console script."""
    app()
