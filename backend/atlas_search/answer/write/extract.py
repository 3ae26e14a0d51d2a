"""Answering with the sources' own sentences."""

from dataclasses import replace

from atlas_search.answer.answer import Fallback
from atlas_search.answer.conflicts import Conflict
from atlas_search.answer.job import Job, Written, judged
from atlas_search.answer.write.extractive import Extract, Opposed
from atlas_search.answer.write.relay import Relay


def extract(job: Job, fallback: Fallback | None = None) -> Written:
    """The best sentences, each with its token; `fallback` says why they stand in for a model's."""
    writer, task = job.answerer.extractive, _context(job)
    relay = Relay(job.emit, job.evidence, job.request.target.citation_limit, may_refuse=False)
    with job.tracer.span("generate", "LLM") as span:
        span.model(writer.name, writer.model, [{"role": "user", "content": job.question}])
        for sentence in writer.write(task):
            job.stop.check()
            relay.add(sentence)
        relay.finish()
        span.output(relay.text)
    by = replace(job.writer(writer.name, writer.model), fallback=fallback)
    return judged(job, relay, by)


def _context(job: Job) -> Extract:
    with job.tracer.span("context", "CHAIN") as span:
        task = _task(job)
        span.set(
            passages=len(task.passages),
            sentence_limit=task.sentence_limit,
            opposed=len(task.opposed),
            parts=len(task.parts),
        )
        span.output([item.passage.marker for item in task.passages])
        return task


def _task(job: Job) -> Extract:
    result, target = job.result, job.request.target
    return Extract(
        question=job.question,
        passages=tuple(item for item in result.passages if item.valid),
        term_weights=result.term_weights,
        sentence_limit=min(target.answer_sentences, target.citation_limit),
        opposed=tuple(_opposed(c) for c in job.conflicts if c.kind != "repealed"),
        parts=result.sub_questions,
        question_vector=result.vector,
    )


def _opposed(conflict: Conflict) -> Opposed:
    first, second = (
        (side.passage.document_id, side.start, side.end)
        for side in (conflict.first, conflict.second)
    )
    return Opposed(first, second)
