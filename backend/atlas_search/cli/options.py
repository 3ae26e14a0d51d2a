"""Options that several commands have, and the settings that they run with."""

from typing import Annotated

import typer

from atlas_search.core.logs import set_up_logs
from atlas_search.core.settings import Settings, load_settings

CorpusChoice = Annotated[
    list[str] | None, typer.Option("--corpus", help="Only this corpus; repeatable")
]
CollectionChoice = Annotated[
    str | None, typer.Option("--collection", help="Collection of the server that is asked")
]
WhereChoice = Annotated[
    list[str] | None, typer.Option("--where", help="FIELD=VALUE or FIELD=FROM..TO; repeatable")
]
Required = Annotated[
    list[str] | None, typer.Option("--require", help="A phrase passages must hold; repeatable")
]
Excluded = Annotated[
    list[str] | None, typer.Option("--exclude", help="A phrase no passage may hold; repeatable")
]
TargetChoice = Annotated[str | None, typer.Option("--target", help="Name of a target")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document, with all there is to say")]


def command_settings() -> Settings:
    """The settings of a command, whose log they set up."""
    settings = load_settings()
    set_up_logs(settings)
    return settings
