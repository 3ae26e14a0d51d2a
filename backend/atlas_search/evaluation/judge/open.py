"""From settings to a judge."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from atlas_search.core.errors import RequestError
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.core.tracing.open import open_tracer
from atlas_search.core.web_address import without_login
from atlas_search.evaluation.judge.ask import JudgeModel
from atlas_search.evaluation.judge.kept import NAME, KeptReplies
from atlas_search.evaluation.judge.panel import PASSAGE_TOKENS, VOTES, Panel
from atlas_search.evaluation.judge.spending import Spending
from atlas_search.providers.chat.calls import ModelCalls
from atlas_search.providers.chat.open import CHAT_MODELS, EXTRACTIVE
from atlas_search.services import load_targets


@dataclass(frozen=True)
class JudgeWanted:
    """Who judges, and how; see Panel and Spending.

    The model is that of a `target` (empty: the default one), unless `provider` or `model` name
    another. Time and prices of a call are the target's in any case.
    """

    target: str = ""
    provider: str = ""
    model: str = ""
    votes: int = VOTES
    max_cost: float | None = None
    passage_tokens: int = PASSAGE_TOKENS
    parallel: int = 4


@contextmanager
def open_panel(settings: Settings, wanted: JudgeWanted) -> Iterator[Panel]:
    """The judge, its calls ended at the end. Raises RequestError for one without a model.

    A missing key is told by the calls.
    """
    name = wanted.target or settings.test_target
    target = _target(settings, name)
    provider = wanted.provider or target.llm_provider
    if provider == EXTRACTIVE:
        raise RequestError(
            f"The target {name} has no language model that could judge. Name one with "
            "--judge-target, or with --judge-provider and --judge-model."
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
        yield Panel(model, wanted.votes, wanted.passage_tokens)


def _server(settings: Settings, provider: str) -> str:
    """The address in the settings, for models of one name differ between servers."""
    own = {"openai": settings.openai_base_url, "mistral": settings.mistral_server_url}
    return without_login(own.get(provider, ""))


def _target(settings: Settings, name: str) -> Target:
    targets = load_targets(settings)
    if name not in targets:
        raise RequestError(f"There is no target {name}. Known targets: {', '.join(targets)}.")
    return targets[name]
