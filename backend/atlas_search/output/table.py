"""CSV, for spreadsheets and statistics."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from atlas_search.output.answer_document import AnswerDocument, CitationOut, SentenceOut
from atlas_search.output.links import Base, permalink

COLUMNS = {
    "created": "When the question was answered",
    "session_id": "Session it belongs to",
    "qa_id": "The answer's id",
    "question": "The question",
    "decision": "ANSWER, ABSTAIN or BLOCK",
    "reason": "Why, as a code",
    "message": "Why, in words",
    "target": "The target that was asked",
    "collection": "The collection that was searched",
    "collection_version": "Its version",
    "provider": "Who wrote the answer",
    "model": "With which model",
    "sentence_number": "From 1; empty in the row of a question without an answer",
    "sentence": "The sentence without its citations",
    "grounded": "true if a source supports it",
    "support": "supported or not_judged, if a judge was asked",
    "marker": "The citation",
    "corpus": "Corpus of the cited document",
    "document_id": "The cited document",
    "passage_id": "The cited passage",
    "title": "Title of the document",
    "date": "Its date as written",
    "locator": "How the source cites the place of the quote",
    "page": "Page of the passage, counted from 1",
    "printed_page": "The number that stands on the page",
    "line": "Line of the document at which the quote begins",
    "section": "Headings above it",
    "speaker": "Who speaks in it",
    "start": "First character of the quote in the document",
    "end": "Character after its last",
    "quote": "The quoted text",
    "permalink": "Where Atlas shows the passage",
    "url": "Where the original is",
}
"""One row for each sentence and citation; a sentence without any has one row too."""

Row = dict[str, object]

# what spreadsheets run as a formula, in any width; apostrophes count so that none is lost
_FORMULA = re.compile(r"'*\s*[=+\-@\t\r\n＝＋－＠]")


def table(answers: Sequence[AnswerDocument], base: Base) -> str:
    """All rows under a header.

    A text that a spreadsheet could run as a formula has one `'` put before it; so has one that
    would be such a text without the apostrophes it begins with.
    """
    rows = (row for answer in answers for row in _rows(answer, base.of(answer.collection)))
    return csv_text(tuple(COLUMNS), rows)


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A header and rows, in which no spreadsheet computes a cell."""
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({column: inert(value) for column, value in row.items()})
    return written.getvalue()


def inert(value: object) -> object:
    """`value` as no spreadsheet computes it."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def original(cell: str) -> str:
    """The text of which `inert` made this cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def _rows(answer: AnswerDocument, base_url: str) -> Iterator[Row]:
    about = _about(answer)
    if not answer.sentences:
        yield about | {"sentence": answer.answer or ""}
    for number, sentence in enumerate(answer.sentences, start=1):
        said = about | _sentence_row(number, sentence)
        if not sentence.citations:
            yield said
        for index in sentence.citations:
            yield said | _citation_row(answer.citations[index], base_url)


def _about(answer: AnswerDocument) -> Row:
    own = answer.model_dump(include=COLUMNS.keys() - {"created"})
    provider, model = answer.written_by
    return own | {
        "created": datetime.fromisoformat(answer.created).isoformat(),
        "reason": answer.reason.code,
        "message": answer.reason.message,
        "provider": provider,
        "model": model,
    }


def _sentence_row(number: int, sentence: SentenceOut) -> Row:
    grounded = "true" if sentence.grounded else "false"
    about = {"sentence_number": number, "sentence": sentence.text, "grounded": grounded}
    return about | {"support": sentence.support or ""}


def _citation_row(cited: CitationOut, base_url: str) -> Row:
    own = cited.model_dump(include=set(COLUMNS))
    return own | {"permalink": permalink(base_url, cited.passage_id)}
