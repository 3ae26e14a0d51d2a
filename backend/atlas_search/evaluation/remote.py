"""An evaluation of a server elsewhere, asked over HTTP."""

import json
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import SecretStr
from tenacity import Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from atlas_search.answer.wire import AnswerDocument
from atlas_search.atlas import Atlas
from atlas_search.core.addresses import address_fault, bounded, without_login
from atlas_search.core.errors import AtlasError, NotFound, RequestError, UnknownTarget
from atlas_search.core.ids import COLLECTION_HEADER
from atlas_search.core.settings import load_settings
from atlas_search.core.telemetry.tracer import Tracer, open_tracer
from atlas_search.evaluation.asking import Asker, failure
from atlas_search.evaluation.carry_out import SERVER, Facts, ProcessSubject, Subject, judging_tools
from atlas_search.evaluation.label_fit import LabelCollection, NamedDocument
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.run import PROCESS, RunSpec, versions
from atlas_search.providers.chat import Health
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Garbled,
    Lost,
    checked_key,
    http_faults,
    passes,
    readable_environment,
    retry_after,
    wait_as_asked,
)
from atlas_search.providers.open import open_embedder
from atlas_search.search.result import SearchOut

ATTEMPTS = 6
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 30.0  # seconds, where the server does not say
PATIENCE = 600.0
"""Seconds after which a request is not sent again, and those that an answer may take."""

CONNECT_SECONDS = 10.0
LONGEST_DOCUMENT = 500_000_000  # bytes: a document comes whole


@dataclass(frozen=True)
class ServerAnswer:
    """Answer of a server, `seconds` after the last of so many tries."""

    document: dict[str, Any]
    seconds: float
    tries: int


class RemoteServer:
    """A server at `address`, asked about its `collection`; empty: the one it serves first.

    Safe to use from several threads. One that never answered, or was waited for in vain, is not
    waited for: a run over a server that ended would else take half a minute for each question.
    Raises RequestError for an address that cannot be one.
    """

    def __init__(
        self,
        address: str,
        key: SecretStr,
        collection: str = "",
        *,
        sleep: Callable[[float], None] = time.sleep,
    ):
        from httpx2 import Client, Timeout  # 0.15 s: only who asks a server pays

        if fault := address_fault(address):
            raise RequestError(f"The address {without_login(address)} {fault}.")
        self.address = address.rstrip("/")
        self.collection = collection
        self._sleep = sleep
        self._there = False  # as far as is known
        secret = checked_key(key, "ATLAS_API_KEY")
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        with readable_environment():
            client = Client(headers=headers, timeout=Timeout(PATIENCE, connect=CONNECT_SECONDS))
            self._client = bounded(client, LONGEST_DOCUMENT)
        weakref.finalize(self, self._client.close)

    def get(self, *path: str, **parameters: int) -> dict[str, Any]:
        """Return what a route below `/api` gives; its parts are quoted. Raises as `post` does."""
        route = "/".join(quote(part, safe="") for part in path)
        asked = f"?{urlencode(parameters)}" if parameters else ""
        return self._send("GET", f"{route}{asked}", None).document

    def post(self, route: str, body: Mapping[str, object]) -> ServerAnswer:
        """Return what a route below `/api` answers, tried again while the server is busy.

        Raises NotFound, or another AtlasError with what the server says, or if there is none.
        """
        return self._send("POST", route, body)

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def _send(self, method: str, route: str, body: Mapping[str, object] | None) -> ServerAnswer:
        retrying = Retrying(
            retry=retry_if_exception(self._may_pass),
            wait=wait_as_asked(FIRST_BACKOFF, LONGEST_BACKOFF),
            stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(PATIENCE),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            document, seconds = retrying(self._try, method, route, body)
        except Fault as fault:
            self._there = not isinstance(fault, Lost)
            raise self._explain(fault) from fault
        return ServerAnswer(document, seconds, retrying.statistics["attempt_number"])

    def _try(
        self, method: str, route: str, body: Mapping[str, object] | None
    ) -> tuple[dict[str, Any], float]:
        chosen = {COLLECTION_HEADER: self.collection} if self.collection else {}
        started = time.perf_counter()
        with http_faults():
            response = self._client.request(
                method, f"{self.address}/api/{route}", json=body, headers=chosen
            )
        self._there = True
        if not response.is_success:
            raise ErrorStatus(response.status_code, response.text, retry_after(response.headers))
        try:
            document = response.json()
        except ValueError as error:
            raise Garbled(str(error)) from error
        if not isinstance(document, dict):
            raise Garbled("no JSON object")
        return document, time.perf_counter() - started

    def _may_pass(self, fault: BaseException) -> bool:
        return passes(fault) and (self._there or not isinstance(fault, Lost))

    def _explain(self, fault: Fault) -> AtlasError:
        match fault:
            case ErrorStatus(status=HTTPStatus.UNAUTHORIZED):
                return AtlasError(f"{_detail(fault)} The key is taken from ATLAS_API_KEY.")
            case ErrorStatus(status=HTTPStatus.NOT_FOUND):
                return NotFound(f"{self.address} answers: {_detail(fault)}")
            case ErrorStatus(status=status):
                return AtlasError(f"{self.address} answers {status}: {_detail(fault)}")
            case Garbled():
                return AtlasError(f"What answers at {self.address} is not Atlas. Check --url.")
        return AtlasError(
            f"No server answers at {self.address} ({fault}). Start it: `atlas serve`."
        )


def _detail(fault: ErrorStatus) -> str:
    """Return what a problem document says, or what else came."""
    try:
        return str(json.loads(fault.body)["detail"])
    except (ValueError, KeyError, TypeError):
        return fault.body[:300]


@dataclass(frozen=True)
class RemoteAsker:
    """Asker of a server. The run's id is the session of the answers, by which traces name it."""

    server: RemoteServer
    spec: RunSpec

    def ask(self, label: Label) -> Reply:  # noqa: D102
        started = time.perf_counter()
        try:
            return self._search(label) if self.spec.search_only else self._answer(label)
        except Exception as raised:
            seconds = time.perf_counter() - started
            return Reply(label_id=label.id, seconds=seconds, error=failure(raised, label))

    def _answer(self, label: Label) -> Reply:
        body = self._body(label) | {"include_context": True, "session_id": self.spec.id}
        sent = self.server.post("ask", body)
        answer = AnswerDocument.model_validate(sent.document)
        self._check(answer)
        return Reply(label_id=label.id, seconds=sent.seconds, tries=sent.tries, answer=answer)

    def _check(self, answer: AnswerDocument) -> None:
        """Raise AtlasError for an answer from other sources than the others of the run."""
        asked = (self.spec.collection, self.spec.collection_version)
        came = (answer.collection, answer.collection_version)
        if came != asked:
            raise AtlasError(
                f"{self.server.address} answered from {' '.join(came)}, and the run asks "
                f"{' '.join(asked)}. Begin a new run."
            )

    def _search(self, label: Label) -> Reply:
        sent = self.server.post("search", self._body(label))
        found = SearchOut.model_validate(sent.document)
        return Reply(label_id=label.id, seconds=sent.seconds, tries=sent.tries, found=found)

    def _body(self, label: Label) -> dict[str, object]:
        return {
            "question": label.question,
            "corpus_filter": list(label.corpus_filter) or "all",
            "filters": dict(label.filters),
            "target": self.spec.target,
            "k": self.spec.k,
            "as_of": self.spec.today.isoformat() if self.spec.today else None,
        }


AT_ONCE = 200
"""Documents of one page: no more are given."""


@dataclass(frozen=True)
class ServedDocuments:
    """Collection of a server."""

    server: RemoteServer

    @property
    def corpora(self) -> list[str]:  # noqa: D102
        return [corpus["id"] for corpus in self.server.get("corpora")["corpora"]]

    def documents(self) -> Iterator[NamedDocument]:  # noqa: D102
        offset: int | None = 0
        while offset is not None:
            page = self.server.get("documents", limit=AT_ONCE, offset=offset)
            for found in page["documents"]:
                record = str(found["metadata"].get("record_id", ""))
                yield NamedDocument(
                    found["document_id"], found["corpus"], found["title"], found["source"], record
                )
            offset = page["next_offset"]

    def holds_passage(self, passage_id: str) -> bool:  # noqa: D102
        try:
            self.server.get("passages", passage_id)
        except NotFound:
            return False
        return True

    def text_of(self, document_id: str) -> str:  # noqa: D102
        return str(self.server.get("documents", document_id)["text"])


@dataclass(frozen=True)
class ServerSubject:
    """Subject on a server. The `embedder` of this process compares answers with references."""

    server: RemoteServer
    facts: Facts
    tracer: Tracer
    embedder: Embedder

    def asker(self, spec: RunSpec) -> Asker:  # noqa: D102
        return RemoteAsker(self.server, spec)

    def tools(self, k: int | None) -> Tools:  # noqa: D102
        wanted = k or int(self.facts.options["search_k"])
        return judging_tools(self.embedder, self.facts.corpora, wanted)

    def language_model(self) -> Health:  # noqa: D102
        provider = self.facts.options["llm_provider"]
        said = self.server.get("health")["providers"].get(provider, "The server does not name it.")
        return Health(ready=said == "ready", detail=said)

    def now(self) -> Facts:  # noqa: D102
        return server_facts(self.server, self.facts.target)

    @property
    def documents(self) -> LabelCollection:  # noqa: D102
        return ServedDocuments(self.server)


def server_facts(server: RemoteServer, target: str | None) -> Facts:
    """Return what a server says of a target, None: of its own choice.

    From now on it is asked about the collection that it named, whichever it serves first by then.

    Raises AtlasError for a server that is not healthy, UnknownTarget.
    """
    health = server.get("health")
    if health.get("status") != "ok":
        raise AtlasError(
            f"{server.address} is not healthy: {health.get('problem') or 'it does not say why'}"
        )
    config = server.get("config")
    server.collection = server.collection or config["collection"]
    targets, corpora = server.get("targets"), server.get("corpora")
    named = target or targets["default"]
    known = {one["name"]: one for one in targets["targets"]}
    if named not in known:
        raise UnknownTarget(
            f"{server.address} has no target {named}. Known targets: {', '.join(known)}."
        )
    return Facts(
        where=server.address,
        target=named,
        composite_target=known[named]["composite_target"],
        options={key.lower(): value for key, value in known[named]["settings"].items()},
        collection=config["collection"],
        collection_version=config["collection_version"],
        corpora=tuple(corpora["all"]),
        settings=_settings(config) | known[named].get("in_force", {}),
        versions={**versions(), SERVER: config["version"]},
    )


def _settings(config: Mapping[str, str]) -> dict[str, str]:
    """Return what it says of the embedding model; a server of an earlier version says less."""
    names = ("embedding_provider", "embedding_model", "embedding_digest", "pooling")
    return {name: config[name] for name in names if name in config}


@contextmanager
def open_subject(where: str, collection: str, target: str | None) -> Iterator[Subject]:
    """A target of a collection; without their names, as who is asked chooses.

    `where` is PROCESS or the address of a server. Raises AtlasError if it cannot be asked.
    """
    with ExitStack() as closing:
        if where == PROCESS:
            atlas = closing.enter_context(Atlas.open(collection))
            name, _ = atlas.services.target(target)
            yield ProcessSubject(atlas, name)
            return
        settings = load_settings()
        server = RemoteServer(where, settings.atlas_api_key, collection)
        closing.callback(server.close)
        facts = server_facts(server, target)
        tracer = open_tracer(settings)
        closing.callback(tracer.close)
        yield ServerSubject(server, facts, tracer, open_embedder(settings))
