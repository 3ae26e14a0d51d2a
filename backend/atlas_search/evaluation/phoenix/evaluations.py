"""The figures of a question as evaluations of Phoenix."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from atlas_search.evaluation.metrics.catalogue import metric_of
from atlas_search.evaluation.metrics.metric import Metric
from atlas_search.evaluation.phoenix.shown import Shown
from atlas_search.evaluation.scored import Scored

MOST = 50
"""Figures of a question that Phoenix's pages show: of more, those first in the alphabet look as if
there were none."""

FAILED = "FAILED"
"""What stands for the decision of a question that brought an error."""


def chosen_figures(names: Iterable[str]) -> set[str]:
    """The MOST that tell most: before others what is judged, and of that what is of no depth."""

    def weight(name: str) -> tuple[bool, bool, str]:
        return metric_of(name).better == "none", "@" in name, name

    return set(sorted(set(names), key=weight)[:MOST])


def evaluations(one: Scored, chosen: Collection[str], shown: Shown) -> list[dict[str, Any]]:
    """An evaluation of each chosen figure, by name, without the run and the times."""
    return [_evaluation(one, name, shown) for name in sorted(one.figures) if name in chosen]


def decision(one: Scored) -> str:
    """What became of the question; empty if it was only searched for."""
    if one.reply.error:
        return FAILED
    return one.reply.answer.decision if one.reply.answer else ""


def _evaluation(one: Scored, name: str, shown: Shown) -> dict[str, Any]:
    metric, source = metric_of(name), one.sources.get(name)
    result: dict[str, Any] = {"score": one.figures[name]}
    if metric.group == "decisions" and decision(one):
        result["label"] = decision(one)
    if _is_wrong(metric, one.figures[name]) and (reason := _explain(one, metric, shown)):
        result["explanation"] = reason
    return {
        "name": name,
        "annotator_kind": "LLM" if source == "judge" else "CODE",
        "result": result,
        "metadata": {"source": source} if source else {},
    }


def _is_wrong(metric: Metric, figure: float) -> bool:
    """Whether it could be better, for figures whose best is 1 or 0."""
    better: Mapping[str, bool] = {"higher": figure < 1, "lower": figure > 0, "none": False}
    return better[metric.better]


def _explain(one: Scored, metric: Metric, shown: Shown) -> str:
    match metric.group:
        case "decisions":
            return _of_decision(one, shown)
        case "retrieval":
            return _of_documents("Not found", one, one.reply.documents, shown)
        case "citations" if one.reply.answer and one.label.answerable:
            cited = tuple(dict.fromkeys(each.document_id for each in one.reply.answer.citations))
            return _of_documents("Not cited", one, cited, shown)
        case "answers" if one.label.answers and shown.content:
            return shown.mask(f"Expected: {' | '.join(one.label.answers)}")
    return ""


def _of_decision(one: Scored, shown: Shown) -> str:
    if one.reply.error:
        return shown.mask(one.reply.error) if shown.content else "No reply came, but an error."
    expected = one.label.expected_decision or ("ANSWER" if one.label.answerable else "no answer")
    reason = f" ({one.reply.answer.reason.code})" if one.reply.answer else ""
    return f"Expected: {expected}. Came: {decision(one)}{reason}."


def _of_documents(what: str, one: Scored, came: tuple[str, ...], shown: Shown) -> str:
    """Which gold documents are not among those that came, and where the first one is."""
    gold = one.label.relevance
    if not gold:
        return ""
    lacking = [shown.id(id_) for id_ in gold if id_ not in came]
    ranks = [rank for rank, id_ in enumerate(came, start=1) if id_ in gold]
    first = f"The first gold document is number {ranks[0]} of {len(came)}." if ranks else ""
    return " ".join(filter(None, (f"{what}: {', '.join(lacking)}." if lacking else "", first)))
