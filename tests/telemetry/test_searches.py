"""The spans of a search: lists of one kind of score each, and how the nearest were found."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.targets import Target, VectorSearch
from atlas_search.core.telemetry.span import DOCUMENT_BYTES, size_of, size_of_attributes
from atlas_search.search.rerankers import Relevance
from atlas_search.search.trace import imbalance
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.finding import find
from tests.recorded_spans import Recorded, documents, said
from tests.telemetry.by_index import by_index
from tests.telemetry.conftest import Traced, cited

QUESTION = "Can a local authority sue a newspaper for libel?"
TWO_PARTS = "When was the death penalty abolished in Britain, and who may marry in New Zealand?"
COURT = {"court": "House of Lords"}
ALL, SOME, NONE = 0, 150, 300  # the greatest of the three corpora has 196 passages, the others less


class Backwards:
    """A second stage for which the last text it reads is the best."""

    name = "backwards"

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        """See SecondStage."""
        return Relevance(np.linspace(0.1, 0.9, len([*texts])), "")


def with_stage(services: Services, stage: object) -> Services:
    """The services, the configured target reading twelve candidates again."""
    name, target = services.target(None)
    changed = target.model_copy(
        update={"reranker": "backwards", "rerank_depth": 12, "rerank_share": 1.0}
    )
    stages = {("backwards", target.rerank_model): stage}
    searcher = replace(services.searcher, stages=stages)  # type: ignore[arg-type]
    answerer = replace(services.answerer, searcher=searcher)
    return replace(services, answerer=answerer, targets={name: changed})


def test_each_candidate_has_the_score_of_its_kind_before_and_after(traced: Traced) -> None:
    services, recorded = traced
    result = Atlas(services).search(QUESTION)
    rerank = recorded.last("rerank")
    before = documents(rerank, "reranker.input_documents")
    after = documents(rerank, "reranker.output_documents")
    for listed in (before, after):
        scores = [each["score"] for each in listed]
        assert scores == sorted(scores, reverse=True)
    first = {each["id"]: round(each["score"], 6) for each in before}
    kept = {item.passage.id: item.ranked.score for item in result.passages}
    assert kept.keys() <= {each["id"] for each in after}
    for each in after:
        facts = each["metadata"]
        assert facts["first_score"] == first[each["id"]] == facts["signals"]["semantic"]
        assert kept.get(each["id"], round(each["score"], 6)) == round(each["score"], 6)


def test_a_second_stage_shows_the_score_of_the_first_beside_its_own(traced: Traced) -> None:
    services, recorded = traced
    Atlas(with_stage(services, Backwards())).search(QUESTION)
    rerank = recorded.last("rerank")
    assert (rerank["reranker.model_name"], rerank["read"]) == ("backwards", 12)
    before = documents(rerank, "reranker.input_documents")
    after = documents(rerank, "reranker.output_documents")
    assert [each["metadata"]["score_is"] for each in before] == ["fused"] * 12
    assert [each["id"] for each in after] == [each["id"] for each in before[:1:-1]]
    assert {each["metadata"]["score_is"] for each in after} == {"relevance"}
    assert after[0]["score"] == after[0]["metadata"]["signals"]["relevance"] == 0.9
    assert after[0]["metadata"]["first_score"] == round(before[-1]["score"], 6)


def test_the_search_lists_what_it_kept_with_signals_and_leg(traced: Traced) -> None:
    services, recorded = traced
    result = Atlas(services).search(TWO_PARTS, explain=True)
    assert result.sub_questions
    assert result.explained
    legs = {each.passage_id: set(each.legs) for each in result.explained}
    by_name = {"both": {"dense", "lexical"}, "dense": {"dense"}, "lexical": {"lexical"}}
    listed = documents(recorded.last("search"))
    for each, item in zip(listed, result.passages, strict=True):
        facts = each["metadata"]
        assert (each["id"], each["content"]) == (item.passage.id, item.passage.text)
        assert by_name.get(facts["leg"], set()) == legs[each["id"]]
        assert (facts["signals"], facts["valid"]) == (item.ranked.signals, item.valid)


def test_texts_that_a_leg_shows_count_and_no_others_are_held(traced: Traced) -> None:
    services, recorded = traced
    Atlas(services).search(QUESTION)
    for span in recorded.spans:
        if span.name.startswith(("dense ", "lexical ")):
            listed = documents(said(span))
            texts = sum(len(each.get("content", "")) for each in listed)
            others = {
                name: value
                for name, value in said(span).items()
                if not name.startswith("retrieval.documents.")
            }
            lists = size_of(span) - size_of_attributes(others)
            assert lists == texts + len(listed) * DOCUMENT_BYTES
            assert texts > 0


def test_all_is_listed_at_the_greatest_depth(traced: Traced) -> None:
    services, recorded = traced
    Atlas(services).search(QUESTION, corpora="legal_us", k=100)
    assert len(documents(recorded.last("rerank"), "reranker.output_documents")) == 100


def index_of(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name.startswith("index_")}


def compared(recorded: Recorded) -> set[str]:
    """What the legs say of themselves."""
    return {said(span)["compared"] for span in recorded.spans if "dense" in span.name}


@pytest.mark.parametrize(
    ("exact_up_to", "options", "kind"),
    [
        (ALL, {}, "hnsw"),
        (SOME, {}, "mixed"),
        (SOME, {"corpora": "legal_uk"}, "exact"),
        (SOME, {"corpora": "legal_us"}, "hnsw"),
        (NONE, {}, "exact"),
        (ALL, {"filters": COURT}, "exact"),
        (ALL, {"exclude": ["tariff"]}, "exact"),
        (ALL, {"require": ["court"]}, "exact"),
        (ALL, {"require": ["no passage has this"]}, "hnsw"),
    ],
)
def test_roots_say_how_the_nearest_were_found_in_truth(
    traced: Traced, exact_up_to: int, options: dict[str, Any], kind: str
) -> None:
    services, recorded = traced
    with by_index(services, exact_up_to) as own:
        Atlas(own).search(QUESTION, **options)
        Atlas(own).ask(QUESTION, **options)
    index = services.store.manifest.index
    numbers = {"index_ef": index.ef_search, "index_ef_construction": index.ef_construction}
    expected = {"index_kind": kind} | ({} if kind == "exact" else numbers)
    assert [index_of(said(root)) for root in recorded.roots] == [expected, expected]
    ways = {"hnsw": {"index"}, "mixed": {"index", "all"}, "exact": {"all"}}
    assert compared(recorded) == ways[kind]


@pytest.mark.parametrize(
    ("exact_up_to", "how", "kind"), [(NONE, "hnsw", "hnsw"), (ALL, "exact", "exact")]
)
def test_a_target_chooses_how_the_nearest_are_found(
    traced: Traced, exact_up_to: int, how: VectorSearch, kind: str
) -> None:
    services, recorded = traced
    with by_index(services, exact_up_to) as own:
        found = [find(Atlas(own), QUESTION, Target(vector_search=each)) for each in ("auto", how)]
    assert index_of(recorded.last("search"))["index_kind"] == kind
    assert compared(recorded) == {"index", "all"}
    assert found[0].passages == found[1].passages  # at this size the index misses none


def test_a_search_may_ask_for_no_index(traced: Traced) -> None:
    services, recorded = traced
    with by_index(services, ALL) as own:
        Atlas(own).search(QUESTION, exact=True)
    assert index_of(recorded.last("search")) == {"index_kind": "exact"}
    assert compared(recorded) == {"all"}


def test_a_kept_answer_says_how_it_was_found(traced: Traced) -> None:
    services, recorded = traced
    with by_index(services, SOME) as own, answered_by("openai", own) as (modelled, server):
        server.says(cited)
        asked(modelled, QUESTION)
        asked(modelled, QUESTION)
    root = recorded.last("ask")
    assert (root["cache_hit"], root["index_kind"]) == (True, "mixed")


@pytest.mark.parametrize(
    ("counts", "expected"),
    [({"a": 4, "b": 4}, 0.0), ({"a": 4, "b": 3}, 0.25), ({"a": 4, "b": 0}, 1.0), ({"a": 0}, 0.0)],
)
def test_imbalance_is_the_share_that_the_least_lacks_of_the_most(
    counts: dict[str, int], expected: float
) -> None:
    assert imbalance(counts) == expected
