"""From settings to a judge."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum

from atlas_search.core.addresses import without_login
from atlas_search.core.errors import RequestError
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import open_tracer
from atlas_search.evaluation.judge.ask import JudgeModel
from atlas_search.evaluation.judge.kept import NAME, KeptReplies
from atlas_search.evaluation.judge.libraries.process import Libraries
from atlas_search.evaluation.judge.panel import PASSAGE_TOKENS, VOTES, Panel
from atlas_search.evaluation.judge.spending import Spending
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.open import CHAT_MODELS, EXTRACTIVE
from atlas_search.services import load_targets


class Measures(StrEnum):
    """Whose measures judge: those of Atlas, or of the libraries RAGAS and DeepEval."""

    OWN = "own"
    LIBRARIES = "libraries"


@dataclass(frozen=True)
class JudgeWanted:
    """Who judges, and how; see Panel and Spending.

    The model is that of a `target` (empty: the default one), unless `provider` or `model` name
    another. Time and prices of a call are the target's in any case. `votes` and `passage_tokens`
    (None: the usual ones) are for measures of Atlas.
    """

    target: str = ""
    provider: str = ""
    model: str = ""
    votes: int | None = None
    max_cost: float | None = None
    passage_tokens: int | None = None
    parallel: int = 4
    measures: Measures = Measures.OWN


@contextmanager
def open_panel(settings: Settings, wanted: JudgeWanted) -> Iterator[Panel]:
    """The judge, its calls ended at the end. Raises RequestError for one without a model.

    A missing key is told by the calls. Raises MissingLibrary and ConfigurationError for libraries
    that cannot be used.
    """
    name = wanted.target or settings.test_target
    target = _target(settings, name)
    provider = wanted.provider or target.llm_provider
    if provider == EXTRACTIVE:
        raise RequestError(
            f"The target {name} has no language model that could judge. Name one with "
            "--judge-target, or with --judge-provider and --judge-model."
        )
    if wanted.measures is Measures.LIBRARIES and (wanted.votes or wanted.passage_tokens):
        raise RequestError(
            "The libraries ask as they do: --judge-votes and --judge-tokens are for Atlas' own "
            "measures."
        )
    with ExitStack() as closing:
        calls = ModelCalls(settings.llm_concurrency, settings.llm_queue_seconds)
        closing.callback(calls.close)
        chat = CHAT_MODELS.load(provider, f"the judge: {provider}")(settings, calls)
        tracer = open_tracer(settings)
        closing.callback(tracer.close)
        own = target.llm_model if provider == target.llm_provider else ""
        model = JudgeModel(
            chat,
            wanted.model or own or chat.default_model,
            target.llm_seconds,
            tracer,
            KeptReplies(settings.atlas_evaluation_directory / NAME),
            Spending(target, wanted.max_cost),
            _server(settings, provider),
        )
        if wanted.measures is Measures.OWN:
            yield Panel(model, wanted.votes or VOTES, wanted.passage_tokens or PASSAGE_TOKENS)
        else:
            libraries = Libraries(settings.judges_python)
            closing.callback(libraries.close)
            yield Panel(model, votes=1, libraries=libraries)


def _server(settings: Settings, provider: str) -> str:
    """The address in the settings, for models of one name differ between servers."""
    own = {"openai": settings.openai_base_url, "mistral": settings.mistral_server_url}
    return without_login(own.get(provider, ""))


def _target(settings: Settings, name: str) -> Target:
    targets = load_targets(settings)
    if name not in targets:
        raise RequestError(f"There is no target {name}. Known targets: {', '.join(targets)}.")
    return targets[name]
