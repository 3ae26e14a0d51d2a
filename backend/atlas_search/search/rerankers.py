"""Rerankers of the second stage: a model that reads the question with each of the best candidates.

It costs a thousand times more than the signals, so it reads few passages, each in part, and has
little time. Where it gives no answer the order of the first stage stands.

Cohere's API, version 2, or another server that speaks it: https://docs.cohere.com/reference/rerank.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, SupportsIndex, overload

import numpy as np
from pydantic import BaseModel, Field, SecretStr, ValidationError
from tenacity import Retrying, retry_if_exception

from atlas_search.core.addresses import bounded
from atlas_search.core.errors import ConfigurationError, MissingModel, RerankerUnavailable
from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.providers.cross_encoder import find_cross_encoder, load_cross_encoder
from atlas_search.providers.embedding import Device
from atlas_search.providers.http import (
    Fault,
    Garbled,
    Provider,
    explain,
    passes,
    post,
    readable_environment,
    usable_key,
    wait_as_asked,
)
from atlas_search.search.candidates import min_max
from atlas_search.search.ranking import SCORERS, Ranking
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray

if TYPE_CHECKING:
    from httpx2 import URL
    from sentence_transformers import CrossEncoder


_LEAST = 1e-12  # a service may give 0 or 1, which have no odds

TextsOf = Callable[[IntArray], Sequence[str]]
"""Gives the texts of passages."""


class Relevance(NamedTuple):
    """Scores in [0, 1] of the texts that were read, the first ones; higher answers better.

    `note` says why others were not read, and is empty if all were.
    """

    scores: FloatArray
    note: str


class SecondStage(Protocol):
    """A model that reads a question and a text together. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The model, as traces and responses show it."""

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """Score how well `texts`, best first, answer the question, within `seconds`.

        Raises RerankerUnavailable.
        """


class _Awaited(list[str]):
    """Texts that are read for somebody: after the stop, taking one or a batch raises Cancelled."""

    def __init__(self, texts: Iterable[str], stop: Stop):
        super().__init__(texts)
        self._stop = stop

    def __iter__(self) -> Iterator[str]:
        for text in super().__iter__():
            self._stop.check()
            yield text

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | list[str]:
        self._stop.check()
        return super().__getitem__(at)


def read_again(
    stage: SecondStage,
    question: str,
    ranking: Ranking,
    texts_of: TextsOf,
    target: Target,
    stop: Stop,
) -> Ranking:
    """The ranking with its best `rerank_depth` passages in an order that `stage` has a share in.

    If the stage is unavailable the order stays, and the note says why. Raises Cancelled.
    """
    best = texts_of(ranking.rows[: target.rerank_depth])
    texts = _Awaited((text[: target.rerank_characters] for text in best), stop)
    try:
        relevance = stage.relevance(question, texts, target.rerank_seconds)
        return reorder(ranking, relevance, target.rerank_share)
    except RerankerUnavailable as error:
        note = f"The passages are in the order of the first stage. {error}"
        return replace(ranking, note=note)


def reorder(ranking: Ranking, relevance: Relevance, share: float) -> Ranking:
    """Put the candidates with a relevance first, in a new order; the rest stays as it was.

    They are ordered by `share` of the log-odds of the relevance and `1 - share` of the former
    score, both min-max scaled among them, ties by the former place. ms-marco-MiniLM-L-12 alone lost
    on six of eight public test sets what its half gains on seven.
    """
    read = len(relevance.scores)
    certain = np.clip(relevance.scores, _LEAST, 1 - _LEAST)
    odds = min_max(np.log(certain) - np.log1p(-certain))
    mixed = share * odds + (1 - share) * min_max(ranking.scores[:read])
    best = np.lexsort((np.arange(read), -np.round(mixed, 9)))
    scores = zip(ranking.order[:read].tolist(), relevance.scores.tolist(), strict=True)
    moved = ranking.in_order(np.concatenate([best, np.arange(read, len(ranking.order))]))
    return replace(moved, relevance=dict(scores), note=relevance.note)


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
            self._client = bounded(Client(headers={"Authorization": f"Bearer {key}"}))
        weakref.finalize(self, self._client.close)

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """Score all texts in one request, or none."""
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
        seconds = max(deadline - self._clock(), 0.001)
        return post(self._client, self._url, body, seconds).content


class _Result(BaseModel, strict=True, allow_inf_nan=False):
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
    """Describe the first fault of an answer without repeating its content."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _url(server: str) -> "URL":
    from httpx2 import URL, InvalidURL

    try:
        return URL(f"{server.rstrip('/')}/v2/rerank")
    except InvalidURL as error:
        raise ConfigurationError(
            f"COHERE_SERVER_URL={server} is not an address: {error}."
        ) from error


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


DEFAULT_CROSS_ENCODER = "cross-encoder/ms-marco-MiniLM-L-6-v2"

BATCH = 4
"""Texts read between two looks at the clock. On a CPU larger batches read no faster: MiniLM-L6
needs 0.11 s of one core for a text of 1,000 characters, in batches of 2, 4 and 8."""

_LOGIT_PLACES = 4  # equal texts shall tie: the padding of a batch moves a logit by some 1e-6
_SETTING = "RERANK_MODEL"
_PROBE = ("Is this a question?", "This is a text. " * 150)  # more than the usual 512 tokens


class CrossEncoderReranker:
    """Relevance as the sigmoid of the model's logit for question and text; see SecondStage.

    The ms-marco models give logits of about -11 to 11. The sigmoid brings them into [0, 1] and
    keeps their order; it does not make them probabilities. What is longer than the model reads is
    cut, the longer of question and text first.

    Texts are read in batches, best first, until the time is used up; the batch under way is read
    to its end. Waiting for other threads counts as time. Whatever is read gets the same score
    however far the reading comes.

    The model is looked for at once, and loaded by `load` or at first use. Raises MissingModel.
    """

    def __init__(
        self,
        name: str = DEFAULT_CROSS_ENCODER,
        *,
        device: Device = "auto",
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name = name
        self._folder = find_cross_encoder(
            name,
            _SETTING,
            instead="choose a RERANKER that needs no model",
            example=DEFAULT_CROSS_ENCODER,
        )
        self._device = device
        self._clock = clock
        self._loading = threading.Lock()
        self._lock = threading.Lock()  # the tokenizer must not be used by two threads at once
        self._loaded: list[CrossEncoder] = []

    def load(self) -> None:
        """Load the model and let it read a text, so that a server can do so before it serves.

        Raises MissingModel if it cannot be loaded or gives no relevance.
        """
        self._model()

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """Score batch after batch until the time is up; loading the model does not count."""
        model = self._model()
        deadline = self._clock() + seconds
        scores = np.zeros(0)
        while len(scores) < len(texts) and (remaining := deadline - self._clock()) > 0:
            pairs = [(question, text) for text in texts[len(scores) : len(scores) + BATCH]]
            if not self._lock.acquire(timeout=remaining):
                break
            try:
                scores = np.concatenate([scores, _read(self.name, model, pairs)])
            finally:
                self._lock.release()
        return Relevance(scores, self._note(len(scores), len(texts), seconds))

    def _model(self) -> "CrossEncoder":
        with self._loading:
            if not self._loaded:
                model = load_cross_encoder(self.name, self._folder, self._device, _SETTING)
                _try_out(self.name, model)
                self._loaded.append(model)
            return self._loaded[0]

    def _note(self, read: int, count: int, seconds: float) -> str:
        if read == count:
            return ""
        return (
            f"{self.name} read {read} of {count} passages in {seconds:g} seconds; the others "
            "follow in their former order. Raise RERANK_SECONDS, or lower RERANK_DEPTH or "
            "RERANK_CHARACTERS."
        )


def _try_out(name: str, model: "CrossEncoder") -> None:
    if model.num_labels != 1:
        raise MissingModel(
            f"RERANK_MODEL={name} gives {model.num_labels} numbers for a question and a text, one "
            f"a label. Choose a model that gives one number, such as {DEFAULT_CROSS_ENCODER}."
        )
    try:
        _read(name, model, [_PROBE])
    except RerankerUnavailable as error:
        raise MissingModel(f"RERANK_MODEL cannot be used: {error}") from error


def _read(name: str, model: "CrossEncoder", pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """The relevance of each pair, read in one batch. Raises RerankerUnavailable."""
    try:
        output = model.predict(list(pairs), batch_size=len(pairs), show_progress_bar=False)
        logits = np.asarray(output, dtype=np.float64).reshape(len(pairs))
    except Exception as error:  # whatever torch and the tokenizer raise
        raise RerankerUnavailable(f"{name} cannot read the passages: {error}") from error
    if not np.isfinite(logits).all():
        raise RerankerUnavailable(
            f"{name} gives no number for some passages. Choose another RERANK_MODEL."
        )
    return sigmoid(np.round(logits, _LOGIT_PLACES))


def sigmoid(logits: FloatArray) -> FloatArray:
    """1 / (1 + e^-x), without overflow, in double precision: large logits stay apart."""
    spread: FloatArray = np.exp(-np.logaddexp(0.0, -logits))
    return spread


Stages = Mapping[tuple[str, str], SecondStage]
"""By reranker and model, as targets name them."""

RerankerFactory = Callable[[Settings, str], SecondStage]
"""Opens a model by its name (empty: its default), ready to use. Raises ConfigurationError."""

RERANKERS: Registry[RerankerFactory] = Registry(
    "atlas_search.rerankers",
    "reranker",
    {
        "cross-encoder": "atlas_search.search.rerankers:cross_encoder",
        "cohere": "atlas_search.search.rerankers:cohere",
    },
    reserved=tuple(SCORERS),
)
"""The second stages, by the name in RERANKER. The names of SCORERS have none."""


def known_rerankers() -> tuple[str, ...]:
    """Every name that RERANKER can have."""
    return (*SCORERS, *RERANKERS.names())


def open_stages(targets: Mapping[str, Target], settings: Settings) -> Stages:
    """One stage for each reranker and model. Raises MissingModel or ConfigurationError."""
    asked_by = {
        (target.reranker, target.rerank_model): name
        for name, target in targets.items()
        if target.reranker not in SCORERS
    }
    return {
        (reranker, model): RERANKERS.load(reranker, f"{name}.txt: RERANKER={reranker}")(
            settings, model
        )
        for (reranker, model), name in sorted(asked_by.items())
    }


def cross_encoder(settings: Settings, model: str) -> SecondStage:
    """Load a local cross-encoder; an empty `model` is DEFAULT_CROSS_ENCODER."""
    stage = CrossEncoderReranker(model or DEFAULT_CROSS_ENCODER, device=settings.embedding_device)
    stage.load()  # a model that is missing is said when the server starts
    return stage


def cohere(settings: Settings, model: str) -> SecondStage:
    """Build a client of Cohere's reranker; an empty `model` is DEFAULT_COHERE_MODEL."""
    return CohereReranker(
        model or DEFAULT_COHERE_MODEL, settings.cohere_api_key, settings.cohere_server_url
    )
