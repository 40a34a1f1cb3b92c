"""Commands of other packages, found by entry points of the group `secant.commands`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

GROUP = "secant.commands"
_HOMES = {"bench": "secant-bench", "data": "secant-bench"}

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
        if cmd_name in _HOMES and not ctx.resilient_parsing:
            ctx.fail(
                f"`secant {cmd_name}` comes with the package {_HOMES[cmd_name]}; "
                "install it from a checkout of secant with `pip install ./benchmarks`."
            )
        return None


def _found() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
