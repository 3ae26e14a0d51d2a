"""Words looked for and counted, stage by stage."""

from dataclasses import replace

from atlas_search.core.telemetry.span import Span
from atlas_search.words.concordance import Concordance, concordance
from atlas_search.words.counts import Counts, tabulate
from atlas_search.words.lists import Collocates, Keywords, collocates, keywords
from atlas_search.words.request import (
    CollocatesRequest,
    CountsRequest,
    KeywordsRequest,
    LinesRequest,
    Where,
)
from atlas_search.words.run import ReachRun, WordsRun


def list_lines(run: WordsRun, asked: LinesRequest) -> Concordance:
    """The hits of a query, counted, and a page of their lines. Raises Cancelled if stopped."""
    with run.tracer.hold(), run.tracer.span("concordance", "CHAIN") as span:
        _find(run)
        found = concordance(run, asked)
        _describe(span, run, found.hits, found.documents)
        span.set(sort=asked.sort, lines=len(found.lines))
        span.output([{"id": line.passage_id, "start": line.start} for line in found.lines])
        return replace(found, trace_id=span.trace_id)


def count_hits(run: WordsRun, asked: CountsRequest) -> Counts:
    """The hits of a query by time, corpus or field. Raises Cancelled if stopped."""
    with run.tracer.hold(), run.tracer.span("count words", "CHAIN") as span:
        _find(run)
        found = tabulate(run, asked)
        _describe(span, run, found.total.hits or 0, found.total.documents)
        span.set(by=asked.by, cells=len(found.cells))
        span.output(found.total.to_dict())
        return replace(found, trace_id=span.trace_id)


def list_collocates(run: WordsRun, asked: CollocatesRequest) -> Collocates:
    """The words near the hits of a query. Raises Cancelled if stopped."""
    with run.tracer.hold(), run.tracer.span("collocates", "CHAIN") as span:
        _find(run)
        found = collocates(run, asked)
        span.input(run.request.text)
        _say_where(span, run, run.request)
        span.set(hits=found.hits, left=asked.left, right=asked.right, sort=asked.sort)
        span.set(words_near=found.words_near, collocates=len(found.collocates))
        span.output(found.rows())
        return replace(found, trace_id=span.trace_id)


def list_keywords(run: ReachRun, asked: KeywordsRequest) -> Keywords:
    """The words that set some texts apart. Raises Cancelled if stopped, and RequestError."""
    with run.tracer.hold(), run.tracer.span("keywords", "CHAIN") as span:
        found = keywords(run, asked)
        _say_where(span, run, run.request)
        span.set(against=",".join(asked.against), direction=asked.direction, sort=asked.sort)
        span.set(words_searched=found.words, reference_words=found.reference_words)
        span.set(keywords=len(found.keywords))
        span.output(found.rows())
        return replace(found, trace_id=span.trace_id)


def _find(run: WordsRun) -> None:
    with run.tracer.span("find words", "RETRIEVER") as span:
        hits = run.hits
        span.input(run.request.text)
        span.set(hits=len(hits.starts), words_searched=int(run.reach.words_of.sum()))


def _describe(span: Span, run: WordsRun, hits: int, documents: int) -> None:
    span.input(run.request.text)
    _say_where(span, run, run.request)
    span.set(hits=hits, documents=documents)


def _say_where(span: Span, run: ReachRun, where: Where) -> None:
    if span.recorded:
        span.set(
            corpus_filter=where.corpus_filter,
            form=where.form,
            exactly=where.exactly,
            collection=run.store.manifest.collection,
        )
