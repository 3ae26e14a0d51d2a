"""The `atlas` command."""

import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import typer

from atlas_search.cli.lazy import Entry, LazyGroup
from atlas_search.cli.private_files import files_of_settings, private_files
from atlas_search.core.errors import AtlasError
from atlas_search.core.files import writing_anywhere

_CLI = "atlas_search.cli"


class Commands(LazyGroup):
    """Every command of `atlas`."""

    entries: ClassVar = {
        "demo": Entry(
            f"{_CLI}.serving:demo_command",
            "Build the bundled demo collection if it is missing, and serve it.",
        ),
        "run": Entry(
            f"{_CLI}.serving:run_command",
            "Serve, with Phoenix beside it unless PHOENIX=0; Ctrl-C stops both.",
        ),
        "serve": Entry(f"{_CLI}.serving:serve_command", "Serve the page and the API."),
        "phoenix": Entry(f"{_CLI}.serving:phoenix_command", "Run Phoenix alone until Ctrl-C."),
        "doctor": Entry(
            f"{_CLI}.commands:doctor_command",
            "Say what is set up, what is not, and what to do; status 1 if something needed is "
            "wrong.",
        ),
        "create": Entry(
            f"{_CLI}.source_types:create_app", "Build a collection from a folder of sources."
        ),
        "watch": Entry(
            f"{_CLI}.watch:watch_command",
            "Build a collection from a folder, and again whenever the folder changes; Ctrl-C ends.",
        ),
        "store": Entry(f"{_CLI}.store:store_app", "Look after built collections."),
        "ask": Entry(
            f"{_CLI}.asking:ask_command",
            "Ask the running server and print the answer with its sources.",
        ),
        "search": Entry(
            f"{_CLI}.asking:search_command",
            "Search the running server and print the passages, what speaks to the question marked.",
        ),
        "kwic": Entry(
            f"{_CLI}.words:kwic_command",
            "Show every hit of some words in its context (keyword in context), and count them.",
        ),
        "trends": Entry(
            f"{_CLI}.words:trends_command",
            "Count the hits of some words by year, decade, corpus or metadata field.",
        ),
        "counts": Entry(
            f"{_CLI}.words:counts_command",
            "Count the documents and passages that say something, at once or by a field.",
        ),
        "collocates": Entry(
            f"{_CLI}.word_lists:collocates_command",
            "List the words that stand near some words more often than elsewhere.",
        ),
        "keywords": Entry(
            f"{_CLI}.word_lists:keywords_command",
            "List the words that set some texts apart: those of a corpus, or with `--where`.",
        ),
        "export": Entry(
            f"{_CLI}.commands:export_command",
            "Write answers, such as `atlas ask --json` prints, for a reader or a reference "
            "manager.",
        ),
        "replay": Entry(
            f"{_CLI}.commands:replay_command",
            "Search again as a run did, and say what changed; status 1 if anything did.",
        ),
        "keys": Entry(f"{_CLI}.keys:keys_app", "API keys: who may ask, and which corpora."),
        "feedback": Entry(f"{_CLI}.feedback:feedback_app", "What readers said of answers."),
        "eval": Entry(f"{_CLI}.evaluation.app:eval_app", "How good a target is."),
        "calibrate": Entry(
            f"{_CLI}.calibration:calibrate_command",
            "Choose how much evidence an answer needs, and keep it in the collection's manifest.",
        ),
        "traces": Entry(
            f"{_CLI}.traces:traces_app", "What Phoenix holds of requests; at first a list."
        ),
    }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that `args` name, imported; what it writes has the modes of the settings."""
        ctx.with_resource(files_of_settings())  # until the command has ended
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    help="Balanced, explainable research search with verified citations.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _atlas() -> None:
    """Without a callback a Typer application has no group."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors Atlas raises on purpose end it with their message and status 1.

    So do a full disk and a folder that cannot be written, wherever a command meets them.
    """
    try:
        with private_files(), writing_anywhere():
            app(list(arguments) if arguments is not None else None)
    except AtlasError as error:
        print(f"atlas: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
