"""`atlas traces`: what Phoenix holds of requests, checked and compared."""

import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from atlas_search.cli.choices import AsJson
from atlas_search.cli.printable import printable_json
from atlas_search.cli.tables import print_whole
from atlas_search.cli.traces_shown import (
    depth_document,
    depth_table,
    pair_document,
    pair_table,
    side_document,
    side_table,
    trace_csv,
    trace_document,
    trace_table,
)
from atlas_search.core.errors import RequestError
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.traces.comparison import compare_sides
from atlas_search.evaluation.traces.depth import SEARCHING, DepthCheck, check_depth
from atlas_search.evaluation.traces.pairs import REASONS, Pairs, pair_traces
from atlas_search.evaluation.traces.phoenix import Phoenix, Wanted, open_phoenix

UNEQUAL = 1
UNCHECKED = 3
"""The status of a check that found nothing it could check; 2 is that of a wrong command."""

_AGO = re.compile(r"([1-9]\d{0,4})([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class ListFirst(TyperGroup):
    """Without the name of a command, `list` is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: D102
        named = args and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["list", *args])


traces_app = typer.Typer(cls=ListFirst, help="What Phoenix holds of requests; at first a list.")

Since = Annotated[
    str,
    typer.Option("--since", help="Begun then or later: a day, a time (UTC), or 30m, 24h, 7d ago"),
]
TargetChoice = Annotated[
    str, typer.Option("--target", help="Only of this target, or composite target")
]
WithQuestions = Annotated[
    bool, typer.Option("--questions", help="Show questions, where traces hold them")
]
Compared = Annotated[str, typer.Argument(help="A target, or a composite target")]


@traces_app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, help="The last ones, so many")] = 20,
    since: Since = "",
    target: TargetChoice = "",
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="ask, search, create ...; repeatable")
    ] = None,
    questions: WithQuestions = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="A table to chart, the first begun first")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the last traces: what was asked of which target, what came of it, how evenly."""
    wanted = Wanted(kind or (), target, since_when(since, datetime.now(UTC)))
    phoenix = open_phoenix(load_settings())
    told = list(phoenix.tell(islice(phoenix.traces(wanted), limit)))
    if as_json:
        found = [trace_document(each, with_question=questions) for each in told]
        print(printable_json({"traces": found}))
        return
    if as_csv:
        print(trace_csv([each.trace for each in reversed(told)]), end="")
        return
    print_whole(Console(), trace_table(told, with_questions=questions))


@traces_app.command("check")
def check_command(since: Since = "7d", target: TargetChoice = "", as_json: AsJson = False) -> None:
    """Check that requests over all corpora were equally deep in each.

    Status 1 if one was not, 3 if none could be checked.
    """
    wanted = Wanted(SEARCHING, target, since_when(since, datetime.now(UTC)))
    found = check_depth(open_phoenix(load_settings()).traces(wanted))
    if as_json:
        print(printable_json(depth_document(found)))
    else:
        _print_check(Console(highlight=False), found)
    if found.unequal:
        sys.exit(UNEQUAL)
    if not found.checked:
        sys.exit(UNCHECKED)


@traces_app.command("compare")
def compare_command(
    first: Compared,
    second: Compared,
    since: Since = "30d",
    questions: WithQuestions = False,
    as_json: AsJson = False,
) -> None:
    """Set two targets side by side, over the questions that both were asked."""
    phoenix = open_phoenix(load_settings())
    pairs = _pair(phoenix, (first, second), since_when(since, datetime.now(UTC)))
    sides = compare_sides(pairs, phoenix.tell([*pairs.side(0), *pairs.side(1)]))
    if as_json:
        document = {
            "questions": len(pairs.pairs),
            "targets": [side_document(*each) for each in zip(sides, pairs.left_out, strict=True)],
            "pairs": [pair_document(pair, with_question=questions) for pair in pairs.pairs],
        }
        print(printable_json(document))
        return
    console = Console(highlight=False)
    print_whole(console, side_table(sides))
    _print_left_out(console, pairs)
    print_whole(console, pair_table(pairs.pairs, with_questions=questions))


def since_when(text: str, now: datetime) -> datetime | None:
    """The time that --since means; None if it is empty. Raises RequestError."""
    if not text:
        return None
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise RequestError(
            f"--since {text}: give a day or time such as 2026-01-31 or 2026-01-31T12:00, or how "
            "long ago: 30m, 24h, 7d."
        ) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _pair(phoenix: Phoenix, names: tuple[str, str], since: datetime | None) -> Pairs:
    first, second = (phoenix.traces(Wanted(("ask",), name, since)) for name in names)
    return pair_traces(names, first, second)


def _print_check(console: Console, found: DepthCheck) -> None:
    if found.unequal:
        print_whole(console, depth_table(found.unequal))
    for sentence in depth_sentences(found):
        console.print(sentence, soft_wrap=True)


def depth_sentences(found: DepthCheck) -> Sequence[str]:
    """What was checked, what came of it, and what could not be checked."""
    verdicts = found.verdicts
    said = ["No request over all corpora was found that could be checked."]
    if found.first and found.last:
        time = f"{found.first:%Y-%m-%d %H:%M} to {found.last:%Y-%m-%d %H:%M} UTC"
        said = [
            f"{_requests(found.checked)} over all corpora {_were(found.checked)} checked, {time}: "
            f"{verdicts['unequal'] or 'none'} unequal."
        ]
    if verdicts["unfinished"]:
        count = verdicts["unfinished"]
        said.append(f"{count} more failed or {_were(count)} cancelled.")
    if verdicts["unknown"]:
        said.append(
            f"{verdicts['unknown']} more cannot be checked: an earlier version traced them."
        )
    return said


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count} requests"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _print_left_out(console: Console, pairs: Pairs) -> None:
    for name, counts in zip(pairs.names, pairs.left_out, strict=True):
        if counts:
            reasons = ", ".join(f"{count} {REASONS[reason]}" for reason, count in counts.items())
            console.print(f"Answers of {name} left out: {reasons}.", markup=False, soft_wrap=True)
