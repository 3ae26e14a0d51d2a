"""Judging a run that is finished, from its folder and into it; nothing is asked again."""

from collections.abc import Sequence

from pydantic import TypeAdapter

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.ask_all import Told, no_one
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.judge.judge import judge_questions
from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.people import PersonVote, agreement_with_people
from atlas_search.evaluation.judge.report import JudgeReport, report_of
from atlas_search.evaluation.judge.verdict import Judgement
from atlas_search.evaluation.metrics.metric import Tools

_LINE = TypeAdapter(Judgement)


def judge_folder(
    folder: RunFolder,
    panel: Panel,
    tools: Tools,
    votes: Sequence[PersonVote] = (),
    *,
    parallel: int = 1,
    told: Told = no_one,
) -> JudgeReport:
    """Judge the replies of a run. Until all are, nothing in the folder changes.

    `votes` are what people said of its answers. Raises RequestError if nothing came back, and
    AtlasError if another process is at work on the folder.
    """
    with folder.held():
        run = folder.load()
        if not any(not one.reply.error for one in run.scored):
            raise RequestError(f"No reply of {folder.path} can be judged. Finish the run first.")
        found = judge_questions(panel, tools, run.spec.id, run.scored, parallel=parallel, told=told)
        scored = [one.scored for one in found]
        report = report_of(panel, found, agreement_with_people(scored, votes))
        lines = (_LINE.dump_json(each).decode() for one in found for each in one.judgements)
        folder.judged(scored, report, lines)
    return report
