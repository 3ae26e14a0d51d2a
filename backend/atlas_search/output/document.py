"""The parts of an answer, as `POST /api/ask` sends it, that exports are made from."""

import json
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import quote

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
)

from atlas_search.core.domain import Decision, MetadataValue
from atlas_search.core.errors import RequestError

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""Empty where the document says null."""


def _or_nothing(value: object) -> object:
    return {} if value is None else value


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Reason(_Part):
    """Why the decision fell as it did."""

    code: str
    message: str


class Sentence(_Part):
    """A sentence without its markers; `citations` are indices into those of the answer."""

    text: str
    citations: tuple[NonNegativeInt, ...]
    grounded: bool


class Cited(_Part):
    """A verified citation. `metadata` is the document's, as far as the answer gives it."""

    marker: str
    passage_id: str
    document_id: str
    corpus: str
    title: str
    page: int
    section: Text = ""
    speaker: Text = ""
    date: Text = ""
    url: Text = ""
    start: int
    end: int
    quote: str
    metadata: Mapping[str, MetadataValue] = Field(default_factory=dict)


class Point(_Part):
    """What several corpora agree or differ about, with markers; `citations` as in a sentence."""

    text: str
    citations: tuple[NonNegativeInt, ...]


class Comparison(_Part):
    """What comes of comparing corpora; nothing for an answer from all of them."""

    agreements: tuple[Point, ...] = ()
    differences: tuple[Point, ...] = ()


class Side(_Part):
    """One place of a contradiction."""

    passage_id: str
    title: str
    date: Text = ""
    quote: str


class Conflict(_Part):
    """Two places of the sources that contradict each other."""

    detail: str
    first: Side
    second: Side


class Fallback(_Part):
    """Why the sources' own sentences stand in for a language model's."""

    message: str


class Usage(_Part):
    """Who wrote the answer."""

    provider: str
    model: str


class AnswerDocument(_Part):
    """An answer; `answer` is empty unless the decision is ANSWER.

    `standalone_question` is what a follow-up was rewritten into, empty if it was not.
    """

    qa_id: str
    session_id: str
    created: AwareDatetime
    question: str
    standalone_question: Text = ""
    decision: Decision
    reason: Reason
    answer: Text
    sentences: tuple[Sentence, ...]
    citations: tuple[Cited, ...]
    comparison: Annotated[Comparison, BeforeValidator(_or_nothing)] = Comparison()
    conflicts: tuple[Conflict, ...] = ()
    fallback: Fallback | None = None
    target: str
    collection: str
    collection_version: str
    usage: Usage

    @property
    def said(self) -> tuple[Sentence | Point, ...]:
        """All that cites something, in reading order."""
        return (*self.sentences, *self.comparison.agreements, *self.comparison.differences)


def permalink(base_url: str, passage_id: str) -> str:
    """Where the server at `base_url` shows a passage."""
    return f"{base_url}/?passage={quote(passage_id, safe='')}"


def read_answer(document: Mapping[str, object], number: int) -> AnswerDocument:
    """The answer in `document`, the `number`th given. Raises RequestError if it is none."""
    try:
        # half a character or NaN, which Python reads from JSON, could not be written again
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise RequestError(f"Document {number} is not JSON in UTF-8: {error}.") from error
    try:
        answer = AnswerDocument.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "as a whole"
        raise RequestError(
            f"Document {number} is not an answer: {field}: {first['msg']}. "
            "Export what POST /api/ask returned, unchanged."
        ) from error
    beyond = [
        index for said in answer.said for index in said.citations if index >= len(answer.citations)
    ]
    if beyond:
        raise RequestError(
            f"Document {number} is not an answer: it refers to citation {beyond[0]}, and "
            f"there are {len(answer.citations)} from 0. "
            "Export what POST /api/ask returned, unchanged."
        )
    return answer
