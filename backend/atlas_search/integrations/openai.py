"""The API of OpenAI, as far as chats and their citations need it: a model is a target.

Shapes after https://platform.openai.com/docs/api-reference (chat, responses, models). Citations
come three ways at once: links in Markdown in the text, `url_citation` annotations whose offsets
are code points of the text, and `event` lines that Open WebUI shows as sources with their quotes.

A text that may be withdrawn could not be taken back from a chat: it is sent once it is complete,
sentence by sentence, and until then lines of status for Open WebUI.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Annotated, Any, Literal, NamedTuple
from uuid import uuid4

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from atlas_search.answer.answer import Checked, References
from atlas_search.answer.request import AskRequest
from atlas_search.answer.wire import AnswerDocument
from atlas_search.client import ApiCall, AtlasClient
from atlas_search.core.errors import AtlasError, RequestError, faults_of
from atlas_search.core.wire import CitationOut
from atlas_search.documents.references import permalink
from atlas_search.integrations.linked import LinkedText, linked_text
from atlas_search.search.request import request_of

_OWN_LINK = re.compile(r" ?\[\d+\]\(https?://[^\s()]*\)")
"""A link of an earlier answer, which says nothing to a follow-up."""

Text = Annotated[str, StringConstraints(max_length=1_000_000)]


class MessagePart(BaseModel):
    """A part of a message; only texts are read."""

    type: str
    text: Text = ""


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: str
    content: Text | list[MessagePart] | None = None

    @property
    def said(self) -> str:
        """Its text."""
        if isinstance(self.content, str) or self.content is None:
            return self.content or ""
        return "\n".join(part.text for part in self.content if part.text)


class StreamOptions(BaseModel):
    """The end of a stream."""

    include_usage: bool = False


class _Asked(BaseModel):
    """A request of either kind; what a language model alone could do is passed over."""

    model: str = Field(description="The name of a target")
    stream: bool = False
    atlas: dict[str, Any] = Field(
        default_factory=dict, description="Fields of POST /api/ask: corpora, filters, mode ..."
    )

    def question(self, turns: Sequence[ChatMessage]) -> AskRequest:
        """The last message as a question, and those before it. Raises RequestError."""
        spoken = [turn for turn in turns if turn.role in ("user", "assistant")]
        if not spoken or spoken[-1].role != "user":
            raise RequestError("The last message is not the user's. End with the question.")
        history = [
            {"role": turn.role, "content": _OWN_LINK.sub("", turn.said)} for turn in spoken[:-1]
        ]
        own = {"target": self.model, "history": [turn for turn in history if turn["content"]]}
        return request_of(AskRequest, spoken[-1].said, own | self.atlas)


class ChatRequest(_Asked):
    """POST /v1/chat/completions."""

    messages: list[ChatMessage]
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None


class ResponsesRequest(_Asked):
    """POST /v1/responses. Nothing is kept: `input` is the whole conversation."""

    input: Text | list[ChatMessage]
    previous_response_id: None = None


def models(client: AtlasClient) -> dict[str, Any]:
    """The targets that can be chosen, the default one first."""
    targets = client.send(ApiCall("GET", "/api/targets", dict))
    names = [each["name"] for each in targets["targets"]]
    ordered = sorted(names, key=lambda name: (name != targets["default"], name))
    listed = [
        {"id": each, "object": "model", "created": 0, "owned_by": "atlas"} for each in ordered
    ]
    return {"object": "list", "data": listed}


class OpenAIReply(NamedTuple):
    """A reply: a document, or the lines of a stream."""

    document: dict[str, Any] | None = None
    lines: Iterator[str] | None = None


def chat(body: Mapping[str, Any], client: AtlasClient, base: str) -> OpenAIReply:
    """The reply to a chat. Raises as the API does."""
    asked = _read(ChatRequest, body)
    question = asked.question(asked.messages)
    if not asked.stream:
        return OpenAIReply(_completion(_Written(client.ask(question, include_context=False), base)))
    usage = bool(asked.stream_options and asked.stream_options.include_usage)
    return OpenAIReply(lines=_chat_lines(asked.model, _begun(client, question), base, usage=usage))


def respond(body: Mapping[str, Any], client: AtlasClient, base: str) -> OpenAIReply:
    """The reply of the Responses API. Raises as the API does."""
    asked = _read(ResponsesRequest, body)
    turns = asked.input
    if isinstance(turns, str):
        turns = [ChatMessage(role="user", content=turns)]
    question = asked.question(turns)
    if not asked.stream:
        return OpenAIReply(_response(_Written(client.ask(question, include_context=False), base)))
    id_ = question.qa_id or uuid4().hex
    question = question.model_copy(update={"qa_id": id_})
    return OpenAIReply(lines=_response_lines(asked.model, id_, _begun(client, question), base))


def error_document(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem of the API in the form of OpenAI's errors."""
    status, name = problem["status"], problem["type"].rpartition(":")[2]
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")
    code = "model_not_found" if name == "unknown-target" else None
    return {"error": {"message": problem["detail"], "type": kind, "param": None, "code": code}}


def _read(kind: type[Any], body: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        raise RequestError(faults_of(error)) from error


Steps = Iterator[str | AnswerDocument]
"""What happens on the way to an answer, in words, and last of all the answer."""


def _begun(client: AtlasClient, question: AskRequest) -> Steps:
    """The steps, of which the first is there: a refusal is raised before anything is sent."""
    steps = _steps(client, question)
    return chain([next(steps)], steps)


def _steps(client: AtlasClient, question: AskRequest) -> Steps:
    with closing(client.stream(question)) as events:
        for event in events:
            match event:
                case References(passages):
                    yield f"{len(passages)} passages found"
                case Checked(number):
                    yield f"Sentence {number} verified"
                case AnswerDocument():
                    yield event


class _Written:
    """An answer as its text with links, and what both APIs say of it."""

    def __init__(self, answer: AnswerDocument, base: str):
        self.answer = answer
        self.base = base
        self.linked: LinkedText = linked_text(answer, self.link)
        self.created = int(time.time())

    def link(self, cited: CitationOut) -> str:
        return permalink(self.base, cited.passage_id)

    @property
    def annotations(self) -> list[dict[str, Any]]:
        """The links of the text, as citations of addresses; offsets are code points."""
        return [
            {
                "type": "url_citation",
                "start_index": span.start,
                "end_index": span.end,
                "url": self.link(span.citation),
                "title": span.citation.title,
            }
            for span in self.linked.links
        ]

    @property
    def tokens(self) -> tuple[int, int]:
        usage = self.answer.usage
        return usage.prompt_tokens, usage.completion_tokens

    @property
    def about(self) -> dict[str, Any]:
        """Facts that no field of theirs has."""
        answer = self.answer
        return {
            "qa_id": answer.qa_id,
            "decision": answer.decision,
            "reason": answer.reason.code,
            "confidence": answer.confidence.word if answer.confidence else None,
            "offsets": "code points",
        }

    def sources(self) -> Iterator[dict[str, Any]]:
        """Events by which Open WebUI shows each source with its quote."""
        for cited in self.answer.citations or self.answer.closest:
            url = self.link(cited)
            yield {
                "type": "source",
                "data": {
                    "source": {"name": cited.title, "url": url},
                    "document": [cited.quote],
                    "metadata": [{"source": url, "name": cited.title, "marker": cited.marker}],
                },
            }


def _completion(written: _Written) -> dict[str, Any]:
    asked, said = written.tokens
    annotations = [
        {"type": note["type"], note["type"]: {name: note[name] for name in list(note)[1:]}}
        for note in written.annotations
    ]
    message = {
        "role": "assistant",
        "content": written.linked.text,
        "refusal": None,
        "annotations": annotations,
    }
    return {
        "id": f"chatcmpl-{written.answer.qa_id}",
        "object": "chat.completion",
        "created": written.created,
        "model": written.answer.target,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
        "atlas": written.about,
    }


def _chat_lines(model: str, steps: Steps, base: str, *, usage: bool) -> Iterator[str]:
    about = {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data(about | {"choices": [choice]} | more)

    def event(of: dict[str, Any]) -> str:
        return _data(about | {"choices": [], "event": of})

    try:
        for step in steps:
            if isinstance(step, str):
                yield event({"type": "status", "data": {"description": step, "done": False}})
                continue
            written = _Written(step, base)
            yield event({"type": "status", "data": {"description": "Done", "done": True}})
            yield chunk({"role": "assistant", "content": ""})
            for piece in written.linked.pieces:
                yield chunk({"content": piece})
            for source in written.sources():
                yield event(source)
            final = _completion(written)
            notes = final["choices"][0]["message"]["annotations"]
            yield chunk({"annotations": notes}, "stop", atlas=written.about)
            if usage:
                yield _data(about | {"choices": [], "usage": final["usage"]})
    except AtlasError as error:
        yield _data(error_document({"status": 500, "type": "", "detail": str(error)}))
    yield "data: [DONE]\n\n"


def _data(document: Mapping[str, Any], name: str = "") -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(document, ensure_ascii=False)}\n\n"


def _response(written: _Written) -> dict[str, Any]:
    asked, said = written.tokens
    message = {
        "id": f"msg_{written.answer.qa_id}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [_output(written.linked.text, written.annotations)],
    }
    return _response_of(written.answer.qa_id, written.answer.target, written.created) | {
        "status": "completed",
        "output": [message],
        "usage": {
            "input_tokens": asked,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": said,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": asked + said,
        },
        "atlas": written.about,
    }


def _response_of(id_: str, model: str, created: int) -> dict[str, Any]:
    return {
        "id": f"resp_{id_}",
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [],
        "parallel_tool_calls": False,
        "temperature": None,
        "tool_choice": "none",
        "tools": [],
        "top_p": None,
    }


def _output(text: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def _response_lines(model: str, id_: str, steps: Steps, base: str) -> Iterator[str]:
    begun = _response_of(id_, model, int(time.time()))
    numbers = iter(range(1_000_000))

    def line(kind: str, **fields: Any) -> str:
        return _data({"type": kind, "sequence_number": next(numbers)} | fields, kind)

    try:
        yield line("response.created", response=begun)
        yield line("response.in_progress", response=begun)
        *_, answer = steps
        assert isinstance(answer, AnswerDocument)
        yield from _output_lines(line, _Written(answer, base))
    except AtlasError as error:
        yield line("error", code=None, message=str(error), param=None)


def _output_lines(line: Any, written: _Written) -> Iterator[str]:
    done = _response(written)
    item = done["output"][0]
    at: dict[str, Any] = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    empty = item | {"status": "in_progress", "content": []}
    yield line("response.output_item.added", output_index=0, item=empty)
    yield line("response.content_part.added", part=_output("", []), **at)
    for piece in written.linked.pieces:
        yield line("response.output_text.delta", delta=piece, logprobs=[], **at)
    for number, note in enumerate(written.annotations):
        yield line(
            "response.output_text.annotation.added", annotation=note, annotation_index=number, **at
        )
    yield line("response.output_text.done", text=written.linked.text, logprobs=[], **at)
    yield line("response.content_part.done", part=item["content"][0], **at)
    yield line("response.output_item.done", output_index=0, item=item)
    yield line("response.completed", response=done)
