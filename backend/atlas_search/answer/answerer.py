"""What every answer needs, opened once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template

from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.decide import DEFAULT_THRESHOLD
from atlas_search.answer.quotes.choose import QuoteChooser
from atlas_search.answer.quotes.likelihood import POSSIBLE
from atlas_search.core.stop import Turns
from atlas_search.core.targets import Target
from atlas_search.providers.chat import ChatModel
from atlas_search.providers.cross_encoder import EntailmentModel
from atlas_search.providers.reading import ReaderModel
from atlas_search.search.run import Searcher


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
    turns: Turns = field(default_factory=Turns)
    """Of answers that search or quote: many at once would leave those who only search no processor.
    """

    def threshold(self, target: Target) -> float:
        """The evidence an answer needs: the target's, the collection's, or the default."""
        if target.answer_threshold is not None:
            return target.answer_threshold
        calibration = self.searcher.store.manifest.calibration
        if calibration:
            return calibration.threshold
        # of quotes it is known how likely they are to answer
        return 0.0 if target.llm_provider == self.quotes.name else DEFAULT_THRESHOLD

    def likelihood(self, target: Target) -> float:
        """How likely quotes must be to answer: the target's, or the default."""
        return POSSIBLE if target.answer_likelihood is None else target.answer_likelihood

    def state(self, target: Target) -> str:
        """Changes with all that an answer depends on beside the request."""
        manifest, corpora = self.searcher.store.manifest, self.searcher.store.corpora
        version = f"{manifest.collection} {manifest.version}"
        # an answer says how many corpora there are, so those who see fewer get another
        seen = " ".join(corpus.id for corpus in corpora)
        return f"{version} {self.threshold(target)} {self.likelihood(target)} {seen}"

    def model_name(self, target: Target) -> str:
        """The model a target writes with."""
        if target.llm_provider == self.quotes.name:
            return self.quotes.model
        return target.llm_model or self.models[target.llm_provider].default_model
