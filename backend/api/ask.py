"""`POST /api/ask` and `POST /api/ask/stream`: an answer at once, or as it comes about."""

import queue
import threading
from collections.abc import Callable, Iterator
from datetime import date

from flask import Response, json, request, stream_with_context
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel

from backend.answer.flow import Answer, AskRequest, References, Token, ask
from backend.api.problems import problem_of
from backend.api.wire.requests import AskBody, ask_request
from backend.api.wire.responses import answer_out, ranked_passage_out
from backend.api.wire.schemas import AnswerOut
from backend.errors import Cancelled
from backend.services import Serve, Services

HEARTBEAT_SECONDS = 10.0  # proxies close a connection that stays silent for 30 to 60 s
POLL_SECONDS = 0.5  # how soon a client that went away is noticed while nothing is sent

Event = tuple[str, dict[str, object]]


def ask_blueprint(serve: Serve) -> APIBlueprint:
    """The answers resource."""
    blueprint = APIBlueprint("ask", __name__, url_prefix="/api", abp_tags=[Tag(name="ask")])

    @blueprint.post("/ask", summary="Answer a question", responses={200: AnswerOut})
    def post_ask(body: AskBody) -> dict[str, object]:
        services = serve()
        asked = ask_request(body, services, date.today())
        provider = services.providers[asked.target.llm_provider]
        answer = ask(services.searcher, provider, asked, emit=lambda _: None)
        complete = answer_out(answer, services, include_context=body.include_context)
        return complete.model_dump(mode="json")

    @blueprint.post(
        "/ask/stream",
        summary="Answer a question as server-sent events",
        description='Events: `references` (the passages), `token` (`{"text": ...}`), then '
        "`complete` (the document of /api/ask) or `error` (a problem document).",
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    def post_ask_stream(body: AskBody) -> Response:
        services = serve()
        asked = ask_request(body, services, date.today())
        gone = request.environ.get("waitress.client_disconnected", lambda: False)
        run = _Run(services, asked, include_context=body.include_context, path=request.path)
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return Response(
            stream_with_context(_frames(run, gone)),
            content_type="text/event-stream; charset=utf-8",
            headers=headers,
        )

    return blueprint


class _Run:
    """One answer in the making, in a thread of its own, so heartbeats can go between its events."""

    def __init__(self, services: Services, asked: AskRequest, *, include_context: bool, path: str):
        self._services = services
        self._asked = asked
        self._include_context = include_context
        self._path = path
        self._cancelled = threading.Event()
        self.events: queue.Queue[Event] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name=f"ask-{asked.qa_id}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def cancel(self) -> None:
        """Stop the answer at its next step."""
        self._cancelled.set()

    def _work(self) -> None:
        services, asked = self._services, self._asked
        try:
            provider = services.providers[asked.target.llm_provider]
            answer: Answer = ask(services.searcher, provider, asked, self._emit)
            complete = answer_out(answer, services, include_context=self._include_context)
            self._put("complete", complete)
        except Cancelled:
            pass
        except Exception as error:
            self._put("error", problem_of(error, self._path))

    def _emit(self, event: References | Token) -> None:
        if self._cancelled.is_set():
            raise Cancelled("The client went away.")
        if isinstance(event, Token):
            self.events.put(("token", {"text": event.text}))
        else:
            passages = [ranked_passage_out(item).model_dump(mode="json") for item in event.passages]
            self.events.put(("references", {"qa_id": self._asked.qa_id, "passages": passages}))

    def _put(self, name: str, document: BaseModel) -> None:
        self.events.put((name, document.model_dump(mode="json")))


def _frames(run: _Run, gone: Callable[[], bool]) -> Iterator[str]:
    """Server-sent event frames until the answer is complete or the client has gone."""
    run.start()
    number = 0
    silent = 0.0
    try:
        while True:
            try:
                name, data = run.events.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if gone():
                    return
                silent += POLL_SECONDS
                if silent >= HEARTBEAT_SECONDS:
                    silent = 0.0
                    yield ": still here\n\n"
                continue
            silent = 0.0
            number += 1
            yield f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
            if name in {"complete", "error"}:
                return
    finally:
        run.cancel()
