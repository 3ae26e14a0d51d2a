"""Server-sent events of an answer, and the frames they are sent in."""

from collections.abc import Callable, Iterator

from flask import json

from atlas_search.answer.answer import Checked, Event, References, Restart, Section, Token
from atlas_search.server.runs import Run

HEARTBEAT_SECONDS = 10.0  # proxies close a connection that stays silent for 30 to 60 s
POLL_SECONDS = 0.5  # how soon a client that went away is noticed while nothing is sent
LAST = {"complete", "error"}


class Silence:
    """The time without an event: a stream must not be silent for long."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def goes_on(self, seconds: float) -> Iterator[str]:
        """A comment to send, if it has been so long now."""
        self._seconds += seconds
        if self._seconds >= HEARTBEAT_SECONDS:
            self._seconds = 0.0
            yield ": still here\n\n"


def write_event(run: Run, event: Event) -> None:
    """Add a step of an answer to its events."""
    match event:
        case Token(text):
            _write(run, "token", {"text": text})
        case Checked(number, sentence):
            _write(
                run,
                "sentence",
                {
                    "number": number,
                    "text": sentence.text,
                    "markers": [citation.marker for citation in sentence.citations],
                    "grounded": sentence.grounded,
                    "caveat": sentence.caveat,
                    "errors": sentence.errors,
                    "warnings": sentence.warnings,
                },
            )
        case Restart(reason):
            _write(run, "restart", {"reason": reason})
        case Section(corpus):
            _write(run, "section", {"corpus": corpus})
        case References(passages):
            sent = [item.form().to_dict() for item in passages]
            _write(run, "references", {"qa_id": run.qa_id, "passages": sent})


def frames(run: Run, after: int, gone: Callable[[], bool]) -> Iterator[str]:
    """The events after number `after` as they come, until the last, or until the reader is gone."""
    silence = Silence()
    with run.reading():
        while True:
            events = run.next(after, POLL_SECONDS)
            for event in events:
                yield f"id: {event.number}\nevent: {event.name}\ndata: {event.data}\n\n"
                after = event.number
                if event.name in LAST:
                    return
            if events:
                silence = Silence()
            elif run.ended or gone():
                return
            else:
                yield from silence.goes_on(POLL_SECONDS)


def _write(run: Run, name: str, data: dict[str, object]) -> None:
    run.write(name, json.dumps(data))
