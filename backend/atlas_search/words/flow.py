"""Words looked for and counted, stage by stage, and the listener that shows the stages in spans."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from pydantic import BaseModel

from atlas_search.core.telemetry.span import Span
from atlas_search.core.telemetry.tracer import Listener
from atlas_search.words.concordance import concordance
from atlas_search.words.counts import tabulate
from atlas_search.words.hits import Hits
from atlas_search.words.lists import collocates, frequencies, keywords
from atlas_search.words.request import (
    CollocatesRequest,
    ConcordanceRequest,
    FrequenciesRequest,
    KeywordsRequest,
    TrendsRequest,
)
from atlas_search.words.results import Collocates, Concordance, Frequencies, Keywords, WordCounts
from atlas_search.words.run import ReachRun, WordsRun

Run = TypeVar("Run", bound=ReachRun)
Request = TypeVar("Request")
Result = TypeVar("Result", bound=BaseModel)


def look_up(run: Run, work: Callable[[Run, Request], Result], request: Request) -> Result:
    """Find the words of a query, if there is one, and let `work`, one of _NAMES, list or count.

    Raises Cancelled if stopped, and RequestError.
    """
    name = _NAMES[work]
    query = [run.request.text] if isinstance(run, WordsRun) else []
    with run.tracer.hold(), run.tracer.stage(_STAGES, run, name, *query) as stage:
        if isinstance(run, WordsRun):
            with run.tracer.stage(_STAGES, run, "find words", *query) as finding:
                finding.done(run.hits)
        result = stage.done(work(run, request), request)
        return result.model_copy(update={"trace_id": stage.trace_id})


def _describe_hits(run: WordsRun, span: Span, hits: Hits) -> None:
    span.set(hits=len(hits.starts), words_searched=int(run.reach.words_of.sum()))


def _describe_lines(
    run: WordsRun, span: Span, lines: Concordance, request: ConcordanceRequest
) -> None:
    _describe_reach(span, run)
    span.set(hits=lines.hits, documents=lines.documents)
    span.set(sort=request.sort, lines=len(lines.lines))
    span.output([{"id": line.passage_id, "start": line.start} for line in lines.lines])


def _describe_counts(run: WordsRun, span: Span, counts: WordCounts, request: TrendsRequest) -> None:
    _describe_reach(span, run)
    span.set(hits=counts.total.hits or 0, documents=counts.total.documents)
    span.set(by=request.by, cells=len(counts.cells))
    span.output(counts.total.to_dict())


def _describe_collocates(
    run: WordsRun, span: Span, words: Collocates, request: CollocatesRequest
) -> None:
    _describe_reach(span, run)
    span.set(hits=words.hits, left=request.left, right=request.right, sort=request.sort)
    span.set(words_near=words.words_near, collocates=len(words.collocates))
    span.output(words.rows())


def _describe_keywords(
    run: ReachRun, span: Span, words: Keywords, request: KeywordsRequest
) -> None:
    _describe_reach(span, run)
    span.set(against=",".join(request.against), direction=request.direction, sort=request.sort)
    span.set(words_searched=words.words, reference_words=words.reference_words)
    span.set(keywords=len(words.keywords))
    span.output(words.rows())


def _describe_frequencies(
    run: ReachRun, span: Span, words: Frequencies, request: FrequenciesRequest
) -> None:
    _describe_reach(span, run)
    span.set(min_count=request.min_count, words_searched=words.words, types=words.types)
    span.set(frequencies=len(words.frequencies))
    span.output(words.rows())


def _describe_reach(span: Span, run: ReachRun) -> None:
    if span.recorded:
        where = run.request
        span.set(
            corpus_filter=where.corpus_filter,
            form=where.form,
            exactly=where.exactly,
            collection=run.store.manifest.collection,
        )


_NAMES: Mapping[Callable[..., BaseModel], str] = {
    concordance: "concordance",
    tabulate: "count words",
    collocates: "collocates",
    keywords: "keywords",
    frequencies: "frequencies",
}
_STAGES: Mapping[str, Listener] = {
    "find words": Listener("RETRIEVER", _describe_hits),
    "concordance": Listener("CHAIN", _describe_lines),
    "count words": Listener("CHAIN", _describe_counts),
    "collocates": Listener("CHAIN", _describe_collocates),
    "keywords": Listener("CHAIN", _describe_keywords),
    "frequencies": Listener("CHAIN", _describe_frequencies),
}
