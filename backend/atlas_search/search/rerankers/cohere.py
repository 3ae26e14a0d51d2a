"""Cohere's rerank API, version 2, or another server that speaks it.

https://docs.cohere.com/reference/rerank
"""

import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence

import httpx
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from tenacity import RetryCallState, Retrying, retry_if_exception

from atlas_search.core.errors import ConfigurationError, RerankerUnavailable
from atlas_search.providers.http import retry_after, usable_key
from atlas_search.search.rerankers.second_stage import Relevance
from atlas_search.stores.tokens import FloatArray

DEFAULT_COHERE_MODEL = "rerank-v3.5"
COHERE_SERVER = "https://api.cohere.com"

ATTEMPTS = 5
FIRST_BACKOFF = 0.25
"""Seconds before the second try; each wait after it is twice as long."""

_NO_KEY = (
    "RERANKER=cohere needs a key. Set COHERE_API_KEY in the environment or .env, or choose another "
    "RERANKER."
)


class CohereReranker:
    """Relevance as Cohere gives it, in [0, 1]; see SecondStage.

    A server that is busy or out of reach is asked again as long as the time suffices. An empty
    `server_url` is Cohere's own. Raises ConfigurationError for a key or an address that cannot be
    one.
    """

    def __init__(
        self,
        model: str,
        api_key: SecretStr,
        server_url: str = "",
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name = model
        self._key = usable_key(api_key, "COHERE_API_KEY", _NO_KEY)
        self._url = _url(server_url or COHERE_SERVER)
        self._sleep = sleep
        self._clock = clock
        self._client = httpx.Client(headers={"Authorization": f"Bearer {self._key}"})
        weakref.finalize(self, self._client.close)

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """See SecondStage. All texts are read, or none."""
        if not texts:
            return Relevance(np.zeros(0), "")
        documents = list(texts)
        body = {"model": self.name, "query": question, "documents": documents}
        answer = self._answer(body | {"top_n": len(documents)}, seconds)
        try:
            return Relevance(_scores(answer, len(documents)), "")
        except ValueError as error:
            raise RerankerUnavailable(
                f"{self._server} gives no usable answer ({_reason(error)}). Check RERANK_MODEL "
                "and COHERE_SERVER_URL."
            ) from error

    def _answer(self, body: Mapping[str, object], seconds: float) -> bytes:
        deadline = self._clock() + seconds
        retrying = Retrying(
            retry=retry_if_exception(_passes),
            wait=_wait,
            stop=lambda state: (
                state.attempt_number >= ATTEMPTS or self._clock() + state.upcoming_sleep >= deadline
            ),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            answer: bytes = retrying(self._ask, body, deadline)
            return answer
        except _Refusal as refusal:
            raise RerankerUnavailable(self._explained(refusal)) from refusal
        except httpx.HTTPError as error:
            raise RerankerUnavailable(
                f"{self._server} did not answer within {seconds:g} seconds "
                f"({type(error).__name__}: {error}). Check the network and COHERE_SERVER_URL, or "
                "raise RERANK_SECONDS."
            ) from error

    def _ask(self, body: Mapping[str, object], deadline: float) -> bytes:
        left = max(deadline - self._clock(), 0.001)
        with self._client.stream("POST", self._url, json=body, timeout=left) as response:
            content = b"".join(self._in_time(response, deadline))
        if not response.is_success:
            raise _Refusal(response, content)
        return content

    def _in_time(self, response: httpx.Response, deadline: float) -> Iterator[bytes]:
        """The parts of the answer. The client's timeout is for each, and they may be many."""
        for number, part in enumerate(response.iter_bytes()):
            if number and self._clock() > deadline:
                raise httpx.ReadTimeout("the answer came too slowly", request=response.request)
            yield part

    def _explained(self, refusal: "_Refusal") -> str:
        said = f"{refusal.status}: {refusal.body.replace(self._key, '[key]')[:300]}"
        if refusal.status in (401, 403):
            return (
                f"{self._server} refuses the key ({said}). Set COHERE_API_KEY in the environment "
                "or .env to a valid one."
            )
        if refusal.status == 429:
            return f"{self._server} takes no more requests for now ({said}). Try again later."
        if 400 <= refusal.status < 500:
            return (
                f"{self._server} refuses the request ({said}). Check RERANK_MODEL and "
                "COHERE_SERVER_URL."
            )
        return (
            f"{self._server} gives no usable answer ({said}). Try again later, or check "
            "COHERE_SERVER_URL."
        )

    @property
    def _server(self) -> str:
        return f"Cohere at {self._url.scheme}://{self._url.netloc.decode('ascii')}"


class _Refusal(Exception):
    """An answer with another status than success."""

    def __init__(self, response: httpx.Response, content: bytes):
        super().__init__(response.status_code)
        self.status = response.status_code
        self.headers = response.headers
        self.body = " ".join(content.decode(errors="replace").split())


class _Result(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    index: int
    relevance_score: float = Field(ge=0, le=1)


class _Answer(BaseModel):
    results: list[_Result]


def _scores(content: bytes, count: int) -> FloatArray:
    """The scores in the order of the texts. Raises ValueError if there is not one for each."""
    results = _Answer.model_validate_json(content).results
    indices = [result.index for result in results]
    if sorted(indices) != list(range(count)):
        raise ValueError(f"{count} passages, and results for {str(indices)[:100]}")
    scores = np.zeros(count)
    scores[indices] = [result.relevance_score for result in results]
    return scores


def _reason(error: ValueError) -> str:
    """What is wrong with an answer, without repeating it."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _url(server: str) -> httpx.URL:
    try:
        return httpx.URL(f"{server.rstrip('/')}/v2/rerank")
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"COHERE_SERVER_URL={server} is no address: {error}.") from error


def _passes(error: BaseException) -> bool:
    """Whether the fault is one that goes away by itself."""
    if isinstance(error, _Refusal):
        return error.status == 429 or error.status >= 500
    return isinstance(error, httpx.TransportError) and not isinstance(
        error, httpx.LocalProtocolError | httpx.UnsupportedProtocol
    )


def _wait(state: RetryCallState) -> float:
    error = state.outcome and state.outcome.exception()
    asked = retry_after(error.headers) if isinstance(error, _Refusal) else 0.0
    return asked or FIRST_BACKOFF * 2.0 ** (state.attempt_number - 1)
