"""Answering a question, stage by stage."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from atlas_search.answer.answer import (
    Answer,
    Comparison,
    References,
    Section,
)
from atlas_search.answer.compare import compare, search_each, together
from atlas_search.answer.conflicts import Contradiction, conflicts_between, to_list
from atlas_search.answer.counted import asks_about_collection, count_asked_for
from atlas_search.answer.decide import (
    ANSWERED,
    Counted,
    before_writing,
    describe_collection,
    give_count,
    leans_on,
)
from atlas_search.answer.readings import Reading, clarify, must_choose, readings
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.trace import answering
from atlas_search.answer.write.condense import Standalone, condense
from atlas_search.answer.write.model import write
from atlas_search.answer.write.quotes import closest_quotes
from atlas_search.answer.write.relay import Written, not_written
from atlas_search.core.domain import Citation
from atlas_search.core.telemetry.tracer import Stage
from atlas_search.providers.chat import Usage
from atlas_search.search.evidence import freshness
from atlas_search.search.flow import search
from atlas_search.search.result import SearchResult, WholeResult


@dataclass(frozen=True)
class _Draft:
    """A text, and what it was written from."""

    written: Written
    result: SearchResult
    conflicts: tuple[Contradiction, ...] = ()
    comparison: Comparison = field(default_factory=Comparison)
    choices: tuple[Reading, ...] = ()
    counted: Counted | None = None


def answer_question(run: AnswerRun) -> Answer:
    """Search, write, verify, decide; or an answer that was given before to the same question.

    Raises Cancelled soon after the run is stopped, and what search and language models raise.
    """
    with answering(run) as stage:
        state = run.answerer.state(run.target)
        cached = run.answerer.cache.get(run.request, state)
        if cached:
            answer = _repeat(run, cached, stage)
        else:
            answer = _answer(run, stage)
            run.answerer.cache.put(answer, state)
        stage.done(answer, (cached or answer).writer)
    return _as_new(answer, cached) if cached and cached.as_new else answer


def _answer(run: AnswerRun, stage: Stage) -> Answer:
    if asks_about_collection(run.question, run.request.history):
        standalone, draft = Standalone(), _describe_collection(run)
    else:
        standalone = condense(run)
        alone = run.asking(standalone.question) if standalone.question else run
        draft = (
            _ask_back(alone, standalone)
            or _count(alone)
            or (_compare_corpora(alone) if run.request.mode == "compare" else _answer_once(alone))
        )
    run.clock.lap("total")
    return _answer_of(run, standalone, draft, stage)


def _search(run: AnswerRun) -> WholeResult:
    """Search for the question, and tell the passages to who listens."""
    with run.turn():
        result = search(run.search_run())
    run.tell(References(result.passages))
    return result


def _ask_back(run: AnswerRun, standalone: Standalone) -> _Draft | None:
    """Ask what is meant, if the question leans on what was said and no model reads that."""
    if not standalone.leans_on or run.model:
        return None
    result = _search(run)
    outcome = leans_on(standalone.leans_on, standalone.read_as)
    return _Draft(not_written(run, outcome), result.kept_only())


def _describe_collection(run: AnswerRun) -> _Draft:
    """Say what the collection holds."""
    with run.turn():
        result = search(run.search_run())
    run.tell(References(()))
    outcome = describe_collection(result.scope)
    return _Draft(not_written(run, outcome), replace(result.kept_only(), passages=()))


def _count(run: AnswerRun) -> _Draft | None:
    """Give the exact count, if the question asks how many documents say something."""
    counted = count_asked_for(run)
    if counted is None:
        return None
    result = _search(run)
    return _Draft(not_written(run, give_count(counted)), result.kept_only(), counted=counted)


def _answer_once(run: AnswerRun) -> _Draft:
    """Give one answer from all corpora."""
    result = _search(run)
    outcome = before_writing(result, run.threshold)
    if outcome is not ANSWERED:
        return _Draft(not_written(run, outcome), result.kept_only())
    choices = readings(run.question, result.valid, run.labels)
    if must_choose(choices, run.request):
        written = not_written(run, clarify(choices))
        return _Draft(written, result.kept_only(), choices=choices)
    conflicts = conflicts_between(run.question, result.valid)
    places = tuple(reading.citation for reading in choices)
    written = write(run, Evidence(result, conflicts, places))
    listed = to_list(conflicts, written.verification)
    return _Draft(written, result.kept_only(), listed, choices=choices)


def _compare_corpora(run: AnswerRun) -> _Draft:
    """Give an answer from every corpus, and what they agree and differ about."""
    with run.turn():
        results = search_each(run.search_run())
    result = together(results, run.request.search)
    run.tell(References(result.passages))
    written, comparison = compare(run, results)
    conflicts = conflicts_between(run.question, result.valid)
    return _Draft(written, result, to_list(conflicts, written.verification), comparison)


def _answer_of(run: AnswerRun, standalone: Standalone, draft: _Draft, stage: Stage) -> Answer:
    written, writer, checked = draft.written, draft.written.writer, draft.written.verification
    spent = run.writer(writer.provider, writer.model, writer.attempts)
    return Answer(
        request=run.request,
        trace_id=stage.trace_id,
        span_id=stage.span_id,
        created=datetime.now(UTC),
        outcome=written.outcome,
        text=written.text,
        verification=replace(checked, warnings=(*checked.warnings, *written.notes)),
        result=_dated_by_citations(run, draft),
        standalone=standalone.question,
        standalone_note=standalone.note,
        read_as=standalone.read_as,
        context=written.context,
        conflicts=draft.conflicts,
        comparison=draft.comparison,
        choices=draft.choices,
        counted=draft.counted,
        writer=replace(spent, fallback=writer.fallback),
        timings_ms={**draft.result.timings_ms, **run.clock.laps},
        closest=_closest(run, draft),
        confidence=written.confidence,
        collection=run.answerer.searcher.store.manifest.collection,
        collection_version=run.answerer.searcher.store.manifest.version,
    )


def _dated_by_citations(run: AnswerRun, draft: _Draft) -> SearchResult:
    """Return the result; of an answer with the dates of the passages that it cites."""
    written, request = draft.written, run.request.search
    if written.outcome is not ANSWERED:
        return draft.result
    ids = {citation.passage.id for citation in written.verification.citations}
    cited = [item for item in draft.result.passages if item.passage.id in ids]
    dates = freshness(cited, request.freshness_days, request.today)
    return replace(draft.result, freshness=dates)


def _closest(run: AnswerRun, draft: _Draft) -> tuple[Citation, ...]:
    """Return what comes closest to a question without answer; readings and counts are closer."""
    outcome = draft.written.outcome
    is_answered = outcome is ANSWERED or outcome.code in ("clarify", "unclear")
    if is_answered or draft.counted is not None or not draft.result.passages:
        return ()
    return draft.written.closest or closest_quotes(run, draft.result)


def _repeat(run: AnswerRun, cached: Answer, stage: Stage) -> Answer:
    """Give an answer again to whoever asks the same now; it takes no model."""
    run.tell(References(cached.result.passages))
    for part in cached.comparison.answers:
        run.tell(Section(part.corpus))
        run.tell_again(part.verification.sentences if part.text else ())
    if not cached.comparison.answers and cached.text:
        run.tell_again(cached.verification.sentences)
    run.clock.lap("total")
    return replace(
        cached,
        request=run.request,
        trace_id=stage.trace_id,
        span_id=stage.span_id,
        writer=replace(cached.writer, attempts=0, usage=Usage(), cost=cached.writer.cost and 0.0),
        timings_ms=run.clock.laps,
    )


def _as_new(answer: Answer, cached: Answer) -> Answer:
    """Give it the figures of the first time, and the present date."""
    now, took = datetime.now(UTC), cached.timings_ms
    return replace(answer, created=now, writer=cached.writer, timings_ms=took)
