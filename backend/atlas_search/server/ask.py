"""`/api/ask`: answers at once or as a stream, and how they are stopped, read again and shared."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Literal

from flask import Response, g, json, request, stream_with_context
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from flask_openapi3.types import ResponseDict
from markdown_it import MarkdownIt
from pydantic import BaseModel, Field

from atlas_search.answer.answer import Answer
from atlas_search.answer.request import AnswerPlan, Identifier
from atlas_search.answer.wire import AnswerDocument
from atlas_search.atlas import Atlas
from atlas_search.core.errors import Cancelled, NotFound
from atlas_search.core.settings import Settings, listed
from atlas_search.documents.export import Format, export
from atlas_search.documents.references import Base
from atlas_search.planning import plan_answer
from atlas_search.providers.chat import Usage
from atlas_search.providers.open import EXTRACTIVE
from atlas_search.server.access.caller import present_caller
from atlas_search.server.access.quotas import Limiter, SharedAnswers, spender
from atlas_search.server.api import OptionalBody
from atlas_search.server.events import POLL_SECONDS, frames, write_event
from atlas_search.server.limits import Gone, gone
from atlas_search.server.problems import Problem, problem_of
from atlas_search.server.requests import AskBody
from atlas_search.server.runs import Run, Runs
from atlas_search.server.serving import Guard, Serve

LONGEST_NUMBER = 9  # digits of an event's number

Guards = Callable[[], Guard]
"""The guard of the collection that the present request is about. A thread of its own has none."""

Pay = Callable[[date, float], None]
"""Notes what was spent on a day."""

Note = Callable[[Answer, str], None]
"""Lets an answer of an owner's be rated."""

EVENTS = ("references", "token", "sentence", "restart", "section", "complete", "error")

_ANSWER: ResponseDict = {200: AnswerDocument}
_BEGUN: ResponseDict = {409: Problem, 429: Problem}
_EVENT = {
    "description": "One of the events",
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"type": "string", "enum": EVENTS},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}
_EVENTS: ResponseDict = {200: {"content": {"text/event-stream": {"schema": _EVENT}}}}


class ByAnswer(BaseModel):
    """An answer's id in the path."""

    qa_id: Identifier


class Resumed(BaseModel):
    """The place at which a stream goes on."""

    last_event: str = Field(
        "0",
        alias="Last-Event-ID",
        pattern=rf"^[0-9]{{1,{LONGEST_NUMBER}}}$",
        description="Number of the last event that has come",
    )


class StoppedOut(BaseModel):
    """The end of an answer."""

    qa_id: str
    stopped: bool = Field(description="Whether it was still being written")


def ask_blueprint(
    serve: Serve, runs: Runs, guards: Guards, limiter: Limiter, note: Note
) -> APIBlueprint:
    """The answers resource."""
    blueprint = APIBlueprint("ask", __name__, url_prefix="/api", abp_tags=[Tag(name="ask")])

    @blueprint.post("/ask", summary="Answer a question", responses=_ANSWER | _BEGUN)
    def post_ask(body: AskBody) -> dict[str, object]:
        run = _start(runs, serve(), body, guards, limiter, note)
        return _whole(run, gone(), include_context=body.include_context)

    @blueprint.post(
        "/ask/stream",
        summary="Answer a question as server-sent events",
        description='Events: `references` (the passages), `token` (`{"text": ...}`), `sentence` '
        "(its verification), `restart` (all text so far is withdrawn), `section` (in `compare`: "
        "the corpus whose answer follows), then `complete` (the document of /api/ask) or `error` "
        "(a problem document). With the header `Last-Event-ID` and the `qa_id` of an answer, its "
        "events after that one.",
        responses=_EVENTS | _BEGUN | {404: Problem},
    )
    def post_ask_stream(header: Resumed, body: AskBody) -> Response:
        after = int(header.last_event)
        if after and body.qa_id:
            return _stream(own_run(runs, body.qa_id), after, gone())
        run = _start(runs, serve(), body, guards, limiter, note, streamed=True)
        return _stream(run, 0, gone())

    @blueprint.get("/ask/<qa_id>/stream", summary="The events of an answer", responses=_EVENTS)
    def get_ask_stream(path: ByAnswer, header: Resumed) -> Response:
        return _stream(own_run(runs, path.qa_id), int(header.last_event), gone())

    @blueprint.get("/ask/<qa_id>", summary="A finished answer", responses=_ANSWER | {409: Problem})
    def get_ask(path: ByAnswer) -> dict[str, object]:
        return finished_run(own_run(runs, path.qa_id)).document

    @blueprint.delete("/ask/<qa_id>", summary="Stop an answer", responses={200: StoppedOut})
    def delete_ask(path: ByAnswer) -> dict[str, object]:
        run = own_run(runs, path.qa_id)
        stopped = not run.ended
        run.stop.set("The answer was stopped.")
        return {"qa_id": path.qa_id, "stopped": stopped}

    return blueprint


def own_run(runs: Runs, qa_id: str) -> Run:
    """An answer of the present caller's. Raises NotFound, for those of others too."""
    g.run = run = runs.get(qa_id, present_caller().owner)
    return run


def finished_run(run: Run) -> Run:
    """A run that has come to an answer. Raises NotFound, or what ended it."""
    if run.error:
        raise run.error
    if not run.document:
        raise NotFound(f"The answer {run.qa_id} is still being written.")
    return run


def _start(
    runs: Runs,
    atlas: Atlas,
    body: AskBody,
    guards: Guards,
    limiter: Limiter,
    note: Note,
    *,
    streamed: bool = False,
) -> Run:
    """Check the request and begin its answer."""
    caller = present_caller()
    question = plan_answer(atlas.services, body, streamed=streamed, user_id=caller.name)
    address = request.remote_addr or ""
    question = replace(question, asker=spender(caller, address))
    target = question.target
    if target.llm_provider != EXTRACTIVE and target.cost(1_000_000, 1_000_000):
        limiter.check_cost(caller, address)
    path, guard, sees_traces = request.path, guards(), caller.sees_traces
    pay = partial(limiter.spending.add, spender(caller, address))

    def work(run: Run) -> None:
        """Answer, and write every step into `run`; the last one is `complete` or `error`.

        It runs in a thread without the request.
        """
        try:
            answer = _answer(run, atlas, question, pay)
            shown = answer if sees_traces else replace(answer, trace_id="", span_id="")
            document = shown.to_dict()
            guard.require_whole()  # damage may have come while it was written
        except Exception as error:
            run.error = guard.cause(error)
            problem = problem_of(run.error, path, tells_paths=sees_traces)
            run.write("error", problem.model_dump_json(exclude_none=True))
        else:
            run.answer, run.document, run.manifest = shown, document, atlas.services.store.manifest
            note(answer, run.owner)
            runs.share(run)
            to_send = _to_send(document, include_context=body.include_context)
            run.write("complete", json.dumps(to_send))

    g.run = run = runs.start(question.qa_id, question.session_id, work, caller.owner)
    return run


def _answer(run: Run, atlas: Atlas, question: AnswerPlan, pay: Pay) -> Answer:
    """The answer; what it cost is paid whatever becomes of it."""
    spent: list[Usage] = []
    try:
        return atlas.answer(question, lambda event: write_event(run, event), run.stop, spent)
    finally:
        usage = sum(spent, Usage())
        run.cost = question.target.cost(usage.prompt_tokens, usage.completion_tokens)
        if run.cost:
            pay(datetime.now(UTC).date(), run.cost)


def _whole(run: Run, gone: Gone, *, include_context: bool) -> dict[str, object]:
    """The document of an answer when it is finished. Raises what ended it otherwise."""
    with run.reading():
        while not run.ended and not gone():
            run.wait(POLL_SECONDS)
    if not run.ended:
        raise Cancelled("The client went away.")
    if run.error:
        raise run.error
    return _to_send(run.document, include_context=include_context)


def _to_send(document: dict[str, object], *, include_context: bool) -> dict[str, object]:
    return document if include_context else {**document, "passages": None}


def _stream(run: Run, after: int, gone: Gone) -> Response:
    return Response(
        stream_with_context(frames(run, after, gone)),
        content_type="text/event-stream; charset=utf-8",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


HOUR = 3600
LONGEST_HOURS = 24 * 90
SharedFormat = Literal[Format, "html"]
_ALONE = (
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors {origins}; "
    "sandbox allow-popups allow-popups-to-escape-sandbox"
)
"""The policy of a shared page, which may load nothing and do nothing but open a link. Pages of the
origins that may use the API may show it in a frame."""


class LinkBody(OptionalBody):
    """The time for which a link is good."""

    hours: int = Field(24 * 7, ge=1, le=LONGEST_HOURS, description="Hours until it expires")


class LinkOut(BaseModel):
    """A link, and when it expires; whoever has it may read the answer."""

    url: str
    expires: str


class UnlinkedOut(BaseModel):
    """A link that leads nowhere any more."""

    deleted: Literal[True] = True


class ByToken(BaseModel):
    """The secret of a link in the path."""

    token: str  # any: what cannot be a link is answered as one that is not known


class SharedQuery(BaseModel):
    """The form of the answer; as the API gives it if absent, `html` to be read."""

    format: SharedFormat | None = None


def share_blueprint(settings: Settings, runs: Runs, shared: SharedAnswers) -> APIBlueprint:
    """The routes of links to answers."""
    blueprint = APIBlueprint("share", __name__, url_prefix="/api", abp_tags=[Tag(name="share")])

    def base() -> str:
        return settings.atlas_public_url or request.host_url

    alone = _ALONE.format(origins=" ".join(listed(settings.atlas_allowed_origins)) or "'none'")

    def maker() -> str:
        return spender(present_caller(), request.remote_addr or "")

    @blueprint.post("/ask/<qa_id>/link", summary="A link to an answer", responses={200: LinkOut})
    def post_link(path: ByAnswer, body: LinkBody) -> dict[str, object]:
        run = finished_run(own_run(runs, path.qa_id))
        # a trace shows what others asked
        document = {**run.document, "trace_id": "", "span_id": ""}
        link = shared.share(document, present_caller().owner, body.hours * HOUR, maker())
        return LinkOut(
            url=f"{base().rstrip('/')}/api/shared/{link.token}",
            expires=datetime.fromtimestamp(link.expires, UTC).isoformat(timespec="seconds"),
        ).model_dump(mode="json")

    @blueprint.get(
        "/shared/<token>", summary="The answer behind a link", responses={200: AnswerDocument}
    )
    def get_shared(path: ByToken, query: SharedQuery) -> Response:
        document = shared.read(path.token)
        base_of = Base(base(), settings.chroma_collection_name)
        text, media_type = _as(query.format, document, base_of)
        return Response(
            text,
            content_type=media_type,
            headers={
                "Cache-Control": "no-store",
                "X-Robots-Tag": "noindex",
                "Content-Security-Policy": alone,
            },
        )

    @blueprint.delete("/shared/<token>", summary="Take a link back", responses={200: UnlinkedOut})
    def delete_shared(path: ByToken) -> dict[str, object]:
        rights = present_caller().rights
        shared.delete(path.token, maker(), is_administrator="administrator" in rights)
        return UnlinkedOut().model_dump()

    return blueprint


def _as(format: SharedFormat | None, document: dict[str, object], base: Base) -> tuple[str, str]:
    """The answer in a format, and its media type."""
    if format is None:
        return json.dumps(document), "application/json"
    if format == "html":
        return _page(export([document], "markdown", *base).text), "text/html; charset=utf-8"
    exported = export([document], format, *base)
    return exported.text, exported.media_type


def _page(markdown: str) -> str:
    body = MarkdownIt("commonmark", {"html": False}).disable("image").render(markdown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Atlas</title>'
        '<base target="_blank">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<style>body{max-width:44rem;margin:2rem auto;padding:0 1rem;"
        "font:1.05rem/1.55 Georgia,serif}</style></head><body>\n"
        f"{body}</body></html>\n"
    )
