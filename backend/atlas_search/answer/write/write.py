"""Writing an answer with what the target names."""

from atlas_search.answer.answer import Fallback, Restart
from atlas_search.answer.job import Job, Written
from atlas_search.answer.write.extract import extract
from atlas_search.answer.write.generate import generate
from atlas_search.core.errors import ModelRefused, ModelUnavailable


def write(job: Job) -> Written:
    """Write, verify, decide.

    Raises ModelRefused or ModelUnavailable if a model is to write that cannot be used, unless the
    target has a fallback.
    """
    target = job.request.target
    model = job.answerer.models.get(target.llm_provider)
    if model is None:
        return extract(job)
    try:
        return generate(job, model)
    except (ModelRefused, ModelUnavailable) as error:
        if target.llm_fallback != "extractive":
            raise
        job.emit(Restart("fallback"))
        return extract(job, fallback_for(error))


def fallback_for(error: ModelRefused | ModelUnavailable) -> Fallback:
    """Why the sources' own sentences stand in for a model that cannot be used."""
    if isinstance(error, ModelUnavailable):
        return Fallback("model_unavailable", str(error))
    return Fallback("model_unusable", str(error))
