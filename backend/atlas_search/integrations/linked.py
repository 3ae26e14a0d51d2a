"""The text of an answer in Markdown, with a link at the end of every sentence that cites."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from atlas_search.answer.wire import AnswerDocument, SentenceOut, without_markers
from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.core.wire import CitationOut
from atlas_search.documents.export import escape_line

LinkOf = Callable[[CitationOut], str]
"""The address at which a citation is shown."""


class LinkSpan(NamedTuple):
    """The code points of a text that are the link to a citation."""

    start: int
    end: int
    citation: CitationOut


class LinkedText(NamedTuple):
    """A text in pieces, most of them a sentence with its links."""

    pieces: tuple[str, ...]
    links: tuple[LinkSpan, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces)


class _Writer:
    def __init__(self, link: LinkOf):
        self._link = link
        self._length = 0
        self.pieces: list[str] = []
        self.links: list[LinkSpan] = []

    def write(self, text: str, citations: Sequence[tuple[int, CitationOut]] = ()) -> None:
        """Add a piece, and the link of each citation by its number."""
        for number, cited in citations:
            mark = f"[{number}]({self._link(cited)})"
            start = self._length + len(text) + 1
            self.links.append(LinkSpan(start, start + len(mark), cited))
            text += f" {mark}"
        self.pieces.append(text)
        self._length += len(text)


def linked_text(answer: AnswerDocument, link: LinkOf) -> LinkedText:
    """The answer, or why there is none and what comes closest.

    Citations are numbered from 1 as the answer lists them. What a source or a model wrote is no
    markup.
    """
    writer = _Writer(link)
    if answer.comparison and answer.answer:
        _write_comparison(writer, answer)
    elif answer.answer:
        _write_sentences(writer, answer, answer.sentences)
    else:
        writer.write(escape_line(answer.reason.message))
    for note in _notes(answer):
        writer.write(f"\n\n{escape_line(note)}")
    if answer.closest:
        writer.write(f"\n\n{CLOSEST}:\n")
    for number, quoted in enumerate(answer.closest, start=1):
        about = f"{escape_line(quoted.title)}: “{escape_line(quoted.quote)}”"
        writer.write(f"\n- {about}", [(number, quoted)])
    return LinkedText(tuple(writer.pieces), tuple(writer.links))


def _notes(answer: AnswerDocument) -> Iterator[str]:
    """Yield what a reader of the text alone has to know."""
    if answer.confidence and answer.answer:
        yield f"{CONFIDENCE[answer.confidence.word]}, in the sources' own sentences."
    for conflict in answer.conflicts:
        lead = "Superseded" if conflict.kind == "repealed" else "The sources disagree"
        yield f"{lead}: {conflict.detail}"
    if answer.fallback:
        yield answer.fallback.message
    yield from answer.validation.warnings


def _write_sentences(
    writer: _Writer, answer: AnswerDocument, sentences: Sequence[SentenceOut], before: str = ""
) -> None:
    for sentence in sentences:
        cited = list(_numbered(answer, sentence.citations))
        writer.write(f"{before}{escape_line(sentence.text)}", cited)
        before = " "


def _write_comparison(writer: _Writer, answer: AnswerDocument) -> None:
    assert answer.comparison
    between = ""
    for part in answer.comparison.answers:
        writer.write(f"{between}**{escape_line(part.corpus)}**")
        between = "\n\n"
        if part.answer:
            _write_sentences(writer, answer, part.sentences, "\n\n")
        else:
            writer.write(f"\n\n{escape_line(part.reason.message)}")
    for heading, points in (
        ("They agree", answer.comparison.agreements),
        ("They differ", answer.comparison.differences),
    ):
        for point in points:
            text = escape_line(without_markers(point.text))
            writer.write(f"\n\n{heading}: {text}", list(_numbered(answer, point.citations)))


def _numbered(answer: AnswerDocument, indices: Sequence[int]) -> Iterator[tuple[int, CitationOut]]:
    return ((index + 1, answer.citations[index]) for index in indices)
