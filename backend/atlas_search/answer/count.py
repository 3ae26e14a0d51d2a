"""What is counted of an answer."""

import time
from collections import Counter

from atlas_search.answer.answer import Answer
from atlas_search.answer.flow import answer_question
from atlas_search.answer.request import AskRequest
from atlas_search.answer.run import AnswerRun
from atlas_search.core.errors import Cancelled
from atlas_search.core.telemetry.metrics import Metrics
from atlas_search.search.trace import count_corpora, count_stages


def answer_and_count(run: AnswerRun) -> Answer:
    """The answer, counted; so is a question that comes to none, and what its models cost.

    Raises what `answer_question` raises.
    """
    begun = time.perf_counter()
    try:
        answer = answer_question(run)
    except Exception as error:
        decision = "CANCELLED" if isinstance(error, Cancelled) else "ERROR"
        seconds = time.perf_counter() - begun
        _count(run.metrics, run.request, decision, type(error).__name__, seconds, cached=False)
        raise
    finally:
        _count_cost(run)
    count_answer(run.metrics, answer)
    return answer


def count_answer(metrics: Metrics, answer: Answer) -> None:
    """Count an answer, or that the question was declined."""
    request, outcome = answer.request, answer.outcome
    seconds = answer.timings_ms["total"] / 1000
    _count(metrics, request, outcome.decision, outcome.code, seconds, cached=answer.cache_hit)
    if answer.cache_hit:  # what it took and found was counted the first time
        return
    count_stages(metrics, request.mode, answer.timings_ms)
    count_corpora(metrics, answer.result, answer.collection)
    if outcome.decision == "ANSWER":
        _count_citations(metrics, answer)


def _count_citations(metrics: Metrics, answer: Answer) -> None:
    cited = Counter(citation.passage.corpus for citation in answer.citations)
    for corpus in answer.result.per_corpus:
        labels = {"collection": answer.collection, "corpus": corpus}
        metrics.record("atlas.corpus.cited", labels, cited[corpus])


def _count(
    metrics: Metrics,
    request: AskRequest,
    decision: str,
    reason: str,
    seconds: float,
    *,
    cached: bool,
) -> None:
    said = {"target": request.target_name, "mode": request.mode, "decision": decision}
    how = {"reason": reason, "cached": "yes" if cached else "no"}
    metrics.count("atlas.answers", {**said, **how})
    metrics.record("atlas.answer.duration", said, seconds)


def _count_cost(run: AnswerRun) -> None:
    spent = run.writer()
    if spent.cost:
        labels = {"provider": spent.provider, "model": spent.model}
        run.metrics.count("atlas.cost", {"target": run.request.target_name, **labels}, spent.cost)
