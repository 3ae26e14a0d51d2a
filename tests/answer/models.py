"""Questions to the bundled collection, what a model writes of them, and what a listener is left."""

from collections.abc import Sequence
from io import StringIO

from rich.console import Console

from atlas_search.answer.answer import Answer, Event, Restart, Section, Token
from atlas_search.cli.ask import print_answer
from atlas_search.services import Services
from tests.chat_server import ChatServer, Request, Says
from tests.slow_model import TOKEN

LIBEL = "Can a local authority sue a newspaper for libel?"
MARRIAGE = "Which grounds make marriage between two people of the same sex lawful?"

Both = tuple[Services, ChatServer]
"""The services with the model of a local server, and that server."""


def first_token(request: Request) -> str:
    """The token of the best passage; none is named in the prompt of a comparison."""
    return next(iter(TOKEN.findall(request.prompt)), "")


def cited(request: Request) -> str:
    """A sentence that cites the best passage."""
    return f"The council lost its claim for libel. {first_token(request)}"


def one_sentence_each(request: Request) -> Says:
    """An answer of each corpus; and then three points, of which only the first can be verified."""
    if token := first_token(request):
        return Says(f"Granted {token}.")
    granted = [
        line[line.index("[") : line.index("]") + 1]
        for line in request.prompt.splitlines()
        if line.startswith("Granted")
    ]
    both = " ".join(granted[:2])
    return Says(
        f"AGREE: Both say that it is granted {both}.\n"
        f"DIFFER: Only one says so {granted[0]}.\n"
        "DIFFER: The dates differ [legal_uk.invented p1].\n"
    )


def texts(events: Sequence[Event]) -> str:
    """All text that was sent, withdrawn or not."""
    return "".join(event.text for event in events if isinstance(event, Token)).strip()


def kept_text(events: Sequence[Event]) -> str:
    """The text that is left for who followed the events."""
    starts = [at for at, event in enumerate(events) if isinstance(event, Restart)]
    return texts(events[starts[-1] if starts else 0 :])


def restarts(events: Sequence[Event]) -> list[str]:
    """The reasons why drafts were withdrawn."""
    return [event.reason for event in events if isinstance(event, Restart)]


def printed(answer: Answer) -> str:
    """What the terminal shows of an answer."""
    out = StringIO()
    print_answer(Console(file=out, highlight=False, width=400), answer.to_dict())
    return out.getvalue()


def sections(events: Sequence[Event]) -> list[str]:
    """The corpora of a comparison, in the order in which they answered."""
    return [event.corpus for event in events if isinstance(event, Section)]
