"""Asking a running server from the terminal."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from atlas_search.answer.request import AskRequest
from atlas_search.cli.options import AsJson, CollectionChoice, command_of, command_settings
from atlas_search.client import ApiCall, AtlasClient, body_of
from atlas_search.core.errors import UnknownCaller, UnknownCollection
from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.core.locator import place_in_words
from atlas_search.core.settings import Settings
from atlas_search.search.request import SearchRequest

# what a terminal obeys, and what turns the order of writing; a line end and a tab are harmless
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(value: Any) -> Any:
    """A document of the server with `�` for each character that a terminal obeys.

    No text becomes longer or shorter: spans in it still hold.
    """
    if isinstance(value, str):
        return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {name: printable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [printable(item) for item in value]
    return value


def printable_json(document: Any) -> str:
    """A document as JSON that says the same, those characters written as escapes."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # the only one that stands outside strings is the line end, which is kept
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


Document = dict[str, Any]
"""A response of the server, by the schema of its route."""


def post(settings: Settings, path: str, body: Mapping[str, object]) -> Document:
    """Return the server's reply to a POST. Raises AtlasError with its refusal, or if it is down."""
    call: ApiCall[Document] = ApiCall("POST", path, lambda document: document, body)
    with _server(settings, str(body.get("collection", ""))) as client:
        return client.send(call)


def get_text(settings: Settings, path: str) -> str:
    """A file that the server gives. Raises AtlasError likewise."""
    with _server(settings) as client:
        return client.reply(ApiCall("GET", path, str)).text


@contextmanager
def _server(settings: Settings, collection: str = "") -> Iterator[AtlasClient]:
    url = f"http://{settings.atlas_host}:{settings.atlas_port}"
    try:
        with AtlasClient(url, settings.atlas_api_key.get_secret_value()) as client:
            yield client
    except UnknownCaller as error:
        raise UnknownCaller(f"{error} The key is taken from ATLAS_API_KEY.") from error
    except UnknownCollection as error:
        raise UnknownCollection(
            f"{error} If it is built (`atlas store list`), it is served by "
            f"`CHROMA_COLLECTION_NAME={collection} atlas serve`; with `COLLECTIONS=*` all are."
        ) from error


def collection_body(request: BaseModel, collection: str | None) -> dict[str, object]:
    """The body of a request to a collection by its name; None: the server's own choice."""
    return body_of(request) | ({"collection": collection} if collection else {})


def print_answer(console: Console, answer: Document) -> None:
    """The answer, its sources, and what is doubtful about it; or why none, and what is closest."""
    answer = printable(answer)

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=not console.is_terminal)

    if answer["standalone_question"]:
        say(f"Understood as: {answer['standalone_question']}")
    if answer["comparison"]:
        _print_comparison(say, answer["comparison"])
    else:
        say(answer["answer"] or _why_not(answer["reason"]))
    _print_confidence(say, answer)
    _print_choices(say, answer["choices"])
    print_closest(console, answer["closest"])
    for line in dict.fromkeys(_citation_line(citation) for citation in answer["citations"]):
        console.print(f"  {line}", markup=False, soft_wrap=True)
    notes = [
        *_about_wording(answer["retrieval"]),
        *filter(None, [answer["standalone_note"]]),
        *_about_writer(answer),
        *map(_conflict, answer["conflicts"]),
        *_about_struck(answer["validation"]["struck"]),
        *answer["validation"]["warnings"],
    ]
    for note in notes:
        console.print(f"  Note: {note}", markup=False, soft_wrap=True)
    console.print(f"  {answer['scope']['sentence']}", markup=False, soft_wrap=True)


def _why_not(reason: Document) -> str:
    """A count or what the collection holds is what was asked for, though no passage says it."""
    says_all = reason["code"] in ("counted", "collection", "unclear")
    return str(reason["message"]) if says_all else f"No answer: {reason['message']}"


def _print_choices(say: Callable[[str], None], choices: Sequence[Document]) -> None:
    if choices:
        say("It can be read in several ways. Ask again:")
    for choice in choices:
        say(f"  {choice['question']}  ({choice['label']})")


def _about_writer(answer: Document) -> Iterator[str]:
    """Say if the sources' own sentences stand in for a model's; in part in a comparison."""
    if answer["fallback"] and answer["decision"] != "ANSWER":
        yield (
            "Neither a language model nor the sources' own sentences answer: "
            f"{answer['fallback']['message']}"
        )
    elif answer["fallback"]:
        in_part = "In part in" if answer["usage"]["provider"] != "extractive" else "In"
        yield (
            f"{in_part} the sources' own sentences, in place of a language model's answer: "
            f"{answer['fallback']['message']}"
        )


def _about_struck(struck: Iterable[Document]) -> Iterator[str]:
    for one in struck:
        yield f"Struck, as {one['verdict'].replace('_', ' ')}: {one['sentence']} {one['reason']}"


def _conflict(conflict: Document) -> str:
    lead = "Superseded" if conflict["kind"] == "repealed" else "The sources disagree"
    return f"{lead}: {conflict['detail']}"


def _print_confidence(say: Callable[[str], None], answer: Document) -> None:
    if answer["confidence"]:
        say(f"  {CONFIDENCE[answer['confidence']['word']]}")


def print_closest(console: Console, closest: Sequence[Document]) -> None:
    """Print the closest passages where there is no answer, under a heading; nothing if none."""
    if closest:
        console.print(f"{CLOSEST}:", markup=False)
    for quoted in closest:
        console.print(f"  {_citation_line(quoted)}", markup=False, soft_wrap=True)
        quote = " ".join(quoted["quote"].split())
        console.print(f"    “{quote}”", markup=False, soft_wrap=True)


def _print_comparison(say: Callable[[str], None], comparison: Document) -> None:
    for part in comparison["answers"]:
        say(f"{part['corpus']}: {part['answer'] or part['reason']['message']}")
        _print_confidence(say, part)
    for heading, points in (
        ("They agree", comparison["agreements"]),
        ("They differ", comparison["differences"]),
    ):
        for point in points:
            say(f"{heading}: {point['text']}")


def print_passages(console: Console, found: Document, *, with_signals: bool) -> None:
    """The passages, best first, their highlights in bold, then what was searched, and counts."""
    found = printable(found)
    retrieval = found["retrieval"]
    for note in _about_wording(retrieval):
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    unmet = retrieval["required_unmet"]
    for number, passage in enumerate(found["passages"], start=1):
        without = "  (without what is required)"
        held = unmet is None or passage["passage_id"] in unmet["kept"]
        source = _fields(passage, "marker", "title", "date", "url")
        head = f"{number}. {passage['score']:.3f}  {source}{'' if held else without}"
        console.print(Text(head, style="cyan"), soft_wrap=True)
        place = [_place(passage), passage["section"], passage["speaker"]]
        console.print(Text("   ".join(part for part in place if part), style="dim"), end="")
        console.print(_mark(passage), soft_wrap=not console.is_terminal)
        if with_signals:
            values = (f"{name} {value:.3f}" for name, value in passage["signals"].items())
            line = Text("  ".join(values), style="dim")
            console.print(line, soft_wrap=not console.is_terminal)
        if passage["duplicates"]:
            console.print(Text(f"Same text: {', '.join(passage['duplicates'])}", style="dim"))
    console.print(found["scope"]["sentence"], markup=False, soft_wrap=True)
    counts = retrieval["per_corpus"].items()
    console.print(
        "; ".join(f"{corpus}: {of['kept']} of {of['candidates']}" for corpus, of in counts),
        markup=False,
    )


def _about_wording(retrieval: Document) -> Iterator[str]:
    """Say where the search departed from the question, or could have: as the page has it.

    The scope says which words no source holds.
    """
    for unknown in retrieval["unknown_words"]:
        word, alike = unknown["word"], " or ".join(unknown["suggestions"])
        if unknown["searched_as"]:
            yield f"Searched for {unknown['searched_as']} instead of {word}."
        elif alike:
            yield f"Did you mean {alike} instead of {word}?"
    if unmet := retrieval["required_unmet"]:
        phrases = " and ".join(f'"{phrase}"' for phrase in unmet["phrases"])
        yield f"Passages that hold {phrases}: {unmet['passages']}. The others are without."


def _mark(passage: Document) -> Text:
    text = Text(f"\n{passage['text']}\n")
    for highlight in passage["highlights"]:
        text.stylize("bold reverse", highlight["start"] + 1, highlight["end"] + 1)
    return text


def _place(passage: Document) -> str:
    return place_in_words(*(passage[n] for n in ("locator", "page", "printed_page", "metadata")))


def _citation_line(of: Mapping[str, Any]) -> str:
    """A citation with its section and speaker, which tell places on one page apart.

    The first heading often repeats the title, which is printed once.
    """
    section = (of["section"] or "").removeprefix(f"{of['title']} > ")
    fields = {**of, "section": "" if section == of["title"] else section}
    return _fields(fields, "marker", "title", "section", "speaker", "date", "url")


def _fields(of: Mapping[str, Any], *names: str) -> str:
    return "  ".join(of[name] for name in names if of[name])


def _ask(
    request: AskRequest,
    collection: CollectionChoice = None,
    compare: Annotated[bool, typer.Option(help="Let every corpus answer for itself")] = False,
    as_json: AsJson = False,
    bundle: Annotated[
        Path | None, typer.Option(help="File for all it takes to repeat the run: `atlas replay`")
    ] = None,
) -> None:
    """Ask the running server and print the answer with its sources."""
    settings = command_settings()
    body = collection_body(request, collection) | {"mode": "compare" if compare else "answer"}
    answer = post(settings, "/api/ask", body)
    if bundle:
        path = f"/api/ask/{answer['qa_id']}/export?format=bundle"
        bundle.write_text(get_text(settings, path), encoding="utf-8")
    if as_json:
        print(printable_json(answer))
    else:
        print_answer(Console(highlight=False), answer)


def _search(
    request: SearchRequest,
    collection: CollectionChoice = None,
    signals: Annotated[bool, typer.Option(help="Show every signal")] = False,
    as_json: AsJson = False,
) -> None:
    """Search the running server and print the passages, what speaks to the question marked."""
    result = post(command_settings(), "/api/search", collection_body(request, collection))
    if as_json:
        print(printable_json(result))
    else:
        print_passages(Console(highlight=False), result, with_signals=signals)


_OF_CONVERSATIONS = {"mode", "history", "read_follow_ups", "session_id", "qa_id"}
ask_command = command_of(AskRequest, _ask, _OF_CONVERSATIONS)
search_command = command_of(SearchRequest, _search, {"facets", "explain"})


WIDEST = 1000  # characters of a line; a remark that is longer goes on in the next


def print_whole(console: Console, table: Table) -> None:
    """Print a table, folded to the width of a terminal, and as wide as it is elsewhere."""
    for column in table.columns:
        column.overflow = "fold"
    narrow = console.width
    if not console.is_terminal:
        options = console.options.update(max_width=WIDEST)
        console.width = max(narrow, Measurement.get(console, options, table).maximum)
    try:
        console.print(table)
    finally:
        console.width = narrow
