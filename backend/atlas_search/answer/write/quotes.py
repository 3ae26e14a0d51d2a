"""Answering with the sources' own words, or saying that they do not answer."""

from collections.abc import Sequence
from dataclasses import replace

from atlas_search.answer.check.markers import MarkedSentence, as_quoted
from atlas_search.answer.conflicts import Contradiction
from atlas_search.answer.decide import ANSWERED, before_quoting
from atlas_search.answer.quotes.choose import (
    MODEL,
    PROVIDER,
    Chosen,
    Extract,
    choose,
    read_by_model,
)
from atlas_search.answer.quotes.quotable import Quote, quote_of
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.trace import STAGES
from atlas_search.answer.wire import Fallback
from atlas_search.answer.write.relay import NOTHING, Relay, Written, judge_text
from atlas_search.core.domain import CheckedPassage, Citation
from atlas_search.core.errors import ReaderUnavailable
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.reading import AnswerSpan, AnswerSpans, ReaderModel
from atlas_search.search.result import SearchResult


def read_spans(
    model: ReaderModel,
    question: str,
    passages: Sequence[CheckedPassage],
    target: Target,
    tracer: Tracer,
) -> tuple[dict[str, AnswerSpan], str]:
    """Let `model` read the passages, best first, for READER_SECONDS.

    Returns the best span of every passage that was read, by passage id and in the passages' order,
    and a note why some were not, empty if all were. A model that is unavailable reads nothing.
    """
    with tracer.stage(STAGES, target, "read") as stage:
        texts = [item.passage.text for item in passages]
        ids = [item.passage.id for item in passages]
        try:
            read = model.read(question, texts, target.reader_seconds)
        except ReaderUnavailable as error:
            note = f"No passage was searched for the words that answer. {error}"
            read = AnswerSpans((), note)
        spans = dict(zip(ids, read.spans, strict=False))
        return stage.done(spans, read.note, model.name, question, passages), read.note


MOST_CLOSEST = 3


def extract(
    run: AnswerRun, evidence: Evidence, fallback: Fallback | None = None, needed: float = 0.0
) -> Written:
    """Answer with the best quotes, each with its token.

    `fallback` says why they stand in for a model's text. Declined if they are less likely than the
    target asks, or `needed` in [0, 1], to hold what is asked for. Where the sources read the
    question in several ways, each reading is quoted.
    """
    with run.stage("extract") as stage:
        prompt = stage.done(prompt_of(evidence.result, evidence.conflicts))
    needed = max(needed, run.likelihood)
    by = replace(run.writer(PROVIDER, MODEL, attempts=1), fallback=fallback)
    nobody = replace(by, attempts=0)
    with run.stage("quote", PROVIDER, MODEL, run.question) as stage:
        with run.turn():
            chosen = stage.done(_read_again(run, prompt, choose(prompt, run.answerer.vectors)))
        readings = [quote_of(place) for place in evidence.readings]
        outcome = ANSWERED if readings else before_quoting(chosen, needed)
        if outcome is not ANSWERED:
            stage.done(outcome.message)
            notes = (chosen.unread,) if chosen.unread else ()
            near = _cite(chosen.whole.quotes)
            return Written("", NOTHING, outcome, nobody, closest=near, notes=notes)
        relay = _say(run, evidence, readings or chosen.quotes(prompt, needed))
        stage.done(relay.text)
    written = judge_text(run, evidence, relay, by)
    confidence = chosen.confidence if written.outcome is ANSWERED else None
    return replace(written, confidence=confidence, notes=chosen.notes(needed))


def closest_quotes(run: AnswerRun, result: SearchResult) -> tuple[Citation, ...]:
    """Return the quotes closest to a question that they do not answer, best first."""
    if not result.query.has_subject:
        return ()
    with run.turn():
        return _cite(choose(prompt_of(result, ()), run.answerer.vectors).whole.quotes)


def _say(run: AnswerRun, evidence: Evidence, quotes: Sequence[Quote]) -> Relay:
    """Pass on all quotes, one by one."""
    relay = Relay(run.tell, evidence.passages, run.target.citation_limit)
    for quote in quotes:
        run.stop.check()
        relay.add([MarkedSentence(as_quoted(quote.text), (quote.passage.marker,))])
    relay.finish()
    return relay


def _read_again(run: AnswerRun, prompt: Extract, chosen: Chosen) -> Chosen:
    """Let the target's reader model choose, if it has one; `unread` says why it could not."""
    if run.reader is None:
        return chosen
    spans, note = read_spans(run.reader, prompt.question, prompt.passages, run.target, run.tracer)
    if note:
        return replace(chosen, unread=note)
    return read_by_model(chosen, prompt, spans, run.target.reader_threshold, run.likelihood)


def _cite(quotes: Sequence[Quote]) -> tuple[Citation, ...]:
    return tuple(quote.passage.cite(*quote.span) for quote in quotes[:MOST_CLOSEST])


def prompt_of(result: SearchResult, conflicts: Sequence[Contradiction]) -> Extract:
    """Return the material for quotes: the passages that passed the check, else all results."""
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
