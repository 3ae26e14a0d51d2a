"""What a reader model finds in the passages, as quotes."""

from collections.abc import Mapping
from dataclasses import replace

from atlas_search.answer.quotes.choose import (
    Chosen,
    Extract,
    Part,
    grounds_of,
    passages_to_quote,
)
from atlas_search.answer.quotes.quotable import Quote, quotes_of
from atlas_search.core.domain import CheckedPassage
from atlas_search.providers.reading import AnswerSpan


def read_by_model(
    chosen: Chosen,
    prompt: Extract,
    spans: Mapping[str, AnswerSpan],
    threshold: float,
    needed: float,
) -> Chosen:
    """The statements that hold the words a model read as the answer, best first.

    `spans` are by passage id, in characters of its text. A span counts from its score `threshold`
    on, and answers then whatever the likelihood of the quotes is, which `needed` is compared with.
    If none counts, the quotes stay the closest, and the best score is how likely they are.
    """
    found = [
        (spans[item.passage.id].score, quote)
        for rank, item in enumerate(passages_to_quote(prompt))
        if item.passage.id in spans
        for quote in _around(item, rank, spans[item.passage.id])
    ]
    found.sort(key=lambda each: (-each[0], each[1].rank, each[1].start))
    best = found[0][0] if found else 0.0
    if best < threshold:
        unlikely = replace(chosen.whole.grounds, likelihood=min(best, needed * threshold))
        return Chosen(replace(chosen.whole, grounds=unlikely, read=False))
    quotes = tuple(quote for score, quote in found if score >= threshold)
    seen = replace(grounds_of(prompt, quotes), likelihood=max(best, needed))
    return Chosen(Part(prompt.question, quotes, seen))


def _around(item: CheckedPassage, rank: int, span: AnswerSpan) -> list[Quote]:
    """The statement of a passage that holds the beginning of a span."""
    passage = item.passage
    start = passage.start + span.start
    return [q for q in quotes_of(passage, rank) if q.start <= start < q.end][:1]
