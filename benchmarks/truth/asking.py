"""What each question gets: quotes, and how likely they answer it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from atlas_search.answer.decide import ANSWERED, before_quoting, before_writing, evidence_of
from atlas_search.answer.quotes.choose import Chosen, choose
from atlas_search.answer.quotes.scores import Signs
from atlas_search.answer.write.quotes import prompt_of
from atlas_search.atlas import Atlas
from atlas_search.core.domain import Passage
from atlas_search.search.result import SearchResult
from benchmarks.truth.questions import Question

TODAY = date(2000, 1, 1)  # freshness plays no part

SourceOf = Callable[[Passage], str]
"""The id, among those of `Question.gold`, of what a passage belongs to."""


@dataclass(frozen=True)
class Reply:
    """The quotes for a question, and the ids of what they are from.

    `evidence` is in [0, 1]. `score` is the likelihood that the quotes answer, less 1 if the
    question is declined whatever the likelihood: in [-1, 1]. `signs` are those of the likelihood.
    """

    question: Question
    texts: tuple[str, ...]
    sources: frozenset[str]
    evidence: float
    score: float
    signs: Signs


def ask(
    atlas: Atlas, questions: Iterable[Question], corpora: str | Sequence[str], source_of: SourceOf
) -> list[Reply]:
    """A reply to each of the questions."""
    return [_reply(atlas, question, corpora, source_of) for question in questions]


def _reply(
    atlas: Atlas, question: Question, corpora: str | Sequence[str], source_of: SourceOf
) -> Reply:
    result = atlas.search(question.text, corpora=corpora, filters=question.place, as_of=TODAY)
    prompt, answerer = prompt_of(result, ()), atlas.services.answerer
    chosen = choose(prompt, answerer.vectors)
    needed = answerer.likelihood(result.target)
    quotes = chosen.quotes(prompt, needed)[: result.target.citation_limit]
    return Reply(
        question=question,
        texts=tuple(quote.text for quote in quotes),
        sources=frozenset(source_of(quote.passage) for quote in quotes),
        evidence=evidence_of(result),
        score=chosen.confidence.likelihood - _is_declined(atlas, result, chosen),
        signs=chosen.whole.grounds.signs,
    )


def _is_declined(atlas: Atlas, result: SearchResult, chosen: Chosen) -> bool:
    """Whether it is for another reason than the likelihood."""
    threshold = atlas.services.answerer.threshold(result.target)
    outcomes = before_writing(result, threshold), before_quoting(chosen, 0.0)
    return any(outcome is not ANSWERED for outcome in outcomes)
