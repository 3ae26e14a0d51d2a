"""Opening the second stages that targets name."""

from collections.abc import Callable, Mapping

from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.search.rerank import SCORERS
from atlas_search.search.rerankers.second_stage import SecondStage

Stages = Mapping[tuple[str, str], SecondStage]
"""By reranker and model, as targets name them."""

RerankerFactory = Callable[[Settings, str], SecondStage]
"""Opens a model by its name (empty: its default), ready to use. Raises ConfigurationError."""

RERANKERS: Registry[RerankerFactory] = Registry(
    "atlas_search.rerankers",
    "reranker",
    {
        "cross-encoder": "atlas_search.search.rerankers.open:cross_encoder",
        "cohere": "atlas_search.search.rerankers.open:cohere",
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
    """See RerankerFactory."""
    from atlas_search.search.rerankers.cross_encoder import (
        DEFAULT_CROSS_ENCODER,
        CrossEncoderReranker,
    )

    stage = CrossEncoderReranker(model or DEFAULT_CROSS_ENCODER, device=settings.embedding_device)
    stage.load()  # a model that is missing is said when the server starts
    return stage


def cohere(settings: Settings, model: str) -> SecondStage:
    """See RerankerFactory."""
    from atlas_search.search.rerankers.cohere import DEFAULT_COHERE_MODEL, CohereReranker

    return CohereReranker(
        model or DEFAULT_COHERE_MODEL, settings.cohere_api_key, settings.cohere_server_url
    )
