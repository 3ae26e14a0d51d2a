"""Answering with the sources' own words, or saying that they do not answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from atlas_search.answer.answer import Fallback
from atlas_search.answer.check.markers import MarkedSentence
from atlas_search.answer.conflicts import Contradiction
from atlas_search.answer.decide import ANSWERED, before_quoting
from atlas_search.answer.quotes.choose import Chosen, Extract, read_by_model
from atlas_search.answer.quotes.quotable import Quote, quote_at
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.write.relay import NOTHING, Relay, Written, judge_text
from atlas_search.core.domain import CheckedPassage, Citation
from atlas_search.core.errors import ReaderUnavailable
from atlas_search.core.targets import Target
from atlas_search.core.telemetry import names as gen_ai
from atlas_search.core.telemetry.span import Span, TracedDocument, describe_text, describe_writer_of
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.language.text import TextSpan
from atlas_search.providers.reading import AnswerSpan, AnswerSpans, ReaderModel
from atlas_search.search.result import SearchResult
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
        _describe_reading(span, model, question, passages, found, target)
        return found


def _read(model: ReaderModel, question: str, texts: Sequence[str], seconds: float) -> AnswerSpans:
    try:
        return model.read(question, texts, seconds)
    except ReaderUnavailable as error:
        return AnswerSpans((), f"No passage was searched for the words that answer. {error}")


def _describe_reading(
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


MOST_CLOSEST = 3


def extract(
    run: AnswerRun, evidence: Evidence, fallback: Fallback | None = None, needed: float = 0.0
) -> Written:
    """The best quotes, each with its token; `fallback` says why they stand in for a model's text.

    Declined if they are less likely than the target asks, or `needed` in [0, 1], to hold what is
    asked for. Where the sources read the question in several ways, each reading is quoted.
    """
    prompt = _context(run, evidence)
    chooser, needed = run.answerer.quotes, max(needed, run.likelihood)
    by = replace(run.writer(chooser.name, chooser.model, attempts=1), fallback=fallback)
    nobody = replace(by, attempts=0)
    with run.tracer.span("generate", "LLM") as span:
        asked = [{"role": "user", "content": run.question}]
        describe_writer_of(span, chooser.name, chooser.model, asked)
        span.set(**{gen_ai.OPERATION: "extract"})
        with run.turn():
            chosen = _read_again(run, prompt, chooser.choose(prompt))
        readings = [_quote(place) for place in evidence.readings]
        outcome = ANSWERED if readings else before_quoting(chosen, needed)
        _describe_quotes(span, chosen)
        if outcome is not ANSWERED:
            describe_text(span, outcome.message)
            notes = (chosen.unread,) if chosen.unread else ()
            near = _cite(chosen.whole.quotes)
            return Written("", NOTHING, outcome, nobody, closest=near, notes=notes)
        relay = _say(run, evidence, readings or chosen.quotes(prompt, needed))
        describe_text(span, relay.text)
    written = judge_text(run, evidence, relay, by)
    return replace(written, confidence=chosen.confidence, notes=chosen.notes(needed))


def closest_quotes(run: AnswerRun, result: SearchResult) -> tuple[Citation, ...]:
    """What comes closest to the question, best first, though it does not answer."""
    if not result.query.has_subject:
        return ()
    with run.turn():
        return _cite(run.answerer.quotes.choose(prompt_of(result, ())).whole.quotes)


def _say(run: AnswerRun, evidence: Evidence, quotes: Sequence[Quote]) -> Relay:
    """All quotes, passed on one by one."""
    limit = run.target.citation_limit
    relay = Relay(run.tell, evidence.passages, limit)
    for quote in quotes:
        run.stop.check()
        relay.add([MarkedSentence(quote.text, (quote.passage.marker,))])
    relay.finish()
    return relay


def _read_again(run: AnswerRun, prompt: Extract, chosen: Chosen) -> Chosen:
    """What the target's reader model finds in the passages, if it has one and it could read all."""
    if run.reader is None:
        return chosen
    found = read_spans(run.reader, prompt.question, prompt.passages, run.target, run.tracer)
    if found.note:
        return replace(chosen, unread=found.note)
    return read_by_model(chosen, prompt, found.spans, run.target.reader_threshold, run.likelihood)


def _quote(place: Citation) -> Quote:
    """A place as a quote."""
    at = place.passage.start
    return quote_at(place.passage, TextSpan(place.start - at, place.end - at), 0)


def _cite(quotes: Sequence[Quote]) -> tuple[Citation, ...]:
    return tuple(
        quote.passage.cite(quote.start - quote.passage.start, quote.end - quote.passage.start)
        for quote in quotes[:MOST_CLOSEST]
    )


def _context(run: AnswerRun, evidence: Evidence) -> Extract:
    with run.tracer.span("context", "CHAIN") as span:
        prompt = prompt_of(evidence.result, evidence.conflicts)
        span.set(
            passages=len(prompt.passages),
            sentence_limit=prompt.limit,
            opposed=len(prompt.opposed),
            parts=len(prompt.parts),
        )
        span.output([item.passage.marker for item in prompt.passages])
        return prompt


def prompt_of(result: SearchResult, conflicts: Sequence[Contradiction]) -> Extract:
    """What is to be quoted from: the passages that passed the check, else all that were found."""
    target = result.target
    return Extract(
        question=result.searched_as or result.question,
        passages=result.valid or result.passages,
        term_weights=result.term_weights,
        limit=target.answer_sentences,
        most=target.citation_limit,
        opposed=tuple((c.first, c.second) for c in conflicts if c.kind != "repealed"),
        parts=result.sub_questions,
        question_vector=result.vector,
    )


def _describe_quotes(span: Span, chosen: Chosen) -> None:
    grounds = chosen.whole.grounds
    span.set(likelihood=round(grounds.likelihood, 4), quotes=len(chosen.whole.quotes))
    span.metadata({"signs": grounds.to_dict()})
