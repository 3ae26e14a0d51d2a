"""Groups of commands that are imported when they are run, so that help comes at once."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Entry(NamedTuple):
    """Where a command, or a group of commands, is: `module:attribute`; and the line of its help."""

    place: str
    help: str


class LazyGroup(TyperGroup):
    """A group of `entries`, by name in the order of its help."""

    entries: ClassVar[Mapping[str, Entry]]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names, without importing anything."""
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command itself if it is to be run, else what help says of it."""
        if cmd_name not in self.entries:
            return None
        return self.commands.get(cmd_name) or TyperCommand(
            cmd_name, help=self.entries[cmd_name].help
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` name, imported."""
        self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> Any:
        """Import the command `name`, if there is one. Returns it or None."""
        if name in self.entries and name not in self.commands:
            module, attribute = self.entries[name].place.split(":")
            found = getattr(import_module(module), attribute)
            self.commands[name] = _command_of(name, found)
        return self.commands.get(name)


def _command_of(name: str, found: Any) -> Any:
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    single = typer.Typer()
    single.command(name)(found)
    return typer.main.get_command(single)
