"""Opening the second stages that targets name."""

from collections.abc import Iterable, Mapping

from pydantic import SecretStr

from atlas_search.core.targets import Target
from atlas_search.providers.embedding import Device
from atlas_search.search.rerankers.second_stage import SecondStage

Stages = Mapping[tuple[str, str], SecondStage]
"""By reranker and model, as targets name them."""

SECOND_STAGES = ("cross-encoder", "cohere")


def open_stages(
    targets: Iterable[Target], device: Device, cohere_key: SecretStr, cohere_url: str
) -> Stages:
    """One stage for each reranker and model. Raises MissingModel or ConfigurationError."""
    asked = {(t.reranker, t.rerank_model) for t in targets if t.reranker in SECOND_STAGES}
    return {
        (reranker, model): (
            _cross_encoder(model, device)
            if reranker == "cross-encoder"
            else _cohere(model, cohere_key, cohere_url)
        )
        for reranker, model in sorted(asked)
    }


def _cross_encoder(model: str, device: Device) -> SecondStage:
    from atlas_search.search.rerankers.cross_encoder import (
        DEFAULT_CROSS_ENCODER,
        CrossEncoderReranker,
    )

    stage = CrossEncoderReranker(model or DEFAULT_CROSS_ENCODER, device=device)
    stage.load()  # a model that is missing is said when the server starts
    return stage


def _cohere(model: str, key: SecretStr, url: str) -> SecondStage:
    from atlas_search.search.rerankers.cohere import DEFAULT_COHERE_MODEL, CohereReranker

    return CohereReranker(model or DEFAULT_COHERE_MODEL, key, url)
