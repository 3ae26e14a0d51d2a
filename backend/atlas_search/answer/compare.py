"""Comparing corpora: each answers for itself, then what they agree and differ about."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from atlas_search.answer.agreement import agreements_and_differences
from atlas_search.answer.answer import (
    Comparison,
    Context,
    CorpusAnswer,
    Emit,
    Fallback,
    Point,
    Section,
    Writer,
)
from atlas_search.answer.answerer import Answerer
from atlas_search.answer.check.citations import Verification, verify
from atlas_search.answer.conflicts import Conflict, conflicts_between
from atlas_search.answer.decide import ANSWERED, Outcome, before_writing, no_corpus_answers
from atlas_search.answer.job import NOTHING, Job, Written
from atlas_search.answer.prompts import prompt
from atlas_search.answer.request import AskRequest
from atlas_search.answer.write.write import fallback_for, write
from atlas_search.core.domain import CheckedSentence
from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.providers.chat import ChatModel, ChatOptions, Message, Usage
from atlas_search.search.evidence import freshness
from atlas_search.search.flow import SearchResult, WholeResult, search
from atlas_search.search.request import SearchRequest
from atlas_search.search.searcher import Searcher

Spoken = Mapping[str, Sequence[CheckedSentence]]
"""The verified sentences of every corpus that answers."""

_LINE = re.compile(r"^\W*(AGREE|DIFFER)\W*:\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Compared:
    """What came of a comparison, with the decision about the whole.

    `context` holds the prompts of all corpora, one after the other.
    """

    text: str
    verification: Verification
    outcome: Outcome
    writer: Writer
    comparison: Comparison
    context: Context


def search_each(
    searcher: Searcher, request: SearchRequest, target: Target
) -> dict[str, WholeResult]:
    """The question put to every corpus alone."""
    return {
        corpus: search(searcher, replace(request, corpora=(corpus,), every_corpus=False), target)
        for corpus in request.corpora
    }


def together(results: Mapping[str, WholeResult], request: AskRequest) -> SearchResult:
    """The results as if they were one: all kept passages, best first."""
    first = next(iter(results.values()))
    every = [item for result in results.values() for item in result.passages]
    passages = sorted(every, key=lambda item: (-item.ranked.score, item.passage.row))
    best = max((result.confidence for result in results.values()), key=lambda c: c.max)
    support = max(result.confidence.support for result in results.values())
    search = request.search
    return replace(
        first.kept_only(),
        passages=tuple(passages),
        per_corpus={c: counts for r in results.values() for c, counts in r.per_corpus.items()},
        confidence=replace(best, support=support, hit_count=len(passages)),
        freshness=freshness(passages, search.freshness_days, search.today),
        warnings=tuple(warning for r in results.values() for warning in r.warnings),
        timings_ms=_summed(results.values()),
    )


def compare(
    answerer: Answerer,
    request: AskRequest,
    results: Mapping[str, SearchResult],
    emit: Emit,
    stop: Stop,
) -> Compared:
    """Let every corpus answer for itself, and say where they agree and differ."""
    spent: list[Usage] = []
    written = {}
    for corpus, result in results.items():
        job = Job(answerer, request, result, _conflicts(request, result), emit, stop, spent)
        written[corpus] = _answered(job, corpus)
    answers = tuple(
        CorpusAnswer(corpus, part.outcome, part.text, part.verification)
        for corpus, part in written.items()
    )
    spoken = {a.corpus: a.verification.sentences for a in answers if a.outcome is ANSWERED}
    stand_in = next(filter(None, (part.writer.fallback for part in written.values())), None)
    points, stand_in = _points(job, spoken, stand_in)
    text = "\n\n".join(answer.text for answer in answers if answer.text)
    given = [item.passage for result in results.values() for item in result.passages if item.valid]
    limit = request.target.citation_limit * len(spoken)
    return Compared(
        text=text,
        verification=verify(text, given, limit) if spoken else NOTHING,
        outcome=ANSWERED if spoken else no_corpus_answers({a.corpus: a.outcome for a in answers}),
        writer=_joint_writer(job, list(written.values()), stand_in),
        comparison=Comparison(answers, *points),
        context=_joint_context([part.context for part in written.values()]),
    )


def _conflicts(request: AskRequest, result: SearchResult) -> tuple[Conflict, ...]:
    valid = [item for item in result.passages if item.valid]
    return conflicts_between(request.search.question, valid)


def _answered(job: Job, corpus: str) -> Written:
    """The answer of one corpus."""
    with job.tracer.span(f"answer {corpus}", "CHAIN") as span:
        job.emit(Section(corpus))
        target = job.request.target
        outcome = before_writing(job.result, job.answerer.threshold(target))
        if outcome is ANSWERED:
            written = write(job)
        else:
            nobody = Writer(target.llm_provider, job.answerer.model_name(target), attempts=0)
            written = Written("", NOTHING, outcome, nobody)
        span.set(decision=written.outcome.decision, reason=written.outcome.code)
        span.output(written.text or written.outcome.message)
        return written


def _joint_writer(job: Job, parts: Sequence[Written], stand_in: Fallback | None) -> Writer:
    """Who wrote, with all it took; `stand_in` says why a part is in the sources' own sentences."""
    first = next((part.writer for part in parts if part.writer.fallback), parts[0].writer)
    attempts = max(part.writer.attempts for part in parts)
    return replace(job.writer(first.provider, first.model, attempts), fallback=stand_in)


def _joint_context(parts: Sequence[Context]) -> Context:
    """All prompts, and the sums of what was given and dropped."""
    sums = {
        each.name: sum(getattr(part, each.name) for part in parts)
        for each in fields(Context)
        if each.name != "messages"
    }
    return Context(tuple(message for part in parts for message in part.messages), **sums)


def _points(
    job: Job, spoken: Spoken, stand_in: Fallback | None
) -> tuple[tuple[tuple[Point, ...], tuple[Point, ...]], Fallback | None]:
    """Agreements and differences, stated by the target's model, or by rule if it has none.

    By rule too where the model cannot be used and the target has a fallback: then with the reason.
    """
    with job.tracer.span("compare", "CHAIN") as span:
        target = job.request.target
        model = job.answerer.models.get(target.llm_provider)
        if model and len(spoken) > 1 and not stand_in:
            try:
                points = _points_by_model(job, model, spoken)
            except (ModelRefused, ModelUnavailable) as error:
                if target.llm_fallback != "extractive":
                    raise
                points, stand_in = _points_by_rule(job, spoken), fallback_for(error)
        else:
            points = _points_by_rule(job, spoken)
        agreements, differences = points
        span.output({"agree": _texts(agreements), "differ": _texts(differences)})
        return points, stand_in


def _points_by_rule(job: Job, spoken: Spoken) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    embed = job.answerer.searcher.embedder.embed
    agreements, differences = agreements_and_differences(spoken, embed)
    return (
        tuple(Point(pair.text, pair.citations) for pair in agreements),
        tuple(Point(pair.text, pair.citations) for pair in differences),
    )


def _points_by_model(
    job: Job, model: ChatModel, spoken: Spoken
) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """What the model states, each line verified like an answer; what cannot be is left out."""
    target = job.request.target
    options = ChatOptions(
        job.answerer.model_name(target), target.temperature, target.max_tokens, target.llm_seconds
    )
    messages = (
        Message("system", prompt("compare").template),
        Message("user", f"{_quoted(spoken)}\n\nQuestion: {job.question}"),
    )
    with job.tracer.span("generate", "LLM") as span:
        span.model(model.name, options.model, [asdict(message) for message in messages])
        done = model.complete(messages, options, job.stop)
        job.spent.append(done.ended.usage)
        span.usage(done.ended.usage.prompt_tokens, done.ended.usage.completion_tokens)
        span.output(done.text)
    stated: dict[str, list[Point]] = {"AGREE": [], "DIFFER": []}
    for kind, line in _LINE.findall(done.text):
        if point := _verified(line, spoken):
            stated[kind].append(point)
    return tuple(stated["AGREE"]), tuple(stated["DIFFER"])


def _verified(line: str, spoken: Spoken) -> Point | None:
    """A line as a point, if all of it is cited and by sources of at least two corpora."""
    cited = [citation for said in spoken.values() for one in said for citation in one.citations]
    given = list({citation.passage.id: citation.passage for citation in cited}.values())
    checked = verify(line, given, len(given))
    corpora = {citation.passage.corpus for citation in checked.citations}
    if not checked.valid or len(corpora) < 2:
        return None
    return Point(line.strip(), checked.citations)


def _quoted(spoken: Spoken) -> str:
    """The sentences of every corpus with their tokens."""
    blocks = []
    for corpus, sentences in spoken.items():
        lines = (
            " ".join([sentence.text, *(citation.marker for citation in sentence.citations)])
            for sentence in sentences
        )
        blocks.append(f"{corpus}:\n" + "\n".join(lines))
    return "\n\n".join(blocks)


def _texts(points: Iterable[Point]) -> list[str]:
    return [point.text for point in points]


def _summed(results: Iterable[WholeResult]) -> dict[str, float]:
    """The milliseconds of every stage over all results."""
    total: dict[str, float] = {}
    for result in results:
        for stage, milliseconds in result.timings_ms.items():
            total[stage] = round(total.get(stage, 0.0) + milliseconds, 3)
    return total
