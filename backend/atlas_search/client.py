"""Clients of a server: the methods of `Atlas` and what they return, over HTTP.

A result is the document that the API sends, and has the attributes of the result in Python that
this module's tests name. What the server refuses raises the error that `Atlas` would raise.
"""

import json
import weakref
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from functools import cached_property, wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar, overload
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter

from atlas_search.answer.answer import Checked, Event, References, Restart, Section, Token
from atlas_search.answer.request import AskRequest
from atlas_search.answer.wire import AnswerDocument
from atlas_search.core import errors
from atlas_search.core.addresses import bounded
from atlas_search.core.domain import CheckedSentence, Corpus
from atlas_search.core.ids import COLLECTION_HEADER
from atlas_search.core.wire import DocumentOut, PassageOut, RankedPassageOut
from atlas_search.search.counts import ScopeCounts
from atlas_search.search.request import FacetsRequest, SearchRequest, request_of
from atlas_search.search.result import SearchOut
from atlas_search.search.suggestions import Suggestion
from atlas_search.words.request import (
    CollocatesRequest,
    ConcordanceRequest,
    CountsRequest,
    FrequenciesRequest,
    KeywordsRequest,
    TrendsRequest,
)
from atlas_search.words.results import Collocates, Concordance, Frequencies, Keywords, WordCounts

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Client, Response

URL = "http://127.0.0.1:8000"
SECONDS = 120.0
"""For a whole reply: a language model may take its time."""
STREAM_SECONDS = 3600.0
PAGE = 200  # documents that are listed at once
MOST_BYTES = 2**30
"""Of a reply: a text of 99 MB is a document too."""

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C")


@dataclass(frozen=True)
class ApiCall(Generic[T]):
    """A request to the API, and how its reply is read."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Mapping[str, Any] | None = None
    params: Mapping[str, Any] | None = None


class _Method(Generic[P, T]):
    """A method of both clients: one returns the result, the other has to be awaited."""

    def __init__(self, call: Callable[P, ApiCall[T]]):
        self._call = call

    @overload
    def __get__(self, client: "AtlasClient", kind: type) -> Callable[P, T]: ...

    @overload
    def __get__(
        self, client: "AsyncAtlasClient", kind: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(self, client: Any, kind: type) -> Callable[P, Any]:
        call = self._call

        @wraps(call)
        def method(*args: P.args, **options: P.kwargs) -> Any:
            return client.send(call(*args, **options))

        return method


_CORPORA = TypeAdapter(tuple[Corpus, ...])
_SUGGESTIONS = TypeAdapter(list[Suggestion])
_SCOPE_COUNTS = TypeAdapter(ScopeCounts)


def body_of(request: BaseModel) -> dict[str, Any]:
    """Return what a request says, as the API takes it."""
    return request.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _post(path: str, read: Callable[[Any], T], request: BaseModel, **more: Any) -> ApiCall[T]:
    return ApiCall("POST", f"/api/{path}", read, body_of(request) | more)


def _corpora() -> ApiCall[tuple[Corpus, ...]]:
    """The corpora of the collection."""
    return ApiCall("GET", "/api/corpora", lambda reply: _CORPORA.validate_python(reply["corpora"]))


def _search(question: str | SearchRequest, **options: Any) -> ApiCall[SearchOut]:
    """The passages that speak to a question, best first, with every signal."""
    request = request_of(SearchRequest, question, options)
    return _post("search", SearchOut.model_validate, request)


def _ask(question: str | AskRequest, **options: Any) -> ApiCall[AnswerDocument]:
    """The answer to a question, each sentence with verified citations, or why there is none.

    Without `include_context` it comes without its passages.
    """
    with_passages = options.pop("include_context", True)
    request = request_of(AskRequest, question, options)
    return _post("ask", AnswerDocument.model_validate, request, include_context=with_passages)


def _compare(question: str | AskRequest, **options: Any) -> ApiCall[AnswerDocument]:
    """The answer of every corpus for itself, and what they agree and differ about."""
    return _ask(question, **options, mode="compare")


def _facets(
    fields: bool | Sequence[str] | FacetsRequest = True, **options: Any
) -> ApiCall[ScopeCounts]:
    """Count the documents of a scope, by year and by the values of some fields, or of all."""
    ready = fields if isinstance(fields, FacetsRequest) else None
    request = request_of(FacetsRequest, ready, options if ready else {"fields": fields, **options})
    return _post("facets", _SCOPE_COUNTS.validate_python, request)


def _concordance(query: str | ConcordanceRequest, **options: Any) -> ApiCall[Concordance]:
    """Every hit of a query counted, and some of them in their context."""
    request = request_of(ConcordanceRequest, query, options)
    return _post("concordance", Concordance.model_validate, request)


def _trends(query: str | TrendsRequest, **options: Any) -> ApiCall[WordCounts]:
    """Count the hits of a query by year, decade, corpus or a metadata field."""
    request = request_of(TrendsRequest, query, options)
    return _post("trends", WordCounts.model_validate, request)


def _counts(query: str | CountsRequest, **options: Any) -> ApiCall[WordCounts]:
    """Count the documents and passages with a hit, at once or by what `trends` takes."""
    request = request_of(CountsRequest, query, options)
    return _post("counts", WordCounts.model_validate, request)


def _collocates(query: str | CollocatesRequest, **options: Any) -> ApiCall[Collocates]:
    """The words that stand near the hits of a query more often than elsewhere."""
    request = request_of(CollocatesRequest, query, options)
    return _post("collocates", Collocates.model_validate, request)


def _keywords(scope: KeywordsRequest | None = None, **options: Any) -> ApiCall[Keywords]:
    """The words that are more frequent in a scope than in the reference."""
    request = request_of(KeywordsRequest, scope, options)
    return _post("keywords", Keywords.model_validate, request)


def _frequencies(scope: FrequenciesRequest | None = None, **options: Any) -> ApiCall[Frequencies]:
    """The words of a scope, the most frequent first."""
    request = request_of(FrequenciesRequest, scope, options)
    return _post("frequencies", Frequencies.model_validate, request)


def _suggestions(
    corpora: str | Sequence[str] = "all", *, limit: int = 4
) -> ApiCall[list[Suggestion]]:
    """Questions made from titles and headings of the corpora, which their sources answer."""
    return ApiCall(
        "GET",
        "/api/suggestions",
        lambda reply: _SUGGESTIONS.validate_python(reply["suggestions"]),
        params={"corpus": _chosen(corpora), "limit": limit},
    )


def _chosen(corpora: str | Sequence[str]) -> list[str]:
    """Corpora as a query of the API has them: none for all."""
    own = [corpora] if isinstance(corpora, str) else list(corpora)
    return [] if own == ["all"] else own


def _listed(corpora: str | Sequence[str], offset: int) -> ApiCall[tuple[list[str], int | None]]:
    """A page of the ids of documents, and where the next one begins; None after the last."""
    return ApiCall(
        "GET",
        "/api/documents",
        lambda page: ([each["document_id"] for each in page["documents"]], page["next_offset"]),
        params={"corpus": _chosen(corpora), "limit": PAGE, "offset": offset},
    )


def _document(document_id: str) -> ApiCall[DocumentOut]:
    """A document with its whole text, and its passages. Raises NotFound."""
    return ApiCall(
        "GET", f"/api/documents/{quote(document_id, safe='')}", DocumentOut.model_validate
    )


def _passages(document_id: str) -> ApiCall[list[PassageOut]]:
    """The passages of a document, in order. Raises NotFound."""
    call = _document(document_id)
    return ApiCall(call.method, call.path, lambda reply: call.read(reply).passages)


def _passage(passage_id: str) -> ApiCall[PassageOut]:
    """One passage. Raises NotFound."""
    return ApiCall("GET", f"/api/passages/{quote(passage_id, safe='')}", PassageOut.model_validate)


class _Methods(Generic[C]):
    """The methods of both clients that are one request each, and the server that they ask."""

    def __init__(
        self, url: str = URL, key: str = "", collection: str = "", *, client: C | None = None
    ):
        self._at = _Connection(url, key, collection)
        self._given = client

    search = _Method(_search)
    ask = _Method(_ask)
    compare = _Method(_compare)
    facets = _Method(_facets)
    concordance = _Method(_concordance)
    trends = _Method(_trends)
    counts = _Method(_counts)
    collocates = _Method(_collocates)
    keywords = _Method(_keywords)
    frequencies = _Method(_frequencies)
    suggestions = _Method(_suggestions)
    document = _Method(_document)
    passages = _Method(_passages)
    passage = _Method(_passage)


class _Connection:
    """The address of a server, the headers of each request, and what a reply says."""

    def __init__(self, url: str, key: str, collection: str):
        self.url = url.rstrip("/")
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        if collection:
            self.headers[COLLECTION_HEADER] = collection

    def request(self, call: ApiCall[T]) -> dict[str, Any]:
        """Return a request as httpx takes it."""
        return {
            "method": call.method,
            "url": self.url + call.path,
            "json": call.body,
            "params": call.params,
            "headers": self.headers,
        }

    def stream(self, call: ApiCall[T]) -> dict[str, Any]:
        """Return the request for the events of an answer."""
        asked = self.request(call)
        return asked | {"url": f"{asked['url']}/stream", "timeout": STREAM_SECONDS}

    def unreachable(self, error: Exception) -> errors.Unavailable:
        """Return the error of a server that did not reply."""
        return errors.Unavailable(
            f"No server answers at {self.url} ({error}). Start it: `atlas serve`."
        )

    def document(self, response: "Response") -> Any:
        """Return what a reply says. Raises AtlasError for a server that is not Atlas."""
        try:
            return response.json()
        except ValueError as error:
            raise errors.AtlasError(
                f"What answers at {self.url} is not Atlas. Check its address."
            ) from error

    def check(self, response: "Response") -> None:
        """Raise the error of a refusal."""
        if response.is_error:
            raise problem_error(self.document(response))


def problem_error(problem: Any) -> errors.AtlasError:
    """Return the error that a problem document of the API tells of."""
    if not isinstance(problem, dict) or "detail" not in problem:
        return errors.AtlasError("What answers is not Atlas. Check its address.")
    name = str(problem.get("type", "")).rpartition(":")[2].title().replace("-", "")
    kind = getattr(errors, name, errors.AtlasError)
    if issubclass(kind, errors.Unavailable):
        return kind(problem["detail"], problem.get("retry_after") or 0.0)
    if issubclass(kind, errors.InvalidQuery):
        return kind(problem["detail"], problem.get("character") or 0)
    of_caller = problem.get("status", 500) < 500
    if kind is errors.AtlasError and of_caller:
        kind = errors.RequestError
    return kind(problem["detail"])


class _Frames:
    """Server-sent events of an answer, read line by line."""

    def __init__(self) -> None:
        self._name = ""
        self._passages: dict[str, RankedPassageOut] = {}

    def check_end(self) -> None:
        """Raise Unavailable unless the last event that came was an answer."""
        if self._name != "complete":
            raise errors.Unavailable("The answer broke off before it was whole. Ask again.")

    def take(self, line: str) -> Iterator[Event | AnswerDocument]:
        """Yield the event that a line completes. Raises the error that ends an answer."""
        field, _, value = line.partition(": ")
        if field == "event":
            self._name = value
        elif field == "data":
            yield self._event(json.loads(value))

    def _event(self, data: Any) -> Event | AnswerDocument:
        match self._name:
            case "token":
                return Token(data["text"])
            case "restart":
                return Restart(data["reason"])
            case "section":
                return Section(data["corpus"])
            case "references":
                passages = [RankedPassageOut.model_validate(each) for each in data["passages"]]
                self._passages = {passage.marker: passage for passage in passages}
                return References(tuple(passages))  # type: ignore[arg-type]  # its attributes
            case "sentence":
                return self._checked(data)
            case "complete":
                return AnswerDocument.model_validate(data)
        raise problem_error(data)

    def _checked(self, data: Mapping[str, Any]) -> Checked:
        cited: Any = tuple(self._passages[marker] for marker in data["markers"])
        about = data["text"], cited, data["grounded"], data["caveat"]
        checked = CheckedSentence(*about, tuple(data["errors"]), tuple(data["warnings"]))
        return Checked(data["number"], checked)


class AtlasClient(_Methods["Client"]):
    """A collection on a server: search it, ask it, count its words, read its documents.

    The methods are those of `Atlas`; their options, results and errors are the same, and
    Unavailable if no server replies. Safe to use from several threads. `key` is sent if the server
    asks for one, `collection` chooses one of several that it serves. A context manager: leaving
    the block closes its connections. A `client` of httpx at hand is used as it is.
    """

    @cached_property
    def _client(self) -> "Client":
        from httpx2 import Client  # 0.15 s: only who asks a server pays

        if self._given:
            return self._given
        client = bounded(Client(timeout=SECONDS), MOST_BYTES)
        weakref.finalize(self, client.close)
        return client

    @property
    def base(self) -> str:
        """The beginning of permalinks into the collection, for `permalink`."""
        chosen = self._at.headers.get(COLLECTION_HEADER)
        return f"{self._at.url}/?collection={quote(chosen, safe='')}" if chosen else self._at.url

    def send(self, call: ApiCall[T]) -> T:
        """Send a request, and read the reply."""
        return call.read(self._at.document(self.reply(call)))

    def reply(self, call: ApiCall[T]) -> "Response":
        """Send a request, and return the reply as it is. Raises the error of a refusal."""
        from httpx2 import HTTPError

        try:
            response = self._client.request(**self._at.request(call))
        except HTTPError as error:
            raise self._at.unreachable(error) from error
        self._at.check(response)
        return response

    @property
    def corpora(self) -> tuple[Corpus, ...]:
        """The corpora of the collection."""
        return self.send(_corpora())

    def documents(self, corpora: str | Sequence[str] = "all") -> Iterator[DocumentOut]:
        """Every document of some corpora with its whole text, in the order of their ids."""
        offset: int | None = 0
        while offset is not None:
            ids, offset = self.send(_listed(corpora, offset))
            yield from map(self.document, ids)

    def stream(
        self, question: str | AskRequest, **options: Any
    ) -> Generator[Event | AnswerDocument]:
        """The events of an answer as it comes about, and last of all the answer.

        Closing the iterator stops the answer, and the language model with it.
        """
        from httpx2 import HTTPError

        frames, asked = _Frames(), self._at.stream(_ask(question, **options))
        try:
            with self._client.stream(**asked) as response:
                if response.is_error:
                    response.read()
                self._at.check(response)
                for line in response.iter_lines():
                    yield from frames.take(line)
                frames.check_end()
        except HTTPError as error:
            raise self._at.unreachable(error) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:  # noqa: D105
        return self

    def __exit__(  # noqa: D105
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncAtlasClient(_Methods["AsyncClient"]):
    """`AtlasClient` for asyncio: its methods have to be awaited; `stream` is an async iterator."""

    @cached_property
    def _client(self) -> "AsyncClient":
        from httpx2 import AsyncClient

        return self._given or bounded(AsyncClient(timeout=SECONDS), MOST_BYTES)

    async def send(self, call: ApiCall[T]) -> T:
        """Send a request, and read the reply."""
        from httpx2 import HTTPError

        try:
            response = await self._client.request(**self._at.request(call))
        except HTTPError as error:
            raise self._at.unreachable(error) from error
        self._at.check(response)
        return call.read(self._at.document(response))

    corpora = _Method(_corpora)

    async def documents(self, corpora: str | Sequence[str] = "all") -> AsyncIterator[DocumentOut]:
        """Every document of some corpora with its whole text, in the order of their ids."""
        offset: int | None = 0
        while offset is not None:
            ids, offset = await self.send(_listed(corpora, offset))
            for id_ in ids:
                yield await self.document(id_)

    async def stream(
        self, question: str | AskRequest, **options: Any
    ) -> AsyncIterator[Event | AnswerDocument]:
        """The events of an answer as it comes about, and last of all the answer."""
        from httpx2 import HTTPError

        frames, asked = _Frames(), self._at.stream(_ask(question, **options))
        try:
            async with self._client.stream(**asked) as response:
                if response.is_error:
                    await response.aread()
                self._at.check(response)
                async for line in response.aiter_lines():
                    for event in frames.take(line):
                        yield event
                frames.check_end()
        except HTTPError as error:
            raise self._at.unreachable(error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
