"""Running a target over a label set."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from backend.answer.flow import AskRequest, ask
from backend.evaluation.labelset import Label
from backend.evaluation.metrics import contains_reference, recall, reciprocal_rank, token_f1
from backend.search.request import SearchRequest
from backend.services import Services


@dataclass(frozen=True)
class Outcome:
    """How one question went. Retrieval and answer scores are 0 for unanswerable questions."""

    label: Label
    decision: str
    reason: str
    answer: str
    recall: float
    reciprocal_rank: float
    f1: float
    contains: bool
    citation_valid: bool
    sentence_groundedness: float
    cites_gold: bool


@dataclass(frozen=True)
class Summary:
    """Means over some questions. Retrieval and answer figures are over answerable ones.

    `rejected` is the share of unanswerable questions that got no answer; None without any.
    """

    questions: int
    recall: float | None
    mrr: float | None
    f1: float | None
    contains: float | None
    cites_gold: float | None
    answered: float | None
    rejected: float | None
    citation_valid: float
    sentence_groundedness: float | None


def run(
    services: Services, labels: Iterable[Label], target_name: str, today: date
) -> list[Outcome]:
    """Ask every question of `labels` with the target."""
    return [_run_one(services, label, target_name, today) for label in labels]


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Means over `outcomes`, which must not be empty."""
    answerable = [outcome for outcome in outcomes if outcome.label.answerable]
    rest = [outcome for outcome in outcomes if not outcome.label.answerable]
    answered = [outcome for outcome in outcomes if outcome.decision == "ANSWER"]
    return Summary(
        questions=len(outcomes),
        recall=_mean(answerable, lambda o: o.recall),
        mrr=_mean(answerable, lambda o: o.reciprocal_rank),
        f1=_mean(answerable, lambda o: o.f1),
        contains=_mean(answerable, lambda o: o.contains),
        cites_gold=_mean(answerable, lambda o: o.cites_gold),
        answered=_mean(answerable, lambda o: o.decision == "ANSWER"),
        rejected=_mean(rest, lambda o: o.decision != "ANSWER"),
        citation_valid=_mean(outcomes, lambda o: o.citation_valid) or 0.0,
        sentence_groundedness=_mean(answered, lambda o: o.sentence_groundedness),
    )


def _run_one(services: Services, label: Label, target_name: str, today: date) -> Outcome:
    name, target = services.target(target_name)
    request = AskRequest(
        search=SearchRequest(
            question=label.question,
            corpora=services.default_corpora,
            every_corpus=True,
            limit=target.search_k,
            today=today,
            freshness_days=target.freshness_days,
        ),
        target_name=name,
        target=target,
        run_name=services.composite_target(name),
        qa_id=f"eval-{label.id}",
        session_id="eval",
    )
    provider = services.providers[target.llm_provider]
    answer = ask(services.searcher, provider, request, emit=lambda _: None)
    documents = [item.passage.document_id for item in answer.result.passages]
    ranked = list(dict.fromkeys(documents))
    gold = label.gold_document_ids
    cited = {citation.passage.document_id for citation in answer.verification.citations}
    return Outcome(
        label=label,
        decision=answer.outcome.decision,
        reason=answer.outcome.code,
        answer=answer.text,
        recall=recall(documents, gold) if gold else 0.0,
        reciprocal_rank=reciprocal_rank(ranked, gold),
        f1=token_f1(_plain(answer.text), label.answers),
        contains=contains_reference(answer.text, label.answers),
        citation_valid=answer.verification.valid,
        sentence_groundedness=answer.verification.sentence_groundedness,
        cites_gold=bool(cited & gold),
    )


def _plain(answer: str) -> str:
    return " ".join(line.rpartition(" [")[0] or line for line in answer.splitlines())


def _mean(outcomes: Sequence[Outcome], value: Callable[[Outcome], float]) -> float | None:
    if not outcomes:
        return None
    return round(sum(float(value(outcome)) for outcome in outcomes) / len(outcomes), 4)
