"""The formats an answer or a session can be exported in."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from atlas_search.core.addresses import unlink
from atlas_search.core.errors import RequestError
from atlas_search.core.registry import require
from atlas_search.core.stop import Stop
from atlas_search.output.answer_document import AnswerDocument, CitationOut, read_answer
from atlas_search.output.csl import csl_json
from atlas_search.output.links import Base
from atlas_search.output.markdown import markdown
from atlas_search.output.references import Reference, references, references_of
from atlas_search.output.table import table

Format = Literal["markdown", "json", "csv", "bibtex", "ris", "csl-json"]
Document = Mapping[str, object]
"""An answer as POST /api/ask sends it."""

LIST_FORMATS: Sequence[Format] = ("bibtex", "ris", "csl-json")
"""Those of bibliographies."""

JSON_VERSION = 1
"""Of the object that the `json` format is."""

_LONGEST_NAME = 100  # characters; file systems take 255 bytes


@dataclass(frozen=True)
class Exported:
    """A file. `file_name` is of ASCII letters, digits, `.`, `_` and `-`."""

    text: str
    media_type: str
    file_name: str


@dataclass(frozen=True)
class FormatKind:
    """What a format is for a program and for a person."""

    media_type: str
    suffix: str
    label: str


FORMATS: Mapping[Format, FormatKind] = {
    "markdown": FormatKind("text/markdown; charset=utf-8", "md", "Markdown"),
    "json": FormatKind("application/json", "json", "JSON"),
    "csv": FormatKind("text/csv; charset=utf-8; header=present", "csv", "CSV"),
    "bibtex": FormatKind("application/x-bibtex; charset=utf-8", "bib", "BibTeX"),
    "ris": FormatKind("application/x-research-info-systems; charset=utf-8", "ris", "RIS"),
    "csl-json": FormatKind("application/vnd.citationstyles.csl+json", "csl.json", "CSL-JSON"),
}


def _bibtex(found: Sequence[Reference]) -> str:
    require("export", "The format bibtex")
    from atlas_search.output.bibtex import bibtex

    return bibtex(found)


def _ris(found: Sequence[Reference]) -> str:
    require("export", "The format ris")
    from atlas_search.output.ris import ris

    return ris(found)


_WRITERS: Mapping[str, Callable[[Sequence[AnswerDocument], Base], str]] = {
    "markdown": markdown,
    "csv": table,
}

_LISTS: Mapping[str, Callable[[Sequence[Reference]], str]] = {
    "bibtex": _bibtex,
    "ris": _ris,
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
    if format == "json":
        text = _json([document for _, document in read])
    elif format in _LISTS:
        text = _LISTS[format](references(answers, Base(base_url.rstrip("/"), default)))
    else:
        text = _WRITERS[format](answers, Base(base_url.rstrip("/"), default))
    return _file(text, format, _stem(answers))


def export_citations(
    citations: Sequence[tuple[CitationOut, str]], format: Format, base: Base
) -> Exported:
    """The documents of citations, each with its collection, in one of LIST_FORMATS."""
    text = _LISTS[format](references_of(citations, base))
    return _file(text, format, "atlas-reading-list")


def _file(text: str, format: Format, stem: str) -> Exported:
    kind = FORMATS[format]
    return Exported(text, kind.media_type, f"{stem}.{kind.suffix}")


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
    sessions = {answer.session_id for answer in answers}
    if len(answers) == 1:
        name = f"atlas-answer-{answers[0].qa_id}"
    else:
        name = f"atlas-session-{min(sessions)}" if len(sessions) == 1 else "atlas-answers"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:_LONGEST_NAME]
