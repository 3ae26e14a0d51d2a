"""A question on its way to an answer: the one object that all stages share."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from string import Template

from atlas_search.answer.answer import Checked, Emit, Event, Token, Writer
from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.conflicts import Contradiction
from atlas_search.answer.decide import DEFAULT_THRESHOLD, RISKY_THRESHOLD
from atlas_search.answer.quotes.choose import MODEL, PROVIDER
from atlas_search.answer.quotes.scores import LIKELY, POSSIBLE, SentenceVectors
from atlas_search.answer.request import AnswerPlan
from atlas_search.answer.trace import STAGES
from atlas_search.core.domain import CheckedSentence, Citation, Passage
from atlas_search.core.stop import Stop, Turns
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.core.telemetry.tracer import Stage, Tracer
from atlas_search.language.text import content_terms
from atlas_search.providers.chat import ChatModel, Usage
from atlas_search.providers.cross_encoder import EntailmentModel
from atlas_search.providers.reading import ReaderModel
from atlas_search.search.result import SearchResult
from atlas_search.search.run import Clock, Searcher, SearchRun


@dataclass(frozen=True)
class Answerer:
    """Safe to use from several threads. `rules` are the system prompts that targets name,
    `readers` the reader models by READER_MODEL, `entailment` those that they verify with, by name.
    """

    searcher: Searcher
    vectors: SentenceVectors
    models: Mapping[str, ChatModel]
    rules: Mapping[str, Template]
    cache: AnswerCache
    readers: Mapping[str, ReaderModel]
    entailment: Mapping[str, EntailmentModel] = field(default_factory=dict)
    turns: Turns = field(default_factory=Turns)
    """Turns at searching and quoting: many answers at once would leave searches no processor."""

    def threshold(self, target: Target) -> float:
        """Return the evidence an answer needs: the target's, the collection's, or the default."""
        if target.answer_threshold is not None:
            return target.answer_threshold
        calibration = self.searcher.store.manifest.calibration
        if calibration:
            return calibration.threshold
        # of quotes it is known how likely they are to answer
        return 0.0 if target.llm_provider == PROVIDER else DEFAULT_THRESHOLD

    def likelihood(self, target: Target) -> float:
        """Return how likely quotes must be to answer: the target's, or the default."""
        return POSSIBLE if target.answer_likelihood is None else target.answer_likelihood

    def state(self, target: Target) -> str:
        """Return a text that changes with all that an answer depends on beside the request."""
        manifest, corpora = self.searcher.store.manifest, self.searcher.store.corpora
        version = f"{manifest.collection} {manifest.version}"
        # an answer says how many corpora there are, so those who see fewer get another
        visible = " ".join(corpus.id for corpus in corpora)
        return f"{version} {self.threshold(target)} {self.likelihood(target)} {visible}"

    def model_name(self, target: Target) -> str:
        """Return the model that a target writes with."""
        if target.llm_provider == PROVIDER:
            return MODEL
        return target.llm_model or self.models[target.llm_provider].default_model


@dataclass(frozen=True)
class AnswerRun:
    """The request, the answerer, the listener and the stop. Only the clock and `spent` change."""

    answerer: Answerer
    request: AnswerPlan
    emit: Emit
    stop: Stop
    clock: Clock = field(default_factory=Clock)
    spent: list[Usage] = field(default_factory=list)
    """Usage of every call to a language model, also of failed ones."""

    @property
    def target(self) -> Target:
        return self.request.target

    @property
    def question(self) -> str:
        """The question as it is searched for."""
        return self.request.search.question

    @property
    def tracer(self) -> Tracer:
        return self.answerer.searcher.tracer

    def stage(self, name: str, *given: object, of: str = "") -> AbstractContextManager[Stage]:
        """Run one of STAGES, for the corpus `of` where each has its own."""
        return self.tracer.stage(STAGES, self, name, *given, of=of)

    @property
    def metrics(self) -> Metrics:
        return self.answerer.searcher.metrics

    @property
    def is_risky(self) -> bool:
        """True if the question has one of the words that the target calls a risk."""
        return bool(content_terms(self.target.risk) & content_terms(self.question))

    @property
    def threshold(self) -> float:
        """The evidence an answer needs."""
        needed = self.answerer.threshold(self.target)
        return max(needed, RISKY_THRESHOLD) if self.is_risky and self.model else needed

    @property
    def likelihood(self) -> float:
        """The likelihood that quotes need to answer, in [0, 1]."""
        needed = self.answerer.likelihood(self.target)
        return max(needed, LIKELY) if self.is_risky else needed

    @property
    def model(self) -> ChatModel | None:
        """The target's language model; None if it answers in the sources' own sentences."""
        return self.answerer.models.get(self.target.llm_provider)

    @property
    def reader(self) -> ReaderModel | None:
        """The model that finds the words of a passage that answer; None if the target has none."""
        return self.answerer.readers.get(self.target.reader_model)

    @property
    def model_name(self) -> str:
        """The model the target writes with."""
        return self.answerer.model_name(self.target)

    @property
    def labels(self) -> dict[str, str]:
        """The label of each corpus by its id."""
        return {corpus.id: corpus.label for corpus in self.answerer.searcher.store.corpora}

    def tell(self, event: Event) -> None:
        """Pass an event on. Raises Cancelled if nobody wants the answer any more."""
        self.stop.check()
        self.emit(event)

    def tell_again(self, sentences: Iterable[CheckedSentence]) -> None:
        """Pass on sentences that are checked already, as if they were written now."""
        for number, sentence in enumerate(sentences, start=1):
            self.tell(Token(f"{sentence.line}\n"))
            self.tell(Checked(number, sentence))

    def search_run(self) -> SearchRun:
        """Make the search for the question."""
        return SearchRun(self.answerer.searcher, self.request.search, self.target, stop=self.stop)

    def turn(self) -> AbstractContextManager[None]:
        """Take a turn at searching or quoting. Raises Cancelled if nobody waits any more."""
        return self.answerer.turns.take(self.stop)

    def asking(self, question: str) -> "AnswerRun":
        """Return the same run with another question."""
        search = replace(self.request.search, question=question)
        return replace(self, request=replace(self.request, search=search))

    def writer(self, provider: str = "", model: str = "", attempts: int = 0) -> Writer:
        """Name the writer, with all that was spent so far; without arguments the intended one."""
        usage = sum(self.spent, Usage())
        cost = self.target.cost(usage.prompt_tokens, usage.completion_tokens)
        provider = provider or self.target.llm_provider
        return Writer(provider, model or self.model_name, attempts, usage, cost)


@dataclass(frozen=True)
class Evidence:
    """The sources of one text: a search result, its contradictions, and a place for each of several
    ways in which the sources read the question."""

    result: SearchResult
    conflicts: tuple[Contradiction, ...]
    readings: tuple[Citation, ...] = ()

    @property
    def passages(self) -> list[Passage]:
        """The passages that passed the check, best first."""
        return [item.passage for item in self.result.valid]
