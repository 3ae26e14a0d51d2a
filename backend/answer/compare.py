"""Comparing corpora: each answers for itself, then what they agree and differ about."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from backend.answer.answer import Comparison, CorpusAnswer, Emit, Point, Section, Writer
from backend.answer.answerer import Answerer
from backend.answer.citations import Verification, verify
from backend.answer.conflicts import conflicts_between
from backend.answer.decide import ANSWERED, Outcome, before_writing, no_corpus_answers
from backend.answer.job import NOTHING, Job, Written
from backend.answer.points import agreements_and_differences
from backend.answer.prompts import prompt
from backend.answer.request import AskRequest
from backend.answer.write import write
from backend.domain import CheckedSentence
from backend.llm import ChatModel, Message, Options, Usage
from backend.llm.stop import Stop
from backend.search.evidence import freshness
from backend.search.flow import SearchResult, WholeResult, search
from backend.search.request import SearchRequest
from backend.search.searcher import Searcher
from backend.targets import Target

Spoken = Mapping[str, Sequence[CheckedSentence]]
"""The verified sentences of every corpus that answers."""

_LINE = re.compile(r"^\W*(AGREE|DIFFER)\W*:\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Compared:
    """What came of a comparison, with the decision about the whole."""

    text: str
    verification: Verification
    outcome: Outcome
    writer: Writer
    comparison: Comparison


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
    written = {
        corpus: _answered(answerer, request, corpus, result, emit, stop)
        for corpus, result in results.items()
    }
    answers = tuple(
        CorpusAnswer(corpus, part.outcome, part.text, part.verification)
        for corpus, part in written.items()
    )
    writer = _joint_writer(list(written.values()))
    spoken = {a.corpus: a.verification.sentences for a in answers if a.outcome is ANSWERED}
    if not spoken:
        outcome = no_corpus_answers({a.corpus: a.outcome for a in answers})
        return Compared("", NOTHING, outcome, writer, Comparison(answers))
    points, usage = _points(answerer, request, spoken, stop)
    usage += writer.usage
    writer = replace(
        writer, usage=usage, cost=request.target.cost(usage.prompt_tokens, usage.completion_tokens)
    )
    text = "\n\n".join(answer.text for answer in answers if answer.text)
    given = [item.passage for result in results.values() for item in result.passages if item.valid]
    verification = verify(text, given, request.target.citation_limit * len(spoken))
    return Compared(text, verification, ANSWERED, writer, Comparison(answers, *points))


def _answered(
    answerer: Answerer,
    request: AskRequest,
    corpus: str,
    result: SearchResult,
    emit: Emit,
    stop: Stop,
) -> Written:
    """The answer of one corpus."""
    with answerer.searcher.tracer.span(f"answer {corpus}", "CHAIN") as span:
        emit(Section(corpus))
        outcome = before_writing(result, answerer.threshold(request.target))
        if outcome is ANSWERED:
            valid = [item for item in result.passages if item.valid]
            conflicts = conflicts_between(request.search.question, valid)
            written = write(Job(answerer, request, result, conflicts, emit, stop))
        else:
            by = Writer(request.target.llm_provider, answerer.model_name(request.target))
            written = Written("", NOTHING, outcome, by)
        span.set(decision=written.outcome.decision, reason=written.outcome.code)
        span.output(written.text or written.outcome.message)
        return written


def _joint_writer(parts: Sequence[Written]) -> Writer:
    """Who wrote the parts, with all it took; the first that stands in for a model says so."""
    usage = sum((part.writer.usage for part in parts), Usage())
    stood_in = [part.writer for part in parts if part.writer.fallback]
    first = next(iter(stood_in), parts[0].writer)
    return replace(first, usage=usage, attempts=max(part.writer.attempts for part in parts))


def _points(
    answerer: Answerer, request: AskRequest, spoken: Spoken, stop: Stop
) -> tuple[tuple[tuple[Point, ...], tuple[Point, ...]], Usage]:
    """Agreements and differences, stated by the target's model if it has one."""
    with answerer.searcher.tracer.span("compare", "CHAIN") as span:
        model = answerer.models.get(request.target.llm_provider)
        if model and len(spoken) > 1:
            points, usage = _points_by_model(answerer, model, request, spoken, stop)
        else:
            points, usage = _points_by_rule(answerer, spoken), Usage()
        agreements, differences = points
        span.output({"agree": _texts(agreements), "differ": _texts(differences)})
        return points, usage


def _points_by_rule(
    answerer: Answerer, spoken: Spoken
) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    agreements, differences = agreements_and_differences(spoken, answerer.searcher.embedder.embed)
    return (
        tuple(Point(pair.text, pair.citations) for pair in agreements),
        tuple(Point(pair.text, pair.citations) for pair in differences),
    )


def _points_by_model(
    answerer: Answerer, model: ChatModel, request: AskRequest, spoken: Spoken, stop: Stop
) -> tuple[tuple[tuple[Point, ...], tuple[Point, ...]], Usage]:
    """What the model states, each line verified like an answer; what cannot be is left out."""
    target = request.target
    options = Options(
        answerer.model_name(target), target.temperature, target.max_tokens, target.llm_seconds
    )
    messages = (
        Message("system", prompt("compare").template),
        Message("user", f"{_quoted(spoken)}\n\nQuestion: {request.search.question}"),
    )
    with answerer.searcher.tracer.span("generate", "LLM") as span:
        span.model(model.name, options.model, [asdict(message) for message in messages])
        done = model.complete(messages, options, stop)
        span.usage(done.ended.usage.prompt_tokens, done.ended.usage.completion_tokens)
        span.output(done.text)
    stated: dict[str, list[Point]] = {"AGREE": [], "DIFFER": []}
    for kind, line in _LINE.findall(done.text):
        point = _verified(line, spoken)
        if point:
            stated[kind].append(point)
    return (tuple(stated["AGREE"]), tuple(stated["DIFFER"])), done.ended.usage


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
