"""What every answer needs, opened once."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

from backend.answer.cache import AnswerCache
from backend.answer.decide import DEFAULT_THRESHOLD
from backend.llm import ChatModel
from backend.llm.extractive import ExtractiveWriter
from backend.search.searcher import Searcher
from backend.targets import Target


@dataclass(frozen=True)
class Answerer:
    """Safe to use from several threads. `rules` are the system prompts that targets name."""

    searcher: Searcher
    extractive: ExtractiveWriter
    models: Mapping[str, ChatModel]
    rules: Mapping[str, Template]
    cache: AnswerCache

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
        if target.llm_provider == self.extractive.name:
            return self.extractive.model
        return target.llm_model or self.models[target.llm_provider].default_model
