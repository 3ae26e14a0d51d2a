"""Answering with the sources' own sentences."""

from dataclasses import replace

from atlas_search.answer.answer import Fallback
from atlas_search.answer.conflicts import Contradiction
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.write.extractive import Extract, Opposed
from atlas_search.answer.write.relay import Relay
from atlas_search.answer.written import Written, judge_text


def extract(run: AnswerRun, evidence: Evidence, fallback: Fallback | None = None) -> Written:
    """The best sentences, each with its token; `fallback` says why they stand in for a model's."""
    writer, task = run.answerer.extractive, _context(run, evidence)
    relay = Relay(run.tell, evidence.passages, run.target.citation_limit, may_refuse=False)
    with run.tracer.span("generate", "LLM") as span:
        span.model(writer.name, writer.model, [{"role": "user", "content": run.question}])
        for sentence in writer.write(task):
            run.stop.check()
            relay.add(sentence)
        relay.finish()
        span.output(relay.text)
    by = replace(run.writer(writer.name, writer.model, attempts=1), fallback=fallback)
    return judge_text(run, evidence, relay, by)


def _context(run: AnswerRun, evidence: Evidence) -> Extract:
    with run.tracer.span("context", "CHAIN") as span:
        task = _task(run, evidence)
        span.set(
            passages=len(task.passages),
            sentence_limit=task.sentence_limit,
            opposed=len(task.opposed),
            parts=len(task.parts),
        )
        span.output([item.passage.marker for item in task.passages])
        return task


def _task(run: AnswerRun, evidence: Evidence) -> Extract:
    result, target = evidence.result, run.target
    return Extract(
        question=result.searched_as or run.question,
        passages=result.valid,
        term_weights=result.term_weights,
        sentence_limit=min(target.answer_sentences, target.citation_limit),
        opposed=tuple(_oppose(c) for c in evidence.conflicts if c.kind != "repealed"),
        parts=result.sub_questions,
        question_vector=result.vector,
    )


def _oppose(conflict: Contradiction) -> Opposed:
    first, second = (
        (place.passage.document_id, place.start, place.end)
        for place in (conflict.first, conflict.second)
    )
    return Opposed(first, second)
