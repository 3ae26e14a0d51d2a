"""The judge that a target names."""

from atlas_search.answer.run import AnswerRun
from atlas_search.answer.support import Judge
from atlas_search.answer.support.by_model import ModelJudge
from atlas_search.answer.support.by_nli import EntailmentJudge
from atlas_search.providers.chat import ChatModel


def judge_of(run: AnswerRun, model: ChatModel) -> Judge | None:
    """Who judges what `model` wrote; None if the citation check is all."""
    target = run.target
    if target.verify == "model":
        return ModelJudge(run, model)
    if target.verify == "nli":
        return EntailmentJudge(run.stop, run.answerer.entailment[target.verify_model])
    return None
