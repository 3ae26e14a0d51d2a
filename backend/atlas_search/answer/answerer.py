"""What every answer needs, opened once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template

from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.decide import DEFAULT_THRESHOLD
from atlas_search.answer.quotes.choose import QuoteChooser
from atlas_search.core.targets import Target
from atlas_search.providers.chat import ChatModel
from atlas_search.providers.entailment import EntailmentModel
from atlas_search.providers.reading import ReaderModel
from atlas_search.search.searcher import Searcher


@dataclass(frozen=True)
class Answerer:
    """Safe to use from several threads. `rules` are the system prompts that targets name,
    `readers` the reader models by READER_MODEL, `entailment` those that they verify with, by name.
    """

    searcher: Searcher
    quotes: QuoteChooser
    models: Mapping[str, ChatModel]
    rules: Mapping[str, Template]
    cache: AnswerCache
    readers: Mapping[str, ReaderModel]
    entailment: Mapping[str, EntailmentModel] = field(default_factory=dict)

    def threshold(self, target: Target) -> float:
        """The evidence an answer needs: the target's, the collection's, or the default."""
        if target.answer_threshold is not None:
            return target.answer_threshold
        calibration = self.searcher.store.manifest.calibration
        return calibration.threshold if calibration else DEFAULT_THRESHOLD

    def state(self, target: Target) -> str:
        """Changes with all that an answer depends on beside the request."""
        return f"{self.searcher.store.manifest.version} {self.threshold(target)}"

    def model_name(self, target: Target) -> str:
        """The model a target writes with."""
        if target.llm_provider == self.quotes.name:
            return self.quotes.model
        return target.llm_model or self.models[target.llm_provider].default_model
