"""Lists of documents in spans: each of one kind of score, or saying which each has."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.atlas import Atlas
from atlas_search.core.telemetry.span import DOCUMENT_BYTES, size_of, size_of_attributes
from atlas_search.search.rerankers import Relevance
from atlas_search.search.trace import SHOWN, TEXTS_OF_LEG
from atlas_search.services import Services
from tests.spans.recorded import documents, named

QUESTION = "Can a local authority sue a newspaper for libel?"
TWO_PARTS = "When was the death penalty abolished in Britain, and who may marry in New Zealand?"


class Backwards:
    """A second stage for which the last text it reads is the best."""

    name = "backwards"

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """See SecondStage."""
        read = len([*texts])
        return Relevance(np.linspace(0.1, 0.9, read), "")


def with_stage(services: Services) -> Services:
    """The services, the configured target reading twelve candidates again."""
    name, target = services.target(None)
    changed = target.model_copy(
        update={"reranker": "backwards", "rerank_depth": 12, "rerank_share": 1.0}
    )
    searcher = replace(services.searcher, stages={("backwards", target.rerank_model): Backwards()})
    answerer = replace(services.answerer, searcher=searcher)
    return replace(services, answerer=answerer, targets={name: changed})


def test_each_leg_has_a_span_with_its_own_scores(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    found = Atlas(traced).search(QUESTION, explain=True)
    assert found.explained
    for corpus, counts in found.per_corpus.items():
        for leg, kind in (("dense", "cosine"), ("lexical", "bm25")):
            said = named(exported, f"{leg} {corpus}")
            assert (said["leg"], said["score_is"], said["corpus"]) == (leg, kind, corpus)
            listed = documents(said, "retrieval.documents")
            assert len(listed) == said["candidates"] == getattr(counts, leg)
            places = {
                each.passage_id: each.legs[leg].score
                for each in found.explained
                if each.corpus == corpus and leg in each.legs
            }
            assert {each["id"]: round(each["score"], 6) for each in listed} == places
            scores = [each["score"] for each in listed]
            assert scores == sorted(scores, reverse=True)
            texts = ["content" in each for each in listed]
            assert texts == [at < TEXTS_OF_LEG for at in range(len(listed))]


def test_the_texts_that_a_leg_shows_count_and_no_others_are_held(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    Atlas(traced).search(QUESTION)
    for span in exported.get_finished_spans():
        if span.name.startswith(("dense ", "lexical ")):
            listed = documents(span.attributes or {}, "retrieval.documents")
            texts = sum(len(each.get("content", "")) for each in listed)
            assert texts
            others = {
                name: value
                for name, value in (span.attributes or {}).items()
                if not name.startswith("retrieval.documents.")
            }
            lists = size_of(span) - size_of_attributes(others)
            assert lists == texts + len(listed) * DOCUMENT_BYTES


def test_the_reranker_shows_before_and_after_with_both_scores(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    found = Atlas(traced).search(QUESTION)
    said = named(exported, "rerank")
    before = documents(said, "reranker.input_documents")
    after = documents(said, "reranker.output_documents")
    assert len(before) == SHOWN
    assert {each["metadata"]["score_is"] for each in before} == {"semantic"}
    assert {each["metadata"]["score_is"] for each in after} == {"fused"}
    for listed in (before, after):
        scores = [each["score"] for each in listed]
        assert scores == sorted(scores, reverse=True)
    first = {each["id"]: each["score"] for each in before}
    kept = {item.passage.id: item.ranked for item in found.passages}
    assert set(kept) & {each["id"] for each in after}
    for each in after:
        told = each["metadata"]
        assert told["first_score"] == round(first[each["id"]], 6)
        assert told["first_score_is"] == "semantic"
        assert told["leg"] in {"dense", "lexical", "both"}
        assert told["signals"]["semantic"] == told["first_score"]
        if each["id"] in kept:
            assert round(each["score"], 6) == kept[each["id"]].score
            assert told["signals"] == kept[each["id"]].signals


def test_a_second_stage_shows_the_score_of_the_first_beside_its_own(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    Atlas(with_stage(traced)).search(QUESTION)
    said = named(exported, "rerank")
    assert (said["reranker.model_name"], said["read"]) == ("backwards", 12)
    before = documents(said, "reranker.input_documents")
    after = documents(said, "reranker.output_documents")
    assert [each["metadata"]["score_is"] for each in before] == ["fused"] * 12
    assert [each["id"] for each in after] == [each["id"] for each in before[:1:-1]]
    assert {each["metadata"]["score_is"] for each in after} == {"relevance"}
    assert after[0]["score"] == 0.9
    assert after[0]["metadata"]["first_score"] == round(before[-1]["score"], 6)
    assert after[0]["metadata"]["signals"]["relevance"] == 0.9


def test_the_search_lists_what_it_kept_with_signals_and_leg(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    found = Atlas(traced).search(TWO_PARTS, explain=True)
    assert found.sub_questions
    assert found.explained
    listed = documents(named(exported, "search"), "retrieval.documents")
    assert [each["id"] for each in listed] == [item.passage.id for item in found.passages]
    legs = {each.passage_id: set(each.legs) for each in found.explained}
    by_name = {"both": {"dense", "lexical"}, "dense": {"dense"}, "lexical": {"lexical"}}
    for each, item in zip(listed, found.passages, strict=True):
        told = each["metadata"]
        assert by_name.get(told["leg"], set()) == legs[each["id"]]
        assert told["signals"] == item.ranked.signals
        assert (told["valid"], told["score_is"]) == (item.valid, "fused")
        assert each["content"] == item.passage.text


def test_no_attribute_is_dropped_at_the_greatest_depth(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    Atlas(traced).search(QUESTION, corpora="legal_us", k=100)
    spans = exported.get_finished_spans()
    assert len(documents(named(exported, "rerank"), "reranker.output_documents")) == 100
    assert [span.name for span in spans if span.dropped_attributes] == []
