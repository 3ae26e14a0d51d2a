"""Writing an answer with what the target names."""

from atlas_search.answer.answer import Fallback, Restart
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.write.extract import extract
from atlas_search.answer.write.generate import generate
from atlas_search.answer.written import Written
from atlas_search.core.errors import ModelRefused, ModelUnavailable


def write(run: AnswerRun, evidence: Evidence) -> Written:
    """Write, verify, decide.

    Raises ModelRefused or ModelUnavailable if a model is to write that cannot be used, unless the
    target has a fallback.
    """
    if run.model is None:
        return extract(run, evidence)
    try:
        return generate(run, evidence, run.model)
    except (ModelRefused, ModelUnavailable) as error:
        if run.target.llm_fallback != "extractive":
            raise
        run.tell(Restart("fallback"))
        return extract(run, evidence, fallback_for(error))


def fallback_for(error: ModelRefused | ModelUnavailable) -> Fallback:
    """Why the sources' own sentences stand in for a model that cannot be used."""
    if isinstance(error, ModelUnavailable):
        return Fallback("model_unavailable", str(error))
    return Fallback("model_unusable", str(error))
