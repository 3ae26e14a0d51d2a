"""Cohere's rerank API, version 2, or another server that speaks it.

https://docs.cohere.com/reference/rerank
"""

import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from tenacity import Retrying, retry_if_exception

from atlas_search.core.errors import ConfigurationError, RerankerUnavailable
from atlas_search.providers.http import (
    Answered,
    Fault,
    Garbled,
    Lost,
    Provider,
    explain,
    http_faults,
    passes,
    readable_environment,
    retry_after,
    usable_key,
    wait_as_asked,
)
from atlas_search.search.rerankers.second_stage import Relevance
from atlas_search.stores.terms import FloatArray

if TYPE_CHECKING:
    from httpx2 import URL, Response

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
        from httpx2 import Client  # 0.15 s: only who uses it pays

        self.name = model
        key = usable_key(api_key, "COHERE_API_KEY", _NO_KEY)
        self._url = _url(server_url or COHERE_SERVER)
        self._provider = _provider(self._url, key)
        self._sleep = sleep
        self._clock = clock
        with readable_environment():
            self._client = Client(headers={"Authorization": f"Bearer {key}"})
        weakref.finalize(self, self._client.close)

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """See SecondStage. All texts are read, or none."""
        if not texts:
            return Relevance(np.zeros(0), "")
        documents = list(texts)
        body = {"model": self.name, "query": question, "documents": documents}
        try:
            answer = self._answer(body | {"top_n": len(documents)}, seconds)
            return Relevance(_scores(answer, len(documents)), "")
        except Fault as fault:
            raise explain(fault, self._provider, self.name) from fault

    def _answer(self, body: Mapping[str, object], seconds: float) -> bytes:
        deadline = self._clock() + seconds
        retrying = Retrying(
            retry=retry_if_exception(passes),
            wait=wait_as_asked(FIRST_BACKOFF, seconds),
            stop=lambda state: (
                state.attempt_number >= ATTEMPTS or self._clock() + state.upcoming_sleep >= deadline
            ),
            sleep=self._sleep,
            reraise=True,
        )
        answer: bytes = retrying(self._ask, body, deadline)
        return answer

    def _ask(self, body: Mapping[str, object], deadline: float) -> bytes:
        left = max(deadline - self._clock(), 0.001)
        with (
            http_faults(),
            self._client.stream("POST", self._url, json=body, timeout=left) as response,
        ):
            content = b"".join(self._in_time(response, deadline))
        if not response.is_success:
            said = content.decode(errors="replace")
            raise Answered(response.status_code, said, retry_after(response.headers))
        return content

    def _in_time(self, response: "Response", deadline: float) -> Iterator[bytes]:
        """The parts of the answer. The client's timeout is for each, and they may be many."""
        for number, part in enumerate(response.iter_bytes()):
            if number and self._clock() > deadline:
                raise Lost("the answer came too slowly")
            yield part


class _Result(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    index: int
    relevance_score: float = Field(ge=0, le=1)


class _Answer(BaseModel):
    results: list[_Result]


def _scores(content: bytes, count: int) -> FloatArray:
    """The scores in the order of the texts. Raises Garbled if there is not one for each."""
    try:
        results = _Answer.model_validate_json(content).results
    except ValidationError as error:
        raise Garbled(_reason(error)) from error
    indices = [result.index for result in results]
    if sorted(indices) != list(range(count)):
        raise Garbled(f"{count} passages, and results for {str(indices)[:100]}")
    scores = np.zeros(count)
    scores[indices] = [result.relevance_score for result in results]
    return scores


def _reason(error: ValidationError) -> str:
    """What is wrong with an answer, without repeating it."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _url(server: str) -> "URL":
    from httpx2 import URL, InvalidURL

    try:
        return URL(f"{server.rstrip('/')}/v2/rerank")
    except InvalidURL as error:
        raise ConfigurationError(f"COHERE_SERVER_URL={server} is no address: {error}.") from error


def _provider(url: "URL", key: str) -> Provider:
    return Provider(
        f"Cohere at {url.scheme}://{url.netloc.decode('ascii')}",
        key,
        key_setting="COHERE_API_KEY",
        address_setting="COHERE_SERVER_URL",
        model_setting="RERANK_MODEL",
        refused_key=RerankerUnavailable,
        refused=RerankerUnavailable,
        unavailable=RerankerUnavailable,
        seconds_setting="RERANK_SECONDS",
        address=str(url),
    )
