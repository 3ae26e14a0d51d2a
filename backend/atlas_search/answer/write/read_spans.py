"""The words of each passage that answer the question, as a reader model finds them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from atlas_search.core.domain import CheckedPassage
from atlas_search.core.errors import ReaderUnavailable
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.span import Span, TracedDocument
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.reading import AnswerSpan, AnswerSpans, ReaderModel
from atlas_search.search.trace import score_name


class PassageSpans(NamedTuple):
    """The best span of every passage that was read, by passage id and in the passages' order.

    `note` says why some were not read, and is empty if all were.
    """

    spans: Mapping[str, AnswerSpan]
    note: str

    def answers(self, threshold: float) -> dict[str, AnswerSpan]:
        """Those with a score of at least `threshold`, best first; of equals in their order."""
        best = sorted(self.spans.items(), key=lambda item: -item[1].score)
        return {id_: span for id_, span in best if span.score >= threshold}


def read_spans(
    model: ReaderModel,
    question: str,
    passages: Sequence[CheckedPassage],
    target: Target,
    tracer: Tracer,
) -> PassageSpans:
    """Let `model` read the passages, best first, for READER_SECONDS.

    A model that is unavailable reads nothing, and the note says why.
    """
    with tracer.span("read", "RERANKER") as span:
        texts = [item.passage.text for item in passages]
        read = _read(model, question, texts, target.reader_seconds)
        ids = [item.passage.id for item in passages]
        found = PassageSpans(dict(zip(ids, read.spans, strict=False)), read.note)
        _describe(span, model, question, passages, found, target)
        return found


def _read(model: ReaderModel, question: str, texts: Sequence[str], seconds: float) -> AnswerSpans:
    try:
        return model.read(question, texts, seconds)
    except ReaderUnavailable as error:
        return AnswerSpans((), f"No passage was searched for the words that answer. {error}")


def _describe(
    span: Span,
    model: ReaderModel,
    question: str,
    passages: Sequence[CheckedPassage],
    found: PassageSpans,
    target: Target,
) -> None:
    span.set(
        model=model.name,
        passages=len(passages),
        read=len(found.spans),
        answers=len(found.answers(target.reader_threshold)),
    )
    if found.note:
        span.warn(found.note)
    if not span.recorded:
        return
    of = {item.passage.id: item.passage for item in passages}
    best = found.answers(0.0)
    ranked_by = {"score_is": score_name(target)}
    given = [TracedDocument(i.passage.id, i.ranked.score, i.passage, ranked_by) for i in passages]
    read_by = {"score_is": "reader"}
    read = [TracedDocument(id_, each.score, of[id_], read_by) for id_, each in best.items()]
    span.list_reranked(question, model.name, given, read)
    span.output([{"id": id_, "answer": of[id_].text[s:e]} for id_, (s, e, _) in best.items()])
