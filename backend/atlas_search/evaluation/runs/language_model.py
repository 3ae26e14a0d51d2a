"""Whether a run is one of its target's language model, and of nobody else."""

from atlas_search.core.errors import ModelUnavailable, RequestError
from atlas_search.evaluation.runs.subject import Subject
from atlas_search.providers.open import EXTRACTIVE


def require_language_model(subject: Subject) -> None:
    """Raise RequestError for a target without one, ModelUnavailable if it cannot be used now."""
    facts = subject.facts
    provider = facts.options["llm_provider"]
    if provider == EXTRACTIVE:
        raise RequestError(
            f"The target {facts.target} answers in the sources' own sentences. Name one with a "
            "language model, or leave out --require-llm."
        )
    health = subject.language_model()
    if not health.ready:
        raise ModelUnavailable(
            f"The language model of {facts.target} cannot be used: {health.detail}"
        )
