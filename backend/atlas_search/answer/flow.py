"""Answering a question, stage by stage."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from atlas_search.answer.answer import (
    Answer,
    Checked,
    Comparison,
    CorpusAnswer,
    Counted,
    References,
    Section,
    Token,
)
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.compare import compare, search_each, together
from atlas_search.answer.conflicts import Contradiction, conflicts_between, to_list
from atlas_search.answer.counted import asks_about_collection, count_asked_for
from atlas_search.answer.decide import (
    ANSWERED,
    asks_for_count,
    before_writing,
    describe_collection,
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
class _Found:
    """What was written, and what it was written from."""

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
        kept = run.answerer.cache.get(run.request, state)
        if kept:
            answer = _again(run, kept, stage)
        else:
            answer = _anew(run, stage)
            run.answerer.cache.put(answer, state)
        return stage.done(answer, (kept or answer).writer)


def _anew(run: AnswerRun, stage: Stage) -> Answer:
    if asks_about_collection(run.question, run.request.history):
        standalone, found = Standalone(), _describe(run)
    else:
        standalone = condense(run)
        asked = run.asking(standalone.question) if standalone.question else run
        found = (
            _ask_back(asked, standalone)
            or _count(asked)
            or (_compare_corpora(asked) if run.request.mode == "compare" else _answer_once(asked))
        )
    run.clock.lap("total")
    return _answer(run, standalone, found, stage)


def _search(run: AnswerRun) -> WholeResult:
    """What is found for the question, told to who listens."""
    with run.turn():
        result = search(run.search_run())
    run.tell(References(result.passages))
    return result


def _ask_back(run: AnswerRun, standalone: Standalone) -> _Found | None:
    """What is meant, if the question leans on what was said and no model reads that."""
    if not standalone.leans_on or run.model:
        return None
    result = _search(run)
    outcome = leans_on(standalone.leans_on, standalone.read_as)
    return _Found(not_written(run, outcome), result.kept_only())


def _describe(run: AnswerRun) -> _Found:
    """What the collection holds."""
    with run.turn():
        result = search(run.search_run())
    run.tell(References(()))
    outcome = describe_collection(result.scope)
    return _Found(not_written(run, outcome), replace(result.kept_only(), passages=()))


def _count(run: AnswerRun) -> _Found | None:
    """The exact count, if the question asks how many documents say something."""
    counted = count_asked_for(run)
    if counted is None:
        return None
    result = _search(run)
    outcome = asks_for_count(
        counted.words,
        hits=counted.hits,
        documents=counted.documents,
        of_documents=counted.of_documents,
    )
    return _Found(not_written(run, outcome), result.kept_only(), counted=counted)


def _answer_once(run: AnswerRun) -> _Found:
    """One answer from all corpora."""
    result = _search(run)
    outcome = before_writing(result, run.threshold)
    if outcome is not ANSWERED:
        return _Found(not_written(run, outcome), result.kept_only())
    choices = readings(run.question, result.valid, run.labels)
    if must_choose(choices, run.request):
        written = not_written(run, clarify(choices))
        return _Found(written, result.kept_only(), choices=choices)
    conflicts = conflicts_between(run.question, result.valid)
    places = tuple(reading.citation for reading in choices)
    written = write(run, Evidence(result, conflicts, places))
    listed = to_list(conflicts, written.verification)
    return _Found(written, result.kept_only(), listed, choices=choices)


def _compare_corpora(run: AnswerRun) -> _Found:
    """An answer from every corpus, and what they agree and differ about."""
    with run.turn():
        results = search_each(run.search_run())
    result = together(results, run.request.search)
    run.tell(References(result.passages))
    written, comparison = compare(run, results)
    conflicts = conflicts_between(run.question, result.valid)
    return _Found(written, result, to_list(conflicts, written.verification), comparison)


def _answer(run: AnswerRun, standalone: Standalone, found: _Found, stage: Stage) -> Answer:
    written, writer = found.written, found.written.writer
    spent = run.writer(writer.provider, writer.model, writer.attempts)
    return Answer(
        request=run.request,
        trace_id=stage.trace_id,
        span_id=stage.span_id,
        created=datetime.now(UTC),
        outcome=written.outcome,
        text=written.text,
        verification=_with_notes(written),
        result=_dated_by_citations(run, found),
        standalone=standalone.question,
        standalone_note=standalone.note,
        read_as=standalone.read_as,
        context=written.context,
        conflicts=found.conflicts,
        comparison=found.comparison,
        support=written.support,
        choices=found.choices,
        counted=found.counted,
        writer=replace(spent, fallback=writer.fallback),
        timings_ms={**found.result.timings_ms, **run.clock.laps},
        closest=_closest(run, found),
        confidence=written.confidence if written.outcome is ANSWERED else None,
        collection=run.answerer.searcher.store.manifest.collection,
        collection_version=run.answerer.searcher.store.manifest.version,
    )


def _dated_by_citations(run: AnswerRun, found: _Found) -> SearchResult:
    """What was found; of an answer the dates told are those of what it cites."""
    written, asked = found.written, run.request.search
    if written.outcome is not ANSWERED:
        return found.result
    cited = {citation.passage.id for citation in written.verification.citations}
    given = [item for item in found.result.passages if item.passage.id in cited]
    return replace(found.result, freshness=freshness(given, asked.freshness_days, asked.today))


def _with_notes(written: Written) -> Verification:
    """Its verification, with what its quotes leave open."""
    checked = written.verification
    return replace(checked, warnings=(*checked.warnings, *written.notes))


def _closest(run: AnswerRun, found: _Found) -> tuple[Citation, ...]:
    """What comes closest to a question that is not answered; readings to choose and counts are
    closer."""
    told = found.written.outcome is ANSWERED or found.written.outcome.code in ("clarify", "unclear")
    told = told or found.counted is not None
    if told or not found.result.passages:
        return ()
    return found.written.closest or closest_quotes(run, found.result)


def _again(run: AnswerRun, kept: Answer, stage: Stage) -> Answer:
    """An answer that was given before, to whoever asks the same now; it takes no model."""
    run.tell(References(kept.result.passages))
    for part in kept.comparison.answers:
        run.tell(Section(part.corpus))
        _say_again(run, part)
    if not kept.comparison.answers:
        _say_again(run, kept)
    run.clock.lap("total")
    return replace(
        kept,
        request=run.request,
        trace_id=stage.trace_id,
        span_id=stage.span_id,
        writer=replace(kept.writer, attempts=0, usage=Usage(), cost=kept.writer.cost and 0.0),
        timings_ms=run.clock.laps,
        cache_hit=True,
    )


def _say_again(run: AnswerRun, kept: Answer | CorpusAnswer) -> None:
    said = kept.verification.sentences if kept.text else ()
    for number, sentence in enumerate(said, start=1):
        run.tell(Token(f"{sentence.line}\n"))
        run.tell(Checked(number, sentence))
