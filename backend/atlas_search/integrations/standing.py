"""Standing questions: asked again after each build, and compared with what was answered last.

The last answers lie in `answers.json` beside the page and the feed, which are made of it.
"""

import json
import tomllib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4, uuid5

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import BaseModel, Field, ValidationError

from atlas_search.answer.request import AskRequest
from atlas_search.answer.wire import AnswerDocument
from atlas_search.atlas import Atlas
from atlas_search.core import errors
from atlas_search.core.wire import CitationOut
from atlas_search.documents.references import Base, permalink
from atlas_search.evaluation import folder as reports
from atlas_search.evaluation.folder import replace_file
from atlas_search.evaluation.scored import visible
from atlas_search.search.request import request_of
from atlas_search.words.request import ALL, CORPUS, CountsRequest
from atlas_search.words.results import WordCounts

PAGE, FEED, ANSWERS = "index.html", "feed.atom", "answers.json"
MOST_CHANGES = 100  # that page and feed show, the newest

Questions = Mapping[str, AskRequest | CountsRequest]
"""Requests by what they say, in JSON."""

Reply = AnswerDocument | WordCounts


class Change(BaseModel):
    """Two replies to a question that differ; `lost` are documents and quotes they hold no more."""

    id: str
    question: str
    when: str
    version: str
    before: Reply
    after: Reply
    lost: list[tuple[str, str]]


class StandingReplies(BaseModel):
    """The last replies by question, why some are older than `when`, and changes, newest first."""

    feed: UUID = Field(default_factory=uuid4)
    collection: str
    version: str = ""
    when: str = ""
    replies: dict[str, Reply] = {}
    problems: dict[str, str] = {}
    changes: list[Change] = []

    @property
    def changed(self) -> int:
        """The questions whose reply changed just now."""
        return sum(change.when == self.when for change in self.changes)


def read_questions(path: Path) -> Questions:
    """Questions of a file, TOML or a line each. Raises SourceError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        tables = tomllib.loads(text) if path.suffix == ".toml" else {"question": _lines(text)}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise errors.SourceError(f"{path} cannot be read: {error}.") from error
    given = tables.pop("question", None)
    listed = isinstance(given, list) and all(isinstance(each, dict) for each in given)
    if tables or not listed or not given:
        raise errors.SourceError(f"{path}: each question is a table [[question]], or a line.")
    questions: dict[str, AskRequest | CountsRequest] = {}
    for number, fields in enumerate(given, 1):
        kind: Any = CountsRequest if "query" in fields else AskRequest
        try:
            request = request_of(kind, None, fields)
        except errors.RequestError as error:
            raise errors.SourceError(f"{path}: question {number}: {error}") from error
        questions[request.model_dump_json(exclude_defaults=True)] = request
    return questions


def _lines(text: str) -> list[dict[str, str]]:
    lines = [line.strip() for line in text.splitlines()]
    return [
        {"query" if line.startswith("count:") else "question": line.removeprefix("count:")}
        for line in lines
        if line and not line.startswith("#")
    ]


def ask_again(
    atlas: Atlas, questions: Questions, folder: Path, base: Base, now: datetime
) -> StandingReplies:
    """Ask all `questions`, compare, and write what changed to `folder`. Raises SourceError.

    What cannot be asked keeps its last reply, and is a problem.
    """
    manifest = atlas.services.store.manifest
    last = _last(folder / ANSWERS, manifest.collection)
    about = {"version": manifest.version, "when": now.isoformat(timespec="milliseconds")}
    found = last.model_copy(update={**about, "replies": {}, "problems": {}})
    changes = []
    for key, request in questions.items():
        before = last.replies.get(key)
        try:
            after = found.replies[key] = _ask(atlas, request)
        except errors.AtlasError as error:
            found.problems[key] = str(error)
            found.replies |= {key: before} if before else {}
            continue
        if before and _compared(before) != _compared(after):
            gone = beyond(before, after)
            lost = [(c.document_id, c.quote) for c in gone if not _stands(atlas, c)]
            given = {"question": key, "before": before, "after": after, "lost": lost}
            changes.append(Change(id=uuid5(found.feed, key + found.when).urn, **about, **given))
    found.changes = [*changes, *last.changes][:MOST_CHANGES]
    write_report(found, folder, base)
    return found


def _last(path: Path, collection: str) -> StandingReplies:
    if not path.exists():
        return StandingReplies(collection=collection)
    try:
        last = StandingReplies.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise errors.SourceError(f"{path} is damaged. Remove it to begin anew.") from error
    if last.collection != collection:
        raise errors.SourceError(f"{path} is about {last.collection}. Name another folder.")
    return last


def _ask(atlas: Atlas, request: AskRequest | CountsRequest) -> Reply:
    if isinstance(request, CountsRequest):
        return atlas.counts(request)
    answer = atlas.ask(request)
    if answer.writer.fallback and answer.writer.fallback.code == "model_unavailable":
        # another writer's words are no change of the sources
        raise errors.ModelUnavailable(answer.writer.fallback.message)
    return answer.form(include_context=False)


def _compared(reply: Reply) -> tuple[object, ...]:
    """All that is compared: where a quote stands and which comes first says nothing."""
    if isinstance(reply, WordCounts):
        return (counts(reply),)
    sentences = sorted(each.text for each in reply.sentences)
    return reply.decision, sentences, set(map(_place, reply.citations)), counts(reply)


def _place(cited: CitationOut) -> tuple[str, str]:
    """The document and the words: they stay the same where a document is cut differently."""
    return cited.document_id, " ".join(cited.quote.split())


def _stands(atlas: Atlas, cited: CitationOut) -> bool:
    document_id, words = _place(cited)
    try:
        return words in " ".join(atlas.document(document_id).text.split())
    except errors.NotFound:
        return False


def beyond(reply: Reply, other: Reply) -> list[CitationOut]:
    """The citations of one reply that the other has not."""
    places = set(map(_place, getattr(other, "citations", ())))
    return [cited for cited in getattr(reply, "citations", ()) if _place(cited) not in places]


def counts(reply: Reply) -> dict[str, tuple[int | None, int]]:
    """Hits and documents by what they are of."""
    if isinstance(reply, AnswerDocument):
        own = reply.counted
        return {own.words: (own.hits, own.documents)} if own else {}
    named = {"In all": reply.total}
    for cell in reply.cells if reply.by != ALL else ():
        value = f"{cell.corpus or ALL}: {cell.value or '(none)'}"  # no corpus is called `all`
        named[cell.corpus if cell.corpus and reply.by == CORPUS else value] = cell
    return {name: (cell.hits, cell.documents) for name, cell in named.items()}


def title(key: str) -> str:
    """The question that a key is of, and what it says besides."""
    fields = json.loads(key)
    text = fields.pop("question", "") or f"count: {fields.pop('query').strip()}"
    return f"{text} {json.dumps(fields, ensure_ascii=False)}" if fields else text


def write_report(found: StandingReplies, folder: Path, base: Base) -> None:
    """Write the replies, then page and feed, each whole.

    What ends it in between loses no change: the next report is made of the same replies.
    """
    templates = Environment(
        loader=FileSystemLoader([Path(__file__).parent, Path(reports.__file__).parent]),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    start = base.url and base.of(found.collection)
    templates.filters |= {"title": title, "beyond": beyond, "counts": counts}
    templates.globals["link"] = lambda id_: permalink(start, id_) if start else ""
    replace_file(folder / ANSWERS, found.model_dump_json(indent=1))
    for name in (PAGE, FEED):
        page = templates.get_template(f"standing.{name}.jinja").render(now=found)
        replace_file(folder / name, page)
