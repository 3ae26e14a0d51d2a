"""Running a target over a label set."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from atlas_search.answer.answer import Answer
from atlas_search.atlas import Atlas
from atlas_search.core.domain import MARKER
from atlas_search.evaluation.labelset import Label
from atlas_search.evaluation.metrics import (
    contains_reference,
    exact_match,
    recall,
    reciprocal_rank,
    similarity,
    token_f1,
)
from atlas_search.providers.embedding import Embedder


@dataclass(frozen=True)
class Told:
    """What came back for one question, as plain values.

    `text` is empty unless the decision is ANSWER. `found` are the documents of the passages, best
    first, with repetitions, `cited` those of valid citations.
    """

    decision: str
    reason: str
    text: str
    found: tuple[str, ...]
    cited: frozenset[str]
    citation_valid: bool
    sentence_groundedness: float


@dataclass(frozen=True)
class LabelScore:
    """How one question went.

    Scores of retrieval are 0 for an unanswerable question, those of the answer without one.
    """

    label: Label
    decision: str
    reason: str
    answer: str
    recall: float
    reciprocal_rank: float
    exact: bool
    f1: float
    similarity: float
    contains: bool
    citation_valid: bool
    sentence_groundedness: float
    cites_gold: bool

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.decision == "ANSWER"


@dataclass(frozen=True)
class Summary:
    """Means over some questions; None where there are none of the kind.

    Over answerable questions, 0 for one without an answer: `recall`, `mrr` and `cites_gold` where
    gold documents are known, `exact`, `f1` and `contains` where a reference answer is, and
    `answered`. Over answerable questions that were answered: `similarity`, likewise. Over
    unanswerable questions: `rejected`, the share without an answer. Over all questions: `decided`,
    the share of both kinds treated as it should be, and `citation_valid`. Over all answers:
    `sentence_groundedness`, the mean share of sentences with a valid citation, and `grounded`, the
    share of answers of which every sentence has one.
    """

    questions: int
    recall: float | None
    mrr: float | None
    exact: float | None
    f1: float | None
    similarity: float | None
    contains: float | None
    cites_gold: float | None
    answered: float | None
    rejected: float | None
    decided: float | None
    citation_valid: float | None
    sentence_groundedness: float | None
    grounded: float | None


def run(atlas: Atlas, labels: Iterable[Label], target: str, today: date) -> list[LabelScore]:
    """Ask every question of `labels` with the target."""
    embedder = atlas.services.searcher.embedder
    answers = (
        (label, atlas.ask(label.question, target=target, as_of=today, qa_id=f"eval-{label.id}"))
        for label in labels
    )
    return [judge(label, _read_answer(answer), embedder) for label, answer in answers]


def judge(label: Label, told: Told, embedder: Embedder) -> LabelScore:
    """Compare what came back with what is known."""
    gold, text = label.gold_document_ids, without_markers(told.text)
    return LabelScore(
        label=label,
        decision=told.decision,
        reason=told.reason,
        answer=told.text,
        recall=recall(told.found, gold) if gold else 0.0,
        reciprocal_rank=reciprocal_rank(list(dict.fromkeys(told.found)), gold),
        exact=exact_match(text, label.answers),
        f1=token_f1(text, label.answers),
        similarity=similarity(text, label.answers, embedder),
        contains=contains_reference(text, label.answers),
        citation_valid=told.citation_valid,
        sentence_groundedness=told.sentence_groundedness,
        cites_gold=bool(told.cited & gold),
    )


def summarise(outcomes: Sequence[LabelScore]) -> Summary:
    """Means over `outcomes`."""
    answerable = [outcome for outcome in outcomes if outcome.label.answerable]
    rest = [outcome for outcome in outcomes if not outcome.label.answerable]
    answers = [outcome for outcome in outcomes if outcome.answered]
    located = [outcome for outcome in answerable if outcome.label.gold_document_ids]
    worded = [outcome for outcome in answerable if outcome.label.answers]
    return Summary(
        questions=len(outcomes),
        recall=_mean(located, lambda o: o.recall),
        mrr=_mean(located, lambda o: o.reciprocal_rank),
        exact=_mean(worded, lambda o: o.exact),
        f1=_mean(worded, lambda o: o.f1),
        similarity=_mean([o for o in worded if o.answered], lambda o: o.similarity),
        contains=_mean(worded, lambda o: o.contains),
        cites_gold=_mean(located, lambda o: o.cites_gold),
        answered=_mean(answerable, lambda o: o.answered),
        rejected=_mean(rest, lambda o: not o.answered),
        decided=_mean(outcomes, lambda o: o.answered is o.label.answerable),
        citation_valid=_mean(outcomes, lambda o: o.citation_valid),
        sentence_groundedness=_mean(answers, lambda o: o.sentence_groundedness),
        grounded=_mean(answers, lambda o: o.sentence_groundedness == 1),
    )


def without_markers(answer: str) -> str:
    """An answer without its citation tokens."""
    return " ".join(MARKER.sub(" ", answer).split())


def _read_answer(answer: Answer) -> Told:
    checked = answer.verification
    return Told(
        decision=answer.outcome.decision,
        reason=answer.outcome.code,
        text=answer.text,
        found=tuple(item.passage.document_id for item in answer.result.passages),
        cited=frozenset(citation.passage.document_id for citation in answer.citations),
        citation_valid=checked.valid,
        sentence_groundedness=checked.sentence_groundedness,
    )


def _mean(outcomes: Sequence[LabelScore], value: Callable[[LabelScore], float]) -> float | None:
    if not outcomes:
        return None
    return round(sum(float(value(outcome)) for outcome in outcomes) / len(outcomes), 4)
