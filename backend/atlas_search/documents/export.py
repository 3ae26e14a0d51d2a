"""Markdown, for reading and for word processors."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from atlas_search.answer.wire import (
    AnswerDocument,
    PointOut,
    SentenceOut,
    SideOut,
    place_of,
    read_answer,
    without_markers,
)
from atlas_search.core.addresses import unlink
from atlas_search.core.errors import RequestError
from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.core.stop import Stop
from atlas_search.core.wire import CitationOut
from atlas_search.documents.references import (
    Base,
    Reference,
    bibtex,
    csl_json,
    one_line,
    permalink,
    references_of,
    ris,
)
from atlas_search.documents.web_annotations import annotated_citations, web_annotations
from atlas_search.language.text import content_words, words

Numbers = Mapping[int, int]
"""The number of each citation by its index."""

# wherever they stand; `www.` and what looks like an address would become links on some sites
_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&$^=@]|:(?=\S)|(?<=www)\.", re.IGNORECASE)
_AT_START = re.compile(r"^(\d+(?=[.)])|(?=[-+]))")
# from the first blank on, or a long run of them takes quadratic time
_NO_LINK = re.compile(r"[^\w%/:?#@!$&'*+,;=.~-]", re.ASCII)
_NAMED = re.compile(r"&(?=#?\w+;)")


def markdown(answers: Sequence[AnswerDocument], base: Base) -> str:
    """Each answer with its numbered sources."""
    return "\n---\n\n".join(_answer(answer, base.of(answer.collection)) for answer in answers)


def escape_line(text: str) -> str:
    """`text` as one line that Markdown and HTML show as it is, also at the start of a block."""
    plain = _MARKUP.sub(r"\\\g<0>", one_line(text))
    return _AT_START.sub(r"\1\\", plain)


_CHECKED_BY = {
    "model": "citations, and the language model",
    "nli": "citations, and an entailment model",
}

_UNANSWERED = {"ABSTAIN": "Not answered", "BLOCK": "Written, but not shown"}


def _answer(answer: AnswerDocument, base_url: str) -> str:
    numbers = _numbers(answer)
    blocks = [
        *_question_lines(answer),
        *_text(answer, numbers),
        *_comparison(answer, numbers),
        *_closest(answer, base_url),
        *_scope(answer),
        *_struck(answer),
        *_conflicts(answer, base_url),
        *_sources(answer, numbers, base_url),
        _footer(answer),
    ]
    return "\n\n".join(blocks) + "\n"


def _numbers(answer: AnswerDocument) -> Numbers:
    """Number the citations from 1, in reading order."""
    cited = (index for part in answer.said for index in part.citations)
    order = dict.fromkeys((*cited, *range(len(answer.citations))))
    return {index: number for number, index in enumerate(order, start=1)}


def _question_lines(answer: AnswerDocument) -> Iterator[str]:
    yield f"# {escape_line(answer.question)}"
    if answer.standalone_question:
        yield f"Searched for: {escape_line(answer.standalone_question)}"
    if answer.decision != "ANSWER":
        yield f"**{_UNANSWERED[answer.decision]}.** {escape_line(answer.reason.message)}"
    if answer.fallback:
        yield f"Note: {escape_line(answer.fallback.message)}"
    if answer.confidence:
        yield f"{CONFIDENCE[answer.confidence.word]}."
    for warning in answer.validation.warnings:
        yield f"Note: {escape_line(warning)}"


def _text(answer: AnswerDocument, numbers: Numbers) -> Iterator[str]:
    if answer.sentences:
        yield " ".join(
            _cite(sentence.text, sentence.citations, numbers) for sentence in answer.sentences
        )
    elif answer.answer:
        yield escape_line(answer.answer)


def _cite(text: str, citations: Sequence[int], numbers: Numbers) -> str:
    marks = "".join(f"[{numbers[index]}]" for index in citations)
    return f"{escape_line(text)} {marks}".rstrip()


def _comparison(answer: AnswerDocument, numbers: Numbers) -> Iterator[str]:
    if answer.comparison:
        yield from _points("Agreements", answer.comparison.agreements, numbers)
        yield from _points("Differences", answer.comparison.differences, numbers)


def _points(heading: str, points: Sequence[PointOut], numbers: Numbers) -> Iterator[str]:
    if points:
        yield f"## {heading}"
        texts = ((without_markers(point.text), point.citations) for point in points)
        yield "\n".join(f"- {_cite(*text, numbers)}" for text in texts)


def _closest(answer: AnswerDocument, base_url: str) -> Iterator[str]:
    if answer.closest:
        yield f"## {CLOSEST}"
    for quoted in answer.closest:
        yield _quote(quoted, base_url)


def _scope(answer: AnswerDocument) -> Iterator[str]:
    if answer.scope:
        yield escape_line(answer.scope.sentence)


def _struck(answer: AnswerDocument) -> Iterator[str]:
    if answer.validation.struck:
        yield "## Struck, because the sources do not support it"
        yield "\n".join(
            f"- {escape_line(struck.sentence)} ({struck.verdict.replace('_', ' ')}: "
            f"{escape_line(struck.reason)})"
            for struck in answer.validation.struck
        )


def _conflicts(answer: AnswerDocument, base_url: str) -> Iterator[str]:
    for heading, is_repealed in (
        ("Contradictions between the sources", False),
        ("Superseded sources", True),
    ):
        listed = [c for c in answer.conflicts if (c.kind == "repealed") == is_repealed]
        if listed:
            yield f"## {heading}"
            yield "\n".join(
                f"- {escape_line(conflict.detail)}\n"
                f"  - {_side(conflict.first, base_url)}\n"
                f"  - {_side(conflict.second, base_url)}"
                for conflict in listed
            )


def _side(side: SideOut, base_url: str) -> str:
    facts = ", ".join(escape_line(fact) for fact in (side.title, side.date, side.locator) if fact)
    link = _link(permalink(base_url, side.passage_id))
    return f"{facts}: “{escape_line(side.quote)}” [passage]({link})"


def _sources(answer: AnswerDocument, numbers: Numbers, base_url: str) -> Iterator[str]:
    if numbers:
        yield "## Sources"
    for index, number in numbers.items():
        yield f"[{number}] {_quote(answer.citations[index], base_url)}"


def _quote(cited: CitationOut, base_url: str) -> str:
    """The source of a quote, the quote, and links."""
    facts = [cited.title, cited.date, place_of(cited), cited.section, cited.speaker]
    links = [f"[passage]({_link(permalink(base_url, cited.passage_id))})"]
    if cited.url:
        links.append(f"[original]({_link(cited.url)})")
    return (
        f"{', '.join(escape_line(fact) for fact in facts if fact)}\n\n"
        f"> {escape_line(cited.quote)}\n\n{' · '.join(links)}"
    )


def _footer(answer: AnswerDocument) -> str:
    lines = {
        "Collection": f"{answer.collection}, version {answer.collection_version}",
        "Target": answer.target,
        "Written by": " ".join(filter(None, answer.written_by)),
        "Checked by": _CHECKED_BY.get(answer.validation.verified_by or "", ""),
    }
    return "\n".join(
        (
            *(f"- {name}: {escape_line(value)}" for name, value in lines.items() if value),
            f"- Date: {datetime.fromisoformat(answer.created).isoformat()}",
            f"- Answer: {escape_line(answer.qa_id)}",
        )
    )


def _link(url: str) -> str:
    """`url` without characters that could end the link, which are percent-encoded, and with nothing
    that Markdown would read as the name of a character: `&GT;`."""
    escaped = _NO_LINK.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), one_line(url))
    return _NAMED.sub("&amp;", escaped)


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
        row = about | _sentence_row(number, sentence)
        if not sentence.citations:
            yield row
        for index in sentence.citations:
            cited = answer.citations[index]
            link = {"permalink": permalink(base_url, cited.passage_id)}
            yield row | cited.model_dump(include=set(COLUMNS)) | link


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


Format = Literal["markdown", "json", "csv", "bibtex", "ris", "csl-json", "web-annotation"]
Document = Mapping[str, object]
"""An answer as POST /api/ask sends it."""

LIST_FORMATS: Sequence[Format] = ("bibtex", "ris", "csl-json", "web-annotation")
"""The formats of lists of citations."""

JSON_VERSION = 1
"""The version of the object that the `json` format holds."""

_LONGEST_NAME = 60  # characters of the question's words


@dataclass(frozen=True)
class Exported:
    """A file. `file_name` is of ASCII letters, digits, `.`, `_` and `-`."""

    text: str
    media_type: str
    file_name: str


class FormatKind(NamedTuple):
    """The names of a format in requests and of files."""

    media_type: str
    suffix: str


FORMATS: Mapping[Format, FormatKind] = {
    "markdown": FormatKind("text/markdown; charset=utf-8", "md"),
    "json": FormatKind("application/json", "json"),
    "csv": FormatKind("text/csv; charset=utf-8; header=present", "csv"),
    "bibtex": FormatKind("application/x-bibtex; charset=utf-8", "bib"),
    "ris": FormatKind("application/x-research-info-systems; charset=utf-8", "ris"),
    "csl-json": FormatKind("application/vnd.citationstyles.csl+json", "csl.json"),
    "web-annotation": FormatKind(
        'application/ld+json; profile="http://www.w3.org/ns/anno.jsonld"', "jsonld"
    ),
}

_WRITERS: Mapping[str, Callable[[Sequence[AnswerDocument], Base], str]] = {
    "markdown": markdown,
    "csv": table,
    "web-annotation": web_annotations,
}

_LISTS: Mapping[str, Callable[[Sequence[Reference]], str]] = {
    "bibtex": bibtex,
    "ris": ris,
    "csl-json": csl_json,
}


def known_format(name: str) -> Format:
    """The format of that name. Raises RequestError, listing the known ones."""
    known: dict[str, Format] = {format: format for format in FORMATS}
    if name not in known:
        raise RequestError(f"There is no format {name!r}. Known formats: {', '.join(known)}.")
    return known[name]


def export(
    documents: Sequence[Document],
    format: Format,
    base_url: str,
    default: str = "",
    stop: Stop | None = None,
) -> Exported:
    """Answers in order of creation, as one file.

    Permalinks lead to the server at `base_url`, and name collections other than its
    `default`. Raises RequestError for what is not an answer, and Cancelled soon after the `stop`.
    """
    read = _in_order(documents, stop or Stop())
    answers = [answer for answer, _ in read]
    base = Base(base_url.rstrip("/"), default)
    if format == "json":
        text = _json([document for _, document in read])
    elif format in _LISTS:
        cited = [(each, answer.collection) for answer in answers for each in answer.citations]
        text = _LISTS[format](references_of(cited, base))
    else:
        text = _WRITERS[format](answers, base)
    return _file(text, format, _stem(answers))


def export_citations(
    citations: Sequence[tuple[CitationOut, str]],
    format: Format,
    base: Base,
    notes: Sequence[str] = (),
) -> Exported:
    """The documents of citations, each with its collection, in one of LIST_FORMATS.

    As annotations they are the places themselves, with the reader's `notes` in their order.
    """
    if format == "web-annotation":
        text = annotated_citations(citations, notes, base)
    else:
        text = _LISTS[format](references_of(citations, base))
    return _file(text, format, "atlas-reading-list")


def _file(text: str, format: Format, stem: str) -> Exported:
    media_type, suffix = FORMATS[format]
    return Exported(text, media_type, f"{stem}.{suffix}")


def _in_order(documents: Sequence[Document], stop: Stop) -> list[tuple[AnswerDocument, Document]]:
    if not documents:
        raise RequestError("There is nothing to export. Give at least one answer.")
    read = []
    for number, each in enumerate(documents, start=1):
        stop.check()
        read.append((read_answer(each, number), each))
    stop.check()
    return sorted(read, key=lambda pair: (datetime.fromisoformat(pair[0].created), pair[0].qa_id))


def _json(documents: Sequence[Document]) -> str:
    """The documents as they are, but for addresses that are no links."""
    content = json.loads(json.dumps({"format_version": JSON_VERSION, "answers": documents}))
    unlink(content)
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _stem(answers: Sequence[AnswerDocument]) -> str:
    """`atlas-council-sue-libel-2026-11-28`: the first question, and when it was answered."""
    asked = [word.folded for word in content_words(words(answers[0].question))]
    named = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(asked))[:_LONGEST_NAME].strip("-")
    more = "and-more" if len(answers) > 1 else ""
    day = datetime.fromisoformat(answers[0].created).date().isoformat()
    return "-".join(filter(None, ["atlas", named, more, day]))
