"""Judging the replies of a run: what the judge says of each replaces the estimate."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from atlas_search.core.errors import EmbeddingUnavailable
from atlas_search.evaluation.ask_all import Told, in_threads, no_one
from atlas_search.evaluation.judge.libraries import measures as of_libraries
from atlas_search.evaluation.judge.measures import (
    answer_correctness,
    answer_relevancy,
    context_precision,
    context_recall,
    faithfulness,
)
from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.verdict import Judged, Judgement, NotJudged, Refused
from atlas_search.evaluation.metrics import overlap
from atlas_search.evaluation.metrics.catalogue import AGREEMENT
from atlas_search.evaluation.metrics.metric import Case, Tools
from atlas_search.evaluation.patient_embedder import PatientEmbedder
from atlas_search.evaluation.scored import Scored, Source
from atlas_search.evaluation.trace import judged_question

_log = logging.getLogger(__name__)


class Measure(Protocol):
    """A figure of a question by the judge. Raises NotJudged, EmbeddingUnavailable and Cancelled."""

    def __call__(self, panel: Panel, case: Case) -> Judged:
        """The figure."""


MEASURES: Mapping[str, Measure] = {
    "context_precision": context_precision.judge,
    "context_recall": context_recall.judge,
    "faithfulness": faithfulness.judge,
    "answer_relevancy": answer_relevancy.judge,
    "answer_correctness": answer_correctness.judge,
}
"""By the name of the estimate that each replaces."""


@dataclass(frozen=True)
class JudgedQuestion:
    """A question with the judge's figures, and how it came to each."""

    scored: Scored
    judgements: tuple[Judgement, ...]


def judge_questions(
    panel: Panel,
    tools: Tools,
    run: str,
    scored: Sequence[Scored],
    *,
    parallel: int = 1,
    told: Told = no_one,
) -> list[JudgedQuestion]:
    """Judge the questions of the run with this id, `parallel` at once, in their order.

    Each is a trace of its own, which names the run. An interrupt stops the calls that run.
    """

    able = replace(tools, embedder=PatientEmbedder(tools.embedder))

    def judge(place: int) -> None:
        with judged_question(panel.model.tracer, run, scored[place].label) as span:
            found[place] = judge_question(panel, able, scored[place])
            span.set({f"eval.{one.metric}": one.value for one in found[place].judgements})

    found: dict[int, JudgedQuestion] = {}
    hurry = partial(panel.model.stop.set, "The judging was stopped.")
    with closing(in_threads(judge, range(len(scored)), parallel, hurry)) as each:
        for done, _ in enumerate(each, start=1):
            told(done, len(scored))
    return [found[place] for place in range(len(scored))]


def judge_question(panel: Panel, tools: Tools, scored: Scored) -> JudgedQuestion:
    """Each figure that has an estimate, by the judge or, where it gives none, as it is estimated.

    It does not matter whether the question was judged before. Raises Cancelled.
    """
    if scored.reply.error:
        return JudgedQuestion(scored, ())
    case = Case(scored.label, scored.reply, tools)
    refusals: list[Refused] = []
    judgements = tuple(
        _judge(panel, case, name, estimate, refusals)
        for name, estimate in overlap.measure(case).items()
    )
    if refusals:  # as a text that is too long is, in several calls: once
        panel.model.outage.failed(refusals[-1])
    figures = {name: value for name, value in scored.figures.items() if name != AGREEMENT.name}
    figures |= {one.metric: one.value for one in judgements}
    agreements = [decision.agreement for one in judgements for decision in one.decisions]
    if agreements:
        figures[AGREEMENT.name] = sum(agreements) / len(agreements)
    sources = {**scored.sources, **{one.metric: one.source for one in judgements}}
    return JudgedQuestion(replace(scored, figures=figures, sources=sources), judgements)


def _judge(
    panel: Panel, case: Case, name: str, estimate: float, refusals: list[Refused]
) -> Judgement:
    id_ = case.label.id
    try:
        if panel.libraries:
            judged = of_libraries.judge(panel.libraries, panel.model, name, case)
        else:
            judged = MEASURES[name](panel, case)
    except (NotJudged, EmbeddingUnavailable) as why:
        _log.debug("%s of %s is an estimate: %s", name, id_, why)
        if isinstance(why, Refused):
            refusals.append(why)
        return Judgement(id_, name, estimate, "heuristic", note=str(why))
    source: Source = "judge" if judged.decisions else "fixed"
    return Judgement(
        id_, name, judged.value, source, parts=judged.parts, decisions=judged.decisions
    )
